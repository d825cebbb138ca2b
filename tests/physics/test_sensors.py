"""What sensors measure, at the trunk and at the ends of limbs, and how.

Oracles: Pinocchio's kinematics, with the acceleration that the step's velocities differ by (the
base's axes turn in a step: of its acceleration that leaves out a part of the order of the step);
sums over the recorded points of contact; moments of normal distributions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs

BODIES = ("WAIST", "L_EB", "R_AAA")
GRAVITY = np.array([0, 0, -9.81])
IMU = [f"{body}.{name}" for body in BODIES for name in ("accelerometer", "gyro")]


@pytest.mark.parametrize(
    ("law", "rubs"),
    [
        (hs.Elastic(), False),
        pytest.param(hs.Elastic(), True, marks=pytest.mark.nightly),
        pytest.param(hs.Rigid(), False, marks=pytest.mark.nightly),
        (hs.Rigid(), True),
    ],
)
def test_against_pinocchio(law, rubs):
    """Joints at their limits, or with dry friction, make the step solve in rounds."""
    dt, robot = 1e-3, hs.load("hoap1", collide="feet")
    if rubs:
        robot = replace(robot, friction=np.where(np.arange(robot.nv) < 6, 0.0, 0.02))
    scene = hs.Scene(robot, hs.Plane(law=law))
    sim = hs.Simulator(scene, dt=dt, control=hs.Servo())
    v0 = np.r_[np.zeros(6), 0.3 * np.random.default_rng(3).normal(size=robot.nv - 6)]
    data = sim.run(0.05, v0=v0, record=["q", "v", *IMU], progress=False).data
    q, v = (data[name].values[0] for name in ("q", "v"))
    model, found = robot.model, robot.model.createData()
    sizes = []
    for k in range(1, len(q) - 1):
        pin.forwardKinematics(model, found, q[k], v[k], (v[k + 1] - v[k]) / dt)
        for name in BODIES:
            joint = robot.body(name) + 1
            felt, spin = (data[f"{name}.{x}"].values[0, k] for x in ("accelerometer", "gyro"))
            a = pin.getClassicalAcceleration(model, found, joint, pin.LOCAL).linear
            expected = a - found.oMi[joint].rotation.T @ GRAVITY
            np.testing.assert_allclose(felt, expected, atol=1e-3 * np.abs(expected).max())
            np.testing.assert_allclose(spin, found.v[joint].angular, atol=1e-12)
            sizes.append(np.linalg.norm(expected))
    assert np.ptp(sizes) > 3


FOOT = ("force", "normal_force", "friction_force", "moment", "cop", "touching", "ground.force")
FRAME = ("position", "rotation", "velocity", "angular_velocity", "local_velocity", "gravity")
MEASURED = [
    *(f"L_AAA.{name}" for name in FOOT),
    *(f"l_sole_center.{name}" for name in (*FRAME, "jacobian")),
    "com",
    "momentum",
    "angular_momentum",
    "L_AAA.air_time",
    "L_AAA.contact_time",
    hs.Sensor("com", label="late", history=3, latency=2e-3),
    hs.Sensor("q", label="slow", every=5),
]


@pytest.fixture(scope="module")
def drop():
    """Return a simulator of hoap1 that fell on its feet, all recorded and read in every step."""
    robot = hs.load("hoap1", collide="feet")
    scene = hs.Scene(robot, hs.Plane(name="ground"))
    sim = hs.Simulator(scene, control=hs.Servo(), sensors=MEASURED)
    q0 = sim.place(drop=0.005)
    v0 = np.r_[0.05, 0.0, 0.0, np.zeros(robot.nv - 3)]
    names = ["q", "v", "depth", "normal_force", "force", "contact_position", "cop", *sim.sensors]
    data = sim.run(0.1, q0=q0, v0=v0, record=names).data.isel(world=0)
    sim.reset()
    seen = []
    for _ in range(100):
        sim.step()
        seen.append({name: np.array(x) for name, x in sim.sensors.items()})
    return robot, data, seen


def test_readings_after_a_step_are_what_the_step_records(drop):
    """A foot in the air has no CoP: the record is NaN, the sensor keeps its sample."""
    _, data, seen = drop
    for name in seen[0]:
        recorded = data[name].values[:100].astype(float)
        shown = np.array([x[name] for x in seen])
        if name == "com:late":
            shown = shown[:, 0]
        held = np.isnan(recorded)
        assert held.any() == (name == "L_AAA.cop")
        assert np.array_equal(shown[~held], recorded[~held]), name
        assert np.isfinite(shown).all()


def test_frames_against_pinocchio(drop):
    robot, data, _ = drop
    model = robot.model
    found, frame = model.createData(), model.getFrameId("l_sole_center")
    sole = {name: data[f"l_sole_center.{name}"].values for name in (*FRAME, "jacobian")}
    for k in (0, 40, 99):
        q, v = data["q"].values[k], data["v"].values[k]
        pin.computeJointJacobians(model, found, q)
        pin.forwardKinematics(model, found, q, v)
        pin.updateFramePlacements(model, found)
        placed, local = found.oMf[frame], pin.getFrameVelocity(model, found, frame, pin.LOCAL)
        world = pin.getFrameVelocity(model, found, frame, pin.LOCAL_WORLD_ALIGNED)
        jacobian = pin.getFrameJacobian(model, found, frame, pin.LOCAL)
        pin.computeCentroidalMomentum(model, found, q, v)
        expected = [placed.translation, placed.rotation, world.linear, world.angular, local.linear]
        expected += [-placed.rotation[2], jacobian]
        for name, value in zip(sole, expected, strict=True):
            np.testing.assert_allclose(sole[name][k], value, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(data["momentum"].values[k], found.hg.linear, atol=1e-12)
        np.testing.assert_allclose(data["angular_momentum"].values[k], found.hg.angular, atol=1e-12)


def test_forces_of_a_foot_are_sums_over_its_points(drop):
    robot, data, _ = drop
    own = data["point_body"].values == "L_AAA"
    force, normal = data["force"].values[:, own], data["normal_force"].values[:, own]
    total, foot = force.sum(1), {name: data[f"L_AAA.{name}"].values for name in FOOT}
    close = {"rtol": 1e-12, "atol": 1e-12}
    assert total[:, 2].max() > 40  # [N], it lands
    np.testing.assert_allclose(foot["force"], total, **close)
    np.testing.assert_allclose(foot["ground.force"], total, **close)
    np.testing.assert_allclose(foot["normal_force"], normal.sum(1), **close)
    np.testing.assert_allclose(foot["friction_force"][:, :2], total[:, :2], **close)
    assert np.array_equal(foot["cop"], data["cop"].sel(body="L_AAA").values, equal_nan=True)
    touches = ((data["depth"].values[:, own] > 0) | (normal != 0)).any(1)
    assert np.array_equal(foot["touching"], touches)
    assert touches.any()
    assert not touches.all()
    found = robot.model.createData()
    arm = data["contact_position"].values[:, own]
    for k in (50, 99):
        pin.forwardKinematics(robot.model, found, data["q"].values[k])
        origin = found.oMi[robot.body("L_AAA") + 1].translation
        moment = np.cross(arm[k] - origin, force[k]).sum(0)
        np.testing.assert_allclose(foot["moment"][k], moment, atol=1e-12)


def test_times_in_contact_and_in_the_air_count_from_the_last_change(drop):
    _, data, _ = drop
    touches = data["L_AAA.touching"].values
    contact, air = np.zeros(len(touches)), np.zeros(len(touches))
    for k in range(1, len(touches)):
        contact[k] = (contact[k - 1] + 1e-3) * touches[k]
        air[k] = (air[k - 1] + 1e-3) * (not touches[k])
    np.testing.assert_allclose(data["L_AAA.contact_time"], contact, atol=1e-12)
    np.testing.assert_allclose(data["L_AAA.air_time"], air, atol=1e-12)
    assert contact.max() > 0.01
    assert air.max() > 0.01


def test_history_latency_and_rate_of_a_sensor(drop):
    """Samples of before the first step are the first one."""
    _, data, seen = drop
    com, q = data["com"].values, data["q"].values
    for k in (0, 1, 2, 3, 50):
        ages = [max(0, k - 2 - n) for n in range(3)]
        assert np.array_equal(seen[k]["com:late"], com[ages])
        assert np.array_equal(seen[k]["q:slow"], q[k - k % 5])
