"""Section IV-C with more vertices: the lambda from which the robot that stands up falls.

The paper does not say how many vertices a sole has. Under (33) a sole that carries a moment turns
as a rotary damper does: with x_i the places of its vertices along the foot,

    moment = rate (sum x_i^2)^2 / (lambda I dt)

so that the lambda at which it gives way too fast for the robot grows as (sum x_i^2)^2. Vertices are
spread evenly along the outline of hoap1's sole; the floor alone acts below the membrane (stand.py).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.report import Result, Row, near, shown
from heelstrike.papers.sugihara2006.against import draw_force
from heelstrike.papers.sugihara2006.stand import (
    EXCESS,
    LAMBDAS,
    READINGS,
    UPRIGHT,
    Stance,
    stood_up,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OUTLINES = {4: (2, 2), 8: (3, 3), 10: (3, 4), 12: (4, 4)}
"""By vertices of a sole: along and across it."""
CHOSEN = 10
"""Vertices of a sole that falls at the paper's lambda, ours."""
TRIED = (*LAMBDAS[:3], 1.5, 2.0, 3.0, *LAMBDAS[3:], 5.0, 6.0, EXCESS, 8.0, 10.0, 14.0)
"""[1/kg^2]"""
ABOUT = 1.0
"""How far "about 7" may be from 7 [1/kg^2]."""
SHARE = 0.5
"""How far the limits of other outlines may be from that rule, as a share of it."""
CLEAR = 3.0
"""Ratio of two chatters from which one force is smoother."""
LEANS = "Standing at 4 the robot leans, as its soles turn on."


def outline(along: int, across: int) -> list[tuple[str, tuple[float, float, float], float]]:
    """Return vertices on the rectangle of each sole: (body, place [m], radius)."""
    robot = hs.load("hoap1", collide="feet")
    found = []
    for foot in dict.fromkeys(point.body for point in robot.points):
        corners = np.array([point.position for point in robot.points if point.body == foot])
        low, high = corners.min(axis=0), corners.max(axis=0)
        xs, ys = np.linspace(low[0], high[0], along), np.linspace(low[1], high[1], across)
        found += [
            (robot.bodies[foot].name, (float(x), float(y), float(low[2])), 0.0)
            for x in xs
            for y in ys
            if x in (low[0], high[0]) or y in (low[1], high[1])
        ]
    return found


def stiffness(vertices: int) -> float:
    """(sum x^2)^2 of both soles, x over half a sole's length."""
    x = np.array([place[0] for _, place, _ in outline(*OUTLINES[vertices])])
    middle, half = (x.max() + x.min()) / 2, (x.max() - x.min()) / 2
    return float((((x - middle) / half) ** 2).sum() ** 2)


@cache
def stances(vertices: int, reading: str = "rigid") -> tuple[Stance, ...]:
    """Return the robot standing up, for every lambda that is tried."""
    robot = hs.load("hoap1", points=outline(*OUTLINES[vertices]))
    return stood_up(robot, "paper", reading, TRIED)


def limit(vertices: int) -> float:
    """Return the lambda at which the height at the end falls below that of a robot that stands."""
    made = stances(vertices)
    height = np.array([one.height for one in made]) / made[1].height
    first = int((height < UPRIGHT).argmax())
    if height[first] >= UPRIGHT:
        return float("inf")
    share = (height[first - 1] - UPRIGHT) / (height[first - 1] - height[first])
    return float(TRIED[first - 1] + share * (TRIED[first] - TRIED[first - 1]))


