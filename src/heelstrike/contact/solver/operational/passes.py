"""Passes of the coupled problem (coupled.py): which points slide, and where the next pass starts.

A pass turns the impulses a that it is given into f. The next is given

    a+ = a + w (f - a)

and a sliding point the bound mu_k a_n+. With w = 1 that crawls where load hardly resists moving
from point to point, and swings where a bound and the normal impulse that it makes drive one
another. So w follows what the last passes changed of the normal impulses, c = f_n - a_n: Aitken's
process for vectors (Irons and Tuck, Int. J. Num. Meth. Eng. 1, 1969),

    w+ = -w c_last . (c - c_last) / |c - c_last|^2

within limits; it grows where changes go on in one direction and falls where they turn back. At
first it is at most 1: normal impulses then come from below, and nothing hops off. Where changes
become small quickly by themselves it is at least 1. A w above 1 may
overshoot: where changes become larger it is 1 again, and from then on at most half of what it might
have been, so that in the end passes are plain ones. Points
that share a sole may want velocities that no rigid motion has, by squares of its turning: their
impulses then grow with every pass. Passes end there once no velocity but such a slip is left.
After many passes the compliance halves with each, so that all load has moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import TYPE_CHECKING

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.criteria import Accuracy
from heelstrike.ir.loop import Loop
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import zeros

if TYPE_CHECKING:
    from heelstrike.contact.solver.rows import Row

FURTHEST, NEAREST = 20.0, 0.1
"""Limits of w."""
GROWS, FALLS = 2.0, 0.125
"""Limits of what one pass makes of it."""
SLOW = 0.8
"""What is left from pass to pass where they no longer help."""
QUICK = 0.1
"""Square of what is left where plain passes do well: w is not below 1 there."""


@dataclass(frozen=True)
class Scales:
    """Scales of velocities and compliances, as symbols."""

    own: Sequence[SX]
    """Velocity per impulse of each contact itself [1/kg]."""
    rho: Sequence[SX]
    """Compliance of each contact in a pass [1/kg]."""
    settled: SX
    """Velocity that may still change [m/s]."""
    sticks: SX
    """Slip of a point that sticks [m/s]."""
    later: SX
    """Times both, after a few passes."""
    firmest: SX
    """Share of a compliance that many passes come down to."""


@dataclass(frozen=True)
class Measured:
    """Change of a row, or of all rows, in a pass."""

    moved: SX
    """The largest velocity that it changes [m/s]."""
    held: SX
    """The same but for slips of points that stick."""
    slipping: SX
    """The fastest that is taken to stick [m/s]."""
    onward: SX
    """Of Aitken's process, weighed with compliances: change . last change,"""
    back: SX
    """-last change . (change - last change),"""
    apart: SX
    """|change - last change|^2,"""
    size: SX
    """|change|^2,"""
    before: SX
    """|last change|^2."""

    def let(self, p: Program) -> Measured:
        """Return a copy as symbols of the program."""
        return Measured(*(p.let(field.name, getattr(self, field.name)) for field in fields(self)))


def together(each: Sequence[Measured]) -> Measured:
    """Return the change of all rows: the largest velocities, and the sums of the rest."""
    columns = {field.name: [getattr(x, field.name) for x in each] for field in fields(Measured)}
    largest = {name: reduce(ca.fmax, columns.pop(name)) for name in ("moved", "held", "slipping")}
    return Measured(**largest, **{name: sum(x, SX(0)) for name, x in columns.items()})


