"""One problem for all contacts whose forces depend on one another.

Find impulses f_j, each in its set, so that each point's velocity after the step meets its target:

    V = V_free + Lambda^-1 sum_j G_j^T f_j                twists of the contacting bodies, 6 each
    f_j = nearest(a_j - (G_j V - t_j) / rho_j)            in the cone, or where it slides the tube

rho is a compliance [1/kg]. Where a law has its own it stays; a rigid contact takes a small one and
repeats with a_j = f_j (passes), which lets the velocity meet its target exactly and changes the
impulses of the last step as little as possible where they are not unique.

With Lambda^-1 = L L^T and V = V_free + L x each pass minimises

    |x|^2 / 2 + sum_j rho_j phi_j(x)                      convex, of 6 unknowns a body

by Newton's method with a search along its line; the matrix is 1 + L^T (sum G^T f' G / rho) L. No
matrix of the size of the points appears. A point slides if the passes leave it a slip; its friction
is then bounded by mu_k times the normal impulse of the pass before: at the end that is Coulomb's
law, slip is never reversed, and nothing hops.

Two things bring slow passes to an end: a bound that turns back goes half the way only, so that two
of them cannot swing for ever; and after many passes the compliance halves with each, so that a
load which hardly resists moving from point to point has moved. accuracy.py says when all ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from heelstrike.compile.loop import Loop, repeated
from heelstrike.compile.program import Program
from heelstrike.contact.accuracy import USUAL, Accuracy
from heelstrike.contact.cone import Nearest, in_cone, in_tube
from heelstrike.contact.contact import SX, where
from heelstrike.contact.missed import worst_missed
from heelstrike.contact.newton import Search, root_of
from heelstrike.spatial.vector import skew, zeros

SINGLE = 1e-7
"""Tolerance above which numbers are float32: rounding of velocities, over the compliance of a pass,
is then more than Newton's method may leave of impulses,"""
BLUR = 10.0
"""which is this often the tolerance of impulses that would make such velocities."""


@dataclass(frozen=True)
class Arm:
    """How a moving body takes part in a contact."""

    body: int
    """Its number among the contacting bodies."""
    lever: SX
    """From its origin to the contact, in world axes [m]."""
    sign: float = 1.0
    """-1 for the body that carries the surface."""


@dataclass(frozen=True)
class Row:
    """One contact's part of the problem, as symbols."""

    arms: tuple[Arm, ...]
    axes: SX
    """Tangents and normal as rows, (3, 3)."""
    active: SX
    """1 where it touches."""
    target: SX
    """Velocity wanted after the step (3) [m/s]."""
    mu_s: SX
    mu_k: SX
    smoothing: SX
    """Compliance of a pass, as a share of the contact's own."""
    past: SX
    """Impulse of the last step (3) [N s]."""
    slid: SX
    """1 where it is first taken to slide."""
    compliance: SX | None = None
    """Normal, of an elastic law made implicit [1/kg]."""
    leaving: SX | None = None
    """The same beyond `rest`."""
    rest: SX | float = 0.0
    """Velocity left, of a soft normal, at which its response bends [m/s]."""
    moves: SX | float = 1.0
    """1 where it does not rest: a new contact, an impact, one that slides."""

    def soft(self, left: SX) -> tuple[SX, SX]:
        """Normal impulse of an elastic law at a velocity left, and its compliance there: two
        straight lines that meet at `rest`.
        """
        assert self.compliance is not None
        if self.leaving is None:
            return -left / self.compliance, self.compliance
        out = left > self.rest
        push = -self.rest / self.compliance - (left - self.rest) / self.leaving
        return where(out, push, -left / self.compliance), where(out, self.leaving, self.compliance)


@dataclass(frozen=True)
class Solution:
    """What the contacts do in a step."""

    impulses: list[SX]
    """Of each row, in its axes [N s]."""
    slides: list[SX]
    twists: SX
    """Of the bodies after the step."""
    wrenches: SX
    """Impulse and moment on each body, world axes [N s, N m s]."""
    rounds: SX
    unfinished: SX
    """1 where the limit of rounds was reached."""
    residual: SX
    """Velocity by which the worst contact misses its law (missed.py) [m/s]."""


def solve(
    p: Program,
    rows: Sequence[Row],
    inverse: SX,
    free: SX,
    tolerance: SX,
    thorough: bool = False,
    accuracy: Accuracy = USUAL,
) -> Solution:
    """Impulses of all rows; `inverse` is Lambda^-1, `free` the bodies' twists without them.
    `thorough` is for derivatives (newton.py): those of friction settle pass by pass.
    """
    return _Problem(p, rows, inverse, free, tolerance, accuracy).solve(thorough)


