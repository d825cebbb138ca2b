"""Jacobians of bodies and points, and their bias accelerations.

velocity of the body (own frame, linear then angular) = J v,    acceleration = J a + J_dot v
"""

from __future__ import annotations

from typing import cast

import casadi as ca

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.kinematics import Kinematics, accelerations
from heelstrike.dynamics.tree import supports
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Robot
from heelstrike.spatial.motion import Motion
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, skew


def body_jacobian(p: Program, robot: Robot, kin: Kinematics, body: int) -> SX:
    """(6, nv) in the body's own frame; structural zeros where a joint does not move it."""
    jacobian = SX(6, robot.nv)
    path = supports(robot, body)
    with p.block("jacobian", limb=robot.bodies[body].name):
        seen = Motion(SX(3, 0), SX(3, 0))  # columns so far, seen from the current body
        for i in path:
            seen = kin.placements[i].motion_columns_in(seen)
            linear, angular = joints.subspace(robot.joints[i])
            seen = Motion(ca.horzcat(seen.linear, linear), ca.horzcat(seen.angular, angular))
        columns = p.let("J", seen.column)
    indices = [
        k for i in path for k in range(robot.joints[i].iv, robot.joints[i].iv + robot.joints[i].nv)
    ]
    jacobian[:, indices] = columns
    return jacobian


def point_jacobian(p: Program, pose: Transform, jacobian: SX, point: SX) -> SX:
    """(3, nv) of a body's point in world axes, from the body's Jacobian."""
    with p.block("point jacobian"):
        return p.let(
            "J", cast(SX, pose.rotate(ca.mac(-skew(point), jacobian[3:, :], jacobian[:3, :])))
        )


def bias_accelerations(p: Program, robot: Robot, kin: Kinematics, v: SX) -> list[Motion]:
    """J_dot v of every body, in its own frame."""
    return accelerations(p, robot, kin, v, None)
