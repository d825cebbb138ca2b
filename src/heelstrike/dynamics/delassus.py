"""Inverse operational-space inertia of a set of bodies, from Jacobians and the factor of H.

    Lambda^-1 = J H^-1 J^T = Y^T D^-1 Y,   Y = L^-T J^T    (H = L^T D L)

A row of Y is zero where its joint moves none of the bodies, so two feet that meet only at the
pelvis share only its rows. response.py computes the same without H, in world axes.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.dynamics.factor import TreeFactor
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX


def inverse_inertia(p: Program, factor: TreeFactor, jacobians: Sequence[SX]) -> SX:
    """Return Lambda^-1, (6 n, 6 n) for n bodies in their own frames: velocity per impulse."""
    halves = []
    for n, jacobian in enumerate(jacobians):
        halves.append(_sparse_forward(p, factor, jacobian.T, f"body {n}"))
    blocks: list[list[SX]] = [[SX()] * len(halves) for _ in halves]
    for i, a in enumerate(halves):
        for j in range(i, len(halves)):
            with p.block(f"inverse inertia {i} {j}"):
                block = _weighted_product(a, factor, halves[j])
                if i == j:
                    blocks[i][i] = p.let_symmetric("inverse inertia", block)
                else:
                    blocks[i][j] = p.let("inverse inertia", block)
                    blocks[j][i] = blocks[i][j].T
    return ca.vertcat(*(ca.horzcat(*row) for row in blocks))


def _sparse_forward(p: Program, factor: TreeFactor, right: SX, name: str) -> dict[int, SX]:
    """Return the rows of L^-T right that are not structurally zero, by index."""
    with p.block("half", limb=name):
        rows = {k: right[k, :] for k in range(right.shape[0]) if right[k, :].nnz()}
        for k in sorted(rows, reverse=True):
            for i in factor.ancestors[k]:
                rows[i] = rows[i] - factor.lower[k, i] * rows[k]
        return {k: p.let("Y", ca.densify(row)) for k, row in rows.items()}


def _weighted_product(a: dict[int, SX], factor: TreeFactor, b: dict[int, SX]) -> SX:
    """Return the sum over rows k of a_k^T b_k / D_k."""
    total = SX(ca.DM.zeros(6, 6))
    for k in sorted(a.keys() & b.keys()):
        total = ca.mac(a[k].T * factor.inverse[k], b[k], total)
    return total
