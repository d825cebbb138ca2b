"""A robot in free flight keeps its momentum and energy.

Oracle: conservation laws. Without contact the centre of mass follows a parabola and angular
momentum about it is constant; without servo and joint friction energy is constant. The default
integrator keeps momentum to rounding, the others as well as their order allows.
"""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import heelstrike as hs
from heelstrike.dynamics.quantities import quantities
from heelstrike.errors import HeelstrikeError
from heelstrike.robot import load
from heelstrike.runtime.compiler import compile_program
from tests.flight import in_flight
from tests.models import example_file

GRAVITY = 9.81
NIGHTLY = pytest.mark.nightly
INVARIANTS = ["momentum", "kinetic_energy", "potential_energy"]


def fall(sim, q, v, dt, duration):
    """Return q and v, one row per world, after a duration [s] of flight."""
    sim.parameters["dt"] = dt
    sim.reset(q0=q, v0=v)
    sim.step(round(duration / dt))
    return np.atleast_2d(sim.state["q"]).copy(), np.atleast_2d(sim.state["v"]).copy()


def drifts(robot, integrator, dts, duration, spin=2.0, sway=1.0, control=None):
    """Return the relative errors of angular momentum, linear momentum and energy for each dt."""
    sim = in_flight(robot, integrator=integrator, control=control)
    measure = compile_program(quantities(robot, INVARIANTS))
    rng = np.random.default_rng(3)
    q = robot.pose("crouch")
    v = np.r_[rng.normal(size=3), spin * rng.normal(size=3), sway * rng.normal(size=robot.nv - 6)]

    def invariants(q, v):
        zero = np.zeros(robot.nv)
        m = measure(q=q, v=v, a=zero, tau=zero, gravity=[GRAVITY])
        energy = m["kinetic_energy"] + m["potential_energy"]
        return m["momentum"][..., 3:].ravel(), m["momentum"][..., :3].ravel(), energy.ravel()

    spins, push, energy = invariants(q, v)
    rows = []
    for dt in dts:
        new_spins, new_push, new_energy = invariants(*fall(sim, q, v, dt, duration))
        expected = push - [0, 0, robot.mass * GRAVITY * duration]
        rows.append(
            (
                np.linalg.norm(new_spins - spins) / np.linalg.norm(spins),
                np.linalg.norm(new_push - expected) / np.linalg.norm(push),
                abs(new_energy - energy).item() / abs(energy).item(),
            )
        )
    return np.array(rows)


@pytest.mark.parametrize(
    ("integrator", "order", "dts"),
    [
        ("euler", 1, [1e-3, 5e-4, 2.5e-4]),
        ("rk4", 4, [8e-3, 4e-3, 2e-3]),
    ],
)
@pytest.mark.parametrize("name", [pytest.param("hoap1", marks=NIGHTLY), "biped14"])
def test_drift_falls_with_the_order_of_the_integrator(name, integrator, order, dts):
    rows = drifts(load(name, collide="feet"), integrator, dts, 0.2)
    slopes = np.log2(rows[:-1] / rows[1:])
    # halving dt twice: the slope itself converges; 0.35 covers its own first-order error
    assert np.abs(slopes[-1] - order).max() < 0.35, slopes


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("name", [pytest.param("hoap1", marks=NIGHTLY), "biped14"])
def test_robot_keeps_its_momentum_to_rounding(name, driven):
    """Limp, or with a servo that brings swinging joints back to a pose."""
    robot = load(name, collide="feet")
    control = hs.Servo(kp=100.0, kd=2.0, reference=robot.pose("crouch")) if driven else None
    rows = drifts(robot, "symplectic", [1e-3], 1.0, spin=6.0, control=control)
    # 1000 steps of rounding; a step of order 1 leaves 1e-3
    assert rows[0, :2].max() < 1e-11


def rotations(q):
    """Return rotation matrices, (n, 3, 3), of quaternions xyzw."""
    return Rotation.from_quat(q).as_matrix()


