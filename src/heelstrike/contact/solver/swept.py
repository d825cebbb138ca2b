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

Rigid contacts and dry friction repeat with what they found for an anchor (passes.py). A pass that
ends says at once where the next one starts: where nothing but anchors changed, a pass is one solve
without a factor. Bodies that touch nothing in any lane, and limbs whose stiffness is as it was, are
skipped by guards.

At the limit of rounds the impulses of the last pass that ended are taken, since those of a pass
that has not may be far off. The last three rounds go back to the best velocity so far and find the
motion that these impulses cause, so that momentum balances there too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.anchors import Fit, new_fit
from heelstrike.contact.solver.conjugate import taken_by_links
from heelstrike.contact.solver.criteria import SINGLE, Accuracy, Ended
from heelstrike.contact.solver.joint_rows import JointRow
from heelstrike.contact.solver.line import LINE, fits, narrowed, new_line
from heelstrike.contact.solver.links import Elimination, Link, added, any_of
from heelstrike.contact.solver.passes import LARGEST, Measured, Passes, Scales, together
from heelstrike.contact.solver.residual import worst_missed
from heelstrike.contact.solver.sharing import share_out
from heelstrike.contact.solver.state import (
    Body,
    Judged,
    Limbs,
    Point,
    Solved,
    Tree,
    TriedJoint,
    full,
    upper,
)
from heelstrike.contact.solver.sums import fewer, total
from heelstrike.ir.guard import guarded, left, reopened
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.vector import zeros

