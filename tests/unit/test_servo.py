"""Servo, limits, dry friction, stops and controllers at a hinge, against difference equations.

A wheel of inertia I on a fixed axle is the whole robot, so each step is a line of numpy:

    implicit   v+ = (I v + dt (kp (r - q) + kd r' + tau)) / (I + dt (kd + d) + dt^2 kp)
    explicit   v+ = v + dt clamp(kp (r - q) + kd (r' - v) + tau) / I

and q+ = q + dt v+. Where several joints are limited together Pinocchio's forward dynamics is asked.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.robot.convert import to_pinocchio

INERTIA = 0.1
"""Of the wheel about its axle [kg m^2]."""
DT = 1e-3
SEVERAL = 1e-12
"""Rounding of several hundred steps of numbers about 1."""


@pytest.fixture
def wheel(tmp_path):
    """Loads a wheel whose joint has some attributes, driven by no motor unless one is given."""

    def made(joint: str = "", motor: str = "") -> hs.Robot:
        path = tmp_path / "wheel.xml"
        path.write_text(
            '<mujoco model="wheel"><compiler angle="radian" autolimits="true"/><worldbody>'
            f'<body name="wheel"><joint name="axle" axis="0 0 1" {joint}/>'
            f'<inertial pos="0 0 0" mass="1" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/></body>'
            f"</worldbody><actuator>{motor}</actuator></mujoco>"
        )
        return hs.load(path, collide="feet")

    return made


def simulator(robot: hs.Robot, control=None, **options) -> hs.Simulator:
    return hs.Simulator(hs.Scene(robot), dt=DT, control=control, **options)


def motion(sim: hs.Simulator, steps: int, q0=0.0, v0=0.0, **options) -> np.ndarray:
    """Columns q, v, torque of one run."""
    run = sim.run(steps=steps, q0=[q0], v0=[v0], record=["q", "v", "torque"], **options)
    return np.stack([run.data[name].values[0, :, 0] for name in ("q", "v", "torque")], axis=1)


def test_implicit_servo_is_implicit_euler(wheel):
    kp, kd, drag, torque, target = 300.0, 2.0, 0.5, 0.7, 0.4
    sim = simulator(wheel(f'damping="{drag}"'), hs.Servo(kp=kp, kd=kd, reference=[target]))
    sim.torque = [torque]
    found = motion(sim, 300, q0=-0.2, v0=3.0)
    q, v = -0.2, 3.0
    for row in found:
        after = (INERTIA * v + DT * (kp * (target - q) + torque)) / (
            INERTIA + DT * (kd + drag) + DT**2 * kp
        )
        tau = kp * (target - q - DT * after) - kd * after + torque
        assert np.allclose(row, [q, v, tau], rtol=0, atol=100 * SEVERAL)
        q, v = q + DT * after, after
    # at rest where the spring bears the torque
    assert abs(found[-1, 0] - target - torque / kp) < 1e-2


def test_any_gain_is_stable_where_it_is_implicit(wheel):
    sim = simulator(wheel(), hs.Servo(kp=1e9, kd=1e6, reference=[0.3]))
    assert abs(motion(sim, 100, v0=5.0)[-1, 0] - 0.3) < 1e-6


def test_explicit_servo_holds_its_torque_and_comes_late(wheel):
    kp, kd, limit, every, late = 40.0, 1.0, 6.0, 4, 2
    servo = hs.Servo(
        kp=kp,
        kd=kd,
        limit=limit,
        reference=[0.5],
        implicit=False,
        control_every=every,
        delay=late * every * DT,
    )
    found = motion(simulator(wheel(), servo), 300, v0=-1.0)
    q, v, waiting = 0.0, -1.0, [0.0] * (late + 1)
    for k, row in enumerate(found):
        if k % every == 0:
            fresh = np.clip(kp * (0.5 - q) - kd * v, -limit, limit)
            waiting = [fresh, *waiting[:-1]]
        assert np.allclose(row, [q, v, waiting[-1]], rtol=0, atol=SEVERAL)
        v += DT * waiting[-1] / INERTIA
        q += DT * v
    assert found[:, 2].max() == limit
    assert (found[: late * every, 2] == 0).all()


def test_implicit_reference_is_held_and_late(wheel):
    """A ramp of 2 rad/s from 0.1 s on, for half a second."""
    kp, kd, every, delay = 200.0, 5.0, 5, 0.03
    ramp = hs.Trajectory([0.1, 0.6], [[0.0], [1.0]])
    servo = hs.Servo(kp=kp, kd=kd, reference=ramp, control_every=every, delay=delay)
    found = motion(simulator(wheel(), servo), 800)
    q = v = 0.0
    for k, row in enumerate(found):
        assert np.allclose(row[:2], [q, v], rtol=0, atol=100 * SEVERAL), k
        time = (k - k % every + 1) * DT - delay
        target = np.interp(time, [0.1, 0.6], [0, 1])
        slope = 2.0 if 0.1 <= time <= 0.6 else 0.0
        v = (INERTIA * v + DT * (kp * (target - q) + kd * slope)) / (INERTIA + DT * kd + DT**2 * kp)
        q += DT * v


def test_trajectories_with_torques_are_resampled_where_times_are_uneven(wheel):
    times, q, torque = [0.0, 0.1, 0.3], [[0.0], [0.2], [-0.2]], [[0.0], [1.0], [3.0]]
    robot = wheel()
    values, rate, start = hs.Trajectory(times, q, torque).table(robot)
    assert (rate, start) == (pytest.approx(10.0), 0.0)
    assert np.allclose(values, [[0, 0], [0.2, 1], [0, 2], [-0.2, 3]], atol=1e-15)
    # with gains next to nothing the feed-forward is all that acts
    servo = hs.Servo(kp=0, kd=1e-12, reference=hs.Trajectory(times, q, torque))
    found = motion(simulator(robot, servo), 400)
    expected = np.interp(DT * np.arange(1, 402), times, [0.0, 1.0, 3.0])
    assert np.allclose(found[:, 2], expected, rtol=0, atol=1e-9)


def test_a_run_without_a_reference_holds_the_pose_it_starts_in(wheel):
    robot = wheel()
    sim = simulator(robot, hs.Servo(kp=50, kd=2), worlds=3)
    starts = np.array([[0.1], [0.2], [-0.3]])
    sim.run(0.1, q0=starts)
    assert np.array_equal(sim.state["q"], starts)
    sim.reset(worlds=np.array([False, True, False]), q0=[0.5])
    sim.run(0.1)
    assert np.array_equal(sim.state["q"][:, 0], [0.1, 0.5, -0.3])


def momentum(model, q, v):
    """Linear and angular momentum about the centre of mass, in world axes."""
    return pin.computeCentroidalMomentum(model, model.createData(), q, v).vector.copy()


@pytest.mark.parametrize("implicit", [True, False])
def test_limits_of_several_joints_together(implicit):
    """hoap1 in the air, far from its reference: what is applied is what moves it, and each torque
    is the servo's law, or exactly the limit where the law asks for more.
    """
    robot = hs.load("hoap1", collide="feet")
    model = to_pinocchio(robot)
    model.armature = robot.armature
    rng = np.random.default_rng(5)
    target = robot.pose("stance").copy()
    target[7:] += rng.normal(0, 0.05, robot.nq - 7)
    servo = hs.Servo(reference=target, implicit=implicit, kd=None if implicit else 1.0)
    sim = hs.Simulator(hs.Scene(robot), control=servo, stops=None)
    start = np.tile(robot.pose("stance"), (8, 1))
    v0 = 0.5 * rng.normal(size=(8, robot.nv))
    data = sim.run(steps=1, q0=start, v0=v0, worlds=8, record=["q", "v", "torque"]).data
    limit, kp = robot.torque_limit, robot.kp
    kd = sim.parameters["servo.kd"]
    saturated = np.zeros(8)
    for i in range(8):
        q, v = start[i], v0[i]
        after_q, after, tau = data["q"].values[i, 1], data["v"].values[i, 1], data["torque"][i, 0]
        at, speed = (after_q, after) if implicit else (q, v)
        law = np.r_[np.zeros(6), kp[6:] * (target - at)[7:]] - kd * speed
        full = np.abs(tau) == limit
        saturated[i] = full[6:].sum()
        assert (np.abs(tau) <= limit).all()
        # kp 300 times an angle's rounding, through a solve
        assert np.allclose(np.where(full, 0, tau - law), 0, atol=1e-9)
        assert (np.sign(tau) == np.sign(law))[full].all()
        assert (np.abs(law)[full] > (1 - 1e-9) * limit[full]).all()  # none is there without need
        a = pin.aba(model, model.createData(), q, v, tau.values)
        assert np.allclose(after[6:], (v + DT * a)[6:], rtol=0, atol=1e-10)
        # torques between bodies leave the momentum of the whole alone
        old, new = momentum(model, q, v), momentum(model, after_q, after)
        old[2] -= DT * robot.mass * 9.81
        assert np.allclose(new, old, rtol=0, atol=1e-10)
    assert saturated.min() >= 1
    assert saturated.max() < 20


@pytest.mark.parametrize("armature", [0.0, 0.05])
def test_dry_friction(wheel, armature):
    friction, inertia = 0.5, INERTIA + armature
    sim = simulator(wheel(f'frictionloss="{friction}" armature="{armature}"'))
    sim.torque = [0.9 * friction]
    held = motion(sim, 1000)
    assert np.abs(held[:, 1]).max() < 1e-6
    assert np.abs(held[10:, 1]).max() < 1e-15  # friction has found its torque
    sim.torque = [-0.8]
    found = motion(sim, 200)
    assert np.allclose(np.diff(found[1:, 1]), -DT * 0.3 / inertia, rtol=1e-9)
    sim.torque = [0.0]
    slowing = motion(sim, 500, v0=1.0)
    moving = slowing[:, 1] > 1.1 * DT * friction / inertia
    assert np.allclose(np.diff(slowing[moving, 1]), -DT * friction / inertia, rtol=1e-9)
    assert moving.sum() == pytest.approx(inertia / friction / DT, abs=2)
    assert np.abs(slowing[moving.sum() + 2 :, 1]).max() < 1e-6
    assert slowing[:, 1].min() > -1e-6


def test_a_stop_bends_by_torque_over_stiffness(wheel):
    robot = wheel('range="-0.5 0.4"')
    sim = simulator(robot, stops=hs.Stops(k=2000.0, c=30.0))
    for torque, end in ((3.0, 0.4), (-3.0, -0.5)):
        sim.torque = [torque]
        settled = motion(sim, 3000)
        assert abs(settled[-1, 0] - (end + torque / 2000.0)) < 1e-9
    free = simulator(robot, stops=None)
    assert motion(free, 1000, v0=1.0)[-1, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("c", [0.0, 1.0, 30.0])
@pytest.mark.parametrize(("k", "torque"), [(2e3, 0.0), (2e3, 5.0), (2e3, 5e4), (1e7, 5.0)])
def test_a_stop_pushes_and_never_pulls(wheel, k, torque, c):
    """Each step is the root of I (v+ - v) = dt (tau - max(0, k (q+ - end) + c v+)).

    With 5e4 N m the wheel reaches its stop within the first step, which brakes from the next on.
    """
    end = 0.5
    sim = simulator(wheel(f'range="-0.5 {end}"'), stops=hs.Stops(k=k, c=c))
    sim.torque = [torque]
    found = motion(sim, 400, q0=0.48, v0=2.0)
    q, v, pushed = 0.48, 2.0, 0
    for row in found:
        assert row[:2] == pytest.approx([q, v], rel=1e-9, abs=1e-9)
        brake = c if q + DT * v > end and v > 0 else 0.0
        free = v + DT * torque / INERTIA
        met = INERTIA * free - DT * k * (q - end)
        met /= INERTIA + DT * brake + DT * DT * k
        v = met if k * (q + DT * met - end) + brake * met > 0 else free
        pushed += v == met
        q += DT * v
    assert pushed > 0


@pytest.mark.parametrize("c", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("k", [2e3, 1e7])
def test_no_bounce_off_a_stop_gains_energy(wheel, k, c):
    sim = simulator(wheel('range="-0.5 0.5"'), stops=hs.Stops(k=k, c=c))
    run = sim.run(2.0, q0=[0.0], v0=[7.0], record=["q", "v", "kinetic", "work_stops"])
    q, v = run.data["q"].values[0, :, 0], run.data["v"].values[0, :, 0]
    between = np.abs(q) < 0.5
    energy = run.data["kinetic"].values[0][between]
    assert len(np.unique(np.sign(v[between]))) == 2
    assert (np.diff(energy) <= 1e-12 * energy[0]).all()
    # the stops alone do work
    lost = run.data["kinetic"].values[0, -1] - run.data["kinetic"].values[0, 0]
    assert run.data["work_stops"].values[0, -1] == pytest.approx(lost, rel=1e-9)


def test_the_torque_of_each_step_comes_from_python(wheel):
    sim = simulator(wheel())
    view, v = sim.torque, 0.0
    for k in range(50):
        view[0] = np.sin(0.1 * k)
        v += DT * np.sin(0.1 * k) / INERTIA
        assert sim.step()["v"][0] == pytest.approx(v, abs=SEVERAL)
    many = simulator(wheel(), worlds=3)
    many.torque = [[1.0], [2.0], [3.0]]
    assert np.allclose(many.step()["v"], DT * many.torque / INERTIA, rtol=1e-14)


def test_torques_from_python_obey_the_robots_limit(wheel):
    robot = wheel(motor='<motor joint="axle" forcerange="-2 2"/>')
    assert robot.torque_limit[0] == 2.0
    sim = simulator(robot)
    sim.torque = [5.0]
    assert np.array_equal(motion(sim, 3)[:, 2], [2.0, 2.0, 2.0, 2.0])