@pytest.mark.parametrize(
    ("com", "moments", "turned"),
    [
        ((0, 0, 0), (0.01, 0.02, 0.03), (0, 0, 0)),
        ((0.1, 0.05, -0.02), (0.013, 0.019, 0.029), (0.3, 0.8, -0.2)),
    ],
)
def test_spinning_bodies_keep_angular_momentum_and_energy(com, moments, turned):
    """100 random spins of up to 40 rad/s, 10 s at 1 ms, also where the frame is off the centre.

    Principal axes that are turned [rad] leave rounding in every product of the inertia.
    """
    brick, axes = load("brick"), Rotation.from_rotvec(turned).as_matrix()
    inertia = axes @ np.diag(moments) @ axes.T
    body = dataclasses.replace(brick.bodies[0], inertia=inertia, com=np.array(com, float))
    sim = in_flight(dataclasses.replace(brick, bodies=(body,)), worlds=100)
    rng = np.random.default_rng(0)
    q = np.tile(brick.neutral, (100, 1))
    q[:, 3:] = Rotation.random(100, rng).as_quat()
    spin = rng.normal(size=(100, 3))
    spin *= rng.uniform(5, 40, (100, 1)) / np.linalg.norm(spin, axis=1)[:, None]
    spin[0] = 12, 20, 18  # gained 50 % in 2 s by explicit gyroscopic torques
    v = np.hstack([np.zeros((100, 3)) - np.cross(spin, com), spin])

    def invariants(q, v):
        world = np.einsum("nij,nj->ni", rotations(q[:, 3:]) @ inertia, v[:, 3:])
        return world, 0.5 * np.einsum("ni,ij,nj->n", v[:, 3:], inertia, v[:, 3:])

    momentum, energy = invariants(q, v)
    end_momentum, end_energy = invariants(*fall(sim, q, v, 1e-3, 10.0))
    lost = np.linalg.norm(end_momentum - momentum, axis=1) / np.linalg.norm(momentum, axis=1)
    assert lost.max() < 1e-12  # 1e4 steps of rounding
    assert np.abs(end_energy / energy - 1).max() < 1e-5  # 2.4e-6 left by two rounds at 40 rad/s


def test_a_tumbling_body_converges_with_order_2():
    """Torque-free motion of an asymmetric body against RK4 at a small step."""
    robot = load("brick")
    q, v = robot.neutral, np.array([0, 0, 0, 3.0, 5.0, -1.0])
    exact = fall(in_flight(robot, integrator="rk4"), q, v, 1e-4, 1.0)[1]
    ends = [fall(in_flight(robot), q, v, dt, 1.0)[1] for dt in (4e-3, 2e-3, 1e-3)]
    errors = [np.abs(end[0, 3:] - exact[0, 3:]).max() for end in ends]
    assert np.log2(errors[:-1] / np.array(errors[1:])) == pytest.approx([2, 2], abs=0.05)


def test_a_body_on_a_spherical_joint_keeps_momentum_and_energy(tmp_path):
    """A rigid body about a fixed point, without gravity: both about the point are constant."""
    text = """<mujoco><worldbody><body name="top"><joint type="ball"/>
      <inertial pos="0.1 0 0.2" mass="2" diaginertia="0.01 0.02 0.03"/>
    </body></worldbody></mujoco>"""
    (tmp_path / "top.xml").write_text(text)
    robot = load(tmp_path / "top.xml", points=[])
    assert [j.kind for j in robot.joints] == ["spherical"]
    body = robot.bodies[0]
    arm = np.cross(np.eye(3), body.com)
    inertia = body.inertia - body.mass * arm @ arm
    sim = in_flight(robot)
    sim.parameters["gravity"] = np.zeros(3)
    spin = np.array([3.0, 8.0, -5.0])
    q, v = fall(sim, robot.neutral, spin, 1e-3, 5.0)
    momentum = rotations(q)[0] @ inertia @ v[0]
    assert np.allclose(momentum, inertia @ spin, rtol=0, atol=1e-12)
    assert v[0] @ inertia @ v[0] == pytest.approx(spin @ inertia @ spin, rel=1e-6)


LIMBS = """<mujoco><worldbody><body name="base" pos="0 0 1"><freejoint/>
  <inertial pos="0 0 0" mass="3" diaginertia="0.02 0.03 0.04"/>
  <body name="upper" pos="0.1 0 0"><joint name="shoulder" type="ball"/>
    <inertial pos="0.15 0 0.02" mass="0.8" diaginertia="0.001 0.004 0.005"/>
    <body name="lower" pos="0.3 0 0"><joint name="elbow" type="ball"/>
      <inertial pos="0.1 0.02 0" mass="0.4" diaginertia="0.0005 0.001 0.0012"/>
    </body></body>
  <body name="leg" pos="-0.1 0.05 0"><joint name="hip" type="ball"/>
    <inertial pos="-0.1 0 -0.1" mass="0.6" diaginertia="0.002 0.003 0.004"/>
  </body></body></worldbody></mujoco>"""


