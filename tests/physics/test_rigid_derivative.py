"""The derivative of a step through rigid contact against central differences.

The rounds of the coupled problem are differentiated one by one, with the active set of the
solution; away from switches that is the derivative of the step.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import heelstrike as hs

STEP = 1e-7
"""Of the differences: their error is about 1e-16 / STEP from rounding, times the solver's 1e-9."""


@pytest.fixture(scope="module")
def standing():
    robot = hs.load("hoap1", collide="feet")
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law=hs.Rigid())), control=hs.Servo())
    sim.run(1.0, q0=robot.pose("stance"), record="final")
    return sim, sim.state.copy(), sim.linearize("servo.q_ref")


def after(sim, state, **changes):
    """Joint angles and all velocities after a step from a changed state."""
    sim.state.update({**state, **changes})
    sim.step()
    return np.r_[sim.state["q"][7:], sim.state["v"]]


@pytest.mark.parametrize("column", [0, 2, 4, 8, 15, 20])
def test_by_velocity(standing, column):
    sim, state, slopes = standing
    nv = sim.robot.nv
    ends = []
    for sign in (1, -1):
        v = state["v"].copy()
        v[0, column] += sign * STEP
        ends.append(after(sim, state, v=v))
    found = (ends[0] - ends[1]) / (2 * STEP)
    assert np.abs(found).max() > 0.01
    np.testing.assert_allclose(slopes.state[6:, nv + column], found, atol=1e-6)


@pytest.mark.parametrize("joint", [8, 15, 20])
def test_by_angle(standing, joint):
    sim, state, slopes = standing
    ends = []
    for sign in (1, -1):
        q = state["q"].copy()
        q[0, joint + 1] += sign * STEP  # a free base has one coordinate more than velocities
        ends.append(after(sim, state, q=q))
    found = (ends[0] - ends[1]) / (2 * STEP)
    np.testing.assert_allclose(slopes.state[6:, joint], found, atol=1e-6)


def box_on(law):
    floor = hs.Plane(law=law(friction=hs.Coulomb(0.5, 0.5)))
    return hs.Simulator(hs.Scene(hs.load("box"), floor))


@pytest.mark.parametrize("law", [hs.Rigid, hs.Signorini])
def test_sliding(law):
    """A box that slides and turns: friction follows the load of the same step. Differences are
    those of Signorini: Rigid ends its passes at 1e-6 m/s, too soon to be divided by a small step.
    """
    exact = box_on(hs.Signorini)
    exact.run(0.05, q0=[0, 0, 0.05 - 1e-6, 0, 0, 0, 1], v0=[1, 0.2, 0, 0, 0, 0.5], record="final")
    state, sim = exact.state.copy(), box_on(law)
    sim.state.update(state)
    slopes = sim.linearize().state
    for column in range(6):
        ends = []
        for sign in (1, -1):
            v = state["v"].copy()
            v[0, column] += sign * 1e-4
            exact.state.update({**state, "v": v})
            exact.step()
            ends.append(exact.state["v"].copy())
        found = (ends[0] - ends[1]) / 2e-4
        # the differences' own error, of the friction's direction: 5e-6
        np.testing.assert_allclose(slopes[6:, 6 + column], found, atol=2e-5)


def test_by_reference(standing):
    sim, state, slopes = standing
    held = sim.parameters["servo.q_ref"]
    ends = []
    for sign in (1, -1):
        moved = held.copy()
        moved[12] += sign * 1e-5
        sim.parameters["servo.q_ref"] = moved
        ends.append(after(sim, state))
    sim.parameters["servo.q_ref"] = held
    found = (ends[0] - ends[1]) / 2e-5
    np.testing.assert_allclose(slopes.inputs["servo.q_ref"][6:, 12], found, atol=1e-6)


@pytest.mark.nightly
def test_joints_that_slide():
    """Dry friction of most joints is at its limit while a biped settles. Differences are those of
    Signorini, as above.
    """
    robot = hs.load("biped14", collide="feet")
    robot = replace(robot, friction=np.where(np.arange(robot.nv) < 6, 0.0, 0.3))
    pose = robot.pose("stance")
    exact, sim = (
        hs.Simulator(hs.Scene(robot, hs.Plane(law=law())), control=hs.Servo(reference=pose))
        for law in (hs.Signorini, hs.Rigid)
    )
    exact.parameters["solver.tolerance"] = 1e-12
    off = 0.01 * np.random.default_rng(0).normal(size=robot.nq) * (np.arange(robot.nq) > 6)
    for duration, start in ((0.04, {"q0": pose + off}), (0.06, {}), (0.08, {})):
        exact.run(duration, **start, record="final", progress=False)
        state = exact.state.copy()
        assert (np.abs(state["joint friction, expected"]) == 1).sum() > 7  # of 14
        sim.state.update(state)
        slopes = sim.linearize().state
        for column in range(robot.nv):
            ends = []
            for sign in (1, -1):
                v = state["v"].copy()
                v[0, column] += sign * 1e-7
                ends.append(after(exact, state, v=v))
            found = (ends[0] - ends[1]) / 2e-7
            # 1.6e-7 was found, rounding of the differences; by 1e-6 a joint changes its piece
            np.testing.assert_allclose(slopes[6:, robot.nv + column], found, atol=1e-6)
        exact.state.update(state)
