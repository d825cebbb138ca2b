"""Literal rule of [Sugihara2006] for rigid contacts: (25) to (36).

    |A f - v|^2 / 2 + sum lam_j |f_j|^2 / 2 -> minimum,   f_n >= 0                          (33)

S: a point slower than epsilon keeps still, three rows and three unknowns (25). K: a faster one has
its normal velocity set, one row, and one unknown along nu - mu_k sigma (26), (29). Afterwards
friction of S beyond mu_s f_n becomes mu_k f_n (35), (36).

With A = R Lambda^-1 C^T, rows R and columns C of six entries a body, f_j = nearest(-C_j V / lam_j)
at the V with

    V = M C^T f - Lambda^-1 R^T v,    M = Lambda^-1 R^T R Lambda^-1

which newton.py solves: no matrix of the size of the points appears here either. With M = T T^T and
Lambda^-1 R^T v = T k, V = T s and s + k - T^T C^T f = 0: s is small where lam is, and is sought
itself, so that its digits are not lost in k. T comes from Lambda^-1 and the root of R^T R without a
square of Lambda^-1, which float64 could not hold.

lam has a unit, 1/kg^2: the paper's values hold for its robot.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.literal.newton import Search
from heelstrike.contact.solver.literal.solution import Solution, maps_of
from heelstrike.contact.solver.residual import worst_missed
from heelstrike.contact.solver.rows import Row
from heelstrike.contact.solver.semidefinite import root_of, solve_lower, triangular
from heelstrike.contact.surface_law import PaperTerms
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import zeros

ROUNDS = 200
"""Evaluations in a step; at the limit the last accepted impulses are taken."""
LEAST = 1e-12
"""Smallest lam [1/kg^2]: below, impulses of a hyperstatic stance are not determined."""


def solve_paper(
    p: Program,
    rows: Sequence[Row],
    literals: Sequence[PaperTerms],
    inverse: SX,
    free: SX,
    tolerance: SX,
    thorough: bool = False,
) -> Solution:
    """Solve for the impulses of all rows; `inverse` is Lambda^-1, `free` are the free twists."""
    size = free.numel()
    maps = maps_of(rows, size)
    columns = [_columns(*parts) for parts in zip(rows, literals, maps, strict=True)]
    root, known = _root_and_known(p, rows, literals, maps, inverse, free)
    with repeated(p, "paper", limit=ROUNDS) as loop:
        search = Search(p, loop, -known, tolerance, apart=known, thorough=thorough)
        f = loop.carry("f", SX(ca.DM.zeros(3, len(rows))))
        trial = search.trial()
        with p.block("twists", limb="paper"):
            twists = p.let("twist", root @ trial)
        found, wrench, stiffness = [], zeros(size), SX(size, size)
        for row, literal, c in zip(rows, literals, columns, strict=True):
            with p.block("point", limb="paper"):
                lam = ca.fmax(literal.lam, LEAST)
                z = -(c @ twists) / lam
                pushed = where(z[2] > 0, 1, 0)
                near = where(row.active, ca.vertcat(z[:2], ca.fmax(z[2], 0)), 0)
                weight = where(row.active, ca.vertcat(1, 1, pushed) / lam, 0)
                found.append(p.let("f", near))
                wrench = p.let("wrench", wrench + c.T @ near)
                stiffness = p.let("stiffness", ca.triu(stiffness + c.T @ ca.diag(weight) @ c))
        judged = search.advance(trial, root, wrench, stiffness)
        with p.block("end", limb="paper"):
            loop.next(f, where(judged.accepted, ca.horzcat(*found), f))
            loop.until(judged.ends)
    assert loop.rounds is not None
    assert loop.unfinished is not None
    with p.block("friction", limb="paper"):
        both = [
            _modified(row, literal, f[:, j])
            for j, (row, literal) in enumerate(zip(rows, literals, strict=True))
        ]
        impulses = [p.let("f", impulse) for impulse, _ in both]
        slides = [p.let("slides", slid) for _, slid in both]
        total = zeros(size)
        for g, impulse in zip(maps, impulses, strict=True):
            total = total + g.T @ impulse
        wrenches = p.let("wrench", ca.densify(total))
        after = p.let("twist", free + inverse @ wrenches)
        own = [p.let("own", ca.trace(g @ inverse @ g.T) / 3) for g in maps]
    left = [g @ after - row.target for row, g in zip(rows, maps, strict=True)]
    residual = worst_missed(p, rows, own, left, impulses, slides)
    return Solution(impulses, slides, after, wrenches, loop.rounds, loop.unfinished, residual)


def _root_and_known(
    p: Program,
    rows: Sequence[Row],
    literals: Sequence[PaperTerms],
    maps: Sequence[SX],
    inverse: SX,
    free: SX,
) -> tuple[SX, SX]:
    """Return T and k."""
    size = free.numel()
    with p.block("problem", limb="paper"):
        squares, wanted = SX(size, size), zeros(size)
        for row, literal, g in zip(rows, literals, maps, strict=True):
            r = where(row.active, _rows(literal, g), 0)
            squares = squares + r.T @ r
            wanted = wanted + r.T @ (row.target - g @ free)
        squares = p.let_symmetric("squares", squares)
        wanted = p.let("wanted", wanted)
    with p.block("half", limb="paper"):
        half = p.let("half", root_of(squares))
        along = p.let("along", solve_lower(half, wanted))
        wide = p.let("wide", inverse @ half)
    with p.block("root", limb="paper"):
        lower, turn = triangular(wide)
        return p.let("root", lower), p.let("known", turn @ along)


def _rows(literal: PaperTerms, g: SX) -> SX:
    """Return R: of S the map itself; of K its normal row (30), (31)."""
    g = ca.densify(g)
    return ca.vertcat(where(literal.kinetic, 0, g[:2, :]), g[2, :])


def _columns(row: Row, literal: PaperTerms, g: SX) -> SX:
    """Return C: of S the map itself; of K one row along nu - mu_k sigma (26)."""
    g = ca.densify(g)
    along = g[2, :] - row.mu_k * (literal.sigma.T @ g[:2, :])
    still = where(literal.kinetic, 0, g[:2, :])
    return ca.vertcat(still, where(literal.kinetic, along, g[2, :]))


def _modified(row: Row, literal: PaperTerms, f: SX) -> tuple[SX, SX]:
    """Return a point's impulse with its friction corrected by (12), (35), (36), and whether it
    slides.
    """
    rubbing = ca.sqrt(ca.fmax(ca.dot(f[:2], f[:2]), 1e-30))
    slips = rubbing > row.mu_s * f[2]
    held = where(slips, row.mu_k * f[2] / rubbing * f[:2], f[:2])
    tangent = where(literal.kinetic, -row.mu_k * f[2] * literal.sigma, held)
    return ca.vertcat(tangent, f[2]), ca.logic_or(literal.kinetic, slips)
