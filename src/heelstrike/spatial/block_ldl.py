"""Factorization of a symmetric positive definite matrix of small blocks, most of them zero.

    A = L D L^T        L has unit blocks, D is factored block by block (ldl.py)

The blocks are eliminated in the order of least degree: of those left, the one that fewest others
are joined to. A chain then causes no fill.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import casadi as ca

from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.ldl import LdlFactor, factor
from heelstrike.spatial.vector import SX, zeros


class BlockFactor:
    """Factor of a matrix of blocks; its entries are variables, at first those of the unit matrix.

    The blocks of A are given by (row, column), row > column or equal.
    """

    def __init__(
        self, p: Program, sizes: Sequence[int], joined: Collection[tuple[int, int]]
    ) -> None:
        """`sizes` are those of the diagonal blocks, `joined` the places of the others."""
        self.p, self.sizes = p, sizes
        self.order: list[tuple[int, list[int]]] = _elimination(len(sizes), joined)
        """Each block, and the blocks that it is joined to when it is eliminated."""
        self.lower: dict[tuple[int, int], SX] = {}
        self.pivots: list[LdlFactor] = []
        with p.block("block factor"):
            for size in sizes:
                unit = factor(SX(ca.DM.eye(size)))
                self.pivots.append(unit.renamed(lambda x: p.variable("pivot", x)))
            for k, others in self.order:
                for i in others:
                    self.lower[i, k] = p.variable("lower", zeros(sizes[i], sizes[k]))

    def factor(self, matrix: Mapping[tuple[int, int], SX]) -> None:
        """Assign the factor of a matrix."""
        p, left = self.p, dict(matrix)

        def take(i: int, k: int) -> SX:
            """Return the block at (i, k) of what is left, and remove it."""
            if (i, k) in left or i == k:
                return left.pop((i, k))
            return left.pop((k, i)).T if (k, i) in left else zeros(self.sizes[i], self.sizes[k])

        for k, others in self.order:
            pivot = call(p, "pivot", self._pivot, take(k, k), self.pivots[k])
            beside = {i: take(i, k) for i in others}
            lower = {
                i: call(p, "lower", self._lower, pivot, beside[i], self.lower[i, k]) for i in others
            }
            for n, i in enumerate(others):
                for j in others[: n + 1]:
                    left[i, j] = call(p, "left", self._left, take(i, j), lower[i], beside[j])

    def _pivot(self, block: SX, kept: LdlFactor) -> LdlFactor:
        """Factor a block of the diagonal; inside a block of the program."""
        own = factor(block).renamed(lambda x: self.p.let("pivot", x))
        kept.assign(self.p, own)
        return own

    def _lower(self, pivot: LdlFactor, beside: SX, kept: SX) -> SX:
        """Return a block of L; inside a block of the program."""
        own = self.p.let("lower", pivot.solve(beside.T).T)
        self.p.assign(kept, own)
        return own

    def _left(self, block: SX, lower: SX, beside: SX) -> SX:
        """Return what an elimination leaves of a block; inside a block of the program."""
        return self.p.let("left", block - lower @ beside.T)

    def solve(self, right: Sequence[SX]) -> list[SX]:
        """Return X with A X = right, block by block; inside a block of the program."""
        x = list(right)
        for k, others in self.order:
            for i in others:
                x[i] = x[i] - self.lower[i, k] @ x[k]
        x = [pivot.solve(own) for pivot, own in zip(self.pivots, x, strict=True)]
        for k, others in reversed(self.order):
            for i in others:
                x[k] = x[k] - self.lower[i, k].T @ x[i]
        return x


def _elimination(count: int, joined: Collection[tuple[int, int]]) -> list[tuple[int, list[int]]]:
    """Return the blocks in the order of least degree, each with those left that it is joined to."""
    beside: dict[int, set[int]] = {k: set() for k in range(count)}
    for i, k in joined:
        beside[i].add(k)
        beside[k].add(i)
    order = []
    while beside:
        k = min(beside, key=lambda k: (len(beside[k]), k))
        others = beside.pop(k)
        for i in others:
            beside[i] |= others - {i}
            beside[i].discard(k)
        order.append((k, sorted(others)))
    return order
