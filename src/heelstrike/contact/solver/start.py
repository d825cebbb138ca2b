"""Start of the swept problem (swept.py): the first anchors of a body's contacts, and their guess.

Points that were loaded are guessed to stick, those that slid to slide on in their direction. The
first sweep of the tree has a place for the stiffness of contacts with the ground, and none for that
of a link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.anchors import Fit, first_anchor, new_fit
from heelstrike.contact.solver.criteria import SINGLE
from heelstrike.contact.solver.links import AnyLink
from heelstrike.contact.solver.passes import Measured
from heelstrike.contact.solver.rows import Row
from heelstrike.contact.solver.state import Body, Point, upper
from heelstrike.contact.solver.sums import fewer, total
from heelstrike.ir.guard import OpenGuard, guarded, left, reopened
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.vector import zeros

EPSILON = 8 * 2.2e-16
"""Rounding of a velocity in float64, relative; over the compliance of a pass it is an impulse that
Newton's method may leave."""
BLUR = 20.0
"""In float32 rounding of velocities, over the compliance of a pass, is more than Newton's method
may leave of impulses, which is this often the tolerance of impulses that would make such
velocities;"""
RELATIVE, RELATIVE_SINGLE = 1e-8, 1e-2
"""Speed of two bodies beside one another that is resolved, over their speeds: the changes that end
passes are 7e-7 and 3e-5 of it, a few units in the last place."""
SOFT = 1e-2
"""and compliances of passes are not below this share of the contact's own."""


@dataclass(frozen=True)
class Motion:
    """Motion of a body, or of a link, before any contact acts, in world axes."""

    coast: SX
    """Its twist after the step if no force acts on it (6) [m/s, rad/s]."""
    now: SX
    """Its twist at the start of the step."""
    size: SX | None = None
    """Of a link, the sum of what `coast` is the difference of, without signs."""


