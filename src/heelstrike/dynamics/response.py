"""Response of a robot to forces on a few of its bodies, from the terms of `aba.forward_dynamics`.

    inward     u = S^T f,   f_parent = X^T (f - U D^-1 u)           one row u per supporting joint
    Lambda^-1 = sum over joints of u^T D^-1 u                       six columns per body
    outward    a_joint = D^-1 (u - U^T X a_parent),   a = X a_parent + S a_joint

No matrix of the size of the robot appears, and nothing is factored again: D and U are those of the
step's own acceleration, and include armature and servo. Loops (loop_sweep.py) take part with

    l = sum of W^T u,   f -= K P l where they meet,   Lambda^-1 -= l^T P l
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import casadi as ca

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.aba import JointTerms
from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.dynamics.loop_sweep import ClosedLoop
from heelstrike.dynamics.tree import limbs, supports
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, mac, zeros


@dataclass(frozen=True)
class Rows:
    """What unit forces on bodies do, one per column."""

    torques: dict[int, SX]
    """u by supporting joint, (nv, n)."""
    loops: dict[int, SX] = field(default_factory=dict)
    """l by number of the loop, (m, n)."""


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
    poses: Sequence[Transform],
    forces: Mapping[int, SX],
    loops: Sequence[ClosedLoop] = (),
) -> Rows:
    """Return the rows of forces and moments, (6, n), that act together on bodies.

    They are given by body, at its origin in world axes.
    """
    rows = Rows({})
    acting: dict[int, ForceVector] = {}
    path = {i for body in forces for i in supports(robot, body)}
    for limb in reversed(limbs(robot)):
        if not path & set(limb.joints):
            continue
        with p.block("force rows", limb=limb.name):
            for i in sorted(path & set(limb.joints), reverse=True):
                joint, terms = robot.joints[i], joint_terms[i]
                force = acting.pop(i, None)
                if i in forces:
                    turned = (poses[i].unrotate(x) for x in ca.vertsplit(forces[i], 3))
                    force = _sum(force, ForceVector(*turned))
                assert force is not None
                force = _met(loops, i, rows, force)
                s_linear, s_angular = joints.subspace(joint)
                u = s_linear.T @ force.linear + s_angular.T @ force.angular
                rows.torques[i] = p.let("u", ca.densify(u))
                _add_to_loops(loops, i, rows, u)
                if joint.parent == WORLD:
                    continue
                weighted = terms.d.solve(u)
                left = ForceVector(
                    force.linear - terms.u_linear @ weighted,
                    force.angular - terms.u_angular @ weighted,
                )
                out = kin.placements[i].force_columns_out(left)
                if i == limb.joints[0]:
                    out = ForceVector(p.let("passed", out.linear), p.let("passed", out.angular))
                acting[joint.parent] = _sum(acting.get(joint.parent), out)
            for n in list(rows.loops):
                rows.loops[n] = p.let("l", rows.loops[n])
    return rows


def _met(loops: Sequence[ClosedLoop], i: int, rows: Rows, force: ForceVector) -> ForceVector:
    """Return forces on a body less those of the loops that meet there."""
    for n, loop in enumerate(loops):
        if loop.loop.meets == i and n in rows.loops:
            assert loop.meeting is not None
            assert loop.mobility is not None
            push = loop.mobility.solve(rows.loops[n])
            force = ForceVector(
                force.linear - loop.meeting.linear @ push,
                force.angular - loop.meeting.angular @ push,
            )
    return force


def _add_to_loops(loops: Sequence[ClosedLoop], i: int, rows: Rows, u: SX) -> None:
    for n, loop in enumerate(loops):
        places = loop.places(i)
        if places:
            part = zeros(loop.size, u.shape[1])
            part[places, :] = loop.weighted[i].T @ u
            rows.loops[n] = rows.loops[n] + part if n in rows.loops else part


def _sum(one: ForceVector | None, other: ForceVector) -> ForceVector:
    return other if one is None else one + other


def inverse_blocks(
    p: Program,
    robot: Robot,
    joint_terms: Mapping[int, JointTerms],
    rows: Sequence[Rows],
    loops: Sequence[ClosedLoop] = (),
) -> dict[tuple[int, int], SX]:
    """Return the blocks of J H^-1 J^T, velocity per impulse, of rows that share a joint or a loop.

    They are given by (row, column), row >= column.
    """
    weighted: list[Rows] = []
    for own in rows:
        with p.block("weighted rows", limb=_limb(robot, max(own.torques))):
            torques = {i: p.let("w", joint_terms[i].d.solve(u)) for i, u in own.torques.items()}
            weighted.append(
                Rows(torques, {n: _pushes(p, loops[n], x) for n, x in own.loops.items()})
            )
    blocks = {}
    for a, left in enumerate(rows):
        for b in range(a + 1):
            pairs = [(left.torques[i], weighted[b].torques[i]) for i in _shared(left, rows[b])]
            pairs += [
                (left.loops[n], weighted[b].loops[n])
                for n in sorted(left.loops.keys() & rows[b].loops.keys())
            ]
            if not pairs:
                continue
            with p.block(f"inverse inertia {a} {b}"):
                total = zeros(pairs[0][0].shape[1], pairs[0][1].shape[1])
                for one, other in pairs:
                    total = ca.mac(one.T, other, total)
                let = p.let_symmetric if a == b else p.let
                blocks[a, b] = let("inverse inertia", total)
    return blocks


def _shared(one: Rows, other: Rows) -> list[int]:
    return sorted(one.torques.keys() & other.torques.keys())


def _pushes(p: Program, loop: ClosedLoop, rows: SX) -> SX:
    """Return -P l."""
    assert loop.mobility is not None
    return p.let("push", -loop.mobility.solve(rows))


def inverse_inertia(
    p: Program, robot: Robot, joint_terms: Mapping[int, JointTerms], rows: Sequence[Rows]
) -> SX:
    """Return Lambda^-1, (6 n, 6 n) for n bodies: velocity per impulse, in world axes."""
    whole = zeros(6 * len(rows), 6 * len(rows))
    for (a, b), block in inverse_blocks(p, robot, joint_terms, rows).items():
        whole[6 * a : 6 * a + 6, 6 * b : 6 * b + 6] = block
        whole[6 * b : 6 * b + 6, 6 * a : 6 * a + 6] = block.T
    return whole


def force_response(
    p: Program,
    robot: Robot,
    kin: Kinematics,
    joint_terms: Mapping[int, JointTerms],
    rows: Sequence[Rows],
    forces: Sequence[SX],
) -> Response:
    """Return the accelerations that forces and moments, (6,), on the rows' bodies add.

    The tree is open.
    """
    moved: dict[int, MotionVector] = {}
    result = zeros(robot.nv)
    for limb in limbs(robot):
        with p.block("response", limb=limb.name):
            inner: dict[int, MotionVector] = {}
            for i in limb.joints:
                joint, terms, placement = robot.joints[i], joint_terms[i], kin.placements[i]
                residual = zeros(joint.nv)
                for own, force in zip(rows, forces, strict=True):
                    if i in own.torques:
                        residual = mac(own.torques[i], force, residual)
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
