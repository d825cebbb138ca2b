"""Passes of the swept problem (swept.py): which points slide, and when passes end.

A pass finds impulses f = nearest(a - u / rho) with a small compliance rho; u is the velocity left
over the target. The next one starts from other anchors a (anchors.py), until u is zero. Friction of
a point that slides is bounded by mu_k times the normal impulse of the pass before: at the end that
is Coulomb's law, slip is never reversed, and nothing hops.

A point slides if it slipped at the start of the step, or if the passes leave it a slip.

A heavy body that stands on a light one loads the contacts below by its own mass, and a pass with a
compliance for the light one hardly slows it. So where bodies touch one another, passes that do not
get on halve all compliances. Signorini does so everywhere: where targets of sticking points have no
motion in common, each pass adds the same impulses, u / rho, until friction reaches its bound.

Friction may shift the load that bounds it: bounds then crawl or swing from pass to pass. They are
given w times their change d, with w by Aitken's process for vectors (Irons and Tuck, Int. J. Num.
Meth. Eng. 1, 1969),

    w+ = -w d_last . (d - d_last) / |d - d_last|^2

within limits; at first it is at most 1, and where changes turned back it grows slowly. A w above 1
may overshoot: where changes become larger it is 1 again, and from then on at most half of what it
might have been.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import reduce

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.anchors import MISFIT, Anchor, PassedPoint
from heelstrike.contact.solver.criteria import Accuracy, Ended
from heelstrike.contact.solver.rows import Row
from heelstrike.ir.program import Program

MOST, LEAST = 20.0, 0.02
"""Limits of w."""
GROWS, FALLS = 2.0, 0.125
"""Limits of what one pass makes of it."""
GROWS_BACK = 1.2
"""The same as GROWS, once changes have turned back."""
QUICK = 0.1
"""Square of what is left of changes where plain passes do well: w is not below 1 there."""
SLOW = 0.8
"""What is left from pass to pass where they no longer help."""
AT_BOUND = 1 - 1e-3
"""Fraction of its bound from which on friction counts as being there: passes end within a
thousandth."""
STILL = 1e-3
"""Relative change of what is left by which a pass did nothing about it."""


@dataclass(frozen=True)
class Scales:
    """Scales of velocities, as symbols."""

    settled: SX
    """Velocity that may still change [m/s]."""
    sticks: SX
    """Slip of a point that sticks [m/s]."""
    later: SX
    """Times both, after a few passes."""
    stalls: SX
    """Velocity that may be left where passes do not change it [m/s]."""
    firmest: SX
    """Share of their first compliance that contacts keep at least."""


@dataclass(frozen=True)
class Measured:
    """Changes that a pass made, of a contact or of all."""

    moved: SX
    """Largest change of a velocity [m/s]."""
    held: SX
    """The same but for slips of points that stick."""
    slipping: SX
    """Slip of points that are taken to stick [m/s]."""
    onward: SX
    """Of Aitken's process, weighed with compliances: d . d_last,"""
    back: SX
    """-d_last . (d - d_last),"""
    apart: SX
    """|d - d_last|^2,"""
    size: SX
    """|d|^2,"""
    before: SX
    """|d_last|^2."""

    @property
    def column(self) -> SX:
        return ca.vertcat(*(getattr(self, f.name) for f in fields(self)))

    @classmethod
    def of_column(cls, column: SX) -> Measured:
        """Return the numbers of a column in the order of the fields."""
        return cls(*ca.vertsplit(column))


LARGEST = 3
"""Number of fields, from the first on, that are largest values; the others are sums."""


def together(columns: Sequence[SX], largest: Sequence[SX] | None = None) -> SX:
    """Return the column of `Measured` of all contacts, or of all bodies.

    `largest` are the largest values of groups of them, if these are known.
    """
    if not columns:
        return SX(ca.DM.zeros(len(fields(Measured))))
    most = reduce(ca.fmax, largest or [x[:LARGEST] for x in columns])
    return ca.vertcat(most, sum((x[LARGEST:] for x in columns[1:]), columns[0][LARGEST:]))


def is_at_bound(f: SX, bound: SX, slack: SX) -> SX:
    """Return whether friction of an impulse f is at its bound [N s], so that its point slides on.

    Under a point that carries next to nothing passes resolve the bound to an impulse, `slack`.
    """
    least = ca.fmax(ca.fmin(AT_BOUND * bound, bound - slack), 0)
    return ca.dot(f[:2], f[:2]) >= least * least


