"""Fig 7: the normal force of one vertex of the left sole while the robot stands, by lambda.

Chatter is the total variation of a vertex's normal force per second, over the weight carried; of
the left sole the vertex that chatters most. Sinking stands beside it, against w* = g dt lam (m/n)^2
(stand.py), and the consistent rule with smoothing in place of lambda.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.papers.report import Result, Row, below, near, shown
from heelstrike.papers.sugihara2006.against import (
    Stances,
    beside,
    both_rules,
    by_lambda,
    by_reading,
    draw_against,
    draw_force,
)
from heelstrike.papers.sugihara2006.closed_form import MASS, G
from heelstrike.papers.sugihara2006.stand import (
    EXCESS,
    LAMBDAS,
    POINTS,
    READINGS,
    SMALL,
    THICKNESS,
    K,
    Stance,
    sinking,
    stances,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

IMPULSIVE = 3.0
"""Peak of a vertex's force, over an eighth of the weight, from which it is impulsive."""
CALM = 0.1
"""Chatter of a force that is smooth [1/s]."""
STILL = 1.0
"""Speed below which a robot does not sink [um/s]."""


def fig7() -> Result:
    """Chatter and sinking for every reading, both rules."""
    literal, ours = both_rules()
    rows = (
        *by_reading(literal, _literal),
        *_small_epsilon(stances("paper", "rigid", SMALL)),
        *by_reading(ours, _consistent),
    )
    return Result(
        "fig7",
        "normal force of a vertex of the left sole, standing",
        "The force is impulsive, chattering, at small lambda and smooth as lambda grows; at "
        "lambda about 7 the robot penetrates the floor.",
        rows,
        lambda: _draw(literal, ours),
    )


def _smoother(last: Stance | None, stance: Stance) -> bool:
    return last is None or stance.chatter < last.chatter


def _literal(reading: str, made: tuple[Stance, ...]) -> list[Row]:
    name, tried = READINGS[reading], made[: len(LAMBDAS)]
    first, most = tried[0], tried[-1]
    rows = [
        shown(
            f"{name}, lambda {first.value:g}: peak of a vertex over its share",
            first.peak * POINTS,
            first.peak * POINTS > IMPULSIVE,
            "impulsive",
            f"At lambda {most.value:g}: {most.peak * POINTS:.2g}.",
        )
    ]
    rows += by_lambda(reading, made, "chatter", _smoother, ("chatters", "smoother"))
    rows += [
        shown(
            f"{name}, lambda {first.value:g}: chatter standing [1/s]",
            first.late_chatter,
            first.late_chatter > 1,
            "impulsive",
            "From 1 to 2 s. Nothing is left of it once the robot stands still: (33) has one "
            "minimum, which moves no faster than the robot does.",
        ),
        shown(
            f"{name}, lambda {most.value:g}: chatter standing [1/s]",
            most.late_chatter,
            most.late_chatter < CALM,
            "smooth",
            ""
            if reading == "both"
            else "Sinking feet are soft feet: the robot begins to rock on them.",
        ),
    ]
    return rows + _depth(reading, made)


def _depth(reading: str, made: tuple[Stance, ...]) -> list[Row]:
    """Sinking at moderate lambda by its formula, and what happens at the excess."""
    name = READINGS[reading]
    by = {stance.value: stance for stance in made}
    most, excess = by[LAMBDAS[-1]], by[EXCESS]
    if reading == "both":
        rest = MASS * G / (POINTS * K)
        rows = [
            near(
                f"{name}, lambda {lam:g}: depth after 2 s [mm]",
                1e3 * by[lam].depth,
                1e3 * rest,
                5e-3,
                remark="m g / (n k): the membrane comes to carry all of the weight, 0.6 mm inside "
                "the rigid floor, for every lambda; with a larger one sooner.",
            )
            for lam in LAMBDAS[2:]
        ]
        ratio = excess.depth / most.depth
        claim = f"{name}: depth after 2 s, lambda {EXCESS:g} over lambda {LAMBDAS[-1]:g}"
        return [*rows, shown(claim, ratio, ratio > 1.1, "penetrates", "No threshold at 7.")]
    rows = [
        near(
            f"{name}, lambda {lam:g}: sinking [um/s]",
            1e6 * by[lam].sinking,
            1e6 * sinking(lam),
            0.03e6 * sinking(lam),
            remark="g dt lambda (m/n)^2: the literal rule sinks for every lambda > 0.",
        )
        for lam in LAMBDAS[:2]
    ]
    for stance, claim, holds in (
        (most, "stands", 1e6 * most.sinking < STILL),
        (excess, "penetrates", 1e6 * excess.sinking > STILL),
    ):
        rows.append(
            shown(
                f"{name}, lambda {stance.value:g}: depth after 2 s [mm]",
                1e3 * stance.depth,
                holds,
                claim,
                f"Below {1e3 * THICKNESS:g} mm of membrane, if any. There is no threshold.",
            )
        )
    return rows


def _small_epsilon(made: tuple[Stance, ...]) -> list[Row]:
    return [
        shown(
            f"floor alone below, epsilon 5 mm/s, lambda {stance.value:g}: chatter standing [1/s]",
            stance.late_chatter,
            stance.late_chatter < CALM,
            "smooth",
            f"It sinks at {1e3 * sinking(stance.value):.2g} mm/s: near epsilon and above, points "
            "change between S and K from step to step.",
        )
        for stance in made[2:4]
    ]


def _consistent(reading: str, made: tuple[Stance, ...]) -> list[Row]:
    """The worst over all smoothings."""
    name = f"consistent rule, {READINGS[reading]}"
    return [
        below(
            f"{name}: chatter standing [1/s]",
            max(stance.late_chatter for stance in made),
            1e-3,
            remark=beside(made),
        ),
        below(
            f"{name}: sinking [um/s]",
            1e6 * max((stance.sinking for stance in made), key=abs),
            1e-2,
            remark=beside(made),
        ),
    ]


def _draw(literal: Stances, ours: Stances) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(2, 3, size=(13.0, 6.4))
    tried = literal["both"][: len(LAMBDAS)]
    vertex = int(np.abs(np.diff(tried[0].left, axis=0)).sum(axis=0).argmax())
    for ax, stance in zip((axes[0], axes[1], axes[3], axes[4]), tried, strict=True):
        draw_force(ax, stance, [vertex])
    chatter, sinks = axes[2], axes[5]
    for ax, measure, scale in ((chatter, "chatter", 1.0), (sinks, "sinking", 1e3)):
        draw_against(ax, literal, measure, "o-", "(33)", scale)
        draw_against(ax, ours, measure, "s:", "consistent", scale)
    lam = np.geomspace(LAMBDAS[0], EXCESS, 50)
    form = [1e3 * sinking(one) for one in lam]
    sinks.plot(lam, form, color=plot.INK, linewidth=0.8, label=r"$g\,dt\,\lambda (m/n)^2$")
    x = r"$\lambda$ [1/kg$^2$], smoothing"
    plot.label(chatter, "Chatter in the first 0.5 s", x, "chatter [1/s]")
    plot.label(sinks, "Sinking, 1 to 2 s", x, "sinking [mm/s]")
    for ax in (chatter, sinks):
        ax.legend(fontsize=6, frameon=True, framealpha=0.8, edgecolor="none")
    return figure
