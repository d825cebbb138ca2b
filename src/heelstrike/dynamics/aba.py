"""Articulated-body algorithm: accelerations from forces in O(n) [Featherstone2008], table 7.1.

    inward    U = I^A S,  D = S^T U + diagonal,  u = tau - S^T p^A
              I^a = I^A - U D^-1 U^T,  p^a = p^A + I^a c + U D^-1 u   to the parent
    outward   a' = X a_parent + c,  a_joint = D^-1 (u - U^T a'),  a = a' + S a_joint

The diagonal holds the armature and, for an implicit servo, dt kd + dt^2 kp, at no further cost.
Closed loops are eliminated on the way (loop_sweep.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.armature import armature_bias
from heelstrike.dynamics.kinematics import Kinematics, let_motion
from heelstrike.dynamics.loop_answer import LoopAnswer, loop_drift, loop_multipliers
from heelstrike.dynamics.loop_sweep import ClosedLoop, LoopFactor
from heelstrike.dynamics.tree import limbs
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD, Joint, Robot
from heelstrike.spatial.inertia import Inertia, spatial_inertia
from heelstrike.spatial.ldl import LdlFactor, factor
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.vector import SX, mac, zeros


@dataclass(frozen=True)
class JointTerms:
    """Terms U, D and u of a joint, with which its acceleration is eliminated."""

    u_linear: SX
    """Linear part of U = I^A S, (3, nv)."""
    u_angular: SX
    """Angular part of U, (3, nv)."""
    d: LdlFactor
    """Factor of D = S^T U + diagonal."""
    rest: SX
    """u = tau - S^T p^A, (nv,)."""


@dataclass(frozen=True)
class ForwardDynamics:
    """Accelerations of joints and bodies, and the terms that they were computed with."""

    a: SX
    """Joint accelerations, (nv,)."""
    bodies: list[MotionVector]
    """Spatial acceleration of each body minus gravity, in its own frame."""
    joint_terms: dict[int, JointTerms]
    """Terms by joint, with which response.py and sweep.py answer further forces."""
    passed: dict[int, Inertia]
    """Inertia that a limb passes to its parent, by the limb's first joint."""
    multipliers: list[SX]
    """Forces of the rows of each constraint, (m,) [N, N m]."""


def aba(
    p: Program,
    robot: Robot,
    kin: Kinematics,
    v: SX,
    tau: SX,
    gravity: SX,
    diagonal: SX,
    external: Sequence[ForceVector | None] = (),
) -> SX:
    """Return joint accelerations a, (nv,), with (H + diag(diagonal)) a + b = tau + sum J^T f.

    External forces f are given by body, in the bodies' own frames; None stands for zero. The tree
    is open.
    """
    return forward_dynamics(p, robot, kin, v, tau, gravity, diagonal, external).a


def forward_dynamics(
    p: Program,
    robot: Robot,
    kin: Kinematics,
    v: SX,
    tau: SX,
    gravity: SX,
    diagonal: SX,
    external: Sequence[ForceVector | None] = (),
    added: Mapping[int, Inertia] | None = None,
    loops: Sequence[ClosedLoop] = (),
) -> ForwardDynamics:
    """Solve the equation of `aba`, and return the accelerations of the bodies as well.

    `added` are inertias that join those of bodies, in their frames. With them the terms, and the
    inertias that limbs pass on, are variables, which sweep.py assigns. `loops` get their terms.
    """
    bias = armature_bias(robot, v)
    tau = tau if bias is None else tau - bias
    keep = p.let if added is None else p.variable
    closing = LoopFactor(p, robot, loops, keep)
    drifts = []
    for loop in loops:
        with p.block("drift", limb=loop.limb, member=loop.loop.numbers[0]):
            drifts.append(loop_drift(p, robot, kin, v, gravity, loop.loop))
    answer = LoopAnswer(p, robot, loops, closing, drifts)
    terms = _inward(p, robot, kin, v, tau, diagonal, external, added, closing, answer)
    for n, loop in enumerate(loops):
        if loop.loop.meets == WORLD:
            with p.block("mobility", limb=loop.limb, member=n):
                closing.end(n)
    answer.end()
    return _outward(p, robot, kin, v, gravity, *terms, answer)


