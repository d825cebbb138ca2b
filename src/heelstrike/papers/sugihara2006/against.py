"""Figs 7 and 8: a measure of the robot that stands up, against lambda and against
smoothing, with and without membrane, all other measures beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.papers.report import Row, shown
from heelstrike.papers.sugihara2006.closed_form import MASS, G
from heelstrike.papers.sugihara2006.stand import (
    DT,
    LAMBDAS,
    LEFT,
    READINGS,
    Stance,
    stances,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Stances = dict[str, tuple[Stance, ...]]
"""By reading."""
Rows = Callable[[str, tuple[Stance, ...]], list[Row]]
"""Of one reading."""

LINES = {
    "peak": ("peak of a vertex over its share", "", 1.0),
    "first_chatter": ("chatter as the weight comes on", "1/s", 1.0),
    "chatter": ("rising", "1/s", 1.0),
    "late_chatter": ("standing", "1/s", 1.0),
    "spread": ("spread rising", "", 1.0),
    "late_spread": ("standing", "", 1.0),
    "sinking": ("sinking", "um/s", 1e6),
    "depth": ("depth at the end", "mm", 1e3),
}
"""Measures: name, unit, what of it a metre or a second is."""
LEAST = 1e-6
"""Drawn on a logarithmic axis."""


def both_rules() -> tuple[Stances, Stances]:
    """(33) for every lambda, the consistent rule for every smoothing."""
    literal, ours = (
        {reading: stances(rule, reading) for reading in READINGS}
        for rule in ("paper", "consistent")
    )
    return literal, ours


def by_reading(made: Stances, rows: Rows) -> Iterator[Row]:
    """Rows of all readings."""
    for reading in READINGS:
        yield from rows(reading, made[reading])


def by_lambda(
    reading: str,
    made: tuple[Stance, ...],
    measure: str,
    holds: Callable[[Stance | None, Stance], bool],
    claims: tuple[str, str],
) -> list[Row]:
    """Return a row for each of the paper's lambdas: `holds` of the one before and this one, the
    claims for the first and for the others.
    """
    what, unit, scale = LINES[measure]
    name = f"{what}{f' [{unit}]' if unit else ''}"
    rows = []
    for last, stance in pairwise((None, *made[: len(LAMBDAS)])):
        assert stance is not None
        rows.append(
            shown(
                f"{READINGS[reading]}, lambda {stance.value:g}: {name}",
                scale * getattr(stance, measure),
                holds(last, stance),
                claims[last is not None],
                beside(made),
            )
        )
    return rows


def beside(made: tuple[Stance, ...]) -> str:
    """All measures of all stances, in words."""
    tried = "lambda" if made[0].value == LAMBDAS[0] else "smoothing"
    parts = []
    for measure, (name, unit, scale) in LINES.items():
        found = _listed([scale * getattr(stance, measure) for stance in made])
        parts.append(f"{name} {found} {unit}".rstrip())
    return f"For {tried} {_listed([stance.value for stance in made])}: {'; '.join(parts)}."


def _listed(values: list[float]) -> str:
    """One number where all are alike."""
    short = ["0" if abs(x) < LEAST else f"{x:.3g}" for x in values]
    return short[0] if len(set(short)) == 1 else ", ".join(short)


def draw_force(
    ax: Axes, stance: Stance, vertices: list[int], words: str = READINGS["both"]
) -> None:
    """Normal forces of vertices of the left sole in time; `words` name the floor."""
    from heelstrike.view import plot

    force = stance.left
    for i in vertices:
        label = f"{LEFT}.{i}" if len(vertices) > 1 else None
        ax.plot(
            DT * np.arange(len(force)),
            force[:, i],
            "-",
            color=plot.COLOURS[i],
            label=label,
            linewidth=0.7,
        )
    ax.axhline(MASS * G / len(stance.whole.points), color=plot.GREY, linewidth=0.8)
    title = r"$\lambda$ = " + f"{stance.value:g}, {words}"
    plot.label(ax, title, "time [s]", "normal force of a vertex [N]")


def draw_against(
    ax: Axes, made: Stances, measure: str, line: str, label: str, scale: float = 1.0
) -> None:
    """A measure against lambda or smoothing, a line for each reading, where it is not zero."""
    from heelstrike.view import plot

    for colour, (reading, name) in zip(plot.COLOURS, READINGS.items(), strict=False):
        values = [stance.value for stance in made[reading]]
        measured = scale * np.array([getattr(stance, measure) for stance in made[reading]])
        kept = np.where(measured > LEAST, measured, np.nan)
        if np.isfinite(kept).any():
            ax.plot(values, kept, line, color=colour, markersize=4, label=f"{name}, {label}")
    ax.set(xscale="log", yscale="log")
