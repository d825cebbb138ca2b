"""Fig 8: how the normal force is distributed over the vertices of the left sole, by lambda.

Spread is the standard deviation of the four vertices' normal forces over their mean, averaged over
the first 0.5 s of the stance, in which the weight comes on, and over its second second, in which
nothing moves (stand.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.papers.report import Result, Row, below, shown
from heelstrike.papers.sugihara2006.stand import DT, LAMBDAS, LEFT, READINGS, Stance, stances

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EVEN = 0.1
"""Spread of forces that are even."""
ALREADY = (
    "The smallest forces of all that solve (32) are even already; a large lambda adds what is not "
    "in balance."
)
REASONS = dict.fromkeys(READINGS, ALREADY + " On feet that sink the robot rocks.")
REASONS["both"] = ALREADY
SHOWN = 0.3
"""Time drawn [s]."""


def fig8() -> Result:
    """Spread for every reading, both rules."""
    literal = {reading: stances("paper", reading) for reading in READINGS}
    ours = {reading: stances("consistent", reading) for reading in READINGS}
    rows: list[Row] = []
    for reading in READINGS:
        rows += _literal(reading, literal[reading])
    for reading in READINGS:
        rows += _consistent(reading, ours[reading])
    return Result(
        "fig8",
        "distribution of the force over the sole's vertices",
        "Disproportionate in space at lambda = 0.01, smoothed at lambda = 4.",
        tuple(rows),
        lambda: _draw(literal, ours),
    )


def _literal(reading: str, made: tuple[Stance, ...]) -> list[Row]:
    name, tried = READINGS[reading], made[: len(LAMBDAS)]
    first, most = tried[0], tried[-1]
    rows = [
        shown(
            f"{name}, lambda {stance.value:g}: spread as the weight comes on",
            stance.spread,
            (stance.spread < EVEN) == (stance is not first),
            "disproportionate" if stance is first else "smoother",
            "Mean of the first 0.5 s. Even forces have less than 0.1.",
        )
        for stance in tried
    ]
    for what, part in (("as the weight comes on", "spread"), ("standing", "late_spread")):
        least, largest = getattr(first, part), getattr(most, part)
        rows.append(
            shown(
                f"{name}, spread {what}, lambda {first.value:g} over lambda {most.value:g}",
                least / largest,
                least > largest,
                "> 1",
                f"{least:.3g} and {largest:.3g}. {REASONS[reading] if part != 'spread' else ''}",
            )
        )
    return rows


def _consistent(reading: str, made: tuple[Stance, ...]) -> list[Row]:
    """The largest change over all smoothings."""
    changes = [stance.late_spread - stance.spread for stance in made]
    spreads = ", ".join(f"{stance.late_spread:.2g}" for stance in made)
    return [
        below(
            f"consistent rule, {READINGS[reading]}: spread standing less that of the first 0.5 s",
            max(changes, key=abs),
            0.02,
            remark=f"{spreads} for smoothing 1e-4 to 1. Forces that balance are not changed any "
            "more, so a stance keeps the distribution that its touchdown left: it does not sink, "
            "and it is not even.",
        )
    ]


def _draw(literal: dict[str, tuple[Stance, ...]], ours: dict[str, tuple[Stance, ...]]) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(2, 2, size=(10.0, 6.4))
    both = literal["both"]
    for ax, stance in ((axes[0], both[0]), (axes[1], both[len(LAMBDAS) - 1])):
        force = stance.left[: round(SHOWN / DT)]
        for i in range(force.shape[1]):
            colour, label = plot.COLOURS[i], f"{LEFT}.{i}"
            ax.plot(DT * np.arange(len(force)), force[:, i], "-", color=colour, label=label)
        title = r"$\lambda$ = " + f"{stance.value:g}, membrane presses on"
        plot.label(ax, title, "time since touchdown [s]", "normal force [N]")
    for ax, made, x in ((axes[2], literal, r"$\lambda$ [1/kg$^2$]"), (axes[3], ours, "smoothing")):
        for colour, (reading, name) in zip(plot.COLOURS, READINGS.items(), strict=False):
            values = [stance.value for stance in made[reading]]
            early = [stance.spread for stance in made[reading]]
            late = [stance.late_spread for stance in made[reading]]
            ax.plot(values, early, "o-", color=colour, markersize=4, label=f"{name}, first 0.5 s")
            ax.plot(values, late, "s:", color=colour, markersize=4, label="standing")
        ax.set(xscale="log", yscale="log", ylim=(2e-3, 2))
        title = "Spread, rule (33)" if made is literal else "Spread, consistent rule"
        plot.label(ax, title, x, "standard deviation / mean")
        ax.legend(fontsize=6, frameon=True, framealpha=0.8, edgecolor="none", ncols=2)
    return figure
