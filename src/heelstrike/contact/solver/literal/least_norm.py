"""Literal rule of [Rengifo2009]: the least forces that give the accelerations, then saturation.

    W F = r,   |W F - r| and then |F| least          (18), Moore-Penrose
    f_n = max(0, f_n'),   f_t = f_t' min(1, mu f_n / |f_t'|)             (19), (20)

W = G Lambda^-1 G^T is of the size of the points, and singular where more than three of a body
touch. It is not built. The rows of G^T, six a body, are made orthonormal, G^T = K Q^T, and the
pseudo-inverse goes through the bodies alone:

    W^+ = Q C^+ Q^T,   C = K^T Lambda^-1 K = (K^T L) (K^T L)^T,   Lambda^-1 = L L^T

C^+ by making rows and then columns of K^T L orthonormal. Rank: a row adds a direction if more than
sqrt(tolerance) of it is left by those before it, 3e-5 in float64 and 3e-3 in float32; a diagonal of
Lambda^-1, which is a square, if more than the tolerance is.

(20) is printed with cos and sin of atan(f_y/f_x), which turns friction round where f_x or f_y is
negative; the radial cut is meant, |cos| and |sin|. Clipped forces need not balance any more.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.literal.solution import Solution, maps_of
from heelstrike.contact.solver.residual import worst_missed
from heelstrike.contact.solver.rows import Row
from heelstrike.contact.solver.semidefinite import (
    next_row,
    root_of,
    solve_lower,
    solve_upper,
    triangular,
)
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import zeros


def solve_least_norm(
    p: Program,
    rows: Sequence[Row],
    inverse: SX,
    free: SX,
    tolerance: SX,
    thorough: bool = False,
) -> Solution:
    """Solve for the impulses of all rows; `inverse` is Lambda^-1, `free` are the free twists."""
    size = free.numel()
    maps = maps_of(rows, size)
    with p.block("rank", limb="least norm"):
        least = p.let("least", ca.sqrt(tolerance))
        root = p.let("root", root_of(inverse, tolerance))
    wanted, parts = [], []
    for row, g in zip(rows, maps, strict=True):
        with p.block("point", limb="least norm"):
            wanted.append(p.let("wanted", where(row.active, row.target - g @ free, 0)))
            parts.append(_selected(row.active, g))
    k, q = _orthonormal(p, ca.horzcat(*parts), least)
    with p.block("rows", limb="least norm"):
        along = p.let("along", q @ ca.vertcat(*wanted))
        half = k.T @ root
        half = p.let("half", half @ triangular(half, least)[1].T)
    with p.block("columns", limb="least norm"):
        lower, turn = triangular(half.T, least)
        x = p.let("x", turn.T @ solve_lower(lower, solve_upper(lower.T, turn @ along)))
    impulses, slides, total = [], [], zeros(size)
    for j, (row, g) in enumerate(zip(rows, maps, strict=True)):
        with p.block("saturation", limb="least norm"):
            f, slid = _saturated(row, q[:, 3 * j : 3 * j + 3].T @ x)
            impulses.append(p.let("f", f))
            slides.append(p.let("slides", slid))
            total = p.let("wrench", ca.densify(total + g.T @ f))
    with p.block("end", limb="least norm"):
        after = p.let("twist", free + inverse @ total)
        none = p.let("none", zeros(1))
        own = [p.let("own", ca.trace(g @ inverse @ g.T) / 3) for g in maps]
    left = [g @ after - row.target for row, g in zip(rows, maps, strict=True)]
    residual = worst_missed(p, rows, own, left, impulses, slides)
    return Solution(impulses, slides, after, total, none, none, residual)


def _selected(active: SX, g: SX) -> SX:
    """Return a point's columns of G^T where it touches; what is no entry stays none."""
    return SX(g.T.sparsity(), where(active, SX(g.T).nz[:], 0))


def _orthonormal(p: Program, matrix: SX, least: SX) -> tuple[SX, SX]:
    """Return K, Q^T with K Q^T = G^T, a block a row: none grows with the square of the points."""
    n, columns = matrix.shape
    k, q = SX(n, n), SX(n, columns)
    for i in range(n):
        with p.block("orthonormal", limb="least norm"):
            q[i, :] = _let_entries(p, next_row(matrix[i, :], q[:i, :], least)[1])
    for i in range(n):
        with p.block("parts", limb="least norm"):
            k[i, :] = _let_entries(p, matrix[i, :] @ q.T)
    return k, q


def _let_entries(p: Program, row: SX) -> SX:
    """Return a sparse row as symbols of the program."""
    row = ca.sparsify(row)
    return SX(row.sparsity(), p.let("q", row.nz[:])) if row.nnz() else row


def _saturated(row: Row, f: SX) -> tuple[SX, SX]:
    """Return the force by (19), (20), and whether friction was cut."""
    normal = ca.fmax(f[2], 0)
    rubbing = ca.sqrt(ca.fmax(ca.dot(f[:2], f[:2]), 1e-30))
    most = row.mu_k * normal
    slides = rubbing > most
    return ca.vertcat(where(slides, most / rubbing, 1) * f[:2], normal), slides