def test_spherical_joints_of_a_floating_base(tmp_path):
    """Eight tumbling bases with three limbs on spherical joints keep their momentum to rounding.

    Their energy has the error of first order of all inner joints.
    """
    (tmp_path / "limbs.xml").write_text(LIMBS)
    robot = load(tmp_path / "limbs.xml", points=[])
    assert [j.kind for j in robot.joints] == ["free", *["spherical"] * 3]
    sim = in_flight(robot, worlds=8)
    sim.parameters["gravity"] = np.zeros(3)
    measure, zero = compile_program(quantities(robot, INVARIANTS)), np.zeros(robot.nv)
    q, v = np.tile(robot.neutral, (8, 1)), 4 * np.random.default_rng(6).normal(size=(8, robot.nv))

    def invariants(q, v):
        still = {"a": zero, "tau": zero, "gravity": [0.0]}
        found = [measure(q=a, v=b, **still) for a, b in zip(q, v, strict=True)]
        momenta = np.array([m["momentum"].ravel() for m in found])
        return momenta, np.array([m["kinetic_energy"].item() for m in found])

    momentum, energy = invariants(q, v)
    gains = []
    for dt in (1e-3, 5e-4):
        end_momentum, end_energy = invariants(*fall(sim, q, v, dt, 1.0))
        assert end_momentum == pytest.approx(momentum, abs=1e-11)
        gains.append(np.abs(end_energy / energy - 1).max())
    assert gains[0] < 2e-3  # 9e-4
    assert gains[1] < 0.6 * gains[0]


def test_energy_of_a_limp_robot_hardly_drifts():
    """biped14 tumbles at 7 rad/s, limbs swinging, without gravity."""
    robot = load("biped14", collide="feet")
    sim = in_flight(robot)
    sim.parameters["gravity"] = np.zeros(3)
    rng = np.random.default_rng(3)
    v = np.r_[rng.normal(size=3), 4 * rng.normal(size=3), 2 * rng.normal(size=robot.nv - 6)]
    run = sim.run(2.0, q0=robot.pose("crouch"), v0=v, record=("kinetic",))
    energy = run.data.kinetic.values[0]
    # order 1 in the joints' motion: 2.9e-4; 2.9e-3 where the base takes part in it
    assert np.abs(energy / energy[0] - 1).max() < 6e-4


def test_a_push_in_flight_changes_momentum_by_its_impulse():
    """20 N for 0.1 s at a hand of hoap1, whose legs swing."""
    robot = load("hoap1", collide="feet")
    sim = in_flight(robot)
    sim.parameters["gravity"] = np.zeros(3)
    v = np.r_[np.zeros(3), 1.0, 2.0, 3.0, np.random.default_rng(0).normal(size=robot.nv - 6)]
    measure = compile_program(quantities(robot, ["momentum"]))
    zero = np.zeros(robot.nv)

    def momentum():
        found = measure(q=sim.state["q"], v=sim.state["v"], a=zero, tau=zero, gravity=[0.0])
        return found["momentum"].ravel()

    sim.reset(q0=robot.pose("crouch"), v0=v)
    before, impulse = momentum(), np.array([2.0, 0.0, 0.5])
    sim.push("CHEST", (20.0, 0.0, 5.0), 0.1)
    sim.step(150)
    assert momentum()[:3] == pytest.approx(before[:3] + impulse, abs=1e-11)


def test_single_body_keeps_its_linear_momentum_exactly():
    """The spin does not matter, because the base's velocity is integrated in world axes."""
    robot = load("cube")
    q, v = robot.neutral, np.array([1.0, -2.0, 3.0, 20.0, -30.0, 10.0])
    end_q, end_v = fall(in_flight(robot), q, v, 1e-3, 1.0)
    x, y, z, w = end_q[0, 3:7]
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    # 1000 steps of rounding at eps each
    assert np.allclose(rotation @ end_v[0, :3], v[:3] - [0, 0, GRAVITY], atol=1e-12)


