"""Table I, the nine motions, and fig 6, their postures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.papers.report import Result, Row, meets, near, shown, unknown
from heelstrike.papers.tsujita2009 import motions
from heelstrike.papers.tsujita2009.mass import TABLE
from heelstrike.papers.tsujita2009.motions import SOUGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAST = 0.02
"""Error that the hand's speed may have in the simulation, as a share: it is the servo's."""
FRAMES = (-0.25, -0.1, 0.002, 0.03, 0.07)
"""Of the film, from the hit [s]."""


def table1() -> Result:
    """Virtual mass and speed of the hand when each motion hits."""
    made = motions.simplified()
    rows: list[Row] = []
    for i, (name, (mass, speed, *_)) in enumerate(TABLE.items()):
        hit, moves = f"{name}: m_a at the hit [kg]", f"{name}: v_c of the motion [m/s]"
        rows.append(near(hit, made.virtual_mass[i], mass, 1e-3, remark=SOUGHT))
        rows.append(near(moves, made.speed[i], speed, 1e-3, remark=SOUGHT))
        run = motions.simulated(name, "rigid")
        remark = "What the servo makes of the motion, hrp2's gains, rigid floor."
        rows.append(near(f"{name}: v_c in the full simulation [m/s]", run.speed, None,
                         FAST * speed, speed, remark))  # fmt: skip
        torque = np.abs(np.asarray(motions.motion(name).torque))[:, 6:].max(axis=0)
        share = float((torque / motions.robot().torque_limit[6:]).max())
        rows.append(meets(f"{name}: largest torque over its limit", share, most=1))
    return Result(
        "table1",
        "The names of each motion",
        "Nine motions with a virtual mass of 4, 6, 8 kg at 0.4, 0.7, 1.0 m/s.",
        tuple(rows),
    )


def fig6() -> Result:
    """Return the three postures, in the motions at 1.0 m/s."""
    ends = [motions.posed(name).virtual_mass for name in ("least", "most")]
    remark = "What hrp2 can have on this line, standing like this; postures are local optima."
    rows = [
        shown("least virtual mass on the line [kg]", ends[0], ends[0] <= 4, "4.0 or less", remark),
        shown("most virtual mass on the line [kg]", ends[1], ends[1] >= 8, "8.0 or more", remark),
    ]
    for letter, mass in motions.LETTERS.items():
        found = motions.posed(mass)
        rows += [
            near(f"{letter}: virtual mass [kg]", found.virtual_mass, mass, 1e-3, remark=SOUGHT),
            unknown(f"{letter}: hand's place along the line [m]", "picture",
                    "The picture has no scale; ours is judged by nothing.", found.hand[0]),
        ]  # fmt: skip
    return Result(
        "fig6",
        "HRP-2 punches the target object by different postures",
        "Postures of 4, 6 and 8 kg.",
        tuple(rows),
        _draw,
    )


def _draw() -> Figure:
    from heelstrike.view.render.camera import Camera
    from heelstrike.view.render.film_strip import film_strip_figure

    runs = [motions.simulated(f"{letter}-3", "rigid").recording for letter in motions.LETTERS]
    labels = [f"{letter}: {mass:g} kg" for letter, mass in motions.LETTERS.items()]
    times = [motions.LEAD + t for t in FRAMES]
    return film_strip_figure(runs, times=times, labels=labels, camera=Camera(azimuth=-60))
