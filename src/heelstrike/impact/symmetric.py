"""Symmetric matrices of a program: their upper triangle, and their product with a vector.

The product goes tile by tile. An entry is fetched once and used on both sides of the diagonal, and
eight sums go on side by side: a multiply-add waits for about as many others. Taken row by row, the
28 joints of a humanoid take half as long again.
"""

from __future__ import annotations

import casadi as ca

from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX

TILE = 4
"""Rows and columns of a tile: their sums and factors fit into 32 registers."""


def packed(matrix: SX) -> SX:
    """Return the upper triangle of a symmetric matrix, column by column."""
    return ca.vertcat(*(matrix[: j + 1, j] for j in range(matrix.shape[0])))


def unpacked(column: SX, n: int) -> SX:
    """Return the symmetric matrix of a packed one, which is half as much to load."""
    upper = SX(n, n)
    for j in range(n):
        upper[: j + 1, j] = column[j * (j + 1) // 2 : (j + 1) * (j + 2) // 2]
    return ca.densify(ca.triu2symm(upper))


def product(p: Program, matrix: SX, x: SX) -> SX:
    """Return a symmetric matrix times x, in its own blocks."""
    n = x.numel()
    y = [SX(0)] * n
    spans = [range(first, min(first + TILE, n)) for first in range(0, n, TILE)]
    for at, rows in enumerate(spans):
        for columns in spans[at:]:
            with p.block("product"):
                sums = {i: y[i] for i in (*rows, *columns)}
                for i in rows:
                    for k in columns:
                        sums[i] += matrix[i, k] * x[k]
                        if rows != columns:
                            sums[k] += matrix[i, k] * x[i]
                for i, value in sums.items():
                    y[i] = p.let("y", value)
    return ca.vertcat(*y)


def inner(x: SX, y: SX) -> SX:
    """Return x^T y as several sums side by side."""
    return sum((ca.dot(x[k::TILE], y[k::TILE]) for k in range(min(TILE, x.numel()))), SX(0))
