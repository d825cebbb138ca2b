"""Curves of one contact over time: forces, depth and slip, of every run, with the past shaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.view.browser.run_arrays import RunArrays

if TYPE_CHECKING:
    from viser import GuiApi

MAX_SAMPLES = 400
"""Largest number of samples of a curve; longer ones keep the extremes of each bin."""
PAST = "rgba(90, 110, 130, 0.10)"
"""Colour of the shade over the past."""
EDGE = 1e6
"""Value beyond any axis."""
WIDTH, HEIGHT = 300, 150
"""Width of the panel and height of a plot [pixels]."""

Number = Callable[[RunArrays, int], np.ndarray]
"""Returns a number over time for one contact of a run."""


def _friction(run: RunArrays, point: int) -> np.ndarray:
    """Return |f_t| from |f| and f_n [N]."""
    size = np.linalg.norm(run.arrays["force"][:, point], axis=-1)
    normal = np.abs(run.arrays["normal_force"][:, point])
    return np.sqrt(np.maximum(size - normal, 0) * (size + normal))


def _slip(run: RunArrays, point: int) -> np.ndarray:
    speed = 1e3 * np.linalg.norm(run.arrays["slip"][:, point], axis=-1)
    return np.where(run.arrays["depth"][:, point] > 0, speed, 0.0)


PLOTS: dict[str, tuple[tuple[str, ...], Number]] = {
    "normal force [N]": (("normal_force",), lambda run, k: run.arrays["normal_force"][:, k]),
    "friction [N]": (("force", "normal_force"), _friction),
    "depth [mm]": (("depth",), lambda run, k: 1e3 * run.arrays["depth"][:, k]),
    "slip [mm/s]": (("slip", "depth"), _slip),
}
"""Variables that each plot needs, and its number, by title."""


class ContactCurves:
    """Plots of one contact in a panel; the contact is chosen by name."""

    def __init__(self, gui: GuiApi, runs: Sequence[RunArrays], colours: Sequence[str]) -> None:
        from viser import uplot

        self.runs = list(runs)
        self.choice = gui.add_dropdown(
            "contact", runs[0].points, initial_value=most_loaded(runs[0])
        )
        self.titles = titles(runs[0])
        lines = [
            uplot.Series(label=run.label or "value", stroke=colour, width=1.5)
            for run, colour in zip(runs, colours, strict=True)
        ]
        past = uplot.Series(
            label="past",
            stroke="transparent",
            fill=PAST,
            fillTo=-EDGE,
            auto=False,  # the axis is not scaled by it
            points={"show": False},
        )
        self.plots = [
            gui.add_uplot(
                tuple(np.zeros(2) for _ in range(len(runs) + 2)),
                (uplot.Series(label="t [s]"), past, *lines),
                title=title,
                scales={"x": uplot.Scale(time=False)},
                legend=uplot.Legend(show=False),
                cursor=uplot.Cursor(show=True),
                height=HEIGHT,
                padding=(4, 12, 0, 0),
            )
            for title in self.titles
        ]
        self._kept: dict[str, tuple[np.ndarray, ...]] = {}
        self.choice.on_update(lambda _: self.redraw())
        self.redraw()

    def redraw(self, time: float | None = None) -> None:
        """Draw the curves of another contact, or of runs that went on."""
        for title in self.titles:
            (grid, first), *others = (curve(run, self.choice.value, title) for run in self.runs)
            self._kept[title] = (grid, first, *(np.interp(grid, *other) for other in others))
        self.mark(self.runs[0].time[0] if time is None else time)

    def mark(self, time: float) -> None:
        """Shade the past up to a time [s].

        uPlot has no gaps in plain arrays, so the shade is a curve that is high up to the present
        and low after it.
        """
        for title, drawn in zip(self.titles, self.plots, strict=True):
            grid, *curves = self._kept[title]
            drawn.data = (grid, np.where(grid <= time, EDGE, -EDGE), *curves)


def add_curves(
    gui: GuiApi, runs: Sequence[RunArrays], colours: Sequence[str]
) -> ContactCurves | None:
    """Add a panel of curves on the left; return None if the first run has no contacts to show."""
    if not titles(runs[0]):
        return None
    panel = gui.add_panel()
    with panel.add_tab("Contact"):
        curves = ContactCurves(gui, runs, colours)
    panel.dock_left()
    panel.set_width(WIDTH)
    return curves


def titles(run: RunArrays) -> list[str]:
    """Return the titles of the plots whose variables a run holds; none if it has no contacts."""
    if not run.points:
        return []
    return [title for title, (needs, _) in PLOTS.items() if set(needs) <= set(run.arrays)]


def most_loaded(run: RunArrays) -> str:
    """Return the name of the contact with the largest normal force."""
    loads = run.arrays.get("normal_force", np.zeros((1, len(run.points)))).max(axis=0)
    return run.points[int(np.argmax(loads))]


def curve(run: RunArrays, contact: str, title: str) -> tuple[np.ndarray, np.ndarray]:
    """Return times and values of a curve; zeros if the run has no such contact or variable."""
    needs, number = PLOTS[title]
    if contact not in run.points or not set(needs) <= set(run.arrays):
        return run.time, np.zeros(len(run.time))
    return thinned(run.time, number(run, run.points.index(contact)))


def thinned(time: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return at most MAX_SAMPLES samples of a curve: the extremes of every bin."""
    if len(time) <= MAX_SAMPLES:
        return time, value
    edges = np.linspace(0, len(time), MAX_SAMPLES // 2 + 1).astype(int)
    kept = []
    for a, b in pairwise(edges.tolist()):
        part = value[a:b]
        kept += sorted({a + int(np.argmin(part)), a + int(np.argmax(part))})
    return time[kept], value[kept]
