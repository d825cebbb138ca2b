"""Fig 9: the centre of mass of a walk, and its acceleration, with and without static friction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.papers.report import Result, Row, meets, shown
from heelstrike.papers.sugihara2006.stand import DT, READINGS
from heelstrike.papers.sugihara2006.walking import Walked, gait, walks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FALLEN = 0.8
"""Height of the centre of mass, as a share of that at the start, below which it fell."""
ALIKE = 0.05
"""Largest distance of two loci, as a share of the way, that counts as alike."""
CLEAR = 1.5
"""Ratio from which an acceleration shakes more."""
DITHERS = 1.05
"""Ratio from which soles dither more."""
CALM = 1.1
"""Ratio up to which neither does."""


def fig9() -> Result:
    """Both rules, both readings."""
    rows: list[Row] = []
    for rule, name in (("paper", "literal rule"), ("consistent", "consistent rule")):
        for reading in ("both", "rigid"):
            with_static, without = walks(rule, reading)
            rows += _rows(f"{name}, {READINGS[reading]}", rule, with_static, without)
    return Result(
        "fig9",
        "centre of mass of a walk, with and without static friction",
        "The loci of the centre of mass are alike; its acceleration oscillates without static "
        "friction, by the dither of the soles.",
        tuple(rows),
        lambda: _draw(*walks("paper", "both")),
    )


def _rows(name: str, rule: str, one: Walked, other: Walked) -> list[Row]:
    if _fell(one) or _fell(other):
        height = min(one.com[:, 2].min(), other.com[:, 2].min())
        remark = "It falls: under one foot the literal rule sinks, and unevenly."
        return [shown(f"{name}: lowest centre of mass [m]", height, False, "walks", remark)]
    way = one.com[-1, 0] - one.com[0, 0]
    apart = float(np.abs(one.com - other.com).max())
    ratio = float((other.shaking[:2] / one.shaking[:2]).max())
    literal = rule == "paper"
    remark = (
        f"Along x and y {one.shaking[0]:.3g}, {one.shaking[1]:.3g} m/s^2 from step to step with, "
        f"{other.shaking[0]:.3g}, {other.shaking[1]:.3g} without."
    )
    if not literal:
        remark += " Points that would stick are held by mu_k as well: it does not shake."
    dither = float(other.dither / one.dither)
    speeds = f"{1e3 * one.dither:.3g} mm/s with, {1e3 * other.dither:.3g} without, rms."
    shakes = f"{name}: acceleration's shaking without over with, the larger of x and y"
    dithers = f"{name}: dither of the soles without over with"
    alike = shown(
        f"{name}: largest distance of the loci [mm]",
        1e3 * apart,
        apart < ALIKE * way,
        "alike",
        f"Of a way of {1e3 * way:.0f} mm; the gait's own is {1e3 * _wanted():.0f}.",
    )
    if not literal:
        return [
            alike,
            meets(shakes, ratio, most=CALM, remark=remark),
            meets(dithers, dither, most=CALM, remark=speeds),
        ]
    return [
        alike,
        shown(shakes, ratio, ratio > CLEAR, "oscillates", remark, fault=True),
        shown(dithers, dither, dither > DITHERS, "dithers", speeds, fault=True),
    ]


def _fell(walked: Walked) -> bool:
    return bool(walked.com[:, 2].min() < FALLEN * walked.com[0, 2])


def _wanted() -> float:
    """Return the way that the gait goes [m]."""
    return float(gait().settings["length"] * (gait().settings["steps"] - 1))


def _draw(one: Walked, other: Walked) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(2, 3, size=(13.0, 6.0))
    times = DT * np.arange(len(one.com))
    for row, walked in zip((axes[:3], axes[3:]), (one, other), strict=True):
        friction = r"$\mu_S$ = " + f"{walked.mu_s:g}"
        row[0].plot(1e3 * walked.com[:, 0], 1e3 * walked.com[:, 1], color=plot.COLOURS[0])
        plot.label(row[0], f"Centre of mass, {friction}", "x [mm]", "y [mm]")
        for ax, i, axis in ((row[1], 0, "x"), (row[2], 1, "y")):
            ax.plot(times[:-1], walked.acceleration[:, i], color=plot.COLOURS[0], linewidth=0.6)
            ax.set_ylim(-4, 4)
            plot.label(
                ax,
                f"Its acceleration along {axis}, {friction}",
                "time [s]",
                "acceleration [m/s$^2$]",
            )
    return figure
