"""Factors of matrices of blocks against numpy's solve.

Tolerance: 1e-16 of a double times the condition of the matrices, 1 to 1e3, and some sums.
"""

from __future__ import annotations

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest

from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program
from heelstrike.spatial.block_ldl import BlockFactor

GRAPHS = {
    "one": ([3], []),
    "apart": ([2, 3], []),
    "chain": ([6, 3, 6, 1, 6], [(k + 1, k) for k in range(4)]),
    "star": ([3, 2, 3, 6], [(1, 0), (2, 0), (3, 0)]),
    "ring": ([2, 3, 2, 3, 2], [(1, 0), (2, 1), (3, 2), (4, 3), (4, 0)]),
    "all": ([3, 6, 2], [(1, 0), (2, 0), (2, 1)]),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_block_factor(name):
    sizes, joined = GRAPHS[name]
    ends = np.cumsum([0, *sizes])
    spans = [slice(int(a), int(b)) for a, b in pairwise(ends)]
    n = int(ends[-1])
    p = Program("blocks")
    a, b = ca.reshape(p.input("a", n * n), n, n), p.input("b", n)
    found = BlockFactor(p, sizes, joined)
    places = [*((k, k) for k in range(len(sizes))), *joined]
    found.factor({(i, k): a[spans[i], spans[k]] for i, k in places})
    with p.block("out"):
        p.output("x", ca.vertcat(*found.solve([b[span] for span in spans])))
    rng = np.random.default_rng(0)
    mask = np.zeros((n, n))
    for i, k in places:
        mask[spans[i], spans[k]] = mask[spans[k], spans[i]] = 1
    matrices = rng.normal(size=(20, n, n)) * mask
    matrices = matrices + matrices.transpose(0, 2, 1) + 3 * n * np.eye(n)
    right = rng.normal(size=(20, n))
    x = compile_program(p)(a=matrices.reshape(20, -1), b=right)["x"]
    expected = np.linalg.solve(matrices, right[..., None])[..., 0]
    assert np.abs(x - expected).max() < 1e-13 * np.abs(expected).max()


def test_chain_and_star_cause_no_fill():
    """Each elimination joins no blocks that are not joined already; a ring needs some."""
    for name, fill in (("chain", 0), ("star", 0), ("ring", 2)):
        p = Program("blocks")
        assert len(BlockFactor(p, *GRAPHS[name]).lower) == len(GRAPHS[name][1]) + fill
