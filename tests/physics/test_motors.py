"""Motors against closed forms: delay, lag, torque-speed curve, gear friction."""

import numpy as np
import pytest

import heelstrike as hs

DT, MASS = 1e-3, 25.0  # s; kg of the bundled foot on its slide
FORCE = 10.0  # N


def slide(motors, **options):
    """Return a simulator of 25 kg on a slide without gravity."""
    scene = hs.Scene(hs.load("foot"), gravity=0.0)
    return hs.Simulator(scene, dt=DT, motors=motors, **options)


def accelerations(sim, steps, force=FORCE):
    """Return the forces on the slide in the steps after its torque is set, (steps, worlds)."""
    sim.step(3)
    sim.torque = [force]
    speeds = [np.array(sim.state["v"]).reshape(sim.worlds)]
    for _ in range(steps):
        sim.step()
        speeds.append(np.array(sim.state["v"]).reshape(sim.worlds))
    return np.diff(speeds, axis=0) / DT * MASS


def test_command_is_late_by_whole_steps_in_each_world():
    delays = np.array([0.0, 1e-3, 4e-3, 7e-3])
    sim = slide(hs.Motors(delay=2e-3, max_delay=7e-3), worlds=4)
    sim.parameters["motors.delay"] = delays[:, None]
    found = accelerations(sim, 12)
    late = np.arange(12)[:, None] >= np.round(delays / DT)
    assert np.array_equal(found > 0, late)
    assert np.allclose(found[late], FORCE, rtol=1e-12)


def test_lag_is_that_of_a_first_order_system():
    time_constant = 0.02  # s
    found = accelerations(slide(hs.Motors(time_constant=time_constant)), 100)[:, 0]
    expected = FORCE * (1 - np.exp(-DT * np.arange(1, 101) / time_constant))
    assert np.allclose(found, expected, rtol=1e-11)  # differences of speeds of 0.03 m/s over dt


def test_lag_follows_a_delay():
    found = accelerations(slide(hs.Motors(delay=3e-3, time_constant=5e-3)), 40)[:, 0]
    expected = FORCE * (1 - np.exp(-DT * (np.arange(40) - 2) / 5e-3))
    assert np.allclose(found, np.where(np.arange(40) >= 3, expected, 0), rtol=1e-11)


def test_motor_starts_with_its_stall_torque_and_ends_at_its_no_load_speed():
    stall, speed = 50.0, 0.5  # N, m/s
    errors = []
    for dt in (1e-3, 5e-4):
        sim = slide(hs.Motors(stall_torque=stall, no_load_speed=speed))
        sim.parameters["dt"] = dt
        sim.torque = [1e6]
        run = sim.run(2.0, q0=[0.0], record=["v", "torque"])
        v, torque = run.data.v.values[0, :, 0], run.data.torque.values[0, :, 0]
        assert torque[0] == pytest.approx(stall, rel=1e-12)
        falls = stall / speed / MASS  # 1/s
        errors.append(np.abs(v - speed * (1 - np.exp(-falls * run.data.time.values))).max())
        assert v[-1] == pytest.approx(speed, rel=1e-3)  # 8 time constants: 3e-4 away
    assert errors[0] < 1e-3 * speed
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.02)  # of first order in dt


def test_motor_brakes_a_joint_beyond_its_no_load_speed():
    sim = slide(hs.Motors(stall_torque=50.0, no_load_speed=0.5))
    run = sim.run(0.1, q0=[0.0], v0=[1.0], record=["v", "torque"])
    v, torque = run.data.v.values[0, :, 0], run.data.torque.values[0, :, 0]
    assert np.allclose(torque[:-1], 50.0 * (1 - v[1:] / 0.5), rtol=1e-9)  # at the end of a step
    assert v[-1] == pytest.approx(0.5 + 0.5 * np.exp(-0.4), rel=1e-3)


@pytest.mark.parametrize("integrator", ["symplectic", "euler", "rk4"])
def test_servo_within_a_curve(integrator):
    """A servo that wants more than the motor has gets the curve, and less its own torque."""
    servo = hs.Servo(kp=400.0, kd=200.0, limit=1e3, reference=[1.0])
    motors = hs.Motors(stall_torque=60.0, no_load_speed=0.6, time_constant=2e-3)
    sim = slide(motors, control=servo, integrator=integrator)
    run = sim.run(8.0, q0=[0.0], record=["q", "v", "torque"])
    v, torque = run.data.v.values[0, :, 0], run.data.torque.values[0, :, 0]
    slack = 60.0 / 0.6 * np.abs(np.diff(v)).max() + 1e-6  # a bound holds to the change of a step
    assert np.all(torque <= 60.0 * (1 - np.clip(v, 0, None) / 0.6) + slack)
    assert torque.max() > 55.0
    assert run.data.q.values[0, -1, 0] == pytest.approx(1.0, abs=1e-3)


