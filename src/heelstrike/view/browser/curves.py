"""Curves over time in a panel, of every run; what they show is chosen in the panel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.view import plot as style
from heelstrike.view.browser.quantities import Plot, choices, first_choice, plots, topics
from heelstrike.view.browser.run_arrays import RunArrays
from heelstrike.view.browser.sampling import axis_bounds, thinned
from heelstrike.view.browser.scene_view import Act, legend, rgb

if TYPE_CHECKING:
    from viser import GuiApi, GuiFolderHandle, GuiUplotHandle

PAST = "rgba(90, 110, 130, 0.10)"
"""Colour of the shade over the past."""
EDGE = 1e6
"""Value beyond any axis."""
WIDTH, HEIGHT = 300, 150
"""Width of the panel and height of a plot [pixels]."""
TICK_SPACE = 18
"""Smallest distance of two ticks of the vertical axis [pixels]."""
TICKS = {"width": 1.0, "size": 4.0}
"""Width and length of ticks [pixels]."""
TIME_STEPS = tuple(step * 10.0**k for k in range(-3, 4) for step in (1, 2, 5))
"""Distances of two ticks of the time axis [s]; labels have three decimals, so none is smaller."""
DASHES = ((), (6.0, 3.0), (2.0, 3.0), (9.0, 3.0, 2.0, 3.0))
"""Dashes of the lines of one plot, if colours tell runs apart."""


class Curves:
    """Plots of one topic; the topic, and the contact or the joint, are chosen by name."""

    def __init__(
        self, gui: GuiApi, runs: Sequence[RunArrays], colours: Sequence[str], act: Act
    ) -> None:
        self.runs, self._gui, self._colours = list(runs), gui, list(colours)
        known = topics(runs[0])
        self.topic = gui.add_dropdown("curves of", known, initial_value=known[0])
        names = choices(runs[0], known[0]) or ("-",)
        self.choice = gui.add_dropdown(
            "which", names, initial_value=first_choice(runs[0], known[0]) or "-"
        )
        self._outer = gui.add_folder(None)
        self._folder: GuiFolderHandle | None = None
        self._plots: list[tuple[Plot, GuiUplotHandle]] = []
        self._data: list[tuple[np.ndarray, ...]] = []
        self._time = float(runs[0].time[0])
        self.topic.on_update(lambda _: act(self._topic_changed))
        self.choice.on_update(lambda _: act(self._rebuild))
        self._topic_changed()

    def redraw(self, time: float | None = None) -> None:
        """Draw the curves again, after runs went on; shade the past up to a time [s]."""
        self._data = [self._curves(plot) for plot, _ in self._plots]
        self.mark(self._time if time is None else time)

    def mark(self, time: float) -> None:
        """Shade the past up to a time [s].

        uPlot has no gaps in plain arrays, so the shade is a curve that is high up to the present
        and low after it.
        """
        self._time = time
        for (_, drawn), (grid, bounds, *values) in zip(self._plots, self._data, strict=True):
            drawn.data = (grid, bounds, np.where(grid <= time, EDGE, -EDGE), *values)

    def _topic_changed(self) -> None:
        """Offer the contacts or joints of the chosen topic, and show the first."""
        run, topic = self.runs[0], self.topic.value
        names = choices(run, topic)
        self.choice.visible = len(names) > 1
        if names and tuple(self.choice.options) != names:
            self.choice.options = names
            self.choice.value = first_choice(run, topic)
        self._rebuild()

    def _rebuild(self) -> None:
        """Replace the plots by those of the chosen topic."""
        if self._folder is not None:
            self._folder.remove()
        with self._outer:
            self._folder = self._gui.add_folder(None)
        with self._folder:
            shown = plots(self.runs[0], self.topic.value, self.choice.value)
            self._plots = [(plot, self._add(plot)) for plot in shown]
        self.redraw()

    def _add(self, plot: Plot) -> GuiUplotHandle:
        from viser import uplot

        many = len(self.runs) > 1
        lines = []
        for k, run in enumerate(self.runs):
            for i, name in enumerate(plot.lines):
                colour = self._colours[k] if many else style.COLOURS[i]
                line = uplot.Series(label=f"{run.label} {name}".strip(), stroke=colour, width=1.5)
                if many and DASHES[i]:
                    line["dash"] = DASHES[i]
                lines.append(line)
        unseen = uplot.Series(label="range", stroke="transparent", points={"show": False})
        past = uplot.Series(
            label="past",
            stroke="transparent",
            fill=PAST,
            fillTo=-EDGE,
            auto=False,  # the axis is not scaled by it
            points={"show": False},
        )
        if len(plot.lines) > 1:
            shades = [rgb(style.COLOURS[i]) for i in range(len(plot.lines))]
            if not many:
                self._gui.add_html(legend(dict(zip(plot.lines, shades, strict=True))))
        return self._gui.add_uplot(
            tuple(np.zeros(2) for _ in range(3 + len(lines))),
            (uplot.Series(label="t [s]"), unseen, past, *lines),
            title=plot.title,
            scales={"x": uplot.Scale(time=False)},
            axes=(
                uplot.Axis(ticks=TICKS, incrs=TIME_STEPS),
                uplot.Axis(ticks=TICKS, space=TICK_SPACE),
            ),
            legend=uplot.Legend(show=False),
            cursor=uplot.Cursor(show=True),
            height=HEIGHT,
            padding=(10, 12, 0, 0),
        )

    def _curves(self, plot: Plot) -> tuple[np.ndarray, ...]:
        """Return times, a curve from end to end of the axis, and all lines of all runs."""
        grid, *values = curves(self.runs[0], plot)
        for run in self.runs[1:]:
            time, *others = curves(run, plot)
            values += [np.interp(grid, time, other) for other in others]
        low, high = axis_bounds(values, plot.span, plot.from_zero)
        return grid, np.where(np.arange(len(grid)) % 2, high, low), *values


def curves(run: RunArrays, plot: Plot) -> tuple[np.ndarray, ...]:
    """Return times and the lines of a plot; zeros if the run lacks their variables or contact."""
    try:
        if set(plot.needs) <= set(run.arrays):
            return thinned(run.time, *(value(run) for value in plot.lines.values()))
    except ValueError:  # this run has no such contact
        pass
    return run.time, *(np.zeros(len(run.time)) for _ in plot.lines)


def add_curves(
    gui: GuiApi, runs: Sequence[RunArrays], colours: Sequence[str], act: Act
) -> Curves | None:
    """Add a panel of curves on the left; return None if the first run has nothing to plot."""
    if not topics(runs[0]):
        return None
    panel = gui.add_panel()
    with panel.add_tab("Curves"):
        made = Curves(gui, runs, colours, act)
    panel.dock_left()
    panel.set_width(WIDTH)
    return made
