"""Gains of a servo that holds a robot whose file has none. These values are ours.

    standing    kp = 5 m g h,         kd = 0.05 s kp     at every joint of a robot with a free base
    mounted     kp = 20 m_j g l_j,    kd = 0.05 s kp     at each joint of a robot that is fixed

A robot of mass m whose centre of mass is h above its lowest contact point tips about an ankle of
stiffness below m g h; five times that holds it, sagging legs included. A joint of a mounted robot
carries m_j at a distance l_j; its arm sags by 1/20 rad at most. A prismatic joint sags by 2 mm.
"""

from __future__ import annotations

import numpy as np

from heelstrike.robot.placement import lowest_height, placements
from heelstrike.robot.robot import Robot

STANDING_MARGIN = 5.0
"""Stiffness of a joint over m g h, below which a robot tips [1/rad]."""
MOUNTED_MARGIN = 20.0
"""Stiffness of a joint over the largest torque of gravity [1/rad]."""
SLIDE_SAG = 2e-3
"""Way by which a prismatic joint sags under the weight that it carries [m]."""
MIN_DISTANCE = 0.02
"""Smallest distance of a carried mass from its joint [m]."""
DAMPING_TIME = 0.05
"""Damping of a joint over its stiffness [s]."""

Gains = float | dict[str, float]


def holding_gains(robot: Robot, q: np.ndarray) -> tuple[Gains, Gains]:
    """Return kp [N m/rad or N/m] and kd that hold a robot at q, to two digits.

    They are numbers for all joints, or numbers by joint.
    """
    if robot.joints[0].kind == "free" and robot.points:
        return standing_gains(robot, q)
    kp = {name: _rounded(value) for name, value in _mounted(robot, q).items()}
    return kp, {name: _rounded(DAMPING_TIME * value) for name, value in kp.items()}


def standing_gains(robot: Robot, q: np.ndarray) -> tuple[float, float]:
    """Return kp [N m/rad] and kd [N m s/rad] that hold up a free robot, to two digits."""
    masses, centres = _centres(robot, q)
    height = float(masses @ centres[:, 2] / masses.sum()) - lowest_height(robot, q)
    kp = _rounded(STANDING_MARGIN * robot.mass * robot.gravity * height)
    return kp, _rounded(DAMPING_TIME * kp)


def _mounted(robot: Robot, q: np.ndarray) -> dict[str, float]:
    """Return kp of each driven joint, from what it carries."""
    places, (masses, centres) = placements(robot, q), _centres(robot, q)
    found = {}
    for i, joint in enumerate(robot.joints):
        if joint.kind not in ("revolute", "continuous", "prismatic"):
            continue
        carried = [i, *_beyond(robot, i)]
        mass = float(masses[carried].sum())
        if joint.kind == "prismatic":
            found[joint.name] = mass * robot.gravity / SLIDE_SAG
            continue
        centre = masses[carried] @ centres[carried] / max(mass, 1e-12)
        distance = max(float(np.linalg.norm(centre - places[i][1])), MIN_DISTANCE)
        found[joint.name] = MOUNTED_MARGIN * mass * robot.gravity * distance
    return found


def _beyond(robot: Robot, body: int) -> list[int]:
    """Return the bodies that a body carries."""
    found = robot.children(body)
    return found + [other for child in found for other in _beyond(robot, child)]


def _centres(robot: Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mass [kg] and centre of mass in the world [m] of every body."""
    places = placements(robot, q)
    masses = np.array([body.mass for body in robot.bodies])
    centres = [R @ body.com + p for body, (R, p) in zip(robot.bodies, places, strict=True)]
    return masses, np.array(centres)


def _rounded(value: float) -> float:
    return float(f"{value:.1e}")
