"""Three-vectors and small matrices over symbols.

Sums of products are built from the left, accumulator first, so that each term becomes one fused
multiply-add. Multiplications by 0 and 1 vanish while an expression is built.
"""

from __future__ import annotations

from typing import TypeAlias, cast

import casadi as ca
import numpy as np

from heelstrike.ir.number import number

SX: TypeAlias = ca.SX
ROUND_OFF = 1e-12
"""Distance from 0 or +-1 within which an entry of a constant rotation or offset is rounded."""


def constant(matrix: np.ndarray, kept: np.ndarray | None = None) -> SX:
    """Return a constant matrix, with round-off about 0 and +-1 removed.

    Structural zeros and ones then vanish from products. Entries where the mask `kept` holds stay
    factors of the code (ir/number.py).
    """
    clean = np.array(matrix, dtype=float)
    for target in (0.0, 1.0, -1.0):
        clean[np.abs(clean - target) < ROUND_OFF] = target
    result = SX(clean)
    for place in () if kept is None else np.argwhere(kept):
        where = tuple(int(i) for i in place)
        result[where] = number(clean[where])
    return result


def zeros(rows: int = 3, columns: int = 1) -> SX:
    """Return a dense matrix of zeros."""
    return SX(ca.DM.zeros(rows, columns))


def mac(matrix: SX, vector: SX, start: SX) -> SX:
    """Return start + matrix @ vector, one chain of fused multiply-adds per entry."""
    return cast(SX, ca.mac(matrix, vector, ca.densify(start)))


def cross(a: SX, b: SX) -> SX:
    """Return a x b."""
    return cast(SX, ca.cross(ca.densify(a), ca.densify(b)))


def add_cross(start: SX, a: SX, b: SX) -> SX:
    """Return start + a x b, one chain of fused multiply-adds per entry."""
    (sx, sy, sz), (ax, ay, az), (bx, by, bz) = ca.vertsplit(start), ca.vertsplit(a), ca.vertsplit(b)
    return cast(
        SX,
        ca.vertcat(sx + ay * bz - az * by, sy + az * bx - ax * bz, sz + ax * by - ay * bx),
    )


def skew(a: SX) -> SX:
    """Return the matrix [a] with [a] b = a x b."""
    return cast(SX, ca.densify(ca.skew(a)))


def symmetric(matrix: SX) -> SX:
    """Return a symmetric matrix whose lower triangle is copied from the upper one.

    The operations of the lower triangle become dead code.
    """
    return cast(SX, ca.densify(ca.triu2symm(ca.triu(matrix))))
