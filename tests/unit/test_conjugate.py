"""Conjugate gradients of links against a direct solution in float64.

K of a contact without friction resists along one of six directions. Where a link hardly moves along
that one, v . K v is rounding, which is negative in many worlds.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from heelstrike.contact.solver.conjugate import taken_by_links
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program

WORLDS = 8192
TOLERANCE = {"float64": 1e-9, "float32": 3e-6}
"""Those of coupled laws."""


def taken(dtype, **values):
    """Return l of a link of stiffness k, for twists v, with A = a."""
    p = Program("links")
    stiffness, response = (ca.reshape(p.input(name, 36), 6, 6) for name in "ka")
    twist = p.input("v", 6)

    def respond(wrenches):
        with p.block("respond"):
            return [p.let("answer", response @ wrenches[0])]

    (found,) = taken_by_links(p, [stiffness], [twist], respond, ca.SX(TOLERANCE[dtype]))
    with p.block("end"):
        p.output("taken", found)
    batch = compile_program(p, dtype=dtype).batch(WORLDS)
    batch.set(**values)
    batch.run(1)
    return np.array(batch.output("taken"))


@pytest.mark.parametrize("speed", [1e-5, 1e-13])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_links_that_hardly_move_along_their_contact(dtype, speed):
    """Motion along the contact is a share of 1e-9 to 1e-4; 1 + A K has eigenvalues up to 310."""
    rng = np.random.default_rng(0)
    normal, lever = rng.normal(size=(2, WORLDS, 3))
    g = np.hstack([normal, np.cross(0.1 * lever, normal)])
    g /= np.linalg.norm(g, axis=1, keepdims=True)
    root = rng.normal(size=(WORLDS, 6, 6))
    v = rng.normal(size=(WORLDS, 6))
    v -= (g * v).sum(axis=1, keepdims=True) * g
    v += 10.0 ** rng.uniform(-9, -4, (WORLDS, 1)) * g
    given = 500 * g[:, :, None] * g[:, None, :], 0.02 * root @ root.transpose(0, 2, 1), speed * v
    k, a, v = (x.astype(dtype).astype(float) for x in given)

    exact = k @ np.linalg.solve(np.eye(6) + a @ k, v[:, :, None])
    found = taken(dtype, k=k.reshape(WORLDS, 36), a=a.reshape(WORLDS, 36), v=v)
    error = np.linalg.norm(found - exact[:, :, 0], axis=1)
    error /= np.linalg.norm(k, axis=(1, 2)) * np.linalg.norm(v, axis=1)
    # v . K v, a sum of 36 products, is known to some 4 eps |K| |v|^2, and where it is lost in that,
    # |K v| is at most sqrt(4 eps) |K| |v|; measured 3.3e-4 in float32, 1.6e-8 in float64
    assert error.max() < TOLERANCE[dtype] + 2 * np.sqrt(np.finfo(dtype).eps)
