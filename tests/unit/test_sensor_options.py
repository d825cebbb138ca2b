"""Options of sensors, their noise, and who sees them: controllers, environments, copies.

Oracles: moments of the normal distribution; the generator of Wichmann and Hill in integers.
"""

from __future__ import annotations

import copy

import casadi as ca
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.environments import Environments

FOOT = hs.load("foot")
NOISY = hs.Sensor("v", label="noisy", noise=0.5)
OFFSET = hs.Sensor("v", label="offset", bias=2.0)
COARSE = hs.Sensor("v", label="coarse", quantum=0.25)


def foot(*sensors, worlds=1, **options):
    scene = hs.Scene(FOOT, hs.Plane(name="ground"))
    return hs.Simulator(scene, dt=1e-3, worlds=worlds, sensors=sensors, **options)


def test_noise_is_normal_and_bias_is_drawn_once_per_world():
    """Tolerances are five standard deviations of the moments."""
    worlds, steps = 400, 200
    sim = foot(NOISY, OFFSET, COARSE, "com_velocity", worlds=worlds)
    noise, offset = np.zeros((2, steps, worlds))
    for k in range(steps):
        sim.step()
        exact = sim.sensors["com_velocity"][:, 2]
        noise[k] = sim.sensors["v:noisy"][:, 0] - exact
        offset[k] = sim.sensors["v:offset"][:, 0] - exact
        coarse = sim.sensors["v:coarse"][:, 0]
        assert np.array_equal(coarse, 0.25 * np.floor(4 * exact + 0.5))
    count, z = worlds * steps, noise / 0.5
    assert abs(z.mean()) < 5 / count**0.5
    assert abs(z.var() - 1) < 5 * (2 / count) ** 0.5
    assert abs((z**4).mean() - 3) < 5 * (96 / count) ** 0.5
    assert abs((z[1:] * z[:-1]).mean()) < 5 / count**0.5  # in time
    assert abs((z[:, 1:] * z[:, :-1]).mean()) < 5 / count**0.5  # from world to world
    assert np.ptp(offset, axis=0).max() < 1e-12
    assert abs(offset[0].mean()) < 5 * 2 / worlds**0.5
    assert abs(offset[0].var() / 4 - 1) < 5 * (2 / worlds) ** 0.5


def test_generator_is_that_of_wichmann_and_hill():
    """In float32, too: all its products are exact there."""
    for dtype in ("float64", "float32"):
        sim = foot(NOISY, dtype=dtype)
        sim.parameters["sensors.seed"] = 12345
        sim.step(3)
        x, y, z = (1 + 12345 % (m - 1) for m in (30269, 30307, 30323))
        for _ in range(6):  # two numbers make two normal ones, of which the step needs one
            x, y, z = 171 * x % 30269, 172 * y % 30307, 170 * z % 30323
        assert sim.state["sensor random"].tolist() == [x, y, z]


def test_noise_depends_on_the_seed_alone_and_not_on_the_batch():
    many, one = foot(NOISY, worlds=5), foot(NOISY)
    one.parameters["sensors.seed"] = many.parameters["sensors.seed"][3]
    for sim in (many, one):
        sim.step(7)
    assert many.sensors["v:noisy"][3, 0] == one.sensors["v:noisy"][0]
    first = one.sensors["v:noisy"].copy()
    one.reset()
    one.step(7)
    assert one.sensors["v:noisy"] == first
    one.parameters["v:noisy.noise"] = 0.0
    exact = one.state["v"].copy()
    one.step()
    assert one.sensors["v:noisy"] == exact


def test_one_world_reads_views_and_sensors_change_no_bit():
    plain, sim = foot(), foot("com", NOISY)
    view = sim.sensors["com"]
    for each in (plain, sim):
        each.reset(v0=[-1.0])
        each.step(300)
    assert np.array_equal(plain.state["q"], sim.state["q"])
    assert view is sim.sensors["com"]
    assert view[2] != 0
    assert np.array_equal(copy.deepcopy(sim).sensors["com"], view)
    assert sim.device_array("com").shape == (1, 3, 1)


def test_a_controller_sees_what_sensors_showed_after_the_last_step():
    """A force that the contact had one step ago: the torque lags behind it by one step."""

    @hs.controller
    def carry(s, share=0.5):
        return share * s.sensors["foot.force"][2]

    sim = foot("foot.force", control=carry)
    data = sim.run(0.3, q0=[0.0], record=["torque", "foot.force"]).data.isel(world=0)
    force = data["foot.force"].values[:, 2]
    assert force.max() > 100
    np.testing.assert_allclose(data["torque"].values[1:, 0], 0.5 * force[:-1], rtol=1e-12)
    with pytest.raises(hs.UnknownNameError, match=r"no sensor 'foot.force'"):
        foot(control=carry).step()


