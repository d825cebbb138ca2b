"""Pushes against the momentum that they add, and `linearize` against differences of steps."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.robot.convert import to_pinocchio

BALL = hs.load("ball")


def drifting(**options) -> hs.Simulator:
    """Return a ball of 1 kg without gravity and contact."""
    return hs.Simulator(hs.Scene(BALL, gravity=0.0), **options)


def test_a_push_gives_force_times_duration():
    force, duration = np.array([3.0, -1.0, 2.0]), 0.05
    sim = drifting()
    sim.push("ball", force, duration)
    run = sim.run(0.1)
    # 50 additions of 3e-3
    assert np.allclose(sim.state["v"][:3], force * duration / 1.0, rtol=0, atol=1e-14)
    assert not sim.state["v"][3:].any()
    velocity = run.data["com_velocity"][0, [49, 50, 100]]
    assert np.allclose(velocity, np.outer([0.049, 0.05, 0.05], force), rtol=0, atol=1e-14)


def test_a_push_may_come_later_in_some_worlds_and_beside_another():
    sim = drifting(worlds=3)
    sim.push("ball", [1, 0, 0], 0.02)
    sim.push("ball", [0, 5, 0], 0.01, at=0.01, worlds=[True, False, False])
    sim.run(0.015)
    # the first still lasts: a third takes a place of its own
    sim.push("ball", [[0, 0, 1], [0, 0, 2], [0, 0, 3]], 0.01)
    sim.run(0.025)
    expected = [[0.02, 0.05, 0.01], [0.02, 0, 0.02], [0.02, 0, 0.03]]
    assert np.allclose(sim.state["v"][:, :3], expected, rtol=0, atol=1e-15)
    slots = [path for path in sim.parameters if path.endswith(".force")]
    sim.push("ball", [0, 0, 1], 0.01)
    assert slots == [path for path in sim.parameters if path.endswith(".force")]
    sim.run(0.02)
    assert np.allclose(sim.state["v"][:, 2], [0.02, 0.03, 0.04], rtol=0, atol=1e-15)


def test_a_push_beside_the_centre_turns():
    sim = drifting()
    sim.push("ball", [2.0, 0, 0], 1e-3, point=[0, 0, 0.05])
    sim.step()
    # r x F dt / I = 0.05 * 2 * 1e-3 / 1e-3 rad/s; the body's axes have turned by it times dt
    expected = [2e-3 * np.cos(1e-4), 0, 2e-3 * np.sin(1e-4), 0, 0.1, 0]
    assert np.allclose(sim.state["v"], expected, rtol=0, atol=1e-15)


def test_a_push_changes_no_bits_before_it():
    plain, pushed = (hs.Simulator(hs.Scene(BALL, hs.Plane())) for _ in range(2))
    pushed.push("ball", [100, 0, 0], 0.01, at=0.2)
    for sim in (plain, pushed):
        sim.run(0.2, q0=[0, 0, 0.06, 0, 0, 0, 1], v0=[0.5, 0.1, 0, 0, 3.0, 1.0])
    for name, value in plain.state.copy().items():
        assert np.array_equal(value[0], pushed.state[name]), name
    assert pushed.run(0.01).data["com_velocity"][0, -1, 0] > 1.0


def test_refused_pushes():
    sim = drifting()
    with pytest.raises(hs.HeelstrikeError, match="'hand'"):
        sim.push("hand", [1, 0, 0], 0.1)
    with pytest.raises(hs.HeelstrikeError, match="three finite numbers"):
        sim.push("ball", [1, 0], 0.1)
    with pytest.raises(hs.HeelstrikeError, match="duration is 0; allowed: a finite time above 0 s"):
        sim.push("ball", [1, 0, 0], 0)


def differences(sim: hs.Simulator, h: float, **inputs: int) -> dict[str, np.ndarray]:
    """Central differences of one step with respect to the state and to the named inputs."""
    robot, model = sim.robot, to_pinocchio(sim.robot)
    nv = robot.nv
    q, v = sim.state["q"].copy(), sim.state["v"].copy()
    sizes = [2 * nv, *inputs.values()]
    n = sum(sizes)
    bumps = np.vstack([h * np.eye(n), -h * np.eye(n), np.zeros(n)])
    parts = np.split(bumps, np.cumsum(sizes)[:-1], axis=1)
    vary = {path: sim.parameters[path] + part for path, part in zip(inputs, parts[1:], strict=True)}
    q0 = np.array([pin.integrate(model, q, bump) for bump in parts[0][:, :nv]])
    v0 = v + parts[0][:, nv:]
    end = sim.run(steps=1, q0=q0, v0=v0, worlds=2 * n + 1, vary=vary, record="final").data
    moved = [pin.difference(model, end["q"].values[-1], one) for one in end["q"].values]
    changes = np.hstack([moved, end["v"].values])
    slopes = (changes[:n] - changes[n:-1]).T / (2 * h)
    parts = np.split(slopes, np.cumsum(sizes)[:-1], axis=1)
    return dict(zip(["state", *inputs], parts, strict=True))


def test_linearize_against_differences_of_steps():
    """hoap1 that sinks and slides: away from the kinks at d' = 0, at rest and at the limits."""
    robot = hs.load("hoap1", collide="feet")
    law = hs.Elastic(hs.LinearSpring(), hs.Kinetic())
    sim = hs.Simulator(
        hs.Scene(robot, hs.Plane(law=law)), control=hs.Servo(reference=robot.pose("stance"))
    )
    q0 = robot.pose("stance").copy()
    q0[2] -= 1e-3
    v0 = 0.02 * np.random.default_rng(1).normal(size=robot.nv)
    v0[0], v0[2] = 0.1, -0.1
    sim.reset(q0=q0, v0=v0)
    found = sim.observe("depth", "depth_rate", "slip", "torque")
    assert (found["depth"] > 5e-4).all()
    assert (found["depth_rate"] > 1e-2).all()
    assert (np.linalg.norm(found["slip"], axis=-1) > 1e-2).all()
    inputs = {"servo.q_ref": robot.nv, "servo.torque": robot.nv, "ground.normal.k": 1}
    exact = sim.linearize(*inputs)
    expected = differences(sim, 1e-6, **inputs)
    assert exact.state.shape == (2 * robot.nv, 2 * robot.nv)
    # rounding of a step, about 1e-16, over h = 1e-6, times the slopes; 3e-11 measured
    for name, slopes in {"state": exact.state, **exact.inputs}.items():
        scale = np.abs(expected[name]).max()
        assert scale > 0
        assert np.abs(slopes - expected[name]).max() < 1e-9 * max(scale, 1.0), name


@pytest.mark.parametrize("name", ["ball", "brick"])
def test_work_on_a_spinning_body_is_its_energy(name):
    """A push in flight: its work is the kinetic energy, to rounding, though the axes turn."""
    sim = hs.Simulator(hs.Scene(hs.load(name), gravity=0.0), dt=1e-3)
    sim.push(name, force=[0, 3.0, 1.0], duration=0.5, at=0.0)
    data = sim.run(0.5, q0=[0, 0, 1, 0, 0, 0, 1], v0=[1, 0, 0, 0, 0, 20.0], progress=False).data
    gained = float(data.kinetic.values[0, -1] - data.kinetic.values[0, 0])
    assert gained == pytest.approx(1.25, rel=1e-9)  # (F t)^2 / (2 m), m = 1 kg
    assert float(data.work_push.values[0, -1]) == pytest.approx(gained, rel=1e-9)
