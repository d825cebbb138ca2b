"""Box 2 of [Sugihara2006], Fig. 4: which points on ridges count, one for each quarter of a shape.

A quarter keeps the point that counts most, by its depth and by what it gains by its place, and the
second one that is not beside it. A quarter that does not touch lends its place to the second point
of another one: two ridges below one quarter that hold a shape together would else take turns, and
the shape would rock for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca

from heelstrike.contact.geometry import ContactPoint
from heelstrike.contact.law import where
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.edges import APART


@dataclass(frozen=True)
class Kept:
    """A contact point, and by how much it counts."""

    point: ContactPoint
    score: SX
    """Depth, and what the point gains by its place [m]."""

    def if_else(self, condition: SX, other: Kept) -> Kept:
        """Return this one under a condition, else the other."""
        one, two = self.point, other.point
        point = ContactPoint(
            where(condition, one.depth, two.depth),
            where(condition, one.normal, two.normal),
            where(condition, one.position, two.position),
        )
        return Kept(point, where(condition, self.score, other.score))

    def unless(self, condition: SX) -> Kept:
        """Return this one, which does not touch under a condition."""
        point = replace(self.point, depth=where(condition, -APART, self.point.depth))
        return Kept(point, where(condition, -APART, self.score))

    def assign(self, p: Program, new: Kept) -> None:
        """Become another one; inside a block, once."""
        p.assign(self.score, new.score)
        p.assign(self.point.depth, new.point.depth)
        p.assign(self.point.normal, new.point.normal)
        p.assign(self.point.position, new.point.position)


@dataclass(frozen=True)
class Quarter:
    """Contact points of a quarter, as variables."""

    best: Kept
    second: Kept


def new_quarter(p: Program) -> Quarter:
    """Return a quarter without contacts; inside a block."""
    return Quarter(_none(p), _none(p))


def keep(
    p: Program, quarters: Sequence[Quarter], number: SX, counts: SX, new: Kept, beside: SX
) -> None:
    """Let quarter `number` keep a contact point where it `counts` and is deep enough; inside a
    block.

    Of two points that are nearer than `beside` [m] only the one that counts more is kept.
    """

    def apart(other: Kept) -> SX:
        return ca.sumsqr(new.point.position - other.point.position) > beside**2

    for k, quarter in enumerate(quarters):
        best, second = quarter.best, quarter.second
        here = ca.logic_and(counts, number == k)
        first = p.let("first", ca.logic_and(here, new.score > best.score))
        next_one = best.if_else(first, new)
        left = second.unless(ca.logic_and(first, ca.logic_not(apart(second))))
        taken = ca.logic_and(ca.logic_and(here, apart(best)), next_one.score > left.score)
        second.assign(p, next_one.if_else(p.let("taken", taken), left))
        best.assign(p, new.if_else(first, best))


def lend_places(p: Program, quarters: Sequence[Quarter]) -> None:
    """Let quarters that do not touch take second points of others that do; inside a block."""
    spare = [quarter.second for quarter in quarters]
    for quarter in quarters:
        own = quarter.best
        for k, other in enumerate(spare):
            free = ca.logic_and(own.point.depth <= 0, other.point.depth > 0)
            taken = p.let("taken", free)
            own, spare[k] = other.if_else(taken, own), other.unless(taken)
        quarter.best.assign(p, own)


def _none(p: Program) -> Kept:
    point = ContactPoint(
        p.variable("depth", SX(-APART)),
        p.variable("normal", SX([0, 0, 1])),
        p.variable("position", zeros()),
    )
    return Kept(point, p.variable("score", SX(-APART)))
