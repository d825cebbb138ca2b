"""A cube between two fingers: contacts between moving bodies that share a joint.

Oracles: Coulomb's law (two pads that press by N hold m g up to mu = m g / (2 N)), Newton's second
law beyond it, and central differences of steps for the derivative.
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs
from tests import gripper

G, MASS, HAND = 9.81, 0.37, 1.4
"""Gravity [m/s^2], masses of the cube and of the hand [kg]."""
DEPTH = 1e-6
"""Of the pads in the cube at the start [m]."""
PRESSES = 500 * (0.01 - DEPTH)
"""Force of each finger: gain of its servo times the way that it has left [N]."""
HIGH = 0.15
"""Lift at which the cube hangs [m]."""
LEAST = MASS * G / (2 * PRESSES)
"""Friction coefficient that just holds the cube."""


@pytest.mark.parametrize("law", [hs.Rigid, hs.Signorini])
@pytest.mark.parametrize("share", [0.5, 0.98, 1.02, 2.0])
def test_friction_holds_the_cube_or_lets_it_slip(law, share):
    """The servo of the lift carries the hand and the friction, so that the hand stays."""
    sim = gripper.simulator(law(friction=hs.Coulomb(share * LEAST, share * LEAST)))
    reference = sim.parameters["servo.q_ref"].copy()
    reference[..., 0] = HIGH + (HAND + min(share, 1) * MASS) * G / 2000
    sim.parameters["servo.q_ref"] = reference
    q0 = gripper.start(gap=-DEPTH)
    q0[[0, 5]] += HIGH
    data = sim.run(0.1, q0=q0, record=("v", "solver_unfinished")).data
    assert data.solver_unfinished.values.sum() == 0
    hand, cube = data.v.values[0, :, 0], data.v.values[0, :, 5]
    falls = G * max(0, 1 - share) * np.arange(len(cube)) * 1e-3
    # a pass may leave 1e-5 of 0.01 m/s, the free velocity, in each of the first steps
    assert np.abs(hand).max() < 1e-6
    assert np.abs(cube + falls).max() < 1e-6 + 1e-6 * falls.max()


@pytest.mark.parametrize("law", [pytest.param(hs.Rigid, marks=pytest.mark.nightly), hs.Signorini])
@pytest.mark.parametrize(
    "mu", [pytest.param(0.8, marks=pytest.mark.nightly), 0.2], ids=["sticks", "slides"]
)
def test_derivative(law, mu):
    """Differences are those of Signorini: Rigid ends its passes too soon for a small step."""
    friction = hs.Coulomb(mu, mu)
    exact, sim = (gripper.simulator(x(friction=friction)) for x in (hs.Signorini, law))
    reference = exact.parameters["servo.q_ref"].copy()
    reference[..., 0] = 0.02
    for one in (exact, sim):
        one.parameters["servo.q_ref"] = reference
    exact.run(0.1, q0=gripper.start(), record="final")
    state = exact.state.copy()
    slip = state["v"][0, 5] - state["v"][0, 0]
    assert (np.abs(slip) > 1e-3) == (mu == 0.2)
    sim.state.update(state)
    slopes = sim.linearize("servo.q_ref")
    nv = sim.robot.nv
    for column in range(nv):
        ends = []
        for sign in (1, -1):
            v = state["v"].copy()
            v[0, column] += sign * 1e-5
            exact.state.update({**state, "v": v})
            exact.step()
            ends.append(exact.state["v"].copy())
        found = (ends[0] - ends[1]) / 2e-5
        np.testing.assert_allclose(slopes.state[nv:, nv + column], found, atol=1e-6)
