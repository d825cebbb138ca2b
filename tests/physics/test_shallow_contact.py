"""Contacts of next to no depth hold as deeper ones do.

Oracle: Coulomb's law. A block on a slope of 44.9 degrees stays with mu_s = 1, also where mu_k = 0.4
would let it go: rest at a depth of 0 to 1 nm is the same rest.
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs

DEPTHS = np.array([0.0, *10.0 ** np.arange(-16.0, -8.0)])  # [m]
SLOPE = np.radians(44.9)
LAWS = {
    "rigid": hs.Rigid(friction=hs.Coulomb(1.0, 0.4)),
    "signorini": hs.Signorini(friction=hs.Coulomb(1.0, 1.0)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["box", "brick"])
def test_a_block_holds_at_any_small_depth(name, law):
    body = hs.load(name, collide="feet")
    height = -min(x.position[2] for x in body.points)
    down = 9.81 * np.array([np.sin(SLOPE), 0, -np.cos(SLOPE)])
    scene = hs.Scene(body, hs.Plane(law=LAWS[law]), gravity=down)
    sim = hs.Simulator(scene, dt=1e-3, worlds=len(DEPTHS))
    q0 = np.tile([0, 0, height, 0, 0, 0, 1.0], (len(DEPTHS), 1))
    q0[:, 2] -= DEPTHS
    end = sim.run(0.5, q0=q0, progress=False).data.q.values[:, -1]
    moved = np.abs(end[:, :3] - q0[:, :3]).max(axis=1)
    # 500 steps, each within the tolerance of a resting contact; a slide takes 0.5 m
    assert moved[1:].max() < 1e-9
    assert moved[0] < 1.1 * 9.81 * 1e-3**2  # depth 0 is no contact yet: it falls for a step