class Passes:
    """Passes of a loop; the numbers that all contacts share are variables."""

    def __init__(
        self, p: Program, scales: Scales, accuracy: Accuracy, thorough: bool, firms: bool
    ) -> None:
        """`thorough` is for derivatives: those of friction settle pass by pass.

        Where the problem `firms`, compliances fall in slow passes.
        """
        self.p, self.scales, self.accuracy, self.thorough = p, scales, accuracy, thorough
        with p.block("passes"):
            self.count = p.variable("passes", SX(0))
            self.moved = p.variable("moved", SX(1e30))
            self.further = p.variable("further", SX(1))
            """w."""
            self.most = p.variable("most", SX(MOST))
            """Limit of w, after the first passes."""
            self.ended = p.variable("ended", SX(int(Ended.LIMIT)))
            """Criterion that ended the passes."""
            self.still = p.variable("still", SX(0))
            """Number of passes that left what the one before had left."""
            self.turned = p.variable("turned", SX(0))
            """1 once changes have turned back."""
            self.had_news = p.variable("had news", SX(0))
            """1 where the last pass let points slide: their anchors are those of sticking yet."""
            self.firm = p.variable("firm", SX(1)) if firms else SX(1)
            """Share of their first compliance that contacts have."""

    def measured(self, point: PassedPoint, own: SX) -> SX:
        """Return the column of `Measured` of a contact; `own` is its own compliance [1/kg]."""
        row, anchor, rho = point.row, point.anchor, point.rho
        bound = row.bound(point.f[2], anchor.slides)
        sizes = ca.fabs(point.f - anchor.f)
        turned = ca.fmax(sizes[0], sizes[1])
        turning = ca.fmax(turned - self.accuracy.turning * anchor.bound, 0)
        turned = where(anchor.slides, turning, turned)
        pressed = SX(0)  # an elastic normal force is no pass's
        if row.compliance is None:
            # an impulse may stay as it is while its point still sinks
            sinks = ca.fmax(-point.left[2] - MISFIT * row.misfit, 0)
            pressed = ca.fmax(rho * sizes[2], where(point.loaded, sinks, 0))
        grown = ca.fabs(bound - anchor.bound) - self.accuracy.rubbing * bound
        pressed = ca.fmax(pressed, point.approach)
        moved = ca.fmax(where(point.loaded, rho * turned, 0), pressed)
        outside = ca.sqrt(ca.dot(point.f[:2], point.f[:2])) - (1 + self.accuracy.rubbing) * bound
        moved = ca.fmax(moved, where(point.at_bound, own * grown, 0))
        moved = ca.fmax(moved, where(point.bounded, own * outside, 0))
        sticks = ca.logic_and(point.loaded, anchor.slides == 0)
        slip = ca.sqrt(ca.dot(point.left[:2], point.left[:2]))
        held = where(point.at_bound, moved, pressed)
        change = where(anchor.slides, bound - anchor.bound, 0)
        turn, weighed = change - anchor.change, own * anchor.change
        found = Measured(
            moved=moved,
            held=held,
            slipping=where(sticks, slip, 0),
            onward=weighed * change,
            back=-weighed * turn,
            apart=own * turn * turn,
            size=own * change * change,
            before=weighed * anchor.change,
        )
        return found.column

    def judge(self, ends: SX, whole: Measured, slides: SX, criterion: SX) -> SX:
        """Return whether the passes are over.

        `slides` is 1 where a contact slides. `criterion` is the `Ended` that the last round alone
        would have, or 0.
        """
        p, accuracy = self.p, self.accuracy
        with p.block("settled"):
            patience = where(self.count >= accuracy.patient, self.scales.later, 1)
            little = patience * self.scales.settled
            self.slip = p.let("slip", patience * self.scales.sticks)
            stuck = ca.logic_and(whole.moved < self.slip, whole.moved > SLOW * self.moved)
            only_creeps = ca.logic_and(whole.held < little, stuck)
            stalled = self._stalled(ends, whole.moved)
            settled = ca.logic_or(whole.moved < little, ca.logic_or(only_creeps, stalled))
            settled = p.let("settled", settled)
            self.judged = p.let("judged", ca.logic_or(settled, self.count >= accuracy.judged))
            self.news = p.let("news", ca.logic_and(self.judged, whole.slipping > self.slip))
            waits = ca.logic_or(self.news, self.had_news)
            done = ca.logic_and(settled, ca.logic_not(waits))
            if self.thorough:
                enough = self.count >= accuracy.thorough
                done = ca.logic_and(done, ca.logic_or(enough, ca.logic_not(slides)))
            over = p.let("over", ca.logic_and(ends, done))
            rests = where(whole.moved < little, Ended.RESTS, Ended.CREEPS)
            ended = where(whole.moved < self.scales.settled, Ended.SETTLED, rests)
            p.assign(self.ended, where(over, ca.fmax(ended, criterion), self.ended))
        self.reach = self._go_on(ends, whole)
        self.own_anchors = self.count >= accuracy.long
        with p.block("pass"):
            if not self.firm.is_constant():
                new = ca.logic_or(self.news, self.had_news)
                slow = ca.logic_and(whole.moved > SLOW * self.moved, ca.logic_not(new))
                slow = ca.logic_and(slow, self.count >= accuracy.long)
                firmer = ca.fmax(0.5 * self.firm, self.scales.firmest)
                p.assign(self.firm, where(ca.logic_and(ends, slow), firmer, self.firm))
            p.assign(self.had_news, where(ends, self.news, self.had_news))
            p.assign(self.count, self.count + ends)
            p.assign(self.moved, where(ends, whole.moved, self.moved))
        return over

    def _stalled(self, ends: SX, moved: SX) -> SX:
        """Return whether passes leave what they left before; inside a block.

        Targets of points that stick need not have a motion in common. Each pass then adds the same
        impulses, which squeeze bodies between their points.
        """
        same = ca.fabs(moved - self.moved) <= STILL * self.moved
        still = self.p.let("still", where(same, self.still + 1, 0))
        self.p.assign(self.still, where(ends, still, self.still))
        decided = self.count >= self.accuracy.judged + self.accuracy.lasts
        lasts = ca.logic_and(decided, still >= self.accuracy.lasts)
        return ca.logic_and(lasts, moved < self.scales.stalls)

    def set_anchor(
        self, anchor: Anchor, row: Row, ends: SX, f: SX, slipping: SX, slides: SX, field: SX
    ) -> None:
        """Assign the anchor of the next pass where this one ends; inside a block.

        `slides` is that of the passed point, `field` is G y. A point that is taken to stick but
        slips slides from now on. A contact with a compliance of its own starts from its impulse.
        """
        p = self.p
        starts = ca.logic_and(ends, ca.logic_and(self.judged, slipping > self.slip))
        change = row.bound(f[2], anchor.slides) - anchor.bound
        reached = ca.fmax(anchor.bound + self.reach * change, 0)
        bound = where(starts, row.bound(f[2], SX(1)), reached)
        a = f
        if row.compliance is None:
            tangent = where(ca.logic_or(slides, starts), f[:2], field[:2])
            a = ca.vertcat(tangent, field[2])
        p.assign(anchor.a, where(ends, a, anchor.a))
        p.assign(anchor.f, where(ends, f, anchor.f))
        p.assign(anchor.bound, where(ends, bound, anchor.bound))
        kept = where(ca.logic_and(anchor.slides, ca.logic_not(self.news)), change, 0)
        p.assign(anchor.change, where(ends, kept, anchor.change))
        p.assign(anchor.slides, ca.logic_or(where(ends, slides, anchor.slides), starts))
        p.assign(anchor.tentative, ca.logic_and(anchor.tentative, ca.logic_not(starts)))

    def _go_on(self, ends: SX, whole: Measured) -> SX:
        """Return w of the next pass."""
        p = self.p
        with p.block("further"):
            overshot = ca.logic_and(whole.size > whole.before, self.further > 1)
            most = where(overshot, ca.fmax(0.5 * self.most, 1), self.most)
            p.assign(self.most, where(ends, most, self.most))
            plain = ca.logic_or(self.news, overshot)
            further = p.let("further", self._further(plain, whole, most))
            p.assign(self.turned, ca.logic_or(self.turned, ca.logic_and(ends, whole.onward < 0)))
            p.assign(self.further, where(ends, further, self.further))
        return further

    def _further(self, plain: SX, whole: Measured, most: SX) -> SX:
        """Return w; 1 after a pass that let points slide, whose change is forgotten, or overshot.

        For derivatives it is a number that does not depend on anything.
        """
        onward, back, apart = whole.onward, whole.back, whole.apart
        if self.thorough:
            return where(ca.logic_and(onward < 0, ca.logic_not(plain)), 0.5, 1)
        turned = ca.logic_or(self.turned, onward < 0)
        quick = ca.logic_and(whole.size < QUICK * whole.before, ca.logic_not(turned))
        least, grows = where(quick, 1, LEAST), where(turned, GROWS_BACK, GROWS)
        w = self.further
        aitken = w * back / where(apart > 0, apart, 1)
        aitken = ca.fmax(FALLS * w, ca.fmin(aitken, grows * w))
        w = where(back > 0, aitken, where(onward > 0, grows * w, 1))
        most = where(self.count >= self.accuracy.plain, most, 1)
        return where(plain, 1, ca.fmax(least, ca.fmin(w, most)))
