"""Coupled problem of all contacts whose forces depend on one another.

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

Where the next pass starts from, and when passes end, is passes.py's; how accurate that is,
criteria.py's. The velocities are as few as the contacts see (coordinates.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.criteria import USUAL, Accuracy
from heelstrike.contact.solver.operational.coordinates import coordinates_of
from heelstrike.contact.solver.operational.newton import Search, root_of
from heelstrike.contact.solver.operational.passes import Passes, Scales
from heelstrike.contact.solver.residual import worst_missed
from heelstrike.contact.solver.rows import Row
from heelstrike.ir.loop import Loop, repeated
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import zeros

SINGLE = 1e-7
"""Tolerance above which numbers are float32. Then:"""
BLUR = 10.0
"""rounding of velocities, over the compliance of a pass, is more than Newton's method may leave of
impulses, which is this often the tolerance of impulses that would make such velocities;"""
FIRM = 0.25
"""for the same reason compliances do not fall below this share of the first;"""
ROUNDED = 1e-6
"""and this share of a diagonal is no more than rounding."""


@dataclass(frozen=True)
class Solution:
    """Impulses of the contacts in a step, and the motion that follows."""

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
    """Velocity by which the worst contact misses its law (residual.py) [m/s]."""


def solve(
    p: Program,
    rows: Sequence[Row],
    inverse: SX,
    free: SX,
    tolerance: SX,
    thorough: bool = False,
    accuracy: Accuracy = USUAL,
    half: SX | None = None,
) -> Solution:
    """Solve for the impulses of all rows; `inverse` is Lambda^-1, `free` the twists without them.
    `thorough` is for derivatives (newton.py): those of friction settle pass by pass. `half` is any
    Z with Z Z^T = Lambda^-1; it is taken for L where it has fewer columns than that has.
    """
    return _Problem(p, rows, inverse, free, tolerance, accuracy, half).solve(thorough)


class _Problem:
    """Coupled problem under construction."""

    def __init__(
        self,
        p: Program,
        rows: Sequence[Row],
        inverse: SX,
        free: SX,
        tolerance: SX,
        accuracy: Accuracy,
        half: SX | None,
    ) -> None:
        self.p, self.rows, self.tolerance, self.accuracy = p, rows, tolerance, accuracy
        self.whole = inverse, free
        coordinates = coordinates_of(rows, free.numel())
        self.full, self.maps, basis = coordinates.full, coordinates.maps, coordinates.basis
        self.size = basis.shape[0]
        self.inverse, self.free = inverse, free
        if not basis.is_eye():
            with p.block("coupled coordinates"):
                self.inverse = p.let_symmetric("inverse", basis @ inverse @ basis.T)
                self.free = p.let("free", basis @ free)
        with p.block("coupled root"):
            self.root = p.let("root", self._root(None if half is None else basis @ half))
        self.scales, self.begin, self.noise = self._scales()

    def _scales(self) -> tuple[Scales, SX, SX]:
        """Return the scales, the start of Newton's method, and the noise of x there.

        The noise is in units of the tolerance.
        """
        p, tolerance, accuracy = self.p, self.tolerance, self.accuracy
        rho: list[SX] = []
        own: list[SX] = []
        speeds, blurs, pasts, moving = [], [], [], []
        for j, (row, g) in enumerate(zip(self.rows, self.maps, strict=True)):
            with p.block("scale", limb="coupled", member=j):
                mean = p.let("own", ca.trace(g @ self.inverse @ g.T) / 3)
                own.append(mean)
                rho.append(p.let("rho", row.smoothing * mean))
                speed = ca.fmax(ca.mmax(ca.fabs(g @ self.free)), ca.mmax(ca.fabs(row.target)))
                speeds.append(p.let("speed", where(row.active, speed, 0)))
                rounds_off = ca.logic_and(row.active, tolerance > SINGLE)
                blur = where(rounds_off, BLUR * speed / ca.sqrt(ca.fmax(mean, 1e-12)), 0)
                blurs.append(p.let("noise", blur))
                pasts.append(p.let("past", g.T @ row.past))
                moving.append(p.let("moves", ca.logic_and(row.active, row.moves)))
        with p.block("coupled begin"):
            scale = p.let("scale", ca.fmax(ca.mmax(ca.vertcat(*speeds)), 1e-9))
            noise = p.let("noise", ca.mmax(ca.vertcat(*blurs)))
            begin = p.let("begin", self.root.T @ ca.densify(sum(pasts, SX(self.size, 1))))
            moves = ca.mmax(ca.vertcat(*moving))
            later = p.let("later", where(moves, 1, accuracy.resting))
            # what the numbers can resolve: in float32 less
            settled = p.let("settled", ca.fmax(accuracy.settled, 10 * tolerance) * scale)
            sticks = p.let("sticks", ca.fmax(accuracy.sticks, 100 * tolerance) * scale)
            # a velocity's rounding over a small compliance is a large impulse
            firmest = p.let("firmest", where(tolerance > SINGLE, FIRM, accuracy.firmest))
        return Scales(own, rho, settled, sticks, later, firmest), begin, noise

    def _root(self, half: SX | None) -> SX:
        """L. Lambda^-1 of more coordinates than joints move is singular, and what rounding leaves
        of its last diagonals is no root; the half has no such diagonals.
        """
        if half is not None and ca.sprank(half) < self.size:
            return half
        return root_of(self.inverse, where(self.tolerance > SINGLE, ROUNDED, 1e-13))

    def solve(self, thorough: bool) -> Solution:
        p, n = self.p, len(self.rows)
        with repeated(p, "coupled", limit=self.accuracy.rounds) as loop:
            search = Search(p, loop, self.begin, self.tolerance, None, thorough, self.noise)
            passes = Passes(p, loop, self.rows, self.scales, self.accuracy, thorough)
            f = loop.carry("f", ca.horzcat(*(row.past for row in self.rows)))
            self.round(loop, search, passes, f)
        assert loop.rounds is not None
        assert loop.unfinished is not None
        impulses = [f[:, j] for j in range(n)]
        flags = [passes.slides[j] for j in range(n)]
        inverse, free = self.whole
        with p.block("coupled end"):
            total = sum(
                (g.T @ x for g, x in zip(self.full, impulses, strict=True)), zeros(free.numel())
            )
            wrenches = p.let("wrench", ca.densify(total))
            twists = p.let("twist", free + inverse @ wrenches)
        left = [g @ twists - row.target for row, g in zip(self.rows, self.full, strict=True)]
        residual = worst_missed(p, self.rows, self.scales.own, left, impulses, flags)
        return Solution(impulses, flags, twists, wrenches, loop.rounds, loop.unfinished, residual)

    def round(self, loop: Loop, search: Search, passes: Passes, f: SX) -> None:
        """One evaluation: accepted or not, it says where the next one is; a pass may end."""
        p = self.p
        trial = search.trial()
        with p.block("coupled twists"):
            twists = p.let("twist", self.free + self.root @ trial)
        found, wrenches, weights, each = [], [], [], []
        for j, (row, g) in enumerate(zip(self.rows, self.maps, strict=True)):
            with p.block("point", limb="coupled", member=j):
                left = g @ twists - row.target
                rho = self.scales.rho[j] * passes.firm
                impulse, weight = row.response(
                    passes.a[:, j], passes.slides[j], passes.bound(j), rho, left
                )
                found.append(p.let("f", impulse))
                wrenches.append(p.let("wrench", g.T @ found[j]))
                weights.append(p.let("stiffness", ca.triu(g.T @ weight @ g)))
                slip = ca.sqrt(ca.dot(left[:2], left[:2]))
                each.append(passes.measured(j, found[j], slip).let(p))
        with p.block("coupled gathered"):
            wrench = p.let("wrench", ca.densify(sum(wrenches, SX(self.size, 1))))
            stiffness = p.let("stiffness", sum(weights, SX(self.size, self.size)))
        judged = search.advance(trial, self.root, wrench, stiffness)
        for j, impulse in enumerate(found):
            with p.block("accepted", limb="coupled", member=j):
                loop.next(f[:, j], where(judged.accepted, impulse, f[:, j]))
        passes.end(judged.ends, found, each)
