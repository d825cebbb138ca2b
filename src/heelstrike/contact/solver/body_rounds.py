"""What a round of the swept problem (swept.py) does to a body that touches, and to its contacts.

A trial gives each contact an impulse and the body a lack, r. Where r is small the pass ends, and
the anchors of the next one are found (anchors.py, passes.py). Where the trial is accepted, impulses
and stiffness of the contacts for the next direction follow. Links are bodies here; what differs for
them is in linked.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.anchors import Fit, new_fit
from heelstrike.contact.solver.passes import Measured, is_at_bound, together
from heelstrike.contact.solver.residual import worst_missed
from heelstrike.contact.solver.round import Round
from heelstrike.contact.solver.state import Body, Judged, Point, Tree, full, upper
from heelstrike.contact.solver.sums import fewer, total
from heelstrike.ir.guard import guarded, left, reopened
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.vector import zeros

FIT, FIT_SINGLE = 1e-5, 0.1
"""Velocity left at the end of a pass, over that which ends the passes, from which on anchors are
fitted: what is left to a step jolts the next one. In float32 rounding alone leaves 1e-2 (median),
and of 32 worlds at rest one would need a fit in almost every step."""


class BodyRounds:
    """Traces what a round does to the bodies, one after another."""

    def __init__(self, of: Round, tree: Tree) -> None:
        self.p, self.round, self.tree = of.p, of, tree

    def evaluate(self, body: Body) -> None:
        """Evaluate the contacts of a body at the trial."""
        p = self.p
        with reopened(p, body.touch):
            with p.block("trial", limb=body.limb, member=body.number):
                trial = p.let("twist", body.twist + self.round.step * body.direction)
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
        rho = point.rho * self.round.passes.firm
        f = row.response(anchor.a, anchor.slides, anchor.bound, rho, left).f
        passed = ca.logic_and(self.round.closing, self.round.passes.count > 0)
        f = p.let("f", where(self.round.last, point.f, where(passed, anchor.f, f)))
        p.assign(point.trial, f)
        return p.let("wrench", point.map.T @ f)

    def _try_lack(self, trial: SX, wrenches: Sequence[SX], body: Body) -> None:
        """Assign what a body lacks at the trial; inside a block."""
        p = self.p
        wrench = p.let("wrench", total(wrenches))
        straight = full(body.stiffness) @ body.direction if body.taken is None else body.taken
        straight = self.round.step * straight
        lack = (1 - self.round.step) * body.lack + (straight + (wrench - body.wrench))
        lack = p.let("lack", lack)
        sizes = ca.mmax(ca.fabs(lack)), ca.mmax(ca.fabs(wrench))
        slope = -ca.dot(body.direction, lack)
        p.assign(body.trial_twist, trial)
        p.assign(body.trial_wrench, wrench)
        p.assign(body.trial_lack, lack)
        p.assign(body.facts, ca.vertcat(*sizes, slope))

    def end_pass(self, body: Body, ends: SX) -> None:
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
        p, end = self.p, point.passed(twist, self.round.passes.firm)
        measured = p.let("measured", self.round.passes.measured(end, point.own))
        p.assign(point.next_slides, end.slides)
        p.assign(point.slipping, Measured.of_column(measured).slipping)
        miss = end.miss if point.row.compliance is None else SX(-1)
        return measured, p.let("miss", miss)

    def _measure_body(self, found: Sequence[tuple[SX, SX]], whole: SX, dy: SX) -> SX:
        """Assign `Measured` of a body, return whether anchors must be fitted; inside a block."""
        measured, misses = zip(*found, strict=True)
        self.p.assign(whole, together(measured))
        self.p.assign(dy, zeros(6))
        share = 0 if self.round.thorough else where(self.round.single, FIT_SINGLE, FIT)
        least = share * self.round.passes.scales.settled
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
        fit.add(self.p, point.passed(twist, self.round.passes.firm), self.round.single)

    def _solve_fit(self, fit: Fit, dy: SX) -> None:
        self.p.assign(dy, fit.solved(self.round.single))

    def advance(self, body: Body, judged: Judged, goes: SX) -> None:
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
                load = self.tree.loads[n] if body.link is None else None
                tried, own = (body.trial_wrench, body.trial_lack), (body.wrench, body.lack)
                new = *own, body.stiffness, body.changed
                whole = sums, tried, new, load
                call(p, "stiffness of body", self._stiffen, *whole, limb=limb, member=n)
                if load is not None:
                    with guarded(p, "stiffer", body.changed):
                        changed = load, body.stiffness
                        call(p, "stiffer", self._stiffer, *changed, limb=limb, member=n)

    def _accept(self, f: SX, trial: SX) -> None:
        """Assign the impulse at the trial; inside a block."""
        self.p.assign(f, trial)

    def _next_anchor(self, point: Point, ends: SX, y: SX | None) -> None:
        """Assign the anchor of the next pass, of a link that of its impulse; inside a block."""
        end = ends, point.trial, point.slipping, point.next_slides
        field = point.trial
        if y is not None:
            field = where(self.round.passes.own_anchors, field, point.map @ y)
        self.round.passes.set_anchor(point.anchor, point.row, *end, field)

    def _stiffness(self, point: Point, twist: SX) -> tuple[SX, SX]:
        """Return wrench and stiffness of a contact at its next anchor; inside a block."""
        p, row, anchor, g = self.p, point.row, point.anchor, point.map
        left = g @ twist - row.target
        rho = point.rho * self.round.passes.firm
        response = row.response(anchor.a, anchor.slides, anchor.bound, rho, left)
        closing = self.round.closing  # the impulse of the last pass acts as it is
        f = where(closing, point.f, response.f)
        own = upper(g.T @ response.where(ca.logic_not(closing)).slope @ g)
        return p.let("wrench", g.T @ f), p.let("stiffness", own)

    def _stiffen(
        self,
        sums: Sequence[tuple[SX, ...]],
        tried: tuple[SX, SX],
        new: tuple[SX, SX, SX, SX],
        load: Any,
    ) -> None:
        """Assign wrench, lack and stiffness of a body, and r of one in the tree; inside a block.

        `tried` are wrench and lack of the trial, `new` wrench, lack, stiffness and whether that has
        changed.
        """
        p = self.p
        wrenches, stiffnesses = zip(*sums, strict=True)
        wrench, stiffness = total(wrenches), p.let("k", total(stiffnesses))
        lack = p.let("lack", tried[1] + (wrench - tried[0]))
        differs = ca.mmax(ca.fabs(stiffness - new[2])) != 0
        for variable, value in zip(new, (wrench, lack, stiffness, differs), strict=True):
            p.assign(variable, value)
        if load is not None:
            self.tree.set_force(load, lack / self.round.dt)

    def _stiffer(self, load: Any, stiffness: SX) -> None:
        self.tree.set_stiffness(load, full(stiffness))

    def any_slides(self, body: Body) -> SX:
        """Return whether a contact of a body slides."""
        p = self.p
        with (
            reopened(p, body.touch) as touch,
            p.block("slides", limb=body.limb, member=body.number),
        ):
            return left(p, touch, "slides", reduce(ca.fmax, (x.anchor.slides for x in body.points)))


def worst_of_body(p: Program, body: Body) -> SX:
    """Return the largest residual of a body's contacts [m/s]."""
    points = body.points
    with reopened(p, body.touch) as touch:
        after = [x.map @ body.twist - x.row.target for x in points]
        rows, own = [x.row for x in points], [x.own for x in points]
        ends = [x.f for x in points], [x.anchor.slides for x in points]
        worst = worst_missed(p, rows, own, after, *ends)
        with p.block("worst", limb=body.limb, member=body.number):
            return left(p, touch, "missed", worst)


def slides_of_body(p: Program, body: Body, sticks: SX) -> dict[int, SX]:
    """Return whether the contacts of a body slide on in the next step, by number.

    `sticks` is the slip of a point that sticks [m/s].
    """
    with reopened(p, body.touch):
        return {
            x.number: call(p, "slides", _slides, p, x, sticks, limb=body.limb, member=x.number)
            for x in body.points
        }


def _slides(p: Program, point: Point, sticks: SX) -> SX:
    anchor = point.anchor
    at_bound = is_at_bound(point.f, anchor.bound, sticks / point.own)
    return p.let("slides", ca.logic_and(anchor.slides, at_bound))
