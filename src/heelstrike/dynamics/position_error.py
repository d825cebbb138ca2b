"""Differences of joint positions, by velocity index: what a servo's stiffness acts on."""

from __future__ import annotations

import casadi as ca

from heelstrike.robot.robot import Robot
from heelstrike.spatial.vector import SX, zeros


def position_error(robot: Robot, q: SX, q_ref: SX) -> SX:
    """Return q_ref - q [rad or m], (nv,), with q_ref given by velocity index.

    A continuous joint takes the shorter way round. Joints whose position is not one number
    (spherical, planar, free) have no error.
    """
    error = zeros(robot.nv)
    for joint in robot.joints:
        if joint.kind in ("revolute", "prismatic"):
            error[joint.iv] = q_ref[joint.iv] - q[joint.iq]
        elif joint.kind == "continuous":
            cos, sin = ca.cos(q_ref[joint.iv]), ca.sin(q_ref[joint.iv])
            c, s = q[joint.iq], q[joint.iq + 1]
            error[joint.iv] = ca.atan2(sin * c - cos * s, cos * c + sin * s)
    return error


def has_scalar_position(robot: Robot) -> list[float]:
    """Return 1 for each velocity index whose joint's position is one number, and 0 elsewhere."""
    one = {j.iv for j in robot.joints if j.kind in ("revolute", "prismatic", "continuous")}
    return [float(i in one) for i in range(robot.nv)]
