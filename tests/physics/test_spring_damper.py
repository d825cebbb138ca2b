"""Springs and dampers between bodies against closed forms, MuJoCo and conservation laws.

Oracles: the damped oscillator in closed form; MuJoCo's spatial tendon with two sites in the same
state; momentum of two free bodies; the limit dt^2 k + 2 dt c = 4 m of the symplectic step.
"""

from contextlib import nullcontext

import mujoco
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.measure.peer.model import handed_over, positions_of
from heelstrike.robot.cord_mass import cord_mass, largest_step

FREE = np.array([0, 0, 0, 0, 0, 0, 1.0])
"""A free body at the origin."""


def pair(**options):
    """Two cubes, a spring between corners and one to the world."""
    two = hs.combine({"a": hs.load("cube"), "b": hs.load("cube")})
    springs = [
        hs.SpringDamper(
            *("a/cube", "b/cube"),
            stiffness=300.0,
            damping=1.5,
            rest_length=0.2,
            point=(0.05, 0.05, 0.0),
            other_point=(-0.05, 0.0, 0.05),
            name="cord",
        ),
        hs.SpringDamper("a/cube", stiffness=80.0, rest_length=0.3, other_point=(0, 0, 1.5)),
    ]
    return hs.Scene(two, springs=springs[: options.pop("count", 2)], **options)


def scattered(scene):
    rng = np.random.default_rng(3)
    q = np.concatenate([FREE, FREE]) + 0.3 * rng.normal(size=14)
    for part in (slice(3, 7), slice(10, 14)):
        q[part] /= np.linalg.norm(q[part])
    q[7] += 0.5
    return q, 0.5 * rng.normal(size=12)


def test_oscillator_in_closed_form():
    """A ball that hangs from the world: x'' + 2 z w x' + w^2 x = 0 about its sagging place."""
    k, c, m, rest = 400.0, 3.0, 1.0, 0.2
    spring = hs.SpringDamper("ball", stiffness=k, damping=c, rest_length=rest)
    scene = hs.Scene(hs.load("ball"), springs=[spring])
    q0, start = FREE.copy(), -(rest + m * 9.81 / k) - 0.02
    q0[2] = start
    errors = []
    for dt in (2e-4, 1e-4):
        run = hs.Simulator(scene, dt=dt).run(0.5, q0=q0)
        t = run.data.time.values
        w, decay = np.sqrt(k / m), c / (2 * m)
        wd = np.sqrt(w**2 - decay**2)
        x = -0.02 * np.exp(-decay * t) * (np.cos(wd * t) + decay / wd * np.sin(wd * t))
        exact = start + 0.02 + x
        z = run.data.q.values[0, :, 2]
        errors.append(np.abs(z - exact).max())
        pull = run.data.spring_force.values[0, :, 0]
        rate = -run.data.v.values[0, :, 2]
        np.testing.assert_allclose(pull, k * (-z - rest) + c * rate, rtol=1e-12)
    assert errors[1] < 5e-5  # first order: 0.02 m w dt / 2 is 2e-5
    assert 1.8 < errors[0] / errors[1] < 2.2


def at_state(scene, q, v):
    """MuJoCo's model and data of a scene, forward; v has linear velocities in the body's axes."""
    model = handed_over(scene, 1e-4, q)
    data = mujoco.MjData(model)
    data.qpos[:] = positions_of(model, scene.robot, q)
    data.qvel[:] = in_world(data.qpos, v)
    mujoco.mj_forward(model, data)
    return model, data


def in_world(qpos, v):
    """Velocities with the linear ones in the world's axes, as MuJoCo has them."""
    turned = np.array(v)
    for n in (0, 1):
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, qpos[7 * n + 3 : 7 * n + 7])
        turned[6 * n : 6 * n + 3] = matrix.reshape(3, 3) @ v[6 * n : 6 * n + 3]
    return turned