def _inward(
    p: Program,
    robot: Robot,
    kin: Kinematics,
    v: SX,
    tau: SX,
    diagonal: SX,
    external: Sequence[ForceVector | None],
    added: Mapping[int, Inertia] | None,
    closing: LoopFactor,
    answer: LoopAnswer,
) -> tuple[dict[int, JointTerms], dict[int, Inertia]]:
    bodies, keep = kin.bodies, p.let if added is None else p.variable
    from_children: dict[int, list[tuple[Inertia, ForceVector]]] = {
        i: [] for i in range(len(bodies))
    }
    joint_terms: dict[int, JointTerms] = {}
    passed: dict[int, Inertia] = {}
    for limb in reversed(limbs(robot)):
        with p.block("inward", limb=limb.name):
            for i in reversed(limb.joints):
                inertia = spatial_inertia(bodies[i])
                if added and i in added:
                    inertia = inertia + added[i]
                bias = bodies[i].bias(kin.velocities[i])
                if i < len(external) and (force := external[i]) is not None:
                    bias = bias - force
                for more_inertia, more_bias in from_children.pop(i):
                    inertia, bias = inertia + more_inertia, bias + more_bias
                inertia, bias = closing.meet(i, inertia), answer.meet(i, bias)
                joint = robot.joints[i]
                terms, left = _eliminate(joint, inertia, bias, kin, i, v, tau, diagonal)
                joint_terms[i] = _keep_terms(p, keep, terms)
                if closing.loops:
                    u = terms.u_linear, terms.u_angular
                    closing.carry(i, u, terms.d, kin.placements[i], limb)
                    answer.carry(i, terms.rest, limb, u)
                if joint.parent != WORLD:
                    placement = kin.placements[i]
                    outer = placement.inertia_out(left[0]), placement.force_out(left[1])
                    if i == limb.joints[0]:
                        outer = _keep_passed(p, keep, *outer)
                        passed[i] = outer[0]
                    from_children[joint.parent].append(outer)
            answer.end_limb(limb)
            closing.end_limb(limb)
    return joint_terms, passed


def _eliminate(
    joint: Joint,
    inertia: Inertia,
    bias: ForceVector,
    kin: Kinematics,
    i: int,
    v: SX,
    tau: SX,
    diagonal: SX,
) -> tuple[JointTerms, tuple[Inertia, ForceVector]]:
    """Return a joint's terms, and the inertia I^a and bias force p^a that remain for its parent."""
    s_linear, s_angular = joints.subspace(joint)
    u_linear, u_angular = inertia.times(s_linear, s_angular)
    d = factor(
        s_linear.T @ u_linear
        + s_angular.T @ u_angular
        + ca.diag(joints.velocities(joint, diagonal))
    )
    rest = joints.velocities(joint, tau) - s_linear.T @ bias.linear - s_angular.T @ bias.angular
    terms = JointTerms(u_linear, u_angular, d, rest)

    weighted_linear, weighted_angular = d.solve(u_linear.T).T, d.solve(u_angular.T).T
    remaining = inertia.minus_outer(u_linear, u_angular, weighted_linear, weighted_angular)
    c = kin.velocities[i].cross(joints.velocity(joint, joints.velocities(joint, v)))
    force = ForceVector(
        mac(
            remaining.coupling,
            c.angular,
            mac(remaining.linear, c.linear, mac(weighted_linear, rest, bias.linear)),
        ),
        mac(
            remaining.angular,
            c.angular,
            mac(remaining.coupling.T, c.linear, mac(weighted_angular, rest, bias.angular)),
        ),
    )
    return terms, (remaining, force)


def _outward(
    p: Program,
    robot: Robot,
    kin: Kinematics,
    v: SX,
    gravity: SX,
    joint_terms: dict[int, JointTerms],
    passed: dict[int, Inertia],
    answer: LoopAnswer,
) -> ForwardDynamics:
    moved: dict[int, MotionVector] = {}
    result = zeros(robot.nv)
    for limb in limbs(robot):
        with p.block("outward", limb=limb.name):
            inner: dict[int, MotionVector] = {}
            for i in limb.joints:
                joint, terms, placement = robot.joints[i], joint_terms[i], kin.placements[i]
                c = kin.velocities[i].cross(joints.velocity(joint, joints.velocities(joint, v)))
                if joint.parent == WORLD:
                    outer = MotionVector(placement.unrotate(-gravity), zeros())
                else:
                    outer = placement.motion_in(inner.get(joint.parent) or moved[joint.parent])
                carried = outer + c
                residual = mac(
                    -terms.u_angular.T,
                    carried.angular,
                    mac(-terms.u_linear.T, carried.linear, terms.rest),
                )
                own = terms.d.solve(residual)
                if (more := answer.added(i)) is not None:
                    own = own + more
                s_linear, s_angular = joints.subspace(joint)
                inner[i] = MotionVector(
                    carried.linear + s_linear @ own, carried.angular + s_angular @ own
                )
                answer.found(i, inner[i])
                result[joint.iv : joint.iv + joint.nv] = p.let("a", own)
                moved[i] = let_motion(p, "acceleration", inner[i])
    bodies = [moved[i] for i in range(len(moved))]
    forces = loop_multipliers(answer.loops, answer)
    return ForwardDynamics(ca.densify(result), bodies, joint_terms, passed, forces)


Keep = Callable[[str, SX], SX]
"""`Program.let` or `Program.variable`."""


def _keep_terms(p: Program, keep: Keep, terms: JointTerms) -> JointTerms:
    return JointTerms(
        keep("U", terms.u_linear),
        keep("U", terms.u_angular),
        terms.d.renamed(lambda x: keep("D", x)),
        p.let("u", terms.rest),
    )


def _keep_passed(
    p: Program, keep: Keep, inertia: Inertia, force: ForceVector
) -> tuple[Inertia, ForceVector]:
    def symmetric(x: SX) -> SX:
        upper = ca.triu(x)
        kept = SX(upper.sparsity(), keep("inertia", upper.nz[:]))
        return ca.densify(ca.triu2symm(kept))

    return (
        inertia.renamed(lambda x: keep("inertia", x), symmetric),
        ForceVector(p.let("bias", force.linear), p.let("bias", force.angular)),
    )
