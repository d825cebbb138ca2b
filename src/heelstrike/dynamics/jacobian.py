"""Jacobians of bodies and points, and their bias accelerations.

    velocity of a body = J v,    acceleration = J a + J_dot v

Both are spatial, in the body's own frame, linear then angular.
"""

from __future__ import annotations

from typing import cast

import casadi as ca

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.kinematics import Kinematics, accelerations
from heelstrike.dynamics.tree import supports
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Robot
from heelstrike.spatial.motion import MotionVector
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, skew


def body_jacobian(p: Program, robot: Robot, kin: Kinematics, body: int) -> SX:
    """Return the Jacobian of a body, (6, nv), in its own frame.

    Columns of joints that do not move the body are structural zeros.
    """
    jacobian = SX(6, robot.nv)
    path = supports(robot, body)
    with p.block("jacobian", limb=robot.bodies[body].name):
        moved = MotionVector(SX(3, 0), SX(3, 0))  # columns so far, in the frame of the current body
        for i in path:
            moved = kin.placements[i].motion_columns_in(moved)
            linear, angular = joints.subspace(robot.joints[i])
            moved = MotionVector(
                ca.horzcat(moved.linear, linear), ca.horzcat(moved.angular, angular)
            )
        columns = p.let("J", moved.column)
    indices = [
        k for i in path for k in range(robot.joints[i].iv, robot.joints[i].iv + robot.joints[i].nv)
    ]
    jacobian[:, indices] = columns
    return jacobian


def point_jacobian(p: Program, pose: Transform, jacobian: SX, point: SX) -> SX:
    """Return the Jacobian of a body's point, (3, nv), in world axes, from that of the body."""
    with p.block("point jacobian"):
        return p.let(
            "J", cast(SX, pose.rotate(ca.mac(-skew(point), jacobian[3:, :], jacobian[:3, :])))
        )


def bias_accelerations(p: Program, robot: Robot, kin: Kinematics, v: SX) -> list[MotionVector]:
    """Return J_dot v of every body, in its own frame."""
    return accelerations(p, robot, kin, v, None)