class Start:
    """First state of the bodies of a problem."""

    def __init__(self, p: Program, tolerance: SX) -> None:
        self.p, self.tolerance, self.single = p, tolerance, tolerance > SINGLE

    def body(
        self,
        number: int,
        limb: str | None,
        rows: Mapping[int, Row],
        own: SX,
        motion: Motion,
        y: SX | None = None,
        link: AnyLink | None = None,
        near: OpenGuard | None = None,
    ) -> Body:
        """Return a body, or a link, whose wrench and stiffness are first guesses.

        `rows` has its rows by number; `own` is the velocity per impulse of each by itself. `y` is
        that of the last step, of a link None. `near` is the guard in which the rows exist, if any.
        """
        p, points = self.p, []
        with reopened(p, near) as guard, p.block("touches", limb=limb, member=number):
            active = ca.mmax(ca.vertcat(*(row.active for row in rows.values())))
            active = left(p, guard, "active", active)
        inside = {"twist": 6, "direction": 6, "stiffness": 21, "dy": 6}
        inside |= {"trial_twist": 6, "trial_wrench": 6, "trial_lack": 6}
        outside = {"wrench": 6, "lack": 6, "changed": 1}
        outside |= {"scales": 3, "facts": 3, "measured": len(fields(Measured))}
        if link is not None:  # which are eliminated together
            outside |= {name: inside.pop(name) for name in ("direction", "stiffness")}
            outside["taken"] = 6
        with p.block("outside", limb=limb, member=number):
            places = {name: p.variable(name, zeros(size)) for name, size in outside.items()}
        with guarded(p, "touch", active, within=near) as touch:
            with p.block("inside", limb=limb, member=number):
                coast = p.let("coast", motion.coast)
                size = () if motion.size is None else (p.let("size", motion.size),)
                places |= {name: p.variable(name, zeros(size)) for name, size in inside.items()}
                y0 = zeros(6) if y is None else p.let("y", y)
                places["y"] = p.variable("y", y0)
            if link is not None:
                self._find_last_field(number, limb, rows, places["y"])
            point_of = self._point if link is None else self._linked_point
            for j, row in rows.items():
                found = call(p, "anchor", point_of, row, own, places["y"], limb=limb, member=j)
                points.append(replace(found, number=j))
            body = Body(number, limb, points, touch, active, coast, y0, **places, link=link)
            guess = self._guess if link is None else self._linked_guess
            guesses = [
                call(
                    p,
                    "guess",
                    guess,
                    point,
                    coast,
                    motion.now,
                    *size,
                    limb=limb,
                    member=point.number,
                )
                for point in points
            ]
            sums = fewer(p, [x[:2] for x in guesses], limb, number)
            scales = [x[2] for x in guesses]
            arguments = sums, scales, body.wrench, body.stiffness, body.scales
            call(p, "guessed", self._sum_guesses, *arguments, limb=limb, member=number)
        return body

    def _find_last_field(
        self, number: int, limb: str | None, rows: Mapping[int, Row], y: SX
    ) -> None:
        """Assign y of a link, which comes nearest to the last step's impulses."""
        p = self.p
        pasts = [row.past for row in rows.values()]
        fit = call(p, "new fit", new_fit, p, pasts, limb=limb, member=number)
        for j, row in rows.items():
            call(p, "fit", self._fit_row, fit, row, limb=limb, member=j)
        call(p, "fitted", self._solve_fit, fit, y, limb=limb, member=number)

    def _fit_row(self, fit: Fit, row: Row) -> None:
        fit.add_last(self.p, row, self.single)

    def _solve_fit(self, fit: Fit, y: SX) -> None:
        self.p.assign(y, fit.solved(self.single))

    def _point(self, row: Row, own: SX, y: SX) -> Point:
        """Return a contact, numbered 0, with its variables; inside a block."""
        return self._anchored(row, own, row.map @ y)

    def _linked_point(self, row: Row, own: SX, y: SX) -> Point:
        """Return a contact of a link; one that was not loaded has no anchor."""
        return self._anchored(row, own, where(row.past[2] > 0, row.map @ y, 0))

    def _anchored(self, row: Row, own: SX, field: SX) -> Point:
        p, share, a = self.p, row.smoothing, row.past
        share = ca.fmax(share, where(self.single, SOFT, 0))
        if row.compliance is None:
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
        p, row, g = self.p, point.row, point.map
        f, w, at = self._anchor_impulse(point, now)
        wrench = g.T @ (f - w @ ((g @ coast - row.target) - at))
        stiffness = p.let("stiffness", upper(g.T @ w @ g))
        return p.let("wrench", wrench), stiffness, p.let("scales", self._scales(point, coast))

    def _linked_guess(self, point: Point, coast: SX, now: SX, size: SX) -> tuple[SX, SX, SX]:
        """Return the same of a contact of a link, without stiffness.

        An impulse that falls with the velocity is guessed to be that of the last step.
        """
        p = self.p
        f, _, _ = self._anchor_impulse(point, now)
        if point.row.compliance is not None:
            f = where(point.row.active, point.row.past, 0)
        whole = ca.mmax(ca.fabs(point.map) @ size)
        least = where(self.single, RELATIVE_SINGLE, RELATIVE) * whole
        scales = p.let("scales", self._scales(point, coast, whole, least))
        return p.let("wrench", point.map.T @ f), zeros(21), scales

    def _anchor_impulse(self, point: Point, now: SX) -> tuple[SX, SX, SX]:
        """Return impulse and slope that an anchor makes, and the velocity left where it does."""
        row, g = point.row, point.map
        left = g @ now - row.target
        # a normal with a compliance of its own bends where the point turns back: it is guessed to
        # stay on its side
        at = ca.vertcat(where(row.slid, left[:2], 0), 0 if row.compliance is None else left[2])
        anchor = point.anchor
        found = row.response(anchor.a, anchor.slides, anchor.bound, point.rho, at)
        if row.compliance is None:
            found = found.where(ca.logic_or(found.near.normal > 0, row.fresh))
        self.p.assign(anchor.f, found.f)
        return found.f, found.slope, at

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

    def _scales(
        self, point: Point, coast: SX, size: SX | None = None, least: SX | float = 0.0
    ) -> SX:
        """Return speed, rounding of the impulse, and whether a contact moves.

        Of a link, `size` is the speed before the motions of its bodies cancel, `least` the least
        speed that they resolve.
        """
        row, free = point.row, point.map @ coast
        # a target that lets the point approach is no speed that anything has
        wanted = ca.fmax(ca.mmax(ca.fabs(row.target[:2])), row.target[2])
        speed = ca.fmax(ca.mmax(ca.fabs(free)), wanted)
        if size is None:
            size = ca.mmax(ca.fabs(point.map) @ ca.fabs(coast))  # before terms cancel, in rolling
        else:
            speed = ca.fmax(speed, least)
        rounding = EPSILON * size / (point.rho * self.tolerance)
        noise = where(self.single, BLUR * size / point.own, rounding)
        return where(row.active, ca.vertcat(speed, noise, SX(row.moves)), 0)