class Passes:
    """Passes of a loop."""

    def __init__(
        self,
        p: Program,
        loop: Loop,
        rows: Sequence[Row],
        scales: Scales,
        accuracy: Accuracy,
        thorough: bool,
    ) -> None:
        """`thorough` keeps w to numbers that do not depend on anything, for derivatives."""
        self.p, self.loop, self.rows, self.scales = p, loop, rows, scales
        self.accuracy, self.thorough = accuracy, thorough
        self.count = loop.carry("passes", SX(0))
        self.a = loop.carry("a", ca.horzcat(*(row.past for row in rows)))
        self.slides = loop.carry("slides", ca.vertcat(*(row.slid for row in rows)))
        self.firm = loop.carry("firm", SX(1))
        """Share of their first compliance that contacts have."""
        self.further = loop.carry("further", SX(1))
        """w."""
        self.most = loop.carry("most", SX(FURTHEST))
        """Of w, after the first passes."""
        self.changes = loop.carry("changes", zeros(len(rows)))
        self.moved = loop.carry("moved", SX(1e30))

    def bound(self, j: int, normal: SX | None = None, slides: SX | None = None) -> SX:
        """Return the radius of a row's tube; a rigid contact that sticks is in its cone instead."""
        normal = self.a[2, j] if normal is None else normal
        slides = self.slides[j] if slides is None else slides
        return self.rows[j].bound(normal, slides)

    def measured(self, j: int, impulse: SX, slip: SX) -> Measured:
        """Return the change of a row in this pass."""
        row, slides = self.rows[j], self.slides[j]
        rho, own, last = self.scales.rho[j], self.scales.own[j], self.changes[j]
        change = impulse - self.a[:, j]
        sizes = ca.fabs(change)
        turned, radius = ca.fmax(sizes[0], sizes[1]), self.bound(j)
        turning = ca.fmax(turned - self.accuracy.turning * radius, 0)
        turned = where(slides, turning, turned)
        # an elastic normal force is no pass's
        pressed = self.firm * rho * (sizes[2] if row.compliance is None else SX(0))
        bound = self.bound(j, impulse[2])
        grown = ca.fabs(bound - radius) - self.accuracy.rubbing * bound
        moved = ca.fmax(ca.fmax(self.firm * rho * turned, pressed), own * grown)
        turn, weighed = change[2] - last, rho * last
        sticks = ca.logic_and(impulse[2] > 0, slides == 0)
        return Measured(
            moved=moved,
            held=where(slides, moved, pressed),
            slipping=where(sticks, slip, 0),
            onward=weighed * change[2],
            back=-weighed * turn,
            apart=rho * turn * turn,
            size=rho * change[2] * change[2],
            before=weighed * last,
        )

    def end(self, ends: SX, found: Sequence[SX], each: Sequence[Measured]) -> None:
        """Decide which points slide, how far impulses go, and whether anything still changes."""
        p, loop, accuracy = self.p, self.loop, self.accuracy
        with p.block("coupled settled"):
            whole = together(each).let(p)
            patience = where(self.count >= accuracy.patient, self.scales.later, 1)
            little = patience * self.scales.settled
            slip = p.let("slip", patience * self.scales.sticks)
            stuck = ca.logic_and(whole.moved < slip, whole.moved > SLOW * self.moved)
            only_creeps = ca.logic_and(whole.held < little, stuck)
            settled = p.let("settled", ca.logic_or(whole.moved < little, only_creeps))
            judged = p.let("judged", ca.logic_or(settled, self.count >= accuracy.judged))
            news = p.let("news", ca.logic_and(judged, whole.slipping > slip))
        further = self._go_on(ends, news, whole)
        with p.block("coupled pass"):
            loop.next(self.count, self.count + ends)
            loop.next(self.moved, where(ends, whole.moved, self.moved))
            firmer = ca.fmax(0.5 * self.firm, self.scales.firmest)
            slow = ca.logic_and(ends, self.count >= accuracy.long)
            loop.next(self.firm, where(slow, firmer, self.firm))
            done = settled
            if self.thorough:
                enough = self.count >= accuracy.thorough
                done = ca.logic_and(done, ca.logic_or(enough, ca.logic_not(ca.mmax(self.slides))))
            loop.until(ca.logic_and(ends, ca.logic_and(done, ca.logic_not(news))))
        for j, (impulse, own) in enumerate(zip(found, each, strict=True)):
            with p.block("next", limb="coupled", member=j):
                starts = ca.logic_and(judged, own.slipping > slip)
                flag = ca.logic_or(self.slides[j], starts)
                loop.next(self.slides[j], where(ends, flag, self.slides[j]))
                a = self.a[:, j]
                change = impulse - a
                reached = a + further * change
                reached = ca.vertcat(reached[:2], ca.fmax(reached[2], 0))
                loop.next(a, where(ends, reached, a))
                kept = where(news, 0, change[2])
                loop.next(self.changes[j], where(ends, kept, self.changes[j]))

    def _go_on(self, ends: SX, news: SX, whole: Measured) -> SX:
        """Return how far the next pass goes."""
        p, loop = self.p, self.loop
        with p.block("coupled further"):
            overshot = ca.logic_and(whole.size > whole.before, self.further > 1)
            most = p.let("most", where(overshot, ca.fmax(0.5 * self.most, 1), self.most))
            loop.next(self.most, where(ends, most, self.most))
            plain = ca.logic_or(news, overshot)
            further = p.let("further", self._further(plain, whole, most))
            loop.next(self.further, where(ends, further, self.further))
        return further

    def _further(self, plain: SX, whole: Measured, most: SX) -> SX:
        """w of the next pass; 1 after one that let points slide, whose change is forgotten, or
        that overshot.
        """
        onward, back, apart = whole.onward, whole.back, whole.apart
        if self.thorough:
            return where(ca.logic_and(onward < 0, ca.logic_not(plain)), 0.5, 1)
        least = where(whole.size < QUICK * whole.before, 1, NEAREST)
        w = self.further
        aitken = w * back / where(apart > 0, apart, 1)
        aitken = ca.fmax(FALLS * w, ca.fmin(aitken, GROWS * w))
        w = where(back > 0, aitken, where(onward > 0, GROWS * w, 1))
        most = where(self.count >= self.accuracy.plain, most, 1)
        return where(plain, 1, ca.fmax(least, ca.fmin(w, most)))