def test_gear_rubs_with_the_load():
    friction, share = 2.0, 0.1  # N, -
    force = np.array([1.9, 2.1, 10.0, 40.0])
    sim = slide(hs.Motors(friction=friction, load_friction=share), worlds=4)
    sim.torque = force[:, None]
    sim.step(10)
    before = np.array(sim.state["v"])[:, 0]
    sim.step(100)
    found = (np.array(sim.state["v"])[:, 0] - before) / (100 * DT) * MASS
    expected = np.maximum(0, force - friction - share * force)
    assert np.allclose(found, expected, atol=1e-6)  # STUCK creeps at 1e-7 rad/s
    assert found[1] == pytest.approx(0, abs=1e-6)  # the load's share holds it


def test_worlds_do_not_change_one_another():
    """A world has the same bits alone and among nine others with other motors."""
    robot = hs.load("hoap1", collide="feet")
    motors = hs.Motors(
        stall_torque=20.0,
        no_load_speed=8.0,
        delay=3e-3,
        time_constant=2e-3,
        friction=0.1,
        load_friction=0.05,
        damping=0.02,
    )
    scene = hs.Scene(robot, hs.Plane(name="ground"))
    sim = hs.Simulator(scene, control=hs.Servo(), motors=motors, worlds=10)
    drawn = {
        "motors.delay": np.linspace(0, 3e-3, 10)[:, None] * np.ones(robot.nv),
        "motors.stall_torque": np.linspace(10, 30, 10)[:, None] * np.ones(robot.nv),
        "R_KN.armature": np.linspace(0.5e-2, 2e-2, 10)[:, None],
    }
    moving = np.isin(np.arange(robot.nv), sim.plan.motors.late)
    for path in ("motors.delay", "motors.stall_torque"):
        drawn[path] = drawn[path] * moving
    q0 = robot.pose("stance")
    sim.run(0.05, q0=q0, worlds=10, vary=drawn, record="final")
    many = np.array(sim.state["q"])
    alone = {path: values[7:8] for path, values in drawn.items()}
    sim.run(0.05, q0=q0, worlds=1, vary=alone, record="final")
    assert np.array_equal(many[7], np.array(sim.state["q"]).ravel())
    assert not np.array_equal(many[7], many[6])


def test_motors_are_identified_from_a_motion():
    truth = {"motors.stall_torque": 40.0, "motors.friction": 3.0}
    sim = slide(hs.Motors(stall_torque=40.0, no_load_speed=0.5, friction=3.0))
    sim.torque = [100.0]
    run = sim.run(1.0, q0=[0.0], every=5)
    model = slide(hs.Motors(stall_torque=30.0, no_load_speed=0.5, friction=1.0))
    model.torque = [100.0]
    search = {path: (value / 4, value * 4) for path, value in truth.items()}
    fit = hs.identify(run, model, search, sets=12, progress=False)
    for path, value in truth.items():
        assert fit.values[path] == pytest.approx(value, rel=1e-4)  # without noise


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stall_torque": 5.0}, "needs both stall_torque and no_load_speed"),
        ({"delay": -1.0}, "at least 0"),
        ({"load_friction": 1.0}, "below 1"),
        ({"friction": {"slid": 1.0}}, "slide"),
        ({"delay": 2e-3, "max_delay": 1e-3}, "longest delay"),
    ],
)
def test_bad_motors_are_refused(options, words):
    with pytest.raises(hs.HeelstrikeError, match=words):
        slide(hs.Motors(**options))


def test_motors_refuse_values_that_the_step_does_not_hold():
    sim = slide(hs.Motors(delay=2e-3, stall_torque=5.0, no_load_speed=1.0))
    sim.parameters["motors.delay"] = [4e-3]
    with pytest.raises(hs.HeelstrikeError, match="max_delay"):
        sim.step()
    with pytest.raises(hs.HeelstrikeError, match="above 0"):
        sim.parameters["motors.stall_torque"] = [0.0]
    robot = hs.load("hoap1", collide="feet")
    part = hs.Motors(friction={"R_KN": 0.1})
    sim = hs.Simulator(hs.Scene(robot), control=hs.Servo(), motors=part)
    with pytest.raises(hs.HeelstrikeError, match="pass friction of this joint"):
        sim.parameters["motors.friction"] = np.full(robot.nv, 0.1)
    with pytest.raises(hs.HeelstrikeError, match="motors of the robot's file"):
        hs.Simulator(hs.Scene(robot), control=hs.Actuators(), motors=part)
