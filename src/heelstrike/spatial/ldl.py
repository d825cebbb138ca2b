"""Factorization A = L D L^T of small symmetric positive definite matrices.

There is no pivoting and no square root; a factor solves any number of right-hand sides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import casadi as ca

from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX


@dataclass(frozen=True)
class LdlFactor:
    """Entries of L strictly below its unit diagonal, by (row, column), and of D^-1."""

    lower: dict[tuple[int, int], SX]
    inverse: tuple[SX, ...]

    def solve(self, right: SX) -> SX:
        """Return X with A X = right."""
        n = len(self.inverse)
        rows = list(ca.vertsplit(right))
        for i in range(n):
            for k in range(i):
                rows[i] = rows[i] - self.lower[i, k] * rows[k]
        rows = [row * inverse for row, inverse in zip(rows, self.inverse, strict=True)]
        for i in reversed(range(n)):
            for k in range(i + 1, n):
                rows[i] = rows[i] - self.lower[k, i] * rows[k]
        return cast(SX, ca.vertcat(*rows))

    def renamed(self, rename: Callable[[SX], SX]) -> LdlFactor:
        """Return the factor with every entry passed through `rename`."""
        return LdlFactor(
            {key: rename(value) for key, value in self.lower.items()},
            tuple(rename(x) for x in self.inverse),
        )

    def assign(self, p: Program, new: LdlFactor) -> None:
        """Assign the entries of another factor to these, which are variables; inside a block."""
        for key, value in new.lower.items():
            p.assign(self.lower[key], value)
        for old, value in zip(self.inverse, new.inverse, strict=True):
            p.assign(old, value)


def factor(matrix: SX) -> LdlFactor:
    """Factor a symmetric matrix of size 1 to 6, of which only the lower triangle is read."""
    n = matrix.shape[0]
    lower: dict[tuple[int, int], SX] = {}
    inverse: list[SX] = []
    left: dict[tuple[int, int], SX] = {}  # L D
    for j in range(n):
        pivot = matrix[j, j]
        for k in range(j):
            pivot = pivot - left[j, k] * lower[j, k]
        inverse.append(1 / pivot)
        for i in range(j + 1, n):
            entry = matrix[i, j]
            for k in range(j):
                entry = entry - left[i, k] * lower[j, k]
            left[i, j] = entry
            lower[i, j] = entry * inverse[j]
    return LdlFactor(lower, tuple(inverse))
