"""Response of a robot to forces on a few of its bodies, from the terms of `aba.forward_dynamics`.

    inward     u = S^T f,   f_parent = X^T (f - U D^-1 u)           one row u per supporting joint
    Lambda^-1 = sum over joints of u^T D^-1 u                       six columns per body
    outward    a_joint = D^-1 (u - U^T X a_parent),   a = X a_parent + S a_joint

No matrix of the size of the robot appears, and nothing is factored again: D and U are those of the
step's own acceleration, and include armature and servo.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.aba import JointTerms
from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.dynamics.tree import limbs, supports
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, mac, zeros

Rows = dict[int, SX]
"""u of six unit forces on a body, (nv, 6), by supporting joint."""


@dataclass(frozen=True)
class Response:
    """Accelerations that forces add."""

    a: SX
    """Accelerations of the joints, (nv,)."""
    bodies: list[MotionVector]
    """Spatial accelerations of the bodies, in their own frames."""


def force_rows(
    p: Program,
    robot: Robot,
    kin: Kinematics,
    joint_terms: Mapping[int, JointTerms],
    body: int,
    pose: Transform,
) -> Rows:
    """Return the rows u of unit forces and moments along the world's axes at a body's origin."""
    rows: Rows = {}
    with p.block("force rows", limb=_limb(robot, body)):
        eye, none = SX(ca.DM.eye(3)), SX(ca.DM.zeros(3, 3))
        turned = pose.unrotate(eye)
        force = ForceVector(ca.horzcat(turned, none), ca.horzcat(none, turned))
        for i in reversed(supports(robot, body)):
            joint, terms = robot.joints[i], joint_terms[i]
            s_linear, s_angular = joints.subspace(joint)
            u = s_linear.T @ force.linear + s_angular.T @ force.angular
            rows[i] = p.let("u", ca.densify(u))
            if joint.parent == WORLD:
                break
            weighted = terms.d.solve(u)
            left = ForceVector(
                force.linear - terms.u_linear @ weighted, force.angular - terms.u_angular @ weighted
            )
            force = kin.placements[i].force_columns_out(left)
    return rows


def inverse_inertia(
    p: Program, robot: Robot, joint_terms: Mapping[int, JointTerms], rows: Sequence[Rows]
) -> SX:
    """Return Lambda^-1, (6 n, 6 n) for n bodies: velocity per impulse, in world axes."""
    weighted: list[Rows] = []
    for own in rows:
        with p.block("weighted rows", limb=_limb(robot, max(own))):
            weighted.append({i: p.let("w", joint_terms[i].d.solve(u)) for i, u in own.items()})
    blocks: list[list[SX]] = [[SX()] * len(rows) for _ in rows]
    for a, left in enumerate(rows):
        for b in range(a, len(rows)):
            with p.block(f"inverse inertia {a} {b}"):
                total = SX(ca.DM.zeros(6, 6))
                for i in sorted(left.keys() & rows[b].keys()):
                    total = ca.mac(left[i].T, weighted[b][i], total)
                if a == b:
                    blocks[a][a] = p.let_symmetric("inverse inertia", total)
                else:
                    blocks[a][b] = p.let("inverse inertia", total)
                    blocks[b][a] = blocks[a][b].T
    return ca.vertcat(*(ca.horzcat(*row) for row in blocks))


def inverse_inertia_root(
    p: Program, robot: Robot, joint_terms: Mapping[int, JointTerms], rows: Sequence[Rows]
) -> SX:
    """Return Z with Z Z^T = Lambda^-1, one column per velocity of the supporting joints.

    Where these joints are few it is more accurate than a square root of Lambda^-1.
    """
    supporting = sorted({i for own in rows for i in own})
    ends = np.cumsum([0, *(robot.joints[i].nv for i in supporting)])
    half = SX(6 * len(rows), int(ends[-1]))
    for k, own in enumerate(rows):
        with p.block("half rows", limb=_limb(robot, max(own))):
            for i, start, end in zip(supporting, ends, ends[1:], strict=False):
                if i in own:
                    part = p.let("half", joint_terms[i].d.half_solve(own[i]))
                    half[6 * k : 6 * k + 6, int(start) : int(end)] = part.T
    return half


def force_response(
    p: Program,
    robot: Robot,
    kin: Kinematics,
    joint_terms: Mapping[int, JointTerms],
    rows: Sequence[Rows],
    forces: Sequence[SX],
) -> Response:
    """Return the accelerations that forces and moments, (6,), on the rows' bodies add."""
    moved: dict[int, MotionVector] = {}
    result = zeros(robot.nv)
    for limb in limbs(robot):
        with p.block("response", limb=limb.name):
            inner: dict[int, MotionVector] = {}
            for i in limb.joints:
                joint, terms, placement = robot.joints[i], joint_terms[i], kin.placements[i]
                residual = zeros(joint.nv)
                for own, force in zip(rows, forces, strict=True):
                    if i in own:
                        residual = mac(own[i], force, residual)
                outer = None
                if joint.parent != WORLD:
                    outer = placement.motion_in(inner.get(joint.parent) or moved[joint.parent])
                    residual = mac(-terms.u_linear.T, outer.linear, residual)
                    residual = mac(-terms.u_angular.T, outer.angular, residual)
                own_a = terms.d.solve(residual)
                linear, angular = joints.subspace(joint)
                moving = MotionVector(linear @ own_a, angular @ own_a)
                inner[i] = moving if outer is None else outer + moving
                result[joint.v_slice] = p.let("a", own_a)
                moved[i] = MotionVector(
                    p.let("moved", inner[i].linear), p.let("moved", inner[i].angular)
                )
    return Response(ca.densify(result), [moved[i] for i in range(len(moved))])


def _limb(robot: Robot, joint: int) -> str:
    """Return the name of the limb of a joint, or of the body that it moves."""
    return next(limb.name for limb in limbs(robot) if joint in limb.joints)
