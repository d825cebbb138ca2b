"""Recursive Newton-Euler algorithm: joint forces of a motion [Featherstone2008], table 5.1."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.armature import armature_bias
from heelstrike.dynamics.kinematics import Kinematics, accelerations, without_velocity
from heelstrike.dynamics.tree import limbs
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.spatial.motion import ForceVector
from heelstrike.spatial.vector import SX, zeros


def rnea(
    p: Program,
    robot: Robot,
    kin: Kinematics,
    v: SX,
    a: SX | None,
    gravity: SX,
    external: Sequence[ForceVector | None] = (),
) -> SX:
    """Return tau = H a + b - sum J^T f, (nv,); H is without armature.

    `a` is zero if None. External forces f are given by body, in the bodies' own frames.
    """
    moved = accelerations(p, robot, kin, v, a, base=-gravity)
    bodies = kin.bodies
    forces = [
        body.force(acc, vel) for body, acc, vel in zip(bodies, moved, kin.velocities, strict=True)
    ]
    for i, force in enumerate(external):
        if force is not None:
            forces[i] = forces[i] - force
    tau = _gather(p, robot, kin, forces)
    bias = armature_bias(robot, v)
    return tau if bias is None else tau + bias


def gravity_torque(p: Program, robot: Robot, kin: Kinematics, gravity: SX) -> SX:
    """Return g(q), (nv,): the joint forces that hold the robot still against gravity."""
    return rnea(p, robot, without_velocity(robot, kin), zeros(robot.nv), None, gravity)


def _gather(p: Program, robot: Robot, kin: Kinematics, forces: list[ForceVector]) -> SX:
    """Sum forces from the tips inward, and return each joint's part S^T f."""
    from_limbs: dict[int, ForceVector] = {}  # sums of the limbs that begin at a body
    tau = zeros(robot.nv)
    for limb in reversed(limbs(robot)):
        with p.block("inverse dynamics", limb=limb.name):
            carried: ForceVector | None = None
            for i in reversed(limb.joints):
                joint = robot.joints[i]
                total = forces[i]
                if carried is not None:
                    total = total + carried
                if i in from_limbs:
                    total = total + from_limbs.pop(i)
                linear, angular = joints.subspace(joint)
                own = linear.T @ total.linear + angular.T @ total.angular
                tau[joint.iv : joint.iv + joint.nv] = p.let("tau", own)
                carried = kin.placements[i].force_out(total)
            root = robot.joints[limb.joints[0]].parent
            if root != WORLD and carried is not None:
                force = ForceVector(p.let("force", carried.linear), p.let("force", carried.angular))
                from_limbs[root] = from_limbs[root] + force if root in from_limbs else force
    return ca.densify(tau)
