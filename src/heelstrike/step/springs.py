"""Box 8 of [Sugihara2006], Fig. 4: springs at the joints.

    tau = -k (q + ahead^2 a / 4 - rest)

In the symplectic step, whose positions obey q+ - 2 q + q- = dt^2 a, this is the spring at the mean
(q+ + 2 q + q-) / 4 of three steps: stable for any stiffness, of second order, and without the loss
of energy that a spring at the end of the step has [Newmark1959] (beta = 1/4). `ahead` is 0 where
forces are explicit.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from heelstrike.robot.robot import Joint, Robot
from heelstrike.spatial.rotation import from_quaternion, quaternion_product
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.torque import Torque

SMALL = 1e-12
"""Sine of half an angle below which a rotation vector is taken as twice that sine [-]."""
QUARTER = 0.25
"""beta of [Newmark1959]."""


def spring_torque(robot: Robot, q: SX, ahead: SX | float) -> Torque:
    """Return the torque of the springs at a state; `ahead` is dt where they are implicit [s]."""
    now, slope = zeros(robot.nv), zeros(robot.nv)
    for spring in robot.springs:
        joint, k = robot.joints[spring.joint], spring.stiffness
        at = joint.v_slice
        now[at] = now[at] - k * displacement(joint, q[joint.q_slice], spring.rest)
        slope[at] = slope[at] + QUARTER * k * ahead * ahead
    return Torque(now, slope, cheap=True)


def displacement(joint: Joint, q: SX, rest: np.ndarray) -> SX:
    """Return the motion from rest to q, a joint's coordinates, by velocity index [rad or m]."""
    if joint.kind in ("revolute", "prismatic"):
        return q - SX(rest)
    if joint.kind == "spherical":
        return rotation_vector(q, rest)
    assert joint.kind == "free", joint.kind
    moved = from_quaternion(q[3:7]).undo(q[0:3] - SX(rest[0:3]))
    return ca.vertcat(moved, rotation_vector(q[3:7], rest[3:7]))


def rotation_vector(q: SX, rest: np.ndarray) -> SX:
    """Return the rotation from one quaternion xyzw to another, in the moving frame, (3,) [rad].

    It is the shorter of the two ways.
    """
    back = SX(np.array([-1.0, -1.0, -1.0, 1.0]) * rest)
    turn = quaternion_product(back, q)
    sine = ca.sqrt(ca.dot(turn[:3], turn[:3]))
    angle = 2 * ca.atan2(sine, ca.fabs(turn[3]))
    scale = ca.if_else(sine > SMALL, angle / ca.fmax(sine, SMALL), 2)
    return ca.if_else(turn[3] < 0, -scale, scale) * turn[:3]
