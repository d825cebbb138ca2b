"""Figs 4 to 7: force against depth and time; the area of a loop is the energy lost (23).

The paper draws the force on the ground: that of (6), which acts on the mass, with its sign changed.
"""

from __future__ import annotations

import numpy as np

from heelstrike.papers.marhefka1996 import loops
from heelstrike.papers.marhefka1996.loops import CLOSE, Case, ratio
from heelstrike.papers.report import Result, below, near, shown

ALPHAS = [Case(f"alpha {a:g}", a, 1e4, 1.0, 1.0) for a in (0.01, 0.2, 0.4, 0.6)]
"""Fig 4: m = 1 kg, k = 10 kN/m, v_i = 1 m/s, n = 1."""
STIFFNESSES = [Case(f"k {k:g} kN/m", 0.5, 1e3 * k, 50.0, 1.0) for k in (10, 30, 50, 70)]
"""Figs 5, 6: v_i = 1 m/s, m = 50 kg, alpha = 0.5 s/m."""
MASSES = [Case(f"m {m:g} kg", 0.5, 25e3, m, 0.5) for m in (1.0, 10.0, 100.0)]
"""Fig 7: alpha = 0.5 s/m, k = 25 kN/m, v_i = 0.5 m/s."""


def fig4() -> Result:
    """Four alphas."""
    made = loops.run(ALPHAS)
    rows = [
        near(f"e, {case.name}", e, case.restitution, 1e-6)
        for case, e in zip(ALPHAS, made.impacts.e, strict=True)
    ]
    rows += loops.depths(made) + loops.forces(made) + loops.losses(made)
    grows, shrinks = ratio(made.lost), ratio(made.impacts.depth_max[::-1])
    rows += [
        shown("least ratio of successive losses", grows, grows > 1, "increases"),
        shown("largest ratio of successive depths", 1 / shrinks, shrinks > 1, "reduced"),
        *loops.continuous(made),
    ]
    return Result(
        "fig4",
        "force against depth, by alpha",
        "The area of the loop is the energy lost, and grows with alpha; the depth shrinks; force "
        "starts and ends at zero and never pulls.",
        tuple(rows),
        lambda: loops.draw(made, "Force against depth, by damping"),
    )


def fig5() -> Result:
    """Four stiffnesses, against depth."""
    made = loops.run(STIFFNESSES)
    spread = float(np.ptp(made.lost) / made.lost.mean())
    rows = [
        *loops.depths(made),
        *loops.losses(made),
        below("spread of the losses / mean", spread, CLOSE, "the same"),
    ]
    return Result(
        "fig5",
        "force against depth, by stiffness",
        "All loops have the same area; a stiffer ground is entered less deeply.",
        tuple(rows),
        lambda: loops.draw(made, "Force against depth, by stiffness"),
    )


def fig6() -> Result:
    """Four stiffnesses, against time."""
    made = loops.run(STIFFNESSES)
    sharper = ratio(made.impacts.force_max / made.durations)
    rows = [
        *loops.forces(made),
        *loops.durations(made),
        shown("least ratio of successive F_max / T", sharper, sharper > 1, "more impulsive"),
        *loops.continuous(made),
    ]
    return Result(
        "fig6",
        "force against time, by stiffness",
        "A stiffer ground makes the force more impulsive; it varies smoothly from zero to zero.",
        tuple(rows),
        lambda: loops.draw(made, "Force against time, by stiffness", in_time=True),
    )


def fig7() -> Result:
    """Three masses."""
    made = loops.run(MASSES)
    by_mass = made.lost / np.array([case.m for case in MASSES])
    spread = float(np.ptp(by_mass) / by_mass.mean())
    rows = [
        *loops.depths(made),
        *loops.forces(made),
        *loops.losses(made),
        below("spread of loss / m, over its mean", spread, CLOSE, "proportional"),
    ]
    return Result(
        "fig7",
        "force against depth, by mass",
        "The area of the loop is proportional to the mass; a heavier mass enters more deeply.",
        tuple(rows),
        lambda: loops.draw(made, "Force against depth, by mass"),
    )
