"""A user's controller against an explicit servo with the same law, and against numpy; servos of
continuous joints against the shorter way round; and what is said of mistakes.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import heelstrike as hs

FOOT = hs.load("foot")
HOAP = hs.load("hoap1", collide="feet")
MASS = 25.0
"""Of the foot, which slides up and down [kg]."""
DT = 1e-3


@hs.controller
def pd(s, kp=200.0, kd=10.0, target=0.1):
    return kp * (target - s.q) - kd * s.v


def floating(control, robot=FOOT, **options) -> hs.Simulator:
    return hs.Simulator(hs.Scene(robot, gravity=0.0), dt=DT, control=control, **options)


def test_a_controller_is_an_explicit_servo():
    servo = hs.Servo(kp=200.0, kd=10.0, reference=[0.1], implicit=False)
    runs = [
        floating(control).run(0.3, v0=[-1.0], record=["q", "v", "torque"])
        for control in (servo, pd)
    ]
    for name in ("q", "v", "torque"):
        # the same sums, grouped otherwise
        assert np.allclose(runs[0].data[name], runs[1].data[name], rtol=1e-13, atol=1e-14), name


def test_a_controller_of_a_whole_robot_obeys_its_limits():
    stance = HOAP.pose("stance")
    target, drag = np.r_[np.zeros(6), stance[7:]], np.r_[np.zeros(6), np.ones(HOAP.nv - 6)]

    @hs.controller
    def hold(s, kp=HOAP.kp, kd=drag, target=target):
        return kp * (target - s.q) - kd * s.v

    servo = hs.Servo(kd=1.0, reference=stance, implicit=False)
    start = stance + np.r_[np.zeros(7), np.full(HOAP.nq - 7, 0.05)]
    runs = []
    for control in (servo, hold):
        sim = floating(control, HOAP)
        runs.append(sim.run(0.02, q0=start, record=["v", "torque"]).data)
    # 20 steps of rounding, with torques of 9 N m on joints of 0.01 kg m^2
    for name in ("v", "torque"):
        assert np.allclose(runs[0][name], runs[1][name], rtol=0, atol=1e-10), name
    assert np.abs(runs[1]["torque"]).max() == 9.0


def test_parameters_of_a_controller_vary_from_world_to_world():
    sim = floating(pd)
    kp = np.array([50.0, 100.0, 400.0])
    together = sim.run(0.1, v0=[1.0], worlds=3, vary={"controller.kp": kp}, record=["q"])
    for i in range(3):
        alone = floating(pd(kp=kp[i])).run(0.1, v0=[1.0], record=["q"])
        assert np.array_equal(alone.data["q"][0], together.data["q"][i])
    assert together.data["q"].values[:, -1].std() > 1e-3


@pytest.mark.parametrize("every", [1, 5])
def test_memory_of_a_controller_is_renewed_at_its_instants(every):
    """An integrator that counts its own calls."""

    @hs.controller(control_every=every, memory=2)
    def integral(s, ki=3.0):
        total, calls = s.memory[0] + (0.1 - s.q), s.memory[1] + 1
        return ki * total, ca.vertcat(total, calls)

    sim = floating(integral)
    run = sim.run(steps=100, record=["q", "torque"])
    q = v = total = 0.0
    for k in range(100):
        if k % every == 0:
            total += 0.1 - q
            torque = 3.0 * total
        assert run.data["torque"].values[0, k, 0] == pytest.approx(torque, abs=1e-12)
        v += DT * torque / MASS
        q += DT * v
    assert sim.state["controller memory"][1] == 100 // every
    sim.reset()
    assert not sim.state["controller memory"].any()


def test_a_controller_knows_time_and_coordinates():
    @hs.controller
    def clock(s):
        return 100 * s.t + 10 * s.coordinates[0] + s.dt

    run = floating(clock).run(0.05, q0=[0.5], record=["q", "torque"])
    q, torque = run.data["q"].values[0, :, 0], run.data["torque"].values[0, :, 0]
    assert np.allclose(torque, 100 * run.data["time"].values + 10 * q + DT, rtol=1e-13)


def test_rk4_asks_a_controller_within_the_step():
    """A torque that grows with time: v = 100 t^2 / (2 m) exactly, by Simpson's rule."""

    @hs.controller
    def ramp(s):
        return 100 * s.t

    sim = floating(ramp, integrator="rk4")
    sim.run(0.1)
    assert sim.state["v"][0] == pytest.approx(100 * 0.1**2 / 2 / MASS, rel=1e-12)
    sim = floating(ramp)
    sim.run(0.1)
    assert sim.state["v"][0] == pytest.approx(100 * 0.1 * 0.099 / 2 / MASS, rel=1e-12)


