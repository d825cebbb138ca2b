"""Figs 11 to 14: a walk of five steps, heights of the vertices and normal forces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.rengifo2009.load import EPSILONS
from heelstrike.papers.rengifo2009.walking import (
    DEEPER,
    DEFAULT,
    FINER,
    LITERAL,
    STEPS,
    UNCUT,
    Walked,
    Way,
    motion,
    walked,
)
from heelstrike.papers.report import Result, Row, meets, near, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WAYS = (LITERAL, DEFAULT)
BAND = 0.25
"""Height about the floor within which the vertices of fig 12 stay [mm]: "about 0.2", rounded."""
CALM = 0.01
"""Change of a vertex's force in a step without a discontinuity, over the weight."""
FEW = 0.1
"""False impacts that are few, over those of the law as printed, or of epsilon 0."""
RIGHT = slice(4, 8)
ZERO, DEEP, HIGH = range(len(EPSILONS))
SIGNS = ("0", "1e-6 m deep", "1e-6 m high, as printed")
COUNTED = "false impacts in five steps"


def fig11() -> Result:
    """Heights of all vertices."""
    rows: list[Row] = []
    gait = motion().settings
    for way in WAYS:
        run = walked(way)[ZERO]
        lifts = _lifts(run)
        rows += [
            near(
                f"{way.name}: steps",
                len(lifts),
                STEPS,
                0,
                "five; four in the figure's caption",
                "Times that all four vertices of a foot were more than half of its lift up.",
            ),
            near(
                f"{way.name}: way of the centre of mass [mm]",
                1e3 * float(run.com[-1, 0] - run.com[0, 0]),
                1e3 * gait["length"] * (STEPS - 1),
                5.0,
                remark="The gait's own; 1 % of it is left to slip.",
            ),
            near(
                f"{way.name}: greatest height of a vertex [mm]",
                1e3 * float(run.height.max()),
                1e3 * gait["height"],
                1.0,
                remark="The gait's own; joints lag and the other leg gives by less than 1 mm.",
            ),
        ]
    return Result(
        "fig11",
        "vertices of a walk",
        "The robot walks, and its eight vertices leave the ground and come back step by step.",
        tuple(rows),
        _draw_steps,
    )


def fig12() -> Result:
    """Heights of the right foot's vertices while it stands for the first time."""
    rows = []
    for way in WAYS:
        run = walked(way)[ZERO]
        stance = run.first_stance()
        height = 1e3 * run.height[stance, RIGHT]
        alone = height[run.alone[stance, RIGHT].all(axis=1)]
        for name, part in (("from landing to lift", height), ("on this foot alone", alone)):
            worst = float(np.abs(part).max())
            rows.append(
                shown(
                    f"{way.name}, {name}: largest height or depth [mm]",
                    worst,
                    worst <= BAND,
                    "about +-0.2",
                    f"From {part.min():.3f} to {part.max():.3f}.",
                )
            )
    return Result(
        "fig12",
        "vertices about the ground",
        "In stance the vertices stay within about 0.2 mm of the ground.",
        tuple(rows),
        lambda: _draw_stance(ZERO, heights=True),
    )


def fig13() -> Result:
    """Normal forces with epsilon 0."""
    rows = []
    weight = _weight()
    for way in WAYS:
        run = walked(way)[ZERO]
        stance = run.first_stance()
        force = run.force[stance, RIGHT]
        alone: np.ndarray = np.all(run.alone[stance, RIGHT], axis=1)
        stays = alone[1:] & alone[:-1]
        jump = float(np.abs(np.diff(force, axis=0))[stays].max())
        mean = float(force.sum(axis=1)[alone].mean())
        rows += [
            near(
                f"{way.name}: mean force on this foot alone, over the weight",
                mean / weight,
                1.0,
                0.02,
                remark="The centre of mass keeps its height, so statics says 1; the legs swing.",
            ),
            _jumps(way, jump, weight),
        ]
    literal, ours = (len(walked(way)[ZERO].false_impacts()) for way in WAYS)
    name = f"{_name(LITERAL, ZERO)}: {COUNTED}"
    rows.append(shown(name, literal, literal > 0, "false impacts", fault=True))
    remark = f"At most {100 * FEW:g} % of those of the law as printed."
    rows.append(
        meets(f"{_name(DEFAULT, ZERO)}: {COUNTED}", ours, most=FEW * literal, remark=remark)
    )
    return Result(
        "fig13",
        "normal forces, epsilon 0",
        "False impacts make discontinuities in the normal forces of the foot that stands.",
        tuple(rows),
        lambda: _draw_stance(ZERO),
    )


