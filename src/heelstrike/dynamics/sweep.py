"""Articulated-body algorithm over and over, while inertias, torques and forces change.

    (H + S + sum J^T K J) da = sum J^T r + rho

K (6, 6) joins the inertia of a body, S the diagonal.

The terms U and D of the joints, and what limbs pass on, are variables that the step's own
acceleration has computed (aba.py). `factor` computes those of the limbs in which K or S has
changed, and of the limbs that carry them; `solve` is a third of the work of both. Contacts with the
ground cause no fill: every solve is O(n). Closed loops are eliminated on the way (loop_sweep.py):
J da is 0 for their rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.aba import ForwardDynamics
from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.dynamics.loop_answer import LoopAnswer, loop_multipliers
from heelstrike.dynamics.loop_sweep import ClosedLoop, LoopFactor
from heelstrike.dynamics.response import force_rows, inverse_blocks
from heelstrike.dynamics.tree import Limb, limbs, supports
from heelstrike.ir.guard import guarded
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.spatial.inertia import Inertia, spatial_inertia
from heelstrike.spatial.ldl import factor
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, mac, symmetric, zeros


@dataclass(frozen=True)
class BodyLoad:
    """Variables of a body that contacts act on, in its frame."""

    pose: Transform
    """Of its frame in the world."""
    inertia: Inertia | None
    """K, the decrease of its contacts' impulse with its velocity, which joins its inertia; None if
    it touches moving bodies alone."""
    force: ForceVector
    """r [N, N m]."""


def body_load(p: Program, pose: Transform, stiff: bool) -> BodyLoad:
    """Return a load of zero on a body in a pose, as variables; inside a block."""

    def symmetric_block() -> SX:
        entries = p.variable("stiffness", zeros(6))
        return ca.densify(ca.triu2symm(SX(ca.Sparsity.upper(3), entries)))

    inertia = None
    if stiff:
        coupling = p.variable("stiffness", zeros(3, 3))
        inertia = Inertia(symmetric_block(), coupling, symmetric_block())
    force = ForceVector(p.variable("force", zeros()), p.variable("force", zeros()))
    return BodyLoad(pose, inertia, force)


def set_force(p: Program, load: BodyLoad, force: SX) -> None:
    """Assign r, given in world axes, (6,); inside a block."""
    p.assign(load.force.linear, load.pose.unrotate(force[:3]))
    p.assign(load.force.angular, load.pose.unrotate(force[3:]))


def set_stiffness(p: Program, load: BodyLoad, stiffness: SX) -> None:
    """Assign K, given in world axes, symmetric (6, 6); inside a block."""

    def turned(x: SX) -> SX:
        return load.pose.unrotate(load.pose.unrotate(x).T).T

    inertia = load.inertia
    assert inertia is not None
    blocks = (inertia.linear, stiffness[:3, :3]), (inertia.angular, stiffness[3:, 3:])
    for block, new in blocks:
        p.assign(ca.triu(block).nz[:], ca.triu(symmetric(turned(new))).nz[:])
    p.assign(inertia.coupling, turned(stiffness[:3, 3:]))


class Sweep:
    """Limbs of a robot that carry contacts or limited joints, and their response."""

    def __init__(
        self,
        p: Program,
        robot: Robot,
        kin: Kinematics,
        poses: Sequence[Transform],
        first: ForwardDynamics,
        loads: Mapping[int, BodyLoad],
        limited: Sequence[int],
        loops: Sequence[ClosedLoop] = (),
    ) -> None:
        """`loads` are given by body; `limited` are the velocity indices whose diagonal changes."""
        self.p, self.robot, self.kin, self.poses = p, robot, kin, poses
        self.first, self.loads, self.loops = first, loads, loops
        joint_of = {i: k for k, j in enumerate(robot.joints) for i in range(j.iv, j.iv + j.nv)}
        moving = {k for body in loads for k in supports(robot, body)}
        moving |= {k for i in limited for k in supports(robot, joint_of[i])}
        moving |= {k for loop in loops for i in loop.loop.joints for k in supports(robot, i)}
        self.limbs: list[Limb] = [x for x in limbs(robot) if moving & set(x.joints)]
        """Limbs that are swept, parents before children."""
        swept = {k for limb in self.limbs for k in limb.joints}
        self.velocities = {i for i, k in joint_of.items() if k in swept}
        """Velocity indices that are swept."""
        self._branches: dict[int, list[int]] = {i: [] for i in range(len(robot.joints))}
        for limb in limbs(robot):
            parent = robot.joints[limb.joints[0]].parent
            if parent != WORLD:
                self._branches[parent].append(limb.joints[0])
        self.multipliers: list[SX] = []
        """Forces of each constraint at the best acceleration so far, as variables."""
        self._direction: list[SX] = []
        if loops:
            with p.block("multipliers"):
                self.multipliers = [p.variable("multiplier", x) for x in first.multipliers]
                self._direction = [p.variable("direction", 0 * x) for x in first.multipliers]

    def set_force(self, load: BodyLoad, force: SX) -> None:
        """Assign r of a body, in world axes, (6,); inside a block."""
        set_force(self.p, load, force)

    def set_stiffness(self, load: BodyLoad, stiffness: SX) -> None:
        """Assign K of a body, in world axes, symmetric (6, 6); inside a block."""
        set_stiffness(self.p, load, stiffness)

    def factor(self, bodies: Mapping[int, SX], joint: Mapping[int, SX], diagonal: SX) -> None:
        """Compute the terms where something changed.

        `bodies` says by body whether its K changed, `joint` by velocity index whether the diagonal
        did; `diagonal` is the present one, armature included.
        """
        p, robot = self.p, self.robot
        from_children: dict[int, list[SX]] = {i: [] for i in range(len(robot.joints))}
        closing = LoopFactor(p, robot, self.loops)
        at_world: dict[int, list[SX]] = {n: [] for n in range(len(self.loops))}
        for limb in reversed(self.limbs):
            spans = (robot.joints[i] for i in limb.joints)
            changes = [x for i in limb.joints for x in from_children[i]]
            changes += [bodies[i] for i in limb.joints if i in bodies]
            changes += [joint[k] for j in spans for k in range(j.iv, j.iv + j.nv) if k in joint]
            if not changes:
                continue
            with p.block("changed", limb=limb.name):
                changed = p.let("changed", ca.mmax(ca.vertcat(*changes)))
            parent = robot.joints[limb.joints[0]].parent
            if parent != WORLD:
                from_children[parent].append(changed)
            for n, loop in enumerate(self.loops):
                if loop.loop.meets == WORLD and loop.loop.joints & set(limb.joints):
                    at_world[n].append(changed)
            with guarded(p, "factor", changed), p.block("factor", limb=limb.name):
                self._factor(limb, closing, diagonal)
        for n, flags in at_world.items():
            if flags:
                with p.block("changed", limb=self.loops[n].limb, member=n):
                    changed = p.let("changed", ca.mmax(ca.vertcat(*flags)))
                with guarded(p, "mobility", changed):
                    self._factor_world(n, closing)

    def _factor_world(self, n: int, closing: LoopFactor) -> None:
        """Compute P of a loop that meets at the world."""
        with self.p.block("mobility", limb=self.loops[n].limb, member=n):
            closing.end(n)

    def factor_stiffness(self, diagonal: SX, share: SX) -> None:
        """Compute the terms of sum J^T K J plus a small share of H and of S, its diagonal.

        The terms of H are lost.
        """
        done: set[int] = set()
        closing = LoopFactor(self.p, self.robot, self.loops)
        carried = {*self.loads, *(i for loop in self.loops for i in loop.loop.joints)}
        for limb in reversed(self.limbs):
            branches = {root for i in limb.joints for root in self._branches[i]}
            if done & branches or carried & set(limb.joints):
                with self.p.block("factor stiffness", limb=limb.name):
                    self._factor(limb, closing, share * diagonal, share, done)
                done.add(limb.joints[0])
        for n, loop in enumerate(self.loops):
            if loop.loop.meets == WORLD:
                self._factor_world(n, closing)

    def _factor(
        self,
        limb: Limb,
        closing: LoopFactor,
        diagonal: SX,
        share: SX | None = None,
        shared: Collection[int] = (),
    ) -> None:
        """Compute the terms of a limb.

        `share` is that of the inertia of bodies, and of limbs whose roots are not in `shared`.
        """
        p, robot, first, of_limb = self.p, self.robot, self.first, limb.joints
        outer: Inertia | None = None
        for i in reversed(of_limb):
            joint, terms = robot.joints[i], first.joint_terms[i]
            inertia = spatial_inertia(self.kin.bodies[i])
            if share is not None:
                inertia = inertia.scaled(share)
            if i in self.loads and (stiffness := self.loads[i].inertia) is not None:
                inertia = inertia + stiffness
            for root in self._branches[i]:
                if root not in of_limb:
                    own = first.passed[root]
                    whole = share is None or root in shared
                    inertia = inertia + (own if whole else own.scaled(share))
            if outer is not None:
                inertia = inertia + outer
            inertia = closing.meet(i, inertia)
            linear, angular = joints.subspace(joint)
            u_linear, u_angular = inertia.times(linear, angular)
            own = ca.diag(joints.velocities(joint, diagonal))
            d = factor(linear.T @ u_linear + angular.T @ u_angular + own)
            p.assign(terms.u_linear, u_linear)
            p.assign(terms.u_angular, u_angular)
            terms.d.assign(p, d)
            closing.carry(i, (u_linear, u_angular), d, self.kin.placements[i], limb)
            if joint.parent == WORLD:
                closing.end_limb(limb)
                return
            weighted = d.solve(u_linear.T).T, d.solve(u_angular.T).T
            remaining = inertia.minus_outer(u_linear, u_angular, *weighted)
            outer = self.kin.placements[i].inertia_out(remaining)
        assert outer is not None
        closing.end_limb(limb)
        passed = first.passed[of_limb[0]]
        p.assign(ca.triu(passed.linear).nz[:], ca.triu(outer.linear).nz[:])
        p.assign(passed.coupling, outer.coupling)
        p.assign(ca.triu(passed.angular).nz[:], ca.triu(outer.angular).nz[:])

    def share(self, one: Iterable[int], other: Iterable[int]) -> bool:
        """Return whether some of the bodies have supporting joints or loops in common."""
        reach = [{i for body in own for i in supports(self.robot, body)} for own in (one, other)]
        loops = (loop.loop.joints for loop in self.loops)
        both = any(joints & reach[0] and joints & reach[1] for joints in loops)
        return both or bool(reach[0] & reach[1])

    def inverse(self, pulls: Sequence[Mapping[int, SX]]) -> dict[tuple[int, int], SX]:
        """Return blocks of J (H + S + sum J^T K J)^-1 J^T between sets of forces.

        A set has forces and moments (6, n) that act together, by body, in world axes; the blocks
        are given by (row, column), row >= column, where sets share a joint.
        """
        p, robot, terms = self.p, self.robot, self.first.joint_terms
        rows = [force_rows(p, robot, self.kin, terms, self.poses, own, self.loops) for own in pulls]
        return inverse_blocks(p, robot, terms, rows, self.loops)

    def solve(self, rho: Mapping[int, SX]) -> tuple[SX, dict[int, SX]]:
        """Return da under the loads and torques `rho`, and how the loaded bodies move.

        The latter are given by body, in world axes, (6,).
        """
        p, robot, terms = self.p, self.robot, self.first.joint_terms
        passed: dict[int, list[ForceVector]] = {i: [] for i in range(len(robot.joints))}
        rests: dict[int, SX] = {}
        answer = LoopAnswer(p, robot, self.loops)
        for limb in reversed(self.limbs):
            with p.block("inward solve", limb=limb.name):
                for i in reversed(limb.joints):
                    joint = robot.joints[i]
                    bias = ForceVector(zeros(), zeros())
                    if i in self.loads:
                        bias = bias - self.loads[i].force
                    for more in passed[i]:
                        bias = bias + more
                    bias = answer.meet(i, bias)
                    linear, angular = joints.subspace(joint)
                    span = range(joint.iv, joint.iv + joint.nv)
                    own = ca.vertcat(*(rho.get(k, SX(0)) for k in span))
                    rest = own - linear.T @ bias.linear - angular.T @ bias.angular
                    rests[i] = p.let("u", rest)
                    answer.carry(i, rests[i], limb)
                    if joint.parent == WORLD:
                        continue
                    weighted = terms[i].d.solve(rests[i])
                    left = ForceVector(
                        mac(terms[i].u_linear, weighted, bias.linear),
                        mac(terms[i].u_angular, weighted, bias.angular),
                    )
                    out = self.kin.placements[i].force_out(left)
                    if i == limb.joints[0]:
                        out = ForceVector(p.let("bias", out.linear), p.let("bias", out.angular))
                    passed[joint.parent].append(out)
                answer.end_limb(limb)
        answer.end()
        found = self._outward(rests, answer)
        if self.loops:
            with p.block("multipliers"):
                new = loop_multipliers(self.loops, answer)
                for old, own in zip(self._direction, new, strict=True):
                    p.assign(old, own)
        return found

    def accept(self, step: SX, accepted: SX) -> None:
        """Move the multipliers by a step along the last direction, where it is accepted."""
        if self.loops:
            with self.p.block("multipliers accepted"):
                for old, own in zip(self.multipliers, self._direction, strict=True):
                    self.p.assign(old, ca.if_else(accepted, old + step * own, old))

    def _outward(self, rests: Mapping[int, SX], answer: LoopAnswer) -> tuple[SX, dict[int, SX]]:
        p, robot, terms = self.p, self.robot, self.first.joint_terms
        result = zeros(robot.nv)
        moved: dict[int, MotionVector] = {}
        in_world: dict[int, SX] = {}
        for limb in self.limbs:
            with p.block("outward solve", limb=limb.name):
                inner: dict[int, MotionVector] = {}
                for i in limb.joints:
                    joint, residual, outer = robot.joints[i], rests[i], None
                    if joint.parent != WORLD:
                        outer = self.kin.placements[i].motion_in(
                            inner.get(joint.parent) or moved[joint.parent]
                        )
                        residual = mac(-terms[i].u_linear.T, outer.linear, residual)
                        residual = mac(-terms[i].u_angular.T, outer.angular, residual)
                    own = terms[i].d.solve(residual)
                    if (more := answer.added(i)) is not None:
                        own = own + more
                    linear, angular = joints.subspace(joint)
                    motion = MotionVector(linear @ own, angular @ own)
                    inner[i] = motion if outer is None else outer + motion
                    answer.found(i, inner[i])
                    result[joint.v_slice] = p.let("da", own)
                    moved[i] = MotionVector(
                        p.let("moved", inner[i].linear), p.let("moved", inner[i].angular)
                    )
                for i in (i for i in limb.joints if i in self.loads):
                    pose, own = self.poses[i], inner[i]
                    turned = ca.vertcat(pose.rotate(own.linear), pose.rotate(own.angular))
                    in_world[i] = p.let("moved", turned)
        return ca.densify(result), in_world

    def end(self, a: SX) -> tuple[SX, list[MotionVector]]:
        """Return the accelerations of all joints, and of all bodies less gravity.

        `a` are those of the joints that were swept; the other joints follow.
        """
        p, robot, first = self.p, self.robot, self.first
        moved: dict[int, MotionVector] = {}
        result = ca.densify(SX(a))
        for limb in limbs(robot):
            with p.block("end", limb=limb.name):
                inner: dict[int, MotionVector] = {}
                for i in limb.joints:
                    joint, terms = robot.joints[i], first.joint_terms[i]
                    linear, angular = joints.subspace(joint)
                    outer = None
                    if joint.parent != WORLD:
                        outer = self.kin.placements[i].motion_in(
                            inner.get(joint.parent) or moved[joint.parent]
                        )
                    if joint.iv in self.velocities:
                        own = a[joint.v_slice] - first.a[joint.v_slice]
                    elif outer is None:  # another robot, which touches nothing
                        own = zeros(joint.nv)
                    else:
                        residual = mac(-terms.u_linear.T, outer.linear, zeros(joint.nv))
                        own = terms.d.solve(mac(-terms.u_angular.T, outer.angular, residual))
                        result[joint.v_slice] = p.let("a", first.a[joint.v_slice] + own)
                    motion = MotionVector(linear @ own, angular @ own)
                    inner[i] = motion if outer is None else outer + motion
                    moved[i] = MotionVector(
                        p.let("moved", inner[i].linear), p.let("moved", inner[i].angular)
                    )
        bodies = [x + moved[i] for i, x in enumerate(first.bodies)]
        return ca.densify(result), bodies