@pytest.fixture
def spinner(tmp_path):
    """A link of 0.1 kg m^2 that turns without end."""
    path = tmp_path / "spinner.urdf"
    path.write_text(
        '<robot name="spinner"><link name="base"/><link name="link"><inertial><mass value="1"/>'
        '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="turn" type="continuous"><parent link="base"/><child link="link"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    return hs.load(path, base="fixed", collide="feet")


def angle(q: np.ndarray) -> np.ndarray:
    return np.arctan2(q[..., 1], q[..., 0])


@pytest.mark.parametrize("implicit", [True, False])
@pytest.mark.parametrize(
    ("start", "target", "way"), [(170, -170, 20), (-170, 170, -20), (10, -10, -20), (-90, 80, 170)]
)
def test_a_servo_takes_the_shorter_way(spinner, start, target, way, implicit):
    start, target, way = np.deg2rad([start, target, way])
    at, to = ([np.cos(x), np.sin(x)] for x in (start, target))
    sim = floating(hs.Servo(kp=20, kd=3, reference=to, implicit=implicit), spinner)
    run = sim.run(2.0, q0=at, record=["q", "v", "torque"])
    first = 20 * way / (1 + (DT * 3 + DT**2 * 20) / 0.1 if implicit else 1.0)
    assert run.data["torque"].values[0, 0, 0] == pytest.approx(first, rel=1e-12)
    assert np.sum(run.data["v"].values[0, :-1, 0]) * DT == pytest.approx(way, abs=1e-2)
    assert angle(run.data["q"].values[0, -1]) == pytest.approx(target, abs=1e-2)


def branching():
    @hs.controller
    def f(s):
        return 1.0 if s.q[0] > 0 else 2.0

    return floating(f).step()


def too_many():
    @hs.controller
    def f(s):
        return ca.vertcat(s.q, s.q)

    return floating(f).step()


def forgetful():
    @hs.controller(memory=1)
    def f(s):
        return s.q, ca.SX.zeros(3)

    return floating(f).step()


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (branching, r"controller 'f' branches on a symbol(.|\n)*hs\.where"),
        (too_many, "controller 'f' returns 2 torques and 0 values of memory; allowed: 1 torques"),
        (forgetful, "3 values of memory; allowed: .* 1 values of memory"),
        (
            lambda: pd(gain=3.0),
            "controller 'pd' has no parameter 'gain'; parameters: kp, kd, target",
        ),
        (lambda: hs.controller(lambda: 0), "has no argument for the state"),
        (lambda: hs.controller(lambda s, kp: 0), "parameter 'kp' .* has no number as its default"),
        (lambda: hs.controller(control_every=0), "control_every is 0; allowed: a whole number"),
        (lambda: floating(pd).torque, "a controller computes the whole torque"),
        (lambda: hs.Servo(control_every=0.5), "control_every is 0.5; allowed: a whole number"),
        (lambda: hs.Servo(delay=-1.0), "delay is -1.0; allowed: 0 to 1000 s"),
        (lambda: floating(hs.Servo(kp=[1, 2])), "kp is .* allowed: a number, 1 numbers"),
        (lambda: floating(hs.Servo(kp=-1.0)), "kp is -1.0; allowed: finite numbers of at least 0"),
        (lambda: floating(hs.Servo(kd="soft")), "Servo: kd is 'soft'; allowed: finite numbers"),
        (lambda: floating(hs.Servo(kp=np.inf)), "kp is inf; allowed: finite numbers"),
        (lambda: floating(hs.Servo(limit={"knee": 3})), "foot has no joint 'knee'; joints: slide"),
        (
            lambda: floating(hs.Servo(), hs.load("ball")),
            "ball defines no servo gains; pass kp=",
        ),
        (lambda: floating(hs.Servo(reference=[0, 0])), "reference is .* allowed: 1 finite numbers"),
        (
            lambda: floating(hs.Servo(reference=hs.Trajectory([0, 0], [[0], [1]]))),
            "the times of a trajectory must rise",
        ),
        (
            lambda: floating(hs.Servo(reference=hs.Trajectory([0, 1], [[0, 1], [1, 1]]))),
            r"poses of a trajectory have shape \(2, 2\); allowed: \(2, 1\)",
        ),
        (
            lambda: floating(hs.Servo(reference=hs.Trajectory([0, 1], [[0], [1]], [[0]]))),
            r"torques of a trajectory have shape \(1, 1\); allowed: \(2, 1\)",
        ),
        (
            lambda: floating(hs.Servo(reference=hs.Trajectory([0, 1e-9, 1], [[0], [1], [1]]))),
            "1000000001 rows .* allowed: 1000000 rows; resample",
        ),
        (lambda: hs.Stops(k=-1.0), "Stops: k is -1.0; allowed: a number of at least 0"),
    ],
)
def test_mistakes_are_told_in_a_sentence(mistake, sentence):
    with pytest.raises(hs.HeelstrikeError, match=sentence):
        mistake()