class _Problem:
    """The problem under construction."""

    def __init__(
        self,
        p: Program,
        rows: Sequence[Row],
        inverse: SX,
        free: SX,
        tolerance: SX,
        accuracy: Accuracy,
    ) -> None:
        self.p, self.rows, self.free, self.tolerance = p, rows, free, tolerance
        self.inverse, self.accuracy, self.size = inverse, accuracy, free.numel()
        with p.block("coupled: root"):
            self.root = p.let("root", root_of(inverse))
        self.maps = [map_of(row, self.size) for row in rows]
        self.rho: list[SX] = []
        self.own: list[SX] = []
        self.scale, past, moves = SX(1e-9), zeros(self.size), SX(0)
        self.noise = SX(0)  # of x, in units of the tolerance
        for row, g in zip(rows, self.maps, strict=True):  # a block a point: none grows with them
            with p.block("coupled: scale"):
                mean = p.let("own", ca.trace(g @ inverse @ g.T) / 3)
                self.own.append(mean)
                self.rho.append(p.let("rho", row.smoothing * mean))
                speed = ca.fmax(ca.mmax(ca.fabs(g @ free)), ca.mmax(ca.fabs(row.target)))
                self.scale = p.let("scale", ca.fmax(self.scale, where(row.active, speed, 0)))
                rounds_off = ca.logic_and(row.active, tolerance > SINGLE)
                noise = where(rounds_off, BLUR * speed / ca.sqrt(ca.fmax(mean, 1e-12)), 0)
                self.noise = p.let("noise", ca.fmax(self.noise, noise))
                past = p.let("past", past + g.T @ row.past)
                moves = p.let("moves", ca.logic_or(moves, ca.logic_and(row.active, row.moves)))
        with p.block("coupled: begin"):
            self.begin = p.let("begin", self.root.T @ past)
            self.later = p.let("later", where(moves, 1, accuracy.resting))
            # what the numbers can resolve: in float32 less
            self.settled = p.let("settled", ca.fmax(accuracy.settled, 10 * tolerance) * self.scale)
            self.sticks = p.let("sticks", ca.fmax(accuracy.sticks, 100 * tolerance) * self.scale)

    def solve(self, thorough: bool) -> Solution:
        p, n = self.p, len(self.rows)
        self.least = self.accuracy.thorough if thorough else 0
        with repeated(p, "coupled", limit=self.accuracy.rounds) as loop:
            search = Search(p, loop, self.begin, self.tolerance, None, thorough, self.noise)
            passes = loop.carry("passes", SX(0))
            a = loop.carry("a", ca.horzcat(*(row.past for row in self.rows)))
            f = loop.carry("f", ca.horzcat(*(row.past for row in self.rows)))
            radii = [_bound(row, row.slid, row.past[2]) for row in self.rows]
            radius = loop.carry("radius", ca.vertcat(*radii))
            slides = loop.carry("slides", ca.vertcat(*(row.slid for row in self.rows)))
            self.firm = loop.carry("firm", SX(1))
            self.grew = loop.carry("grew", zeros(n))
            self.round(loop, search, passes, a, f, radius, slides)
        assert loop.rounds is not None
        assert loop.unfinished is not None
        impulses = [f[:, j] for j in range(n)]
        wrenches = self.wrench(impulses)
        with p.block("coupled: end"):
            twists = p.let("twist", self.free + self.root @ search.x)
        flags = [slides[j] for j in range(n)]
        residual = worst_missed(p, self.rows, self.own, self.left(wrenches), impulses, flags)
        return Solution(impulses, flags, twists, wrenches, loop.rounds, loop.unfinished, residual)

    def left(self, wrenches: SX) -> list[SX]:
        """Of each row the velocity after the step less its target."""
        with self.p.block("coupled: left"):
            twists = self.p.let("twist", self.free + self.inverse @ wrenches)
        return [g @ twists - row.target for row, g in zip(self.rows, self.maps, strict=True)]

    def round(
        self,
        loop: Loop,
        search: Search,
        passes: SX,
        a: SX,
        f: SX,
        radius: SX,
        slides: SX,
    ) -> None:
        """One evaluation: accepted or not, it says where the next one is; a pass may end."""
        p, rows = self.p, self.rows
        trial = search.trial()
        with p.block("coupled: twists"):
            twists = p.let("twist", self.free + self.root @ trial)
        found, slips, stiffness = [], [], SX(self.size, self.size)
        for j, (row, g) in enumerate(zip(rows, self.maps, strict=True)):
            with p.block("coupled: point"):
                left = g @ twists - row.target
                near = self.nearest(row, j, a[:, j], left, radius[j], slides[j])
                found.append(p.let("f", near[0]))
                slips.append(p.let("slip", ca.sqrt(ca.dot(left[:2], left[:2]))))
                weight = p.let("weight", ca.triu(near[1]))
            with p.block("coupled: stiffness"):
                full = g.T @ ca.triu2symm(weight) @ g
                stiffness = p.let("stiffness", ca.triu(stiffness + full))
        judged = search.advance(trial, self.root, self.wrench(found), stiffness)
        for j, impulse in enumerate(found):
            with p.block("coupled: next"):
                loop.next(f[:, j], where(judged.accepted, impulse, f[:, j]))
                loop.next(a[:, j], where(judged.ends, impulse, a[:, j]))
        self.end_pass(loop, judged.ends, passes, found, slips, a, radius, slides)

    def end_pass(
        self,
        loop: Loop,
        ends: SX,
        passes: SX,
        found: Sequence[SX],
        slips: Sequence[SX],
        a: SX,
        radius: SX,
        slides: SX,
    ) -> None:
        """Who slides, how much friction that gives, and whether anything still changes."""
        p, moved, news = self.p, SX(0), SX(0)
        for j, (row, own) in enumerate(zip(self.rows, self.own, strict=True)):
            with p.block("coupled: change"):
                change = ca.fabs(found[j] - a[:, j])
                turned = ca.fmax(change[0], change[1])
                turning = ca.fmax(turned - self.accuracy.turning * radius[j], 0)
                turned = where(slides[j], turning, turned)
                if row.compliance is None:  # an elastic normal force is no pass's
                    turned = ca.fmax(turned, change[2])
                bound = _bound(row, slides[j], found[j][2])
                grown = ca.fabs(bound - radius[j]) - self.accuracy.rubbing * bound
                worst = ca.fmax(self.firm * self.rho[j] * turned, own * grown)
                moved = p.let("moved", ca.fmax(moved, worst))
        with p.block("coupled: settled"):
            patience = p.let("patience", where(passes >= self.accuracy.patient, self.later, 1))
            settled = p.let("settled", moved < patience * self.settled)
            judged = p.let("judged", ca.logic_or(settled, passes >= self.accuracy.judged))
        for j, row in enumerate(self.rows):
            with p.block("coupled: slides"):
                slips_now = ca.logic_and(slips[j] > patience * self.sticks, found[j][2] > 0)
                starts = ca.logic_and(ca.logic_and(judged, slips_now), slides[j] == 0)
                flag = ca.logic_or(slides[j], starts)
                news = p.let("news", ca.logic_or(news, starts))
                loop.next(slides[j], where(ends, flag, slides[j]))
                bound = _bound(row, flag, found[j][2])
                turns = (bound - radius[j]) * self.grew[j] < 0
                eased = where(turns, 0.5 * (bound + radius[j]), bound)
                loop.next(radius[j], where(ends, eased, radius[j]))
                loop.next(self.grew[j], where(ends, bound - radius[j], self.grew[j]))
        with p.block("coupled: pass"):
            loop.next(passes, passes + ends)
            firmer = ca.fmax(0.5 * self.firm, self.accuracy.firmest)
            slow = ca.logic_and(ends, passes >= self.accuracy.long)
            loop.next(self.firm, where(slow, firmer, self.firm))
            enough = ca.logic_or(passes >= self.least, ca.logic_not(ca.mmax(slides)))
            done = ca.logic_and(settled, enough) if self.least else settled
            loop.until(ca.logic_and(ends, ca.logic_and(done, ca.logic_not(news))))

    def nearest(self, row: Row, j: int, a: SX, left: SX, radius: SX, slides: SX) -> tuple[SX, SX]:
        """Impulse, and how it falls with the velocity: its slope over the compliances."""
        rho = normal = self.rho[j] * self.firm
        z = a - left / rho
        if row.compliance is not None:
            push, normal = row.soft(left[2])
            z = ca.vertcat(z[:2], push)
        near = in_tube(z, radius)
        if row.compliance is None:
            cone = in_cone(z, ca.fmax(row.mu_s, row.mu_k))
            near = Nearest(where(slides, near.f, cone.f), where(slides, near.slope, cone.slope))
        weight = ca.diag(ca.vertcat(1 / rho, 1 / rho, 1 / normal)) @ near.slope
        return where(row.active, near.f, 0), where(row.active, weight, 0)

    def wrench(self, impulses: Sequence[SX]) -> SX:
        """Of all rows on all bodies."""
        total = zeros(self.size)
        for g, impulse in zip(self.maps, impulses, strict=True):
            with self.p.block("coupled: wrench"):
                total = self.p.let("wrench", ca.densify(total + g.T @ impulse))
        return total


def _bound(row: Row, slides: SX, normal: SX) -> SX:
    """Of friction in the tube; a rigid contact that sticks is in its cone instead."""
    held = 0 if row.compliance is None else ca.fmax(row.mu_s, row.mu_k)
    return where(slides, row.mu_k, held) * normal


def map_of(row: Row, size: int) -> SX:
    """G: from the bodies' twists to the contact's velocity in its axes, (3, size)."""
    g = SX(3, size)
    for arm in row.arms:
        start = 6 * arm.body
        g[:, start : start + 3] = arm.sign * row.axes
        g[:, start + 3 : start + 6] = -arm.sign * row.axes @ skew(arm.lever)
    return ca.sparsify(g)
