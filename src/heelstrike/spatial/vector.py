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
"""Entries of a constant rotation or offset this close to 0 or +-1 are taken to be it."""


def constant(matrix: np.ndarray, kept: np.ndarray | None = None) -> SX:
    """A constant matrix whose round-off about 0 and +-1 is removed, so that structural zeros and
    ones vanish from products; those that are `kept` stay (ir/number.py).
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
    return SX(ca.DM.zeros(rows, columns))


def mac(matrix: SX, vector: SX, start: SX) -> SX:
    """start + matrix @ vector, one fused chain an entry."""
    return cast(SX, ca.mac(matrix, vector, ca.densify(start)))


def cross(a: SX, b: SX) -> SX:
    """a x b"""
    return cast(SX, ca.cross(ca.densify(a), ca.densify(b)))


def add_cross(start: SX, a: SX, b: SX) -> SX:
    """start + a x b, one fused chain an entry."""
    (sx, sy, sz), (ax, ay, az), (bx, by, bz) = ca.vertsplit(start), ca.vertsplit(a), ca.vertsplit(b)
    return cast(
        SX,
        ca.vertcat(sx + ay * bz - az * by, sy + az * bx - ax * bz, sz + ax * by - ay * bx),
    )


def skew(a: SX) -> SX:
    """[a] with [a] b = a x b."""
    return cast(SX, ca.densify(ca.skew(a)))


def symmetric(matrix: SX) -> SX:
    """The matrix with its lower triangle copied from the upper: work for the lower triangle
    vanishes.
    """
    return cast(SX, ca.densify(ca.triu2symm(ca.triu(matrix))))