def vertices() -> Result:
    """Limits of lambda, and chatter and spread of the chosen sole."""
    limits = {count: limit(count) for count in OUTLINES}
    scale = limits[CHOSEN] / stiffness(CHOSEN)
    rows: list[Row] = []
    for count, found in limits.items():
        name = f"{count} vertices a sole: lambda from which it falls [1/kg^2]"
        if count == CHOSEN:
            remark = (
                "The paper does not print the number of vertices: ten a sole is ours, chosen for "
                "this row. The height of the centre of mass, interpolated between the lambdas."
            )
            rows.append(near(name, found, None, ABOUT, EXCESS, remark, fault=True))
            continue
        exact = scale * stiffness(count)
        remark = f"Closed form: that of {CHOSEN} vertices, by (sum x^2)^2."
        rows.append(near(name, found, exact, SHARE * exact, remark=remark, fault=True))
    for reading in ("rigid", "both"):
        rows += _smoothness(READINGS[reading], stances(CHOSEN, reading))
    return Result(
        "vertices",
        "soles with more vertices: the lambda at which the robot fails",
        "At lambda about 7 the robot penetrates the floor, due to the lack of reaction force.",
        tuple(rows),
        lambda: _draw(limits),
    )


def _smoothness(name: str, made: tuple[Stance, ...]) -> list[Row]:
    """Chatter of fig 7 and spread of fig 8."""
    by = {stance.value: stance for stance in made}
    first, most = by[LAMBDAS[0]], by[LAMBDAS[-1]]
    listed = ", ".join(f"{by[value].chatter:.3g}" for value in LAMBDAS)
    rows = [
        shown(
            f"{CHOSEN} vertices, {name}: chatter rising, lambda {first.value:g} over "
            f"{most.value:g}",
            first.chatter / most.chatter,
            first.chatter > CLEAR * most.chatter,
            "impulsive; smooth",
            f"At lambda 0.01, 0.1, 1, 4: {listed} 1/s.",
        )
    ]
    for part, attribute in (("rising", "spread"), ("standing", "late_spread")):
        least, largest = getattr(first, attribute), getattr(most, attribute)
        rows.append(
            shown(
                f"{CHOSEN} vertices, {name}: spread {part}, lambda {first.value:g} over "
                f"{most.value:g}",
                least / largest,
                least > largest,
                "> 1",
                f"{least:.3g} and {largest:.3g}.{' ' + LEANS if least <= largest else ''}",
            )
        )
    return rows


def _draw(limits: dict[int, float]) -> Figure:
    """Forces of a vertex as in fig 7, and the limits."""
    from heelstrike.view import plot

    figure, axes = plot.figure(2, 3, size=(13.0, 6.4))
    by = {stance.value: stance for stance in stances(CHOSEN)}
    vertex = int(np.abs(np.diff(by[LAMBDAS[0]].left, axis=0)).sum(axis=0).argmax())
    for ax, value in zip((axes[0], axes[1], axes[3], axes[4]), LAMBDAS, strict=True):
        draw_force(ax, by[value], [vertex], f"{CHOSEN} vertices a sole")
    _draw_heights(axes[2])
    _draw_limits(axes[5], limits)
    return figure


def _draw_heights(ax: Axes) -> None:
    from heelstrike.view import plot

    for k, count in enumerate(OUTLINES):
        made = stances(count)
        height = np.array([one.height for one in made]) / made[1].height
        upright = height > 0
        ax.plot(np.array(TRIED)[upright], height[upright], label=f"{count} a sole", **plot.line(k))
    ax.axvline(EXCESS, color=plot.GREY, linewidth=0.8)
    ax.axhline(UPRIGHT, color=plot.GREY, linewidth=0.8)
    ax.set(ylim=(0, 1.05))
    plot.label(ax, "Height at the end", r"$\lambda$ [1/kg$^2$]", r"over that at $\lambda$ = 0.1")


def _draw_limits(ax: Axes, limits: dict[int, float]) -> None:
    from heelstrike.view import plot

    x = np.array([stiffness(count) for count in limits])
    ax.plot(x, list(limits.values()), "o", color=plot.COLOURS[0], label="from which it falls")
    grid = np.linspace(0, x.max(), 2)
    ax.plot(
        grid,
        limits[CHOSEN] / stiffness(CHOSEN) * grid,
        color=plot.INK,
        linewidth=0.8,
        label=f"in proportion, from {CHOSEN}",
    )
    ax.axhline(EXCESS, color=plot.GREY, linewidth=0.8)
    plot.label(ax, "Limit by the outline", r"$(\sum x^2)^2$", r"$\lambda$ [1/kg$^2$]")
