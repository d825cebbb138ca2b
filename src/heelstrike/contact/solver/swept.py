"""The swept problem: contacts and limited torques of a step in one Newton iteration.

Every contact has an impulse f(u) of its velocity u after the step, with a slope W = -df/du >= 0;
every limited torque is a clamped line in its joint's acceleration (rows.py). A round solves

    (H + S + sum G^T W G) da = r        by one sweep over the robot's tree (dynamics/sweep.py)

where r is what the linearised impulses and torques miss. It lives on the bodies that touch, six
numbers each, and at the limited joints. Along a direction, with K = sum G^T W G of a body, F its
wrench and V its twist after the step,

    r(s) = (1 - s) r + s K dV + F(V + s dV) - F(V)

so that the slope along the line, -dV . r(s) - da . rho(s), takes no product with H. The first sweep
is the step's own acceleration, with the slopes with which the last step ended.

Rigid contacts repeat with what they found for an anchor (passes.py). A pass that ends says at once
where the next one starts: where nothing but anchors changed, a pass is one solve without a factor.
Bodies that touch nothing in any lane, and limbs whose stiffness is as it was, are skipped.

At the limit of rounds the impulses of the last pass that ended are taken, since those of a pass
that has not may be far off. The last three rounds go back to the best velocity so far and find the
motion that these impulses cause, so that momentum balances there too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.body_rounds import BodyRounds, slides_of_body, worst_of_body
from heelstrike.contact.solver.criteria import SINGLE, Accuracy, Ended
from heelstrike.contact.solver.joint_rounds import JointRounds
from heelstrike.contact.solver.joint_rows import JointRow
from heelstrike.contact.solver.line import LINE, fits, narrowed, new_line
from heelstrike.contact.solver.linked import LinkedBodies
from heelstrike.contact.solver.links import Moving, SlotLink, motion_of, moving
from heelstrike.contact.solver.passes import LARGEST, Measured, Passes, Scales, together
from heelstrike.contact.solver.round import Round
from heelstrike.contact.solver.sharing import share_out
from heelstrike.contact.solver.state import Body, Judged, Limbs, Solved, Tree, full
from heelstrike.contact.solver.sums import joined, total
from heelstrike.ir.guard import guarded, left, reopened
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.vector import zeros

FIRMEST_SINGLE = 0.25
"""Share of their first compliance that contacts keep in float32."""
RESTING_SINGLE = 20.0
"""`Accuracy.resting` in float32 at most, where the limits themselves are 40 times as large."""
LEAST_IMPULSE, LEAST_TORQUE = 1e-12, 1.0
"""Impulse [N s] and torque [N m or N] of which the tolerance is a share at least."""


class SweptProblem:
    """Contacts and limited torques of a step.

    `add_body` and `add_joint` take what is known before the first sweep, `solve` the sweep.
    """

    def __init__(
        self,
        p: Program,
        dt: SX,
        tolerance: SX,
        accuracy: Accuracy,
        unshared: SX | None = None,
        thorough: bool = False,
    ) -> None:
        """`unshared` is given where bodies may share loads in several ways (sharing.py).

        `thorough` is for derivatives: a pass ends only after a step of Newton's.
        """
        self.p, self.dt, self.tolerance = p, dt, tolerance
        self.single = tolerance > SINGLE
        self.accuracy, self.unshared, self.thorough = accuracy, unshared, thorough
        self.bodies: list[Body] = []
        self.rows: dict[int, JointRow] = {}
        """Rows of joints by velocity index."""

    def add_body(self, body: Body) -> None:
        """Add a body, or a link (start.py)."""
        self.bodies.append(body)

    def add_joint(self, i: int, row: JointRow) -> None:
        """Add a row at a velocity index."""
        self.rows[i] = row

    # the iteration

    def solve(
        self,
        tree: Tree,
        limbs: Limbs,
        first: SX,
        moved: Mapping[int, SX],
        in_slots: Mapping[int, SX],
        diagonal: SX,
    ) -> Solved:
        """Return the impulses and accelerations.

        `first` are the joint accelerations of the first sweep, `moved` the accelerations of the
        loaded bodies in world axes, by number; those of bodies in slots are `in_slots`, which may
        exist inside the guards of slots only. `diagonal` is that of H; entries of joints with rows
        are variables.
        """
        p = self.p
        self.tree, self.diagonal = tree, diagonal
        self.linked = LinkedBodies(p, self.dt, self.tolerance, tree, self.bodies)
        swept = [(name, [i for i in own if i in tree.velocities]) for name, own in limbs]
        self.joints = JointRounds(p, swept, self.rows, diagonal, first)
        self._begin(moved, in_slots)
        scales, self.noise = self._overall_scales()
        firms = bool(self.linked.bodies) or self.accuracy.firms
        passes = Passes(p, scales, self.accuracy, self.thorough, firms)
        limit = self.accuracy.rounds
        with repeated(p, "swept", limit=limit) as loop:
            assert loop.rounds is not None
            closing, last = loop.rounds >= limit - 2, loop.rounds >= limit - 1
            line = loop.carry("line", SX(LINE))
            options = line[0], closing, last, passes, self.thorough
            now = Round(p, self.dt, self.tolerance, *options)
            bodies = BodyRounds(now, tree)
            for body in self.bodies:
                bodies.evaluate(body)
            tried = self.joints.evaluate(now)
            judged = self._judge(now, line, bodies, self.joints.facts(tried))
            for body in self.bodies:
                bodies.end_pass(body, judged.ends)
            columns = [body.measured for body in self.bodies]
            largest = self._largest("measured", columns, LARGEST)
            with p.block("measured"):
                measured = Measured.of_column(p.let("measured", together(columns, largest)))
            over = passes.judge(judged.ends, measured, judged.slides, judged.criterion)
            with p.block("goes on"):
                over = p.let("over", ca.logic_and(over, ca.logic_not(closing)))
                goes = ca.logic_and(judged.accepted, ca.logic_not(ca.logic_or(over, last)))
                goes = p.let("goes", goes)
                loop.until(over)
            tree.accept(now.step, judged.accepted)
            self.joints.accept(tried, judged)
            for body in self.bodies:
                bodies.advance(body, judged, goes)
            with guarded(p, "direction", goes):
                self._direct(self.joints.advance(tried))
            with p.block("line"):
                if self.stepped is not None:
                    p.assign(self.stepped, where(judged.ends, 0, judged.accepted))
                again = where(judged.accepted, new_line(self.start), narrowed(line, judged.slope))
                back = ca.logic_and(loop.rounds >= limit - 3, ca.logic_not(closing))
                loop.next(line, where(back, 0, again))
        if self.unshared is not None and not self.thorough:
            past, own = self.unshared, (self.linked.grounded, self.linked.joined)
            self.unshared = share_out(p, tree, *own, past, diagonal, self.single)
        return self._solved(passes, loop.rounds, loop.rounds >= limit)

    def _begin(self, moved: Mapping[int, SX], in_slots: Mapping[int, SX]) -> None:
        """Set twists and wrenches to those of the first sweep."""
        p = self.p
        with p.block("begin"):
            self.start = p.variable("start", SX(0))
            self.stepped = p.variable("stepped", SX(0)) if self.thorough else None
        for body in self.bodies:
            first = body.twist, body.wrench, body.coast, body.stiffness
            known = in_slots if isinstance(body.link, SlotLink) else moved
            arguments = first, moving(body.link, known, body.number)
            with reopened(p, body.touch):
                call(p, "begin", self._begin_body, *arguments, limb=body.limb, member=body.number)

    def _begin_body(self, first: tuple[SX, ...], moved: Moving) -> None:
        """Assign twist and wrench of a body by its coast and its stiffness; inside a block."""
        twist, wrench, coast, stiffness = first
        change = self.dt * motion_of(moved)
        self.p.assign(twist, coast + change)
        self.p.assign(wrench, wrench - full(stiffness) @ change)

    def _overall_scales(self) -> tuple[Scales, SX]:
        p, tolerance, accuracy = self.p, self.tolerance, self.accuracy
        largest = self._largest("scales", [body.scales for body in self.bodies], 3)
        with p.block("scales"):
            speed, noise, moves = ca.vertsplit(reduce(ca.fmax, largest, zeros(3)))
            scale = p.let("scale", ca.fmax(speed, 1e-9))
            resting = where(self.single, min(accuracy.resting, RESTING_SINGLE), accuracy.resting)
            later = where(moves, 1, resting)
            # what the numbers can resolve: in float32 less
            settled = ca.fmax(accuracy.settled, 10 * tolerance) * scale
            sticks = ca.fmax(accuracy.sticks, 100 * tolerance) * scale
            stalls = ca.fmax(accuracy.stalls, 100 * tolerance) * scale
            own = [p.let("scale", SX(x)) for x in (settled, sticks, later, stalls)]
            firmest = where(self.single, FIRMEST_SINGLE, accuracy.firmest)
            return Scales(own[0], own[1], own[2], own[3], firmest), p.let("noise", noise)

    def _judge(self, now: Round, line: SX, rounds: BodyRounds, of_limbs: Sequence[SX]) -> Judged:
        """Decide whether the trial is accepted, and whether the pass ends.

        `of_limbs` are the facts of the joints with rows.
        """
        p, dt, passes = self.p, self.dt, now.passes
        flags = [rounds.any_slides(body) for body in self.bodies] if self.thorough else []
        bodies = [body.facts for body in self.bodies]
        largest = self._largest("body facts", bodies, 2)
        with p.block("judged"):
            joints = joined(of_limbs, 1) if of_limbs else zeros(2)
            sizes = reduce(ca.fmax, largest, zeros(2))
            slope = p.let("slope", total([joints[1], *(x[2] for x in bodies)]))
            least = LEAST_IMPULSE + (dt * LEAST_TORQUE if self.rows else 0)
            left, large = ca.fmax(sizes[0], joints[0]), sizes[1] + least
            small = left <= self.tolerance * (large + self.noise / passes.firm)
            rounding = left > self.tolerance * large
            if self.stepped is not None:
                small = ca.logic_and(small, self.stepped)
            ends = p.let("ends", small)
            fit = ca.logic_or(fits(line, slope), now.closing)
            accepted = p.let("accepted", ca.logic_or(ends, fit))
            slides = reduce(ca.fmax, flags, SX(0))
            criterion = p.let("criterion", where(rounding, Ended.ROUNDING, 0))
            return Judged(ends, accepted, slope, slides, criterion)

    def _largest(self, kind: str, columns: Sequence[SX], count: int) -> list[SX]:
        """Return the largest of the first entries of the bodies' columns, limb by limb.

        So limbs compare their bodies side by side, and hand on what a single one would.
        """
        own: dict[str | None, list[SX]] = {}
        for body, column in zip(self.bodies, columns, strict=True):
            own.setdefault(body.limb, []).append(column[:count])
        found = []
        for limb, some in own.items():
            if len(some) > 1:
                with self.p.block(kind, limb=limb):
                    some = [self.p.let("largest", reduce(ca.fmax, some))]
            found += some
        return found

    def _direct(self, changed: Mapping[int, SX]) -> None:
        """Assign Newton's direction, and the slope at its start."""
        p, linked = self.p, self.linked
        stiffer = {body.number: body.changed for body in linked.grounded}
        self.tree.factor(stiffer, changed, self.diagonal)
        if linked.bodies:
            with guarded(p, "pulls of links", linked.touching):
                linked.pull([body.lack for body, _ in linked.bodies])
        self._take_direction()
        if linked.bodies:
            with guarded(p, "links", linked.touching):
                linked.eliminate([*stiffer.values(), *changed.values()])
                self._take_direction()
        slopes = []
        for body in self.bodies:
            with (
                reopened(p, body.touch) as touch,
                p.block("slope", limb=body.limb, member=body.number),
            ):
                slope = -ca.dot(body.direction, body.lack)
                slopes.append(left(p, touch, "slope", slope))
        slopes += self.joints.slopes(self.dt)
        with p.block("start"):
            p.assign(self.start, total(slopes))

    def _take_direction(self) -> None:
        """Assign the direction that the present loads cause, without the stiffness of links."""
        p = self.p
        da, moved = self.tree.solve(self.joints.missed())
        for body in self.bodies:
            arguments = body.direction, moving(body.link, moved, body.number)
            with reopened(p, body.touch):
                call(p, "turned", self._turn, *arguments, limb=body.limb, member=body.number)
        self.joints.take_direction(da)

    def _turn(self, direction: SX, moved: Moving) -> None:
        self.p.assign(direction, self.dt * motion_of(moved))

    def _solved(self, passes: Passes, rounds: SX, unfinished: SX) -> Solved:
        points = sorted((x for body in self.bodies for x in body.points), key=lambda x: x.number)
        impulses = [point.f for point in points]
        sliding: dict[int, SX] = {}
        for body in self.bodies:
            sliding |= slides_of_body(self.p, body, passes.scales.sticks)
        slides = [sliding[point.number] for point in points]
        misses = [worst_of_body(self.p, body) for body in self.bodies]
        with self.p.block("worst"):
            residual = self.p.let("missed", reduce(ca.fmax, misses, SX(0)))
        touches = reduce(ca.fmax, (body.active for body in self.bodies), SX(0))
        ended = where(touches, passes.ended, Ended.NO_CONTACT)
        ended = where(unfinished, Ended.LIMIT, ended)
        return Solved(impulses, slides, self.joints.a, rounds, ended, residual, self.unshared)
