"""Fig 7: the normal force of one vertex of the left sole while the robot stands up, by lambda.

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
    UPRIGHT,
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
QUIET = (
    "Once the weight is on the soles nothing is left of the chatter: (33) has one minimum, which "
    "moves no faster than the robot does."
)
REMARKS = {
    "both": QUIET,
    "rigid": QUIET + " At 0.01, standing, vertices leave the rigid floor and come back; at 4 the "
    "robot falls over, on feet that sink.",
    "bare": "At 0.01 vertices leave the floor and come back; at 4 the robot falls over, on feet "
    "that sink.",
}
MORE = "Four vertices a sole; item vertices has more of them, and the threshold."
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
        "normal force of a vertex of the left sole, standing up",
        "The force is impulsive, chattering, at small lambda and smooth as lambda grows; at "
        "lambda about 7 the robot penetrates the floor.",
        rows,
        lambda: _draw(literal, ours),
    )


def _literal(reading: str, made: tuple[Stance, ...]) -> list[Row]:
    name, tried = READINGS[reading], made[: len(LAMBDAS)]
    first, most = tried[0], tried[-1]
    rows = by_lambda(reading, made, "peak", _lower, ("impulsive", "smoother"))
    rows += by_lambda(reading, made, "first_chatter", _calmer, ("chatters", "smoother"))
    for stance, claim in ((first, "impulsive"), (most, "smooth")):
        for part, chatter in (("rising", stance.chatter), ("standing", stance.late_chatter)):
            rows.append(
                shown(
                    f"{name}, lambda {stance.value:g}: chatter {part} [1/s]",
                    chatter,
                    chatter > 1 if stance is first else chatter < CALM,
                    claim,
                    REMARKS[reading],
                    fault=stance is first,
                )
            )
    return rows + _depth(reading, made)


def _lower(last: Stance | None, now: Stance) -> bool:
    return now.peak > IMPULSIVE if last is None else now.peak < 0.99 * last.peak


def _calmer(last: Stance | None, now: Stance) -> bool:
    return last is None or now.first_chatter < 0.95 * last.first_chatter


def _depth(reading: str, made: tuple[Stance, ...]) -> list[Row]:
    """Depth or sinking by their formulas, and what happens at the excess."""
    name = READINGS[reading]
    by = {stance.value: stance for stance in made}
    most, excess = by[LAMBDAS[-1]], by[EXCESS]
    if reading == "both":
        ratio = excess.depth / most.depth
        claim = f"{name}: depth at the end, lambda {EXCESS:g} over lambda {LAMBDAS[-1]:g}"
        return [
            near(
                f"{name}, lambda {most.value:g}: depth at the end [mm]",
                1e3 * most.depth,
                1e3 * MASS * G / (POINTS * K),
                5e-3,
                remark="m g / (n k): the membrane comes to carry all of the weight, 0.6 mm inside "
                "the rigid floor, for every lambda; with a larger one sooner.",
            ),
            shown(claim, ratio, ratio > 1.1, "penetrates", f"No threshold here. {MORE}"),
        ]
    some = LAMBDAS[1]
    sinks = near(
        f"{name}, lambda {some:g}: sinking [um/s]",
        1e6 * by[some].sinking,
        1e6 * sinking(some),
        0.03e6 * sinking(some),
        remark="g dt lambda (m/n)^2: the literal rule sinks for every lambda > 0.",
    )
    stood = most.height / made[1].height
    return [
        sinks,
        shown(
            f"{name}, lambda {most.value:g}: centre of mass at the end, over that at lambda 0.1",
            stood,
            stood > UPRIGHT,
            "stands",
            "Standing up it falls over, on soles that yield as dampers do; at lambda 1 it has "
            f"come to {made[2].height / made[1].height:.3g}.",
        ),
        shown(
            f"{name}, lambda {EXCESS:g}: depth at the end [mm]",
            1e3 * excess.depth,
            1e6 * excess.sinking > STILL,
            "penetrates",
            f"Below {1e3 * THICKNESS:g} mm of membrane, if any. It sinks for every lambda. {MORE}",
            fault=True,
        ),
    ]


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
    """Return the worst over all smoothings."""
    name = f"consistent rule, {READINGS[reading]}"
    return [
        below(
            f"{name}: chatter standing [1/s]",
            max(stance.late_chatter for stance in made),
            CALM,
            remark=beside(made),
        ),
        below(
            f"{name}: sinking [um/s]",
            1e6 * max((stance.sinking for stance in made), key=abs),
            STILL,
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
    for ax, measure, scale in ((chatter, "first_chatter", 1.0), (sinks, "sinking", 1e3)):
        draw_against(ax, literal, measure, "o-", "(33)", scale)
        draw_against(ax, ours, measure, "s:", "consistent", scale)
    lam = np.geomspace(LAMBDAS[0], EXCESS, 50)
    form = [1e3 * sinking(one) for one in lam]
    sinks.plot(lam, form, color=plot.INK, linewidth=0.8, label=r"$g\,dt\,\lambda (m/n)^2$")
    x = r"$\lambda$ [1/kg$^2$], smoothing"
    plot.label(chatter, "Chatter as the weight comes on", x, "chatter [1/s]")
    plot.label(sinks, "Sinking, standing", x, "sinking [mm/s]")
    for ax in (chatter, sinks):
        ax.legend(fontsize=6, frameon=True, framealpha=0.8, edgecolor="none")
    return figure