FIT = 1e-5
"""Velocity left at the end of a pass, over that which ends the passes, from which on anchors are
fitted: what is left to a step jolts the next one."""
FIRMEST_SINGLE = 0.25
"""Share of their first compliance that contacts keep in float32."""
ROUNDING = 4.0
"""Rounding of a torque, in tolerances."""
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
        self.elimination: Elimination | None = None
        """Elimination of links, where all of them are known before the step."""
        self.joints: dict[int, tuple[str, JointRow]] = {}
        """Limb and row by velocity index."""

    def add_body(self, body: Body) -> None:
        """Add a body, or a link (start.py)."""
        self.bodies.append(body)

    def add_joint(self, i: int, limb: str, row: JointRow) -> None:
        """Add a row at a velocity index."""
        self.joints[i] = limb, row

    # the iteration

    def solve(
        self, tree: Tree, limbs: Limbs, first: SX, moved: Mapping[int, SX], diagonal: SX
    ) -> Solved:
        """Return the impulses and accelerations.

        `first` are the joint accelerations of the first sweep, `moved` the accelerations of the
        loaded bodies in world axes, by number. `diagonal` is that of H; entries of joints with rows
        are variables.
        """
        p = self.p
        self.linked = [(body, body.link) for body in self.bodies if body.link is not None]
        self.grounded = [body for body in self.bodies if body.link is None]
        if self.linked:
            links = [link for _, link in self.linked]
            fixed = [link for link in links if isinstance(link, Link)]
            if len(fixed) == len(links):
                self.elimination = Elimination(p, tree, fixed, self.tolerance)
            with p.block("links"):
                self.touching = p.let("touching", any_of(body.active for body, _ in self.linked))
        self.tree, self.diagonal = tree, diagonal
        self.limbs = [(name, [i for i in own if i in tree.velocities]) for name, own in limbs]
        self._begin(first, moved)
        scales, self.noise = self._overall_scales()
        firms = bool(self.linked) or self.accuracy.firms
        self.passes = passes = Passes(p, scales, self.accuracy, self.thorough, firms)
        limit = self.accuracy.rounds
        with repeated(p, "swept", limit=limit) as loop:
            assert loop.rounds is not None
            self.closing, self.last = loop.rounds >= limit - 2, loop.rounds >= limit - 1
            line = loop.carry("line", SX(LINE))
            self.step = line[0]
            for body in self.bodies:
                self._try_body(body)
            tried = {i: self._try_joint(limb, i) for limb, i in self._swept()}
            judged = self._judge(line, tried)
            for body in self.bodies:
                self._end_pass(body, judged.ends)
            columns = [body.measured for body in self.bodies]
            largest = self._largest("measured", columns, LARGEST)
            with p.block("measured"):
                measured = Measured.of_column(p.let("measured", together(columns, largest)))
            flags = judged.waits, judged.slides, judged.criterion
            over = passes.judge(judged.ends, measured, *flags)
            with p.block("goes on"):
                over = p.let("over", ca.logic_and(over, ca.logic_not(self.closing)))
                goes = ca.logic_and(judged.accepted, ca.logic_not(ca.logic_or(over, self.last)))
                goes = p.let("goes", goes)
                loop.until(over)
            self._accept_joints(tried, judged)
            for body in self.bodies:
                self._next_body(body, judged, goes)
            with guarded(p, "direction", goes):
                changed = {
                    i: self._next_joint(limb, i, tried[i], judged.ends)
                    for limb, i in self._swept()
                    if i in self.joints
                }
                self._direct(changed)
            with p.block("line"):
                if self.stepped is not None:
                    p.assign(self.stepped, where(judged.ends, 0, judged.accepted))
                again = where(judged.accepted, new_line(self.start), narrowed(line, judged.slope))
                back = ca.logic_and(loop.rounds >= limit - 3, ca.logic_not(self.closing))
                loop.next(line, where(back, 0, again))
        if self.unshared is not None and not self.thorough:
            past = self.unshared
            joined = sorted({n for _, link in self.linked for n in link.bodies})
            bodies = self.grounded, joined
            self.unshared = share_out(p, tree, *bodies, past, diagonal, self.single)
        return self._solved(loop.rounds, loop.rounds >= limit)

    def _swept(self) -> list[tuple[str, int]]:
        """Return the swept velocity indices with their limbs."""
        return [(limb, i) for limb, own in self.limbs for i in own]

    def _begin(self, first: SX, moved: Mapping[int, SX]) -> None:
        """Set accelerations, twists and wrenches to those of the first sweep."""
        p, dt = self.p, self.dt
        self.a, self.da = SX(first), zeros(first.numel())
        for limb, i in self._swept():
            with p.block("begin", limb=limb, member=i):
                self.a[i], self.da[i] = p.variable("a", first[i]), p.variable("da", SX(0))
                if i in self.joints:
                    row = self.joints[i][1]
                    p.assign(row.torque, row.torque - row.slope * first[i])
        with p.block("begin"):
            self.start = p.variable("start", SX(0))
            self.stepped = p.variable("stepped", SX(0)) if self.thorough else None
        for body in self.bodies:
            with (
                reopened(p, body.touch),
                p.block("begin", limb=body.limb, member=body.number),
            ):
                change = dt * _of_body(body, moved)
                p.assign(body.twist, body.coast + change)
                p.assign(body.wrench, body.wrench - full(body.stiffness) @ change)

    def _overall_scales(self) -> tuple[Scales, SX]:
        p, tolerance, accuracy = self.p, self.tolerance, self.accuracy
        largest = self._largest("scales", [body.scales for body in self.bodies], 3)
        with p.block("scales"):
            speed, noise, moves = ca.vertsplit(reduce(ca.fmax, largest, zeros(3)))
            scale = p.let("scale", ca.fmax(speed, 1e-9))
            later = where(moves, 1, accuracy.resting)
            # what the numbers can resolve: in float32 less
            settled = ca.fmax(accuracy.settled, 10 * tolerance) * scale
            sticks = ca.fmax(accuracy.sticks, 100 * tolerance) * scale
            stalls = ca.fmax(accuracy.stalls, 100 * tolerance) * scale
            own = [p.let("scale", SX(x)) for x in (settled, sticks, later, stalls)]
            firmest = where(self.single, FIRMEST_SINGLE, accuracy.firmest)
            return Scales(own[0], own[1], own[2], own[3], firmest), p.let("noise", noise)

    def _try_body(self, body: Body) -> None:
        """Evaluate the contacts of a body at the trial."""
        p = self.p
        with reopened(p, body.touch):
            with p.block("trial", limb=body.limb, member=body.number):
                trial = p.let("twist", body.twist + self.step * body.direction)
            wrenches = [
                call(p, "point", self._try_point, point, trial, limb=body.limb, member=point.number)
                for point in body.points
            ]
            call(
                p,
                "lack",
                self._try_lack,
                trial,
                wrenches,
                replace(body, points=[]),
                limb=body.limb,
                member=body.number,
            )

    def _try_point(self, point: Point, trial: SX) -> SX:
        """Assign the impulse of a contact at the trial, and return its wrench; inside a block."""
        p, row, anchor = self.p, point.row, point.anchor
        left = point.map @ trial - row.target
        rho = point.rho * self.passes.firm
        f, _ = row.response(anchor.a, anchor.slides, anchor.bound, rho, left)
        passed = ca.logic_and(self.closing, self.passes.count > 0)
        f = p.let("f", where(self.last, point.f, where(passed, anchor.f, f)))
        p.assign(point.trial, f)
        return p.let("wrench", point.map.T @ f)

    def _try_lack(self, trial: SX, wrenches: Sequence[SX], body: Body) -> None:
        """Assign what a body lacks at the trial; inside a block."""
        p = self.p
        wrench = p.let("wrench", total(wrenches))
        straight = full(body.stiffness) @ body.direction if body.taken is None else body.taken
        straight = self.step * straight
        lack = (1 - self.step) * body.lack + (straight + (wrench - body.wrench))
        lack = p.let("lack", lack)
        sizes = ca.mmax(ca.fabs(lack)), ca.mmax(ca.fabs(wrench))
        slope = -ca.dot(body.direction, lack)
        p.assign(body.trial_twist, trial)
        p.assign(body.trial_wrench, wrench)
        p.assign(body.trial_lack, lack)
        p.assign(body.facts, ca.vertcat(*sizes, slope))

    def _end_pass(self, body: Body, ends: SX) -> None:
        """Find the change of the anchors where the pass ends, and measure what it changed."""
        p, limb, n, twist = self.p, body.limb, body.number, body.trial_twist
        with guarded(p, "pass", ends, within=body.touch):
            found = [
                call(p, "pass", self._measure, point, twist, limb=limb, member=point.number)
                for point in body.points
            ]
            arguments = found, body.measured, body.dy
            unfit = call(p, "measured", self._measure_body, *arguments, limb=limb, member=n)
            rigid = [point for point in body.points if point.row.compliance is None]
            if rigid and body.link is None:
                with guarded(p, "fit", unfit):
                    self._fit(body, rigid)

    def _measure(self, point: Point, twist: SX) -> tuple[SX, SX]:
        """Return `Measured` of a contact as a column, and what its anchor misses; inside a block.

        A contact with a compliance of its own misses nothing.
        """
        p, end = self.p, point.passed(twist, self.passes.firm)
        measured = p.let("measured", self.passes.measured(end, point.own))
        p.assign(point.next_slides, end.slides)
        p.assign(point.slipping, Measured.of_column(measured).slipping)
        miss = end.miss if point.row.compliance is None else SX(-1)
        return measured, p.let("miss", miss)

    def _measure_body(self, found: Sequence[tuple[SX, SX]], whole: SX, dy: SX) -> SX:
        """Assign `Measured` of a body, return whether anchors must be fitted; inside a block."""
        measured, misses = zip(*found, strict=True)
        self.p.assign(whole, together(measured))
        self.p.assign(dy, zeros(6))
        least = 0 if self.thorough else FIT * self.passes.scales.settled
        return self.p.let("unfit", reduce(ca.fmax, misses) >= least)

    def _fit(self, body: Body, points: Sequence[Point]) -> None:
        """Assign the change of y of a body whose anchors are fitted."""
        p, limb, n, twist = self.p, body.limb, body.number, body.trial_twist
        fit = call(p, "new fit", new_fit, p, [x.trial for x in points], limb=limb, member=n)
        for point in points:
            arguments = fit, point, twist
            call(p, "fit", self._fit_point, *arguments, limb=limb, member=point.number)
        call(p, "fitted", self._solve_fit, fit, body.dy, limb=limb, member=n)

    def _fit_point(self, fit: Fit, point: Point, twist: SX) -> None:
        fit.add(self.p, point.passed(twist, self.passes.firm), self.single)

    def _solve_fit(self, fit: Fit, dy: SX) -> None:
        self.p.assign(dy, fit.solved(self.single))

    def _try_joint(self, limb: str, i: int) -> TriedJoint:
        """Evaluate a joint at the trial."""
        p, dt, step = self.p, self.dt, self.step
        with p.block("joint trial", limb=limb, member=i):
            a = p.let("a", self.a[i] + step * self.da[i])
            if i not in self.joints:
                return TriedJoint(a, SX(0), SX(0), SX(0), zeros())
            row = self.joints[i][1]
            torque, _, rubs = row.at(a, row.anchor)
            rho = (1 - step) * row.rho + (step * row.slope * self.da[i] + (torque - row.torque))
            torque, rho, rubs = p.let("torque", torque), p.let("rho", rho), p.let("rubs", rubs)
            moved = SX(0)
            if row.friction is not None:
                moved = dt * ca.fabs(rubs - row.anchor) / row.friction.slope
            noise = ROUNDING * self.tolerance * ca.fabs(torque)
            size = dt * ca.fmax(ca.fabs(rho) - noise, 0)
            facts = ca.vertcat(size, moved, -dt * dt * self.da[i] * rho)
            return TriedJoint(a, torque, rho, rubs, p.let("facts", facts))

    def _judge(self, line: SX, tried: Mapping[int, TriedJoint]) -> Judged:
        """Decide whether the trial is accepted, and whether the pass ends."""
        p, dt, accuracy = self.p, self.dt, self.accuracy
        of_limbs = []
        for limb, indices in self.limbs:
            own = [tried[i].facts for i in indices if i in self.joints]
            if own:
                with p.block("joint facts", limb=limb):
                    of_limbs.append(p.let("facts", _joined(own, 2)))
        flags = [self._any_slides(body) for body in self.bodies] if self.thorough else []
        bodies = [body.facts for body in self.bodies]
        largest = self._largest("body facts", bodies, 2)
        with p.block("judged"):
            joints = _joined(of_limbs, 2) if of_limbs else zeros(3)
            sizes = reduce(ca.fmax, largest, zeros(2))
            slope = p.let("slope", total([joints[2], *(x[2] for x in bodies)]))
            least = LEAST_IMPULSE + (dt * LEAST_TORQUE if self.joints else 0)
            left, large = ca.fmax(sizes[0], joints[0]), sizes[1] + least
            small = left <= self.tolerance * (large + self.noise / self.passes.firm)
            rounding = left > self.tolerance * large
            if self.stepped is not None:
                small = ca.logic_and(small, self.stepped)
            ends = p.let("ends", small)
            fit = ca.logic_or(fits(line, slope), self.closing)
            accepted = p.let("accepted", ca.logic_or(ends, fit))
            few = self.passes.count < accuracy.patient
            creeps = joints[1] > where(few, accuracy.held, accuracy.creeps)
            waits = p.let("waits", ca.logic_and(creeps, self.passes.count < accuracy.waits))
            slides = reduce(ca.fmax, flags, SX(0))
            criterion = where(creeps, Ended.JOINTS, where(rounding, Ended.ROUNDING, 0))
            return Judged(ends, accepted, slope, waits, slides, p.let("criterion", criterion))

    def _largest(self, kind: str, columns: Sequence[SX], count: int) -> list[SX]:
        """Return the largest of the first entries of the bodies' columns, limb by limb.

        So limbs compare their bodies side by side, and hand on what a single one would.
        """
        own: dict[str, list[SX]] = {}
        for body, column in zip(self.bodies, columns, strict=True):
            own.setdefault(body.limb, []).append(column[:count])
        found = []
        for limb, some in own.items():
            if len(some) > 1:
                with self.p.block(kind, limb=limb):
                    some = [self.p.let("largest", reduce(ca.fmax, some))]
            found += some
        return found

    def _any_slides(self, body: Body) -> SX:
        """Return whether a contact of a body slides."""
        p = self.p
        with (
            reopened(p, body.touch) as touch,
            p.block("slides", limb=body.limb, member=body.number),
        ):
            return left(p, touch, "slides", reduce(ca.fmax, (x.anchor.slides for x in body.points)))

    def _accept_joints(self, tried: Mapping[int, TriedJoint], judged: Judged) -> None:
        p = self.p
        self.tree.accept(self.step, judged.accepted)
        for limb, i in self._swept():
            with p.block("joint accepted", limb=limb, member=i):
                p.assign(self.a[i], where(judged.accepted, tried[i].a, self.a[i]))
                if i in self.joints and (row := self.joints[i][1]).friction is not None:
                    p.assign(row.rubs, where(judged.accepted, tried[i].rubs, row.rubs))

    def _next_joint(self, limb: str, i: int, tried: TriedJoint, ends: SX) -> SX:
        """Assign a row's state at the accepted trial; return whether its slope changed."""
        p, row = self.p, self.joints[i][1]
        with p.block("joint next", limb=limb, member=i):
            anchor = where(ends, tried.rubs, row.anchor)
            torque, slope, _ = row.at(tried.a, anchor)
            if row.friction is not None:
                p.assign(row.anchor, anchor)
            p.assign(self.diagonal[i], row.fixed + slope)
            p.assign(row.slope, slope)
            p.assign(row.torque, torque)
            p.assign(row.rho, tried.rho + (torque - tried.torque))
            return p.let("changed", slope != row.slope)

    def _next_body(self, body: Body, judged: Judged, goes: SX) -> None:
        """Assign a body's state after the trial, and the contacts' stiffness for a direction."""
        p, limb, n, ends = self.p, body.limb, body.number, judged.ends
        with p.block("unchanged", limb=limb, member=n):
            p.assign(body.changed, SX(0))
        with guarded(p, "accepted", judged.accepted, within=body.touch):
            for point in body.points:
                call(
                    p,
                    "accepted",
                    self._accept,
                    point.f,
                    point.trial,
                    limb=limb,
                    member=point.number,
                )
            with p.block("accepted body", limb=limb, member=n):
                p.assign(body.twist, body.trial_twist)
                p.assign(body.y, body.y + where(ends, body.dy, 0))
            with guarded(p, "stiffness", goes):
                for point in body.points:
                    arguments = point, ends, None if body.link else body.y
                    call(p, "anchor", self._next_anchor, *arguments, limb=limb, member=point.number)
                found = [
                    call(
                        p,
                        "stiffness",
                        self._stiffness,
                        point,
                        body.trial_twist,
                        limb=limb,
                        member=point.number,
                    )
                    for point in body.points
                ]
                sums = fewer(p, found, limb, n)
                with p.block("stiffness of body", limb=limb, member=n):
                    wrenches, stiffnesses = zip(*sums, strict=True)
                    wrench, stiffness = total(wrenches), p.let("k", total(stiffnesses))
                    lack = p.let("lack", body.trial_lack + (wrench - body.trial_wrench))
                    differs = ca.mmax(ca.fabs(stiffness - body.stiffness)) != 0
                    p.assign(body.changed, differs)
                    p.assign(body.wrench, wrench)
                    p.assign(body.lack, lack)
                    p.assign(body.stiffness, stiffness)
                    if body.link is None:
                        self.tree.set_force(n, lack / self.dt)
                if body.link is None:
                    with (
                        guarded(p, "stiffer", body.changed),
                        p.block("stiffer", limb=limb, member=n),
                    ):
                        self.tree.set_stiffness(n, full(body.stiffness))

    def _accept(self, f: SX, trial: SX) -> None:
        """Assign the impulse at the trial; inside a block."""
        self.p.assign(f, trial)

    def _next_anchor(self, point: Point, ends: SX, y: SX | None) -> None:
        """Assign the anchor of the next pass, of a link that of its impulse; inside a block."""
        end = ends, point.trial, point.slipping, point.next_slides
        field = point.trial
        if y is not None:
            field = where(self.passes.own_anchors, field, point.map @ y)
        self.passes.set_anchor(point.anchor, point.row, *end, field)

    def _stiffness(self, point: Point, twist: SX) -> tuple[SX, SX]:
        """Return wrench and stiffness of a contact at its next anchor; inside a block."""
        p, row, anchor, g = self.p, point.row, point.anchor, point.map
        left = g @ twist - row.target
        rho = point.rho * self.passes.firm
        f, w = row.response(anchor.a, anchor.slides, anchor.bound, rho, left)
        f = where(self.closing, point.f, f)  # that of the last pass, which acts as it is
        own = where(self.closing, 0, upper(g.T @ w @ g))
        return p.let("wrench", g.T @ f), p.let("stiffness", own)

    def _direct(self, changed: Mapping[int, SX]) -> None:
        """Assign Newton's direction, and the slope at its start."""
        p, dt = self.p, self.dt
        stiffer = {body.number: body.changed for body in self.grounded}
        self.tree.factor(stiffer, changed, self.diagonal)
        if self.linked:
            with guarded(p, "pulls of links", self.touching):
                self._pull([body.lack for body, _ in self.linked])
        self._take_direction()
        if self.linked:
            with guarded(p, "links", self.touching):
                self._eliminate_links([*stiffer.values(), *changed.values()])
                self._take_direction()
        slopes = []
        for body in self.bodies:
            with (
                reopened(p, body.touch) as touch,
                p.block("slope", limb=body.limb, member=body.number),
            ):
                slope = -ca.dot(body.direction, body.lack)
                slopes.append(left(p, touch, "slope", slope))
        for limb, indices in self.limbs:
            own = [self.da[i] * self.joints[i][1].rho for i in indices if i in self.joints]
            if own:
                with p.block("joint slope", limb=limb):
                    slopes.append(p.let("slope", -dt * dt * total(own)))
        with p.block("start"):
            p.assign(self.start, total(slopes))

    def _take_direction(self) -> None:
        """Assign the direction that the present loads cause, without the stiffness of links."""
        p = self.p
        da, moved = self.tree.solve({i: row.rho for i, (_, row) in self.joints.items()})
        for body in self.bodies:
            with (
                reopened(p, body.touch),
                p.block("turned", limb=body.limb, member=body.number),
            ):
                p.assign(body.direction, self.dt * _of_body(body, moved))
        for limb, i in self._swept():
            with p.block("joint direction", limb=limb, member=i):
                p.assign(self.da[i], da[i])

    def _eliminate_links(self, changes: list[SX]) -> None:
        """Take off the bodies what the stiffness of links does."""
        p = self.p
        stiffnesses = [full(body.stiffness) for body, _ in self.linked]
        twists = [body.direction for body, _ in self.linked]
        if self.elimination is None:
            taken = taken_by_links(p, stiffnesses, twists, self._respond, self.tolerance)
        else:
            with p.block("links changed"):
                changed = p.let("changed", any_of([*changes, *(x.changed for x, _ in self.linked)]))
            self.elimination.factor(changed, stiffnesses)
        with p.block("links taken"):
            if self.elimination is not None:
                taken = self.elimination.taken(twists)
            left = []
            for (body, _), own in zip(self.linked, taken, strict=True):
                assert body.taken is not None
                own = p.let("taken", own)
                p.assign(body.taken, own)
                left.append(p.let("left", body.lack - own))
        self._pull(left)

    def _respond(self, wrenches: Sequence[SX]) -> list[SX]:
        """Return the twists of links by wrenches of links alone."""
        p, links = self.p, [link for _, link in self.linked]
        pulls = added(links, wrenches, {})
        for number in self.tree.loaded:
            with p.block("pull of links", member=number):
                self.tree.set_force(number, pulls.get(number, zeros(6)) / self.dt)
        _, moved = self.tree.solve({})
        found = []
        for n, link in enumerate(links):
            with p.block("moved link", member=n):
                found.append(p.let("twist", self.dt * link.relative(moved)))
        return found

    def _pull(self, wrenches: Sequence[SX]) -> None:
        """Set the forces of bodies that links act on: those of the ground, and the links'."""
        ground = {body.number: body.lack for body in self.grounded}
        links = [link for _, link in self.linked]
        pulls = added(links, wrenches, ground)
        if self.elimination is None:  # after `_respond`, which changes the forces of all bodies
            pulls = ground | pulls
        for number, force in pulls.items():
            with self.p.block("pull of links", member=number):
                self.tree.set_force(number, force / self.dt)

    def _solved(self, rounds: SX, unfinished: SX) -> Solved:
        points = sorted((x for body in self.bodies for x in body.points), key=lambda x: x.number)
        impulses = [point.f for point in points]
        slides = [point.anchor.slides for point in points]
        misses = [self._worst_missed(body) for body in self.bodies]
        with self.p.block("worst"):
            residual = self.p.let("missed", reduce(ca.fmax, misses, SX(0)))
        touches = reduce(ca.fmax, (body.active for body in self.bodies), SX(0))
        ended = where(touches, self.passes.ended, Ended.NO_CONTACT)
        ended = where(unfinished, Ended.LIMIT, ended)
        return Solved(impulses, slides, self.a, rounds, ended, residual, self.unshared)

    def _worst_missed(self, body: Body) -> SX:
        """Return the largest residual of a body's contacts [m/s]."""
        p, points = self.p, body.points
        with reopened(p, body.touch) as touch:
            after = [x.map @ body.twist - x.row.target for x in points]
            rows, own = [x.row for x in points], [x.own for x in points]
            ends = [x.f for x in points], [x.anchor.slides for x in points]
            worst = worst_missed(p, rows, own, after, *ends)
            with p.block("worst", limb=body.limb, member=body.number):
                return left(p, touch, "missed", worst)


def _of_body(body: Body, moved: Mapping[int, SX]) -> SX:
    """Return the motion of a body, or of a link, of those of all loaded bodies."""
    return moved[body.number] if body.link is None else body.link.relative(moved)


def _joined(columns: Sequence[SX], largest: int) -> SX:
    """Return the largest of the first entries of several columns, and the sums of the others."""
    return ca.vertcat(
        reduce(ca.fmax, (x[:largest] for x in columns)), total([x[largest:] for x in columns])
    )
