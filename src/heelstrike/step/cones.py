"""Box 8 of [Sugihara2006], Fig. 4: ranges of ball joints, which are cones.

A spherical joint turned by the rotation vector e from its reference, by more than its range, gets
the torque of a stop along n = e / |e|:

    tau = -n (k (|e| - range) + c n.w)        c on the way in only

It is implicit as the force of a tendon whose arms are n (tendons.py).
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from heelstrike.robot.robot import Robot
from heelstrike.scene.stops import StopsPlan
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.springs import SMALL, rotation_vector
from heelstrike.step.tendons import add_force
from heelstrike.step.torque import Torque

UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


def cone_indices(robot: Robot) -> tuple[int, ...]:
    """Return the velocity indices of ball joints with a range."""
    joints = (robot.joints[cone.joint] for cone in robot.cones)
    return tuple(i for joint in joints for i in range(joint.iv, joint.iv + 3))


def cone_torque(
    robot: Robot, q: SX, v: SX, ahead: SX | float, last: Mapping[int, SX], stops: StopsPlan
) -> Torque:
    """Return the torque at the ends of the ball joints' ranges; see tendons.tendon_torque."""
    torque = Torque(zeros(robot.nv), zeros(robot.nv))
    for cone in robot.cones:
        joint = robot.joints[cone.joint]
        w = v[joint.v_slice]
        turned = rotation_vector(q[joint.q_slice], UPRIGHT) + ahead * w
        angle = ca.sqrt(ca.dot(turned, turned))
        n = turned / ca.fmax(angle, SMALL)
        over, rate = ca.fmax(0, angle - cone.angle), ca.dot(n, w)
        c = ca.if_else(ca.logic_and(over > 0, rate > 0), stops.c[joint.iv], 0)
        k = stops.k[joint.iv]
        falls = ca.if_else(over > 0, ahead * (c + ahead * k), 0)
        arms = tuple((joint.iv + i, n[i]) for i in range(3))
        add_force(torque, arms, -k * over - c * rate, falls, last)
    return torque
