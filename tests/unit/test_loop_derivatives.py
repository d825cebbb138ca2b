"""Derivatives of steps with closed loops against central differences of the same step.

Steps are made from states as they are, without closing them first, so that directions that open a
loop count as well. Rigid is differentiated as `linearize` does, with passes to the end.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.robot.placement import lowest_height
from heelstrike.simulate.adjoint import DifferentiableStep
from heelstrike.step.step import step_program
from tests import mechanisms

H = 1e-6
"""Change of a coordinate or velocity [rad, m, rad/s, m/s]."""
DATA = os.environ.get("HEELSTRIKE_DATA")
SPRING = hs.Elastic(hs.LinearSpring(k=2e4, c=100.0), hs.Kinetic(0.5))
LAWS = {"Elastic": SPRING, "Rigid": hs.Rigid(friction=hs.Coulomb(2.0, 2.0))}


def swinging(integrator: str = "symplectic", worlds: int = 1) -> hs.Simulator:
    """Return the four-bar after 0.1 s of fall from rest."""
    robot = mechanisms.four_bar()
    sim = hs.Simulator(hs.Scene(robot), integrator=integrator, worlds=worlds)
    sim.run(0.1, q0=robot.close(np.array([0.3, -1.0, -1.2])), record="final")
    assert np.abs(sim.state["v"]).max() > 1.0
    return sim


def landing(law: object, worlds: int = 1) -> hs.Simulator:
    """Return the five-bar leg under servos, some steps after its foot has touched the ground."""
    robot = mechanisms.five_bar_leg()
    q = robot.pose("stand")
    scene = hs.Scene(robot, hs.Plane(law, "ground"), self_contact=False, edges=False)
    servo = hs.Servo(kp=50.0, kd=1.0, reference=q)
    sim = hs.Simulator(scene, control=servo, worlds=worlds)
    q[2] -= lowest_height(robot, q) - 1e-4
    v = np.zeros(robot.nv)
    v[[0, 2]] = 0.2, -0.3
    sim.run(0.008, q0=q, v0=v, record="final")
    assert np.all(sim.observe("touching")["touching"])
    return sim


def differences(sim: hs.Simulator) -> np.ndarray:
    """Return the central differences of one step with respect to q, as a motion, and v."""
    robot, model = sim.robot, sim.robot.model
    state = {name: value[0] for name, value in sim.compiled.batch().state().items()}
    n = 2 * robot.nv
    bumps = np.vstack([H * np.eye(n), -H * np.eye(n), np.zeros(n)])
    batch = hs.compile_program(step_program(sim.plan, thorough=True)).batch(2 * n + 1)
    batch.set(**sim.compiled.parameters.of_world(0), **sim.compiled.tables(), **state)
    q = np.array([pin.integrate(model, state["q"], bump[: robot.nv]) for bump in bumps])
    batch.set(q=q, v=state["v"] + bumps[:, robot.nv :])
    batch.run()
    after = batch.get("q"), batch.get("v")
    moved = [pin.difference(model, after[0][-1], one) for one in after[0]]
    changes = np.hstack([moved, after[1]])
    return (changes[:n] - changes[n:-1]).T / (2 * H)


def assert_derivatives(sim: hs.Simulator, tolerance: float) -> None:
    exact, expected = sim.linearize().state, differences(sim)
    assert np.abs(exact - expected).max() < tolerance * np.abs(expected).max()


@pytest.mark.parametrize("integrator", ["symplectic", "rk4"])
def test_four_bar(integrator):
    # rounding of a step, 1e-15 with the inverse of the loop's matrix, over h, and h^2 times the
    # third derivative
    assert_derivatives(swinging(integrator), 1e-8)


@pytest.mark.parametrize("name", LAWS)
def test_leg_on_the_ground(name):
    """A floating base, two hips under servos and a loop, on springs and on rigid ground."""
    assert_derivatives(landing(LAWS[name]), 1e-7)


@pytest.mark.parametrize("name", ["four-bar", "leg"])
def test_reverse_gradient(name):
    """(df/dx)^T w of all memory of two worlds against central differences of w . f."""
    sim = swinging(worlds=2) if name == "four-bar" else landing(SPRING, worlds=2)
    f = DifferentiableStep(sim, ["gravity", "constraints.correction"])
    x, u = f.state(sim), f.input_values(sim)
    w = np.random.default_rng(0).normal(size=x.shape)
    h = 1e-5  # the memory of works is large, so that rounding weighs more than h^2
    for part, gradient in zip((x, u), f.pullback(x, u, f(x, u), w), strict=True):
        first = f.sizes["clock"] if part is x else 0  # the clock is a whole number
        for j in range(first, part.shape[1]):
            sums = []
            for end in (1, -1):
                moved = part.copy()
                moved[:, j] += end * h
                sums.append((w * (f(moved, u) if part is x else f(x, moved))).sum(axis=1))
            expected = (sums[0] - sums[1]) / (2 * h)
            limit = 2e-7 * np.abs(gradient).max()  # 5e-8 measured: rounding over h
            np.testing.assert_allclose(gradient[:, j], expected, rtol=0, atol=limit)


def test_reverse_gradient_of_loops_on_rigid_ground_is_refused():
    with pytest.raises(hs.HeelstrikeError, match="do not support closed loops"):
        DifferentiableStep(landing(LAWS["Rigid"]), ["gravity"])


@pytest.mark.nightly
@pytest.mark.skipif(DATA is None, reason="HEELSTRIKE_DATA names no folder with robots")
def test_cassie_in_the_air():
    """Two loops, a rod and two springs in each leg."""
    robot = hs.load(Path(DATA or "", "robots", "cassie.xml"), collide="feet")
    sim = hs.Simulator(hs.Scene(robot), dt=5e-4)
    q = robot.close(robot.pose("home"))
    sim.run(0.05, q0=q, record="final")
    assert_derivatives(sim, 1e-7)