def _jumps(way: Way, jump: float, weight: float) -> Row:
    """Return the row of the largest change of a force on the foot that stands alone."""
    name = f"{way.name}, on this foot alone: largest change of a vertex's force in a step [N]"
    remark = f"The weight is {weight:.0f} N."
    if way is DEFAULT:
        return meets(name, jump, most=CALM * weight, remark=remark)
    return shown(name, jump, jump > 0.1 * weight, "discontinuities", remark, fault=True)


def fig14() -> Result:
    """Normal forces with epsilon, both signs."""
    rows = []
    high = "Does not hold as printed: p_z = +1e-6 m is above the ground, where there is no force."
    for way in (LITERAL, UNCUT, DEFAULT, FINER):
        remark = _passed(way) if way.form == "acceleration" else ""
        rows.append(_counted(way, DEEP, remark))
        rows.append(_counted(way, HIGH, high))
    rows += [*_deeper(LITERAL), *_deeper(UNCUT)]
    return Result(
        "fig14",
        "normal forces with epsilon",
        "With epsilon = 1e-6 m the false impacts are gone.",
        tuple(rows),
        lambda: _draw_stance(DEEP),
    )


def _name(way: Way, world: int) -> str:
    return f"{way.name}, epsilon {SIGNS[world]}"


def _counted(way: Way, world: int, remark: str) -> Row:
    found = len(walked(way)[world].false_impacts())
    return shown(f"{_name(way, world)}: {COUNTED}", found, found == 0, "none", remark)


def _passed(way: Way) -> str:
    """Return why epsilon does not catch a vertex: the way out, undamped, ends as far above epsilon
    as it began below.
    """
    before = np.array(walked(way)[DEEP].false_impacts())
    share = 100 * float((before > 2 * EPSILONS[DEEP]).mean())
    cause = (
        f"Nothing damps a vertex on its way out: deeper than 2e-6 m, it passes epsilon and comes "
        f"out. {share:.0f} % of these had been."
    )
    return f"{cause} That is not all: see deeper epsilons below." if way is LITERAL else cause


def _deeper(way: Way) -> list[Row]:
    """Return the counts of deeper epsilons, which catch a vertex where nothing else lifts it."""
    runs, rows = walked(way), []
    most = FEW * len(runs[ZERO].false_impacts())
    for epsilon, run in zip(DEEPER, runs[len(EPSILONS) :], strict=True):
        before = np.array(run.false_impacts())
        passed = int((before > 2 * epsilon).sum())
        name = f"{way.name}, epsilon {1e6 * epsilon:g} um deep: {COUNTED}"
        remark = f"{passed} of them had been deeper than 2 epsilon. "
        if way is LITERAL:
            remark += "No depth cures the others: (19) cuts a corner that pulls, and what is left "
            remark += "lifts the foot (item cop)."
            rows.append(meets(name, len(before), least=1, remark=remark, fault=True))
            continue
        remark += f"At most {100 * FEW:g} % of those with epsilon 0."
        rows.append(meets(name, len(before), most=most, remark=remark))
    return rows


def _lifts(run: Walked) -> list[float]:
    """Times at which a whole foot was lifted."""
    found = []
    for foot in (slice(0, 4), RIGHT):
        up = (run.height[:, foot] > motion().settings["height"] / 2).all(axis=1)
        found += run.times[1:][up[1:] & ~up[:-1]].tolist()
    return sorted(found)


def _weight() -> float:
    robot = hs.load("biped14", collide="feet")
    return float(robot.mass * robot.gravity)


def _draw_steps() -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(len(WAYS), 1, size=(10.0, 5.6))
    for ax, way in zip(axes, WAYS, strict=True):
        run = walked(way)[ZERO]
        for vertex in range(8):
            right = vertex >= 4
            ax.plot(
                run.times,
                1e3 * run.height[:, vertex],
                "-" if right else ":",
                color=plot.COLOURS[int(not right)],
                linewidth=1,
                label=("right foot" if right else "left foot") if vertex % 4 == 0 else None,
            )
        plot.label(ax, f"Vertices, {way.name}", "time [s]", "height [mm]")
    return figure


def _draw_stance(world: int, heights: bool = False) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(len(WAYS), 1, size=(10.0, 5.6))
    for ax, way in zip(axes, WAYS, strict=True):
        run = walked(way)[world]
        stance = run.first_stance()
        values = 1e3 * run.height if heights else run.force
        for k in range(4):
            shade = {"color": plot.COLOURS[k], "linewidth": 0.8, "label": f"v{k + 1}"}
            ax.plot(run.times[stance], values[stance, RIGHT][:, k], **shade)
        unit = "height [mm]" if heights else "force [N]"
        plot.label(ax, f"Right foot, {way.name}, epsilon {SIGNS[world]}", "time [s]", unit)
    return figure