@pytest.mark.parametrize("integrator", ["symplectic", "euler"])
def test_planar_body_keeps_its_speed(tmp_path, integrator):
    """A disc slides and spins; integrating its own components would gain 5 % per second."""
    joint = """<joint name="slide" type="planar"><parent link="world"/><child link="disc"/>
      <axis xyz="0 0 1"/></joint>"""
    disc = """<link name="disc"><inertial><mass value="1"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    (tmp_path / "disc.urdf").write_text(
        f'<robot name="d"><link name="world"/>{disc}{joint}</robot>'
    )
    robot = load(tmp_path / "disc.urdf", points=[])
    assert [j.kind for j in robot.joints] == ["planar"]
    sim = in_flight(robot, integrator=integrator)
    q, v = fall(sim, robot.neutral, np.array([1.0, 0.0, 10.0]), 1e-3, 1.0)
    assert np.linalg.norm(v[0, :2]) == pytest.approx(1.0, abs=1e-12)
    assert q[0, :2] == pytest.approx([1.0, 0.0], abs=1e-12)
    assert np.arctan2(q[0, 3], q[0, 2]) == pytest.approx(10.0 - 4 * np.pi, abs=1e-12)


def test_rigid_body_tumbles_as_euler_says():
    """Free rotation of an asymmetric body: kinetic energy and |L| stay; RK4 against a tiny step."""
    robot = load("brick")
    sim = in_flight(robot, integrator="rk4")
    q, v = robot.neutral, np.array([0, 0, 0, 3.0, 0.2, -1.0])
    coarse = fall(sim, q, v, 4e-3, 1.0)
    fine = fall(sim, q, v, 5e-4, 1.0)
    inertia = robot.bodies[0].inertia
    for state in (coarse, fine):
        spin = inertia @ state[1][0, 3:]
        assert np.linalg.norm(spin) == pytest.approx(np.linalg.norm(inertia @ v[3:]), rel=1e-8)
    assert np.abs(coarse[0] - fine[0]).max() < 1e-7


@cache
def held(name):
    """Return a robot without contact, its pose and its simulator, with a servo that holds it."""
    robot = load(example_file(name) if name.endswith(".urdf") else name, collide="feet")
    pose = robot.pose("stance") if "stance" in robot.poses else robot.neutral
    return robot, pose, in_flight(robot, control=hs.Servo(kp=1000.0, kd=8.0, reference=pose))


@pytest.mark.filterwarnings("ignore::heelstrike.errors.HeelstrikeWarning")
@pytest.mark.parametrize("dt", [1e-3, 2.5e-3])
@pytest.mark.parametrize("name", ["hoap1", "hrp2", "biped14", "g1_29dof_rev_1_0.urdf"])
def test_implicit_servo_holds_a_pose_in_free_fall(name, dt):
    """kp = 1000, kd = 8 on every joint for 1 s, without any help from armature in G1's URDF.

    Disturbed by 0.05 rad a joint, the robot must come back to its pose. The slowest mode is that of
    hrp2's legs (1.9 kg m^2 about the hip), which decays as exp(-kd t / 2 I): 12 % are left after
    1 s, and 20 % are allowed.
    """
    robot, pose, sim = held(name)
    q = pose.copy()
    q[7:] += 0.05 * np.random.default_rng(0).choice([-1, 1], size=robot.nq - 7)
    end_q, end_v = fall(sim, q, np.zeros(robot.nv), dt, 1.0)
    assert np.isfinite(end_q).all()
    assert np.abs(end_q[0, 7:] - pose[7:]).max() < 0.2 * 0.05
    assert np.abs(end_v[0, 6:]).max() < 0.5


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::heelstrike.errors.HeelstrikeWarning")
def test_explicit_servo_would_explode():
    """The reason for the implicit servo: the same gains, explicit, on hoap1 without armature."""
    robot = load("hoap1", collide="feet")
    robot = dataclasses.replace(robot, armature=np.zeros(robot.nv))
    pose = robot.pose("stance")
    q = pose.copy()
    q[7:] += 1e-3
    ends, failed = {}, {}
    for integrator in ("euler", "symplectic"):
        servo = hs.Servo(kp=60.0, kd=0.01, reference=pose)  # more damping is refused at once
        sim = in_flight(robot, integrator=integrator, control=servo)
        sim.parameters["servo.kd"] = 50 * sim.parameters["servo.kd"]
        ends[integrator] = fall(sim, q, np.zeros(robot.nv), 1e-3, 0.2)[1]
        failed[integrator] = sim.failed[0] >= 0
    assert failed == {"euler": True, "symplectic": False}
    assert np.abs(ends["symplectic"][0, 6:]).max() < 1.0


def test_a_mass_that_varies_at_run_time():
    """One program with many masses: each world moves as a robot of that mass."""
    robot = load("hoap1", collide="feet")
    body = robot.bodies[robot.body("CHEST")]
    sim = in_flight(robot, worlds=4)
    sim.free_masses(body.name)
    masses = body.mass * np.array([0.5, 1.0, 2.0, 4.0])
    q = np.tile(robot.pose("crouch"), (4, 1))
    v = np.tile(np.random.default_rng(0).normal(size=robot.nv), (4, 1))
    sim.parameters[f"{body.name}.mass"] = masses[:, None]
    found = fall(sim, q, v, 1e-3, 0.05)
    for k, mass in enumerate(masses):
        heavier = dataclasses.replace(body, mass=mass, inertia=body.inertia * mass / body.mass)
        bodies = tuple(heavier if b is body else b for b in robot.bodies)
        built = in_flight(dataclasses.replace(robot, bodies=bodies))
        expected = fall(built, q[k], v[k], 1e-3, 0.05)
        # constants are folded in another order; 50 steps
        assert np.allclose(found[0][k], expected[0][0], atol=1e-11)
        assert np.allclose(found[1][k], expected[1][0], atol=1e-9)


def test_unknown_integrator_is_a_sentence():
    with pytest.raises(HeelstrikeError, match=r"no integrator 'verlet'.*symplectic, euler, rk4"):
        in_flight(load("ball"), integrator="verlet")