def test_forces_and_accelerations_are_those_of_mujocos_tendon():
    scene, dt = pair(), 1e-6
    q, v = scattered(scene)
    sim = hs.Simulator(scene, dt=dt)
    model, data = at_state(scene, q, v)
    theirs = model.tendon_stiffness * (data.ten_length - model.tendon_lengthspring[:, 0])
    theirs += model.tendon_damping * data.ten_velocity
    ours = sim.run(steps=1, q0=q, v0=v, record=["spring_force"]).data.spring_force
    np.testing.assert_allclose(ours.values[0, 0], theirs, rtol=1e-12)
    model, data = at_state(scene, q, 0 * v)
    sim.run(steps=1, q0=q, v0=0 * v, record=["v"])
    # from rest a step turns the bodies by dt^2 times 1e4 rad/s^2
    np.testing.assert_allclose(in_world(data.qpos, sim.state["v"]) / dt, data.qacc, rtol=1e-6)


def test_a_spring_inside_keeps_the_momentum():
    scene = pair(count=1, gravity=0.0)
    q, v = scattered(scene)
    run = hs.Simulator(scene, dt=1e-3).run(0.5, q0=q, v0=v, record=["momentum", "spring_force"])
    momentum = run.data.momentum.values[0]
    assert np.abs(run.data.spring_force.values).max() > 10  # it pulls
    assert np.abs(momentum - momentum[0]).max() < 1e-12


@pytest.mark.parametrize(("k", "c"), [(4e3, 0.0), (0.0, 8.0), (2e3, 3.0)])
def test_limit_of_the_step(k, c):
    """A ball on its spring stays below the limit that is stated, and runs away above it."""
    spring = hs.SpringDamper("ball", stiffness=k, damping=c, rest_length=0.5)
    scene = hs.Scene(hs.load("ball"), springs=[spring], gravity=0.0)
    tendon, q0 = scene.robot.spatial_tendons[0], FREE.copy()
    q0[2], v0 = 0.5, np.array([0, 0, 0.01, 0, 0, 0])
    mass = cord_mass(scene.robot, tendon.path, q0)
    assert mass == pytest.approx(1.0, rel=1e-12)
    limit, sizes = largest_step(tendon, mass), []
    for share in (0.99, 1.01):
        with pytest.warns(hs.HeelstrikeWarning) if share > 1 else nullcontext():
            sim = hs.Simulator(scene, dt=share * limit)
            run = sim.run(steps=400, q0=q0, v0=v0, record=["v"])
        sizes.append(np.abs(run.data.v.values[0, -50:, 2]).max())
    assert sizes[0] < 0.2 < sizes[1]


def test_scene_file_and_its_errors(tmp_path):
    path = tmp_path / "scene.toml"
    head = '[[robot]]\nmodel = "ball"\n[[spring]]\n'
    path.write_text(head + 'body = "ball"\nstiffness = 50.0\nother_point = [0, 0, 2]\n')
    file = hs.load_scene(path)
    assert file.scene.robot.spatial_tendons[0].path[1][1].tolist() == [0, 0, 2]
    (tmp_path / "again.toml").write_text(file.text())
    assert hs.load_scene(tmp_path / "again.toml").content.spring == file.content.spring
    for text, words in {
        'body = "bell"': "no body 'bell'",
        'body = "ball"\nstiffness = -1.0': "at least 0 N/m",
        'body = "ball"\nother = "ball"': "do not move beside one another",
    }.items():
        path.write_text(head + text)
        with pytest.raises(hs.SceneError, match=words) as error:
            hs.load_scene(path).simulator()
        assert error.value.line
    with pytest.raises(hs.HeelstrikeError, match="two springs"):
        hs.Scene(hs.load("ball"), springs=[hs.SpringDamper("ball")] * 2)
    with pytest.raises(hs.HeelstrikeError, match="there are none"):
        hs.Simulator(hs.Scene(hs.load("ball"))).run(0.01, record=["spring_force"])
