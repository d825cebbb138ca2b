"""What a robot's file leaves open and a newcomer needs: gains that hold it up, joints in range.

    kp = 5 m g h,   kd = 0.05 s kp          of every driven joint

A robot of mass m whose centre of mass is h above its lowest contact point tips about an ankle of
stiffness below m g h; five times that holds it, sagging legs included. The values are ours.
"""

from __future__ import annotations

import numpy as np

from heelstrike.robot import Robot
from heelstrike.robot.placement import lowest_height, placements

MARGIN = 5.0
"""Stiffness over what tips the robot [1/rad]."""
LAG = 0.05
"""kd over kp [s]."""


def gains(robot: Robot, q: np.ndarray) -> tuple[float, float]:
    """kp [N m/rad] and kd [N m s/rad] that hold a free robot up, to two digits."""
    places = placements(robot, q)
    masses = np.array([body.mass for body in robot.bodies])
    centres = np.array(
        [R @ body.com + p for body, (R, p) in zip(robot.bodies, places, strict=True)]
    )
    height = float(masses @ centres[:, 2] / masses.sum()) - lowest_height(robot, q)
    kp = float(f"{MARGIN * robot.mass * robot.gravity * height:.1e}")
    return kp, float(f"{LAG * kp:.1e}")


def into_range(robot: Robot, q: np.ndarray) -> dict[str, float]:
    """Joints of one coordinate that the pose leaves outside their range, at its nearest end."""
    found = {}
    for joint in robot.joints:
        if joint.nq == joint.nv == 1:
            inside = float(np.clip(q[joint.iq], robot.lower[joint.iq], robot.upper[joint.iq]))
            if inside != q[joint.iq]:
                found[joint.name] = inside
    return found
