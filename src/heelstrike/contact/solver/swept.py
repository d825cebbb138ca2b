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

At the limit of rounds the best impulses so far are taken: the last three rounds go back to them and
find the motion that they cause, so that momentum balances there too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import reduce

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.anchors import Fit, first_anchor, new_fit
from heelstrike.contact.solver.criteria import Accuracy
from heelstrike.contact.solver.line import LINE, fits, narrowed, new_line
from heelstrike.contact.solver.passes import Measured, Passes, Scales, together
from heelstrike.contact.solver.residual import worst_missed
from heelstrike.contact.solver.rows import JointRow, Row
from heelstrike.contact.solver.sharing import share_out
from heelstrike.contact.solver.state import Body, Judged, Limbs, Point, Solved, Tree, TriedJoint
from heelstrike.contact.solver.sums import fewer, total
from heelstrike.ir.guard import guarded
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.vector import zeros

EPSILON = 8 * 2.2e-16
"""Rounding of a velocity in float64, relative; over the compliance of a pass it is an impulse that
Newton's method may leave."""
SINGLE = 1e-7
"""Tolerance above which numbers are float32. Then:"""
BLUR = 10.0
"""rounding of velocities, over the compliance of a pass, is more than Newton's method may leave of
impulses, which is this often the tolerance of impulses that would make such velocities;"""
SOFT = 1e-2
"""and compliances of passes are not below this share of the contact's own."""
FIT = 1e-5
"""Velocity left at the end of a pass, over that which ends the passes, from which on anchors are
fitted: what is left to a step jolts the next one."""
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
        self.joints: dict[int, tuple[str, JointRow]] = {}
        """Limb and row by velocity index."""

    def add_body(
        self,
        number: int,
        limb: str,
        rows: Mapping[int, Row],
        own: SX,
        coast: SX,
        now: SX,
        y: SX,
    ) -> Body:
        """Add a body with its rows, by number; its wrench and stiffness are first guesses.

        `coast` is its twist after the step if no force acts on it, `now` that at the start. Points
        that were loaded are guessed to stick, those that slid to slide on in their direction. `y`
        is that of the last step.
        """
        p, points = self.p, []
        with p.block("touches", limb=limb, member=number):
            active = p.let("active", ca.mmax(ca.vertcat(*(row.active for row in rows.values()))))
            coast = p.let("coast", coast)
            sizes = {"twist": 6, "direction": 6, "wrench": 6, "lack": 6, "stiffness": 21}
            sizes |= {"dy": 6, "trial_twist": 6, "trial_wrench": 6, "trial_lack": 6, "changed": 1}
            sizes |= {"scales": 3, "facts": 3, "measured": len(fields(Measured))}
            places = {name: p.variable(name, zeros(size)) for name, size in sizes.items()}
            y0 = p.let("y", where(active, y, 0))
            places["y"] = p.variable("y", y0)
        for j, row in rows.items():
            found = call(p, "anchor", self._point, row, own, places["y"], limb=limb, member=j)
            points.append(replace(found, number=j))
        body = Body(number, limb, points, active, coast, y0, **places)
        with guarded(p, "guess", active):
            guesses = [
                call(p, "guess", self._guess, point, coast, now, limb=limb, member=point.number)
                for point in points
            ]
            sums = fewer(p, [guess[:2] for guess in guesses], limb, number)
            scales = [guess[2] for guess in guesses]
            arguments = sums, scales, body.wrench, body.stiffness, body.scales
            call(p, "guessed", self._sum_guesses, *arguments, limb=limb, member=number)
        self.bodies.append(body)
        return body

    def _point(self, row: Row, own: SX, y: SX) -> Point:
        """Return a contact, numbered 0, with its variables; inside a block."""
        p, share, a = self.p, row.smoothing, row.past
        share = ca.fmax(share, where(self.single, SOFT, 0))
        if row.compliance is None:
            field = row.map @ y
            a = ca.vertcat(where(row.slid, row.past[:2], field[:2]), field[2])
        return Point(
            number=0,
            row=row,
            rho=p.let("rho", share * own),
            own=own,
            anchor=first_anchor(p, row, a),
            f=p.variable("f", row.past),
            trial=p.variable("trial", zeros()),
            slipping=p.variable("slipping", SX(0)),
            next_slides=p.variable("next slides", SX(0)),
        )

    def _guess(self, point: Point, coast: SX, now: SX) -> tuple[SX, SX, SX]:
        """Return the wrench that a contact is guessed to have at `coast`, stiffness and scales.

        What its anchor makes of it is what the first pass is measured by; inside a block.
        """
        row, g = point.row, point.map
        slip = (g @ now)[:2] - row.target[:2]
        at = ca.vertcat(where(row.slid, slip, 0), 0)
        anchor = point.anchor
        f, w = row.response(anchor.a, anchor.slides, anchor.bound, point.rho, at)
        if row.compliance is None:
            loaded = ca.logic_or(f[2] > 0, row.fresh)
            f, w = where(loaded, f, 0), where(loaded, w, 0)
        p = self.p
        p.assign(anchor.f, f)
        wrench = g.T @ (f - w @ ((g @ coast - row.target) - at))
        stiffness = p.let("stiffness", upper(g.T @ w @ g))
        return p.let("wrench", wrench), stiffness, p.let("scales", self._scales(point, coast))

    def _sum_guesses(
        self,
        found: Sequence[tuple[SX, ...]],
        sizes: Sequence[SX],
        wrench: SX,
        stiffness: SX,
        scales: SX,
    ) -> None:
        """Assign the sums over a body's contacts; inside a block."""
        wrenches, stiffnesses = zip(*found, strict=True)
        self.p.assign(wrench, total(wrenches))
        self.p.assign(stiffness, total(stiffnesses))
        self.p.assign(scales, reduce(ca.fmax, sizes))

    def _scales(self, point: Point, coast: SX) -> SX:
        row = point.row
        free = point.map @ coast
        speed = ca.fmax(ca.mmax(ca.fabs(free)), ca.mmax(ca.fabs(row.target)))
        size = ca.mmax(ca.fabs(point.map) @ ca.fabs(coast))  # before terms cancel, as in rolling
        rounding = EPSILON * size / (point.rho * self.tolerance)
        noise = where(self.single, BLUR * size / point.own, rounding)
        return where(row.active, ca.vertcat(speed, noise, SX(row.moves)), 0)

    def add_joint(self, i: int, limb: str, row: JointRow) -> None:
        """Add a row at a velocity index."""
        self.joints[i] = limb, row

    # the iteration

    def solve(
        self, tree: Tree, limbs: Limbs, first: SX, moved: Mapping[int, SX], diagonal: SX
    ) -> Solved:
        """Return the impulses and accelerations.

        `first` are the joint accelerations of the first sweep, `moved` the accelerations of the
        bodies in world axes, by number. `diagonal` is that of H; entries of joints with rows are
        variables.
        """
        p = self.p
        self.tree, self.diagonal = tree, diagonal
        self.limbs = [(name, [i for i in own if i in tree.velocities]) for name, own in limbs]
        self._begin(first, moved)
        scales, self.noise = self._overall_scales()
        self.passes = passes = Passes(p, scales, self.accuracy, self.thorough)
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
            with p.block("measured"):
                column = together([body.measured for body in self.bodies])
                measured = Measured.of_column(p.let("measured", column))
            over = passes.judge(judged.ends, measured, judged.waits, judged.slides)
            with p.block("goes on"):
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
            self.unshared = share_out(p, tree, self.bodies, past, diagonal, self.single)
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
                guarded(p, "begin", body.active),
                p.block("begin", limb=body.limb, member=body.number),
            ):
                change = dt * moved[body.number]
                p.assign(body.twist, body.coast + change)
                p.assign(body.wrench, body.wrench - full(body.stiffness) @ change)

    def _overall_scales(self) -> tuple[Scales, SX]:
        p, tolerance, accuracy = self.p, self.tolerance, self.accuracy
        with p.block("scales"):
            speed, noise, moves = ca.vertsplit(
                reduce(ca.fmax, (body.scales for body in self.bodies), zeros(3))
            )
            scale = p.let("scale", ca.fmax(speed, 1e-9))
            later = where(moves, 1, accuracy.resting)
            # what the numbers can resolve: in float32 less
            settled = ca.fmax(accuracy.settled, 10 * tolerance) * scale
            sticks = ca.fmax(accuracy.sticks, 100 * tolerance) * scale
            own = [p.let("scale", SX(x)) for x in (settled, sticks, later)]
            return Scales(*own), p.let("noise", noise)

    def _try_body(self, body: Body) -> None:
        """Evaluate the contacts of a body at the trial."""
        p = self.p
        with guarded(p, "trial", body.active):
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
        f, _ = row.response(anchor.a, anchor.slides, anchor.bound, point.rho, left)
        f = p.let("f", where(self.last, point.f, f))
        p.assign(point.trial, f)
        return p.let("wrench", point.map.T @ f)

    def _try_lack(self, trial: SX, wrenches: Sequence[SX], body: Body) -> None:
        """Assign what a body lacks at the trial; inside a block."""
        p = self.p
        wrench = p.let("wrench", total(wrenches))
        straight = self.step * (full(body.stiffness) @ body.direction)
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
        with guarded(p, "pass", ca.logic_and(ends, body.active)):
            found = [
                call(p, "pass", self._measure, point, twist, limb=limb, member=point.number)
                for point in body.points
            ]
            arguments = found, body.measured, body.dy
            unfit = call(p, "measured", self._measure_body, *arguments, limb=limb, member=n)
            rigid = [point for point in body.points if point.row.compliance is None]
            if rigid:
                with guarded(p, "fit", unfit):
                    self._fit(body, rigid)

    def _measure(self, point: Point, twist: SX) -> tuple[SX, SX]:
        """Return `Measured` of a contact as a column, and what its anchor misses; inside a block.

        A contact with a compliance of its own misses nothing.
        """
        p, end = self.p, point.passed(twist)
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
        fit.add(self.p, point.passed(twist), self.single)

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
        with p.block("judged"):
            joints = _joined(of_limbs, 2) if of_limbs else zeros(3)
            bodies = [body.facts for body in self.bodies]
            sizes = reduce(ca.fmax, (x[:2] for x in bodies), zeros(2))
            slope = p.let("slope", total([joints[2], *(x[2] for x in bodies)]))
            least = LEAST_IMPULSE + (dt * LEAST_TORQUE if self.joints else 0)
            large = sizes[1] + self.noise + least
            small = ca.fmax(sizes[0], joints[0]) <= self.tolerance * large
            if self.stepped is not None:
                small = ca.logic_and(small, self.stepped)
            ends = p.let("ends", small)
            fit = ca.logic_or(fits(line, slope), self.closing)
            accepted = p.let("accepted", ca.logic_or(ends, fit))
            few = self.passes.count < accuracy.patient
            creeps = joints[1] > where(few, accuracy.held, accuracy.creeps)
            waits = p.let("waits", ca.logic_and(creeps, self.passes.count < accuracy.waits))
            flags = [point.anchor.slides for body in self.bodies for point in body.points]
            slides = reduce(ca.fmax, flags, SX(0)) if self.thorough else SX(0)
            return Judged(ends, accepted, slope, waits, slides)

    def _accept_joints(self, tried: Mapping[int, TriedJoint], judged: Judged) -> None:
        p = self.p
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
        with guarded(p, "accepted", ca.logic_and(judged.accepted, body.active)):
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
                    arguments = point, ends, body.y
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
                    self.tree.set_force(n, lack / self.dt)
                with (
                    guarded(p, "stiffer", body.changed),
                    p.block("stiffer", limb=limb, member=n),
                ):
                    self.tree.set_stiffness(n, full(body.stiffness))

    def _accept(self, f: SX, trial: SX) -> None:
        """Assign the impulse at the trial; inside a block."""
        self.p.assign(f, trial)

    def _next_anchor(self, point: Point, ends: SX, y: SX) -> None:
        """Assign the anchor of the next pass; inside a block."""
        end = ends, point.trial, point.slipping, point.next_slides
        self.passes.set_anchor(point.anchor, point.row, *end, point.map @ y)

    def _stiffness(self, point: Point, twist: SX) -> tuple[SX, SX]:
        """Return wrench and stiffness of a contact at its next anchor; inside a block."""
        p, row, anchor, g = self.p, point.row, point.anchor, point.map
        left = g @ twist - row.target
        f, w = row.response(anchor.a, anchor.slides, anchor.bound, point.rho, left)
        own = where(self.closing, 0, upper(g.T @ w @ g))
        return p.let("wrench", g.T @ f), p.let("stiffness", own)

    def _direct(self, changed: Mapping[int, SX]) -> None:
        """Assign Newton's direction, and the slope at its start."""
        p, dt = self.p, self.dt
        stiffer = {body.number: body.changed for body in self.bodies}
        self.tree.factor(stiffer, changed, self.diagonal)
        da, moved = self.tree.solve({i: row.rho for i, (_, row) in self.joints.items()})
        slopes = []
        for body in self.bodies:
            with p.block("turned", limb=body.limb, member=body.number):
                direction = dt * moved[body.number]
                slope = -ca.dot(direction, body.lack)
                slopes.append(p.let("slope", where(body.active, slope, 0)))
                p.assign(body.direction, direction)
        for limb, indices in self.limbs:
            for i in indices:
                with p.block("joint direction", limb=limb, member=i):
                    p.assign(self.da[i], da[i])
            own = [da[i] * self.joints[i][1].rho for i in indices if i in self.joints]
            if own:
                with p.block("joint slope", limb=limb):
                    slopes.append(p.let("slope", -dt * dt * total(own)))
        with p.block("start"):
            p.assign(self.start, total(slopes))

    def _solved(self, rounds: SX, unfinished: SX) -> Solved:
        points = sorted(
            ((point, body) for body in self.bodies for point in body.points),
            key=lambda x: x[0].number,
        )
        impulses = [point.f for point, _ in points]
        slides = [point.anchor.slides for point, _ in points]
        left = [
            where(body.active, point.map @ body.twist - point.row.target, 0)
            for point, body in points
        ]
        rows = [point.row for point, _ in points]
        residual = SX(0)
        if points:
            own = [point.own for point, _ in points]
            residual = worst_missed(self.p, rows, own, left, impulses, slides)
        fields = ca.vertcat(*(where(body.active, body.y, 0) for body in self.bodies))
        ended = rounds, unfinished, residual
        return Solved(impulses, slides, self.a, *ended, fields, self.unshared)


def _joined(columns: Sequence[SX], largest: int) -> SX:
    """Return the largest of the first entries of several columns, and the sums of the others."""
    return ca.vertcat(
        reduce(ca.fmax, (x[:largest] for x in columns)), total([x[largest:] for x in columns])
    )


def upper(matrix: SX) -> SX:
    """Return the upper triangle of a symmetric (6, 6) matrix as a column."""
    return ca.vertcat(*(matrix[r, c] for c in range(6) for r in range(c + 1)))


def full(column: SX) -> SX:
    """Return the symmetric matrix of an upper triangle."""
    return ca.densify(ca.triu2symm(SX(ca.Sparsity.upper(6), ca.densify(column))))