def test_linearize_with_sensors_holds_their_readings():
    """In the air, dv+ = -kp dt / m dq for 25 kg."""

    @hs.controller
    def steady(s, kp=100.0):
        return -kp * s.q + ca.sum1(s.sensors["com"])

    sim = foot("com", NOISY, control=steady)
    sim.reset(q0=[1.0])
    sim.step()
    assert sim.linearize().state[1, 0] == pytest.approx(-100 * 1e-3 / 25, rel=1e-12)


def test_environments_read_sensors_by_name_and_draw_their_seeds():
    def observation(s):
        assert s.sensors["WAIST.gyro"].shape == (3, 3)
        assert s.sensors["com:late"].shape == (3, 2, 3)
        with pytest.raises(hs.UnknownNameError, match=r"no sensor 'WAIST.giro'; did you mean"):
            s.sensors["WAIST.giro"]
        return s.joined("WAIST.gyro", "L_AAA.touching", "v:noisy")

    late = hs.Sensor("com", label="late", history=2, latency=2e-3)
    sensors = ["WAIST.gyro", "L_AAA.touching", late, NOISY]
    scene = hs.Scene(hs.load("hoap1", collide="feet"), hs.Plane())
    envs = Environments(scene, 3, sensors=sensors, observation=observation, hold=2)
    first = envs.reset(seed=1)[0]
    seeds = envs.sim.parameters["sensors.seed"]
    assert len(np.unique(seeds)) == 3
    assert np.array_equal(seeds, np.round(seeds))
    assert first.shape == (3, 3 + 1 + envs.sim.robot.nv)
    envs.step(np.zeros(envs.action_space.shape))
    again = envs.step(np.zeros(envs.action_space.shape))[0]
    assert np.array_equal(again[:, 3], [1, 1, 1])
    noisy = again[:, 4:] - envs.sim.state["v"]
    assert 0.3 < noisy.std() < 0.7
    envs.reset()
    assert not np.array_equal(envs.sim.parameters["sensors.seed"], seeds)


def test_varied_parameters_are_read_and_assigned():
    """What was drawn is what the simulator's parameters say."""
    sim = foot(worlds=8, control=hs.Servo(kp=1e4, kd=1e3, limit=1e4))
    envs = Environments(sim, vary={"ground.friction.mu_k": (0.3, 0.5)})
    envs.reset(seed=0)
    drawn = envs.sim.parameters["ground.friction.mu_k"]
    assert drawn.shape == (8, 1)
    assert len(np.unique(drawn)) == 8
    assert np.all((drawn >= 0.3) & (drawn < 0.5))
    envs.vary = {"ground.friction.mu_k": (0.6, 0.7), "servo.kp": lambda u: 50 + 10 * u}
    assert set(envs.vary) == {"ground.friction.mu_k", "servo.kp"}
    envs.reset()
    assert np.all(envs.sim.parameters["ground.friction.mu_k"] > 0.59)
    assert envs.sim.parameters["servo.kp"].shape == (8, envs.sim.robot.nv)
    with pytest.raises(hs.UnknownNameError, match=r"ground.friction.mu_x"):
        envs.vary = {"ground.friction.mu_x": (0.1, 0.2)}
    with pytest.raises(hs.ParameterError, match="vary is 'mu'"):
        envs.vary = "mu"


@pytest.mark.parametrize(
    ("sensors", "message"),
    [
        (["zpm"], "no variable 'zpm'; did you mean 'zmp'"),
        (["foot.forc"], "no variable 'foot.forc'; did you mean 'foot.force'"),
        (["foot.floor.force"], "no quantity 'foot.floor.force'; did you mean"),
        (["foot"], "no variable 'foot'; did you mean 'foot\\."),
        (["solver_unfinished"], "no sensor measures 'solver_unfinished'; record it"),
        (["v"], "cannot be called 'v', the name of a state; give it a label"),
        (["com", "com"], "two sensors are called 'com'; give one a label"),
        (7, "sensors is 7; allowed: names of quantities"),
    ],
)
def test_sensors_that_cannot_be(sensors, message):
    with pytest.raises(hs.HeelstrikeError, match=message):
        hs.Simulator(hs.Scene(FOOT, hs.Plane(name="ground")), sensors=sensors)


@pytest.mark.parametrize(
    "options",
    [{"noise": -1.0}, {"history": 0}, {"latency": np.inf}, {"label": "a b"}, {"every": 0}],
)
def test_options_of_a_sensor_are_checked(options):
    with pytest.raises(hs.ParameterError):
        hs.Sensor("com", **options)


def test_parameters_of_a_sensor_are_checked():
    sim = foot(NOISY)
    with pytest.raises(hs.ParameterError, match=r"v:noisy.noise is -1.0; allowed: .* at least 0"):
        sim.parameters["v:noisy.noise"] = -1
    with pytest.raises(hs.ParameterError, match=r"sensors.seed"):
        sim.parameters["sensors.seed"] = 2**25
