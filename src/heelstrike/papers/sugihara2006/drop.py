"""The drop of fig 6: the robot falls 0.05 m onto the floor of (13), and of (14).

Both floors are in one scene, and every world has one of them under its feet; worlds differ in their
time step too, so each variant is one run. The paper says neither how the joints were driven nor
which rotor inertia they had, so there are variants: the servo holds the stance on the eight corners
of the soles; limp joints on all 137 corners of the robot's shells, as in the paper's pictures; and
the first without rotor inertia.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import heelstrike as hs
from heelstrike.papers.sugihara2006.closed_form import HEIGHT, C
from heelstrike.papers.sugihara2006.slide import EQUATIONS, law, parameter
from heelstrike.simulate.inertia import Touching, contact_mass

MU = 0.4
"""Kinetic friction, section IV-B."""
DURATION, LANDED = 1.0, 0.11
"""From LANDED to DURATION is looked at [s], ours; the soles touch at 0.101 s."""


@dataclass(frozen=True)
class Variant:
    """A way to drop the robot."""

    name: str
    servo: bool = True
    everywhere: bool = False
    """All points of all shells touch, not the soles' corners only."""
    rotors: bool = True
    remark: str = ""


VARIANTS = (
    Variant(
        "servo",
        remark="The servo holds the stance on the 8 corners of the soles. (13) does not throw the "
        "robot up: gamma = 1.2 at 2.5 ms.",
    ),
    Variant(
        "limp",
        servo=False,
        everywhere=True,
        remark="Limp joints; 137 points all over the robot. Neither law throws it up.",
    ),
    Variant(
        "no rotors",
        rotors=False,
        remark="As the first, without rotor inertia: a motor at its limit leaves its joint free, "
        "the corners feel 19 g, gamma = 15 at 1 ms, and both laws diverge at both steps. The "
        "energy is that until then.",
    ),
)


@dataclass(frozen=True)
class Drops:
    """What came of a drop under each law, (law, world)."""

    peak: np.ndarray
    """Highest place of the CoM from 10 ms after touchdown on [m], within `DURATION`."""
    created: np.ndarray
    """Largest work of the floor since the start, at least 0 [J]."""
    failed: np.ndarray
    start: float
    """Height of the CoM before the fall [m]."""
    time: np.ndarray
    height: np.ndarray
    """Of the CoM, (law, world, time) [m]."""


def simulator(variant: Variant) -> hs.Simulator:
    """hoap1 above two floors, floor 13 and floor 14."""
    robot = hs.load("hoap1", points="all" if variant.everywhere else "feet")
    if not variant.rotors:
        robot = replace(robot, armature=0 * robot.armature)
    floors = [
        hs.Plane(name=f"floor {e}", law=hs.Elastic(law(e), hs.Kinetic(mu=MU))) for e in EQUATIONS
    ]
    return hs.Simulator(hs.Scene(robot, *floors), control=hs.Servo() if variant.servo else None)


def felt(sim: hs.Simulator) -> float:
    """1 / lambda_max of the soles' corners with free joints [kg]."""
    robot, up = sim.robot, np.array([0.0, 0.0, 1.0])
    points = hs.load("hoap1").points
    corners = [Touching(up, [(point.body, point.position)]) for point in points]
    return float(contact_mass(robot, robot.pose("stance"), corners))


def drops(sim: hs.Simulator, dt: np.ndarray, c: np.ndarray | None = None) -> Drops:
    """A world for each step (and damping), on each of the floors."""
    count = len(dt)
    worlds = len(EQUATIONS) * count
    vary: dict[str, Any] = {"dt": np.tile(dt, len(EQUATIONS))}
    for i, equation in enumerate(EQUATIONS):
        place = np.zeros((worlds, 3))
        place[:, 2] = -1e3
        place[i * count : (i + 1) * count] = 0
        vary[f"floor {equation}.point"] = place
        values = np.full(count, C) if c is None else c
        vary[parameter(equation, "c", f"floor {equation}")] = np.tile(values, len(EQUATIONS))
    q0 = sim.robot.pose("stance").copy()
    q0[2] += HEIGHT
    steps = int(np.ceil(DURATION / dt.min()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)  # worlds that diverge are the point
        data = sim.run(
            steps=steps,
            q0=q0,
            worlds=worlds,
            vary=vary,
            record=("com", "work_contact"),
            progress=False,
        ).data
    shape = (len(EQUATIONS), count, -1)
    failed = data.failed.values.reshape(shape)
    time = dt[:, None] * np.arange(steps + 1)
    valid = (time <= DURATION) & ((failed < 0) | (np.arange(steps + 1) < failed))
    height = np.where(valid, data.com.values[..., 2].reshape(shape), np.nan)
    work = np.where(valid, data.work_contact.values.reshape(shape), 0)
    return Drops(
        peak=np.where(valid & (time >= LANDED), height, -np.inf).max(axis=2),
        created=np.maximum(work.max(axis=2), 0),
        failed=(failed[..., 0] >= 0) & (failed[..., 0] * dt <= DURATION),
        start=float(height[0, 0, 0]),
        time=time,
        height=height,
    )
