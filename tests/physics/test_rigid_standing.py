"""Humanoids stand on rigid ground, and on the floor of [Sugihara2006] IV-C: nothing creeps.

Oracle: rest. After a second the touching points stay where they are, to 1 um/s, and the ground
carries the weight. Slopes are made by turning gravity, one world each.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import fsolve

import heelstrike as hs
from heelstrike.bench.standing import first_pose
from heelstrike.dynamics.effective_mass import carried_inertias, joint_inertias
from tests.models import data_file

G = 9.81
STEEL = hs.Rigid(friction=hs.Coulomb(mu_s=1.0, mu_k=0.4))
MEMBRANE = hs.Elastic(hs.TimestepDamper(hs.LinearSpring(k=5512, c=158)), hs.Kinetic(mu=0.4))
LAWS = {
    "rigid": STEEL,
    "micro-macro": hs.MicroMacro(membrane=MEMBRANE, rigid=STEEL, thickness=5e-4),
}
RECORDED = ("contact_position", "force", "touching", "solver_unfinished", "com")


@cache
def standing(robot, law, dtype="float64"):
    scene = hs.Scene(loaded(robot), hs.Plane(law=LAWS[law]))
    return hs.Simulator(scene, dt=1e-3, control=hs.Servo(), dtype=dtype)


@cache
def loaded(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)  # meshes are not at hand
        return hs.load(data_file(f"robots/{name}.xml") if name == "g1" else name, collide="feet")


def slopes(degrees, azimuths):
    angle, turn = np.radians(degrees), np.radians(azimuths)
    flat = np.sin(angle)
    return G * np.stack([flat * np.cos(turn), flat * np.sin(turn), -np.cos(angle)], axis=-1)


def check_rest(data, robot, gravity, points, duration, creeps=1e-6, lacks=1e-6):
    """`points` touch all through the second half, do not creep [m/s], and carry the weight."""
    half = data.sizes["time"] // 2
    stays = data.touching.values[:, half:].all(axis=1)
    assert (stays.sum(axis=1) >= points).all()
    places = data.contact_position.values[:, half:]
    creep = np.abs(places - places[:, :1]).max(axis=1) / (duration / 2)
    assert creep[stays].max() < creeps
    total = data.force.values[:, half:].sum(axis=2)
    weight = robot.mass * gravity[:, None]
    assert np.abs(total + weight).max() < lacks * robot.mass * G
    assert (data.failed.values == -1).all()


@pytest.mark.parametrize("law", LAWS)
def test_hoap1_stands(law):
    """10 s, level and on slopes of 5 degrees in three directions; a solver that is not done leaves
    no trace.
    """
    robot = loaded("hoap1")
    gravity = slopes(np.array([0, 5, 5, 5]), np.array([0, 0, 90, 215]))
    start = {"q0": robot.pose("stance"), "v0": np.zeros(robot.nv), "worlds": 4}
    run = {"vary": {"gravity": gravity}, "every": 10, "record": RECORDED, "progress": False}
    data = standing("hoap1", law).run(10.0, **start, **run).data
    check_rest(data, robot, gravity, points=8, duration=10)
    assert data.solver_unfinished.values.mean() < 1e-2
    assert np.abs(data.com.values[:, -1, 2] - data.com.values[:, 0, 2]).max() < 3e-3


def on_left_foot(robot):
    """The stance, shifted sideways until the centre of mass is over the left sole, the right foot
    15 mm up.
    """
    joints, model, data = {j.name: j for j in robot.joints}, robot.model, robot.model.createData()
    soles = [p for p in robot.points if p.name.startswith("l_sole")]

    def pose(x):
        roll, pitch = x
        q = robot.pose("stance").copy()
        for side, knee in (("L", 0.4), ("R", 0.9)):
            turns = {"LAA": roll, "AAA": -roll, "KN": knee}
            turns |= {"LFE": pitch - knee / 2, "AFE": -pitch - knee / 2}
            for name, value in turns.items():
                q[joints[f"{side}_{name}"].iq] = value
        return q

    def corners(q):
        pin.forwardKinematics(model, data, q)
        return np.array([data.oMi[p.body + 1].act(p.position) for p in soles])

    def off(x):
        return (pin.centerOfMass(model, data, pose(x)) - corners(pose(x)).mean(axis=0))[:2]

    q = pose(fsolve(off, [-0.2, 0.0]))
    q[2] -= corners(q)[:, 2].min()
    return q


@pytest.mark.parametrize("law", LAWS)
def test_hoap1_stands_on_one_foot(law):
    robot = loaded("hoap1")
    gravity, q0 = slopes(np.array([0, 2, 2]), np.array([0, 0, 90])), on_left_foot(robot)
    start = {"q0": q0, "v0": np.zeros(robot.nv), "worlds": 3}
    run = {"vary": {"gravity": gravity}, "every": 10, "record": RECORDED, "progress": False}
    data = standing("hoap1", law).run(6.0, **start, **run).data
    check_rest(data, robot, gravity, points=3, duration=6)
    assert not data.touching.values[:, :, :4].any()


FRICTION = 0.03
"""Dry friction of every joint [N m]."""


@cache
def with_dry_friction(law):
    """Return hoap1 with dry friction, and a start with joints a little off."""
    robot = loaded("hoap1")
    robot = replace(robot, friction=np.where(np.arange(robot.nv) < 6, 0.0, FRICTION))
    pose = robot.pose("stance")
    scene = hs.Scene(robot, hs.Plane(law=LAWS[law]))
    q0 = pose.copy()
    q0[7:] += 0.01 * np.random.default_rng(0).normal(size=robot.nq - 7)
    return hs.Simulator(scene, dt=1e-3, control=hs.Servo(reference=pose)), q0


@pytest.mark.parametrize("law", ["rigid", pytest.param("micro-macro", marks=pytest.mark.nightly)])
def test_dry_friction_of_joints_keeps_to_its_limit(law):
    """Servos work against it, from a pose a little off. In a leg that stands a joint moves the
    whole robot: what friction can do is judged by that. Oracle: what Pinocchio's inverse dynamics
    finds missing at each joint.
    """
    limit, (sim, q0) = FRICTION, with_dry_friction(law)
    robot, dt = sim.scene.robot, sim.dt
    names = ("q", "v", "torque", "force", "contact_position")
    data = sim.run(0.5, q0=q0, record=names, progress=False).data
    q, v, torque, force, place = (data[name].values[0] for name in names)
    model, found = robot.model, robot.model.createData()
    missing = []
    for k in range(1, len(q) - 1):
        a = (v[k + 1] - v[k]) / dt
        tau = pin.rnea(model, found, q[k], v[k], a) + robot.damping * v[k + 1] - torque[k]
        pin.computeJointJacobians(model, found, q[k])
        for n, point in enumerate(robot.points):
            frame = pin.getJointJacobian(model, found, point.body + 1, pin.LOCAL_WORLD_ALIGNED)
            lever = place[k, n] - found.oMi[point.body + 1].translation
            tau -= frame[:3].T @ force[k, n] + frame[3:].T @ np.cross(lever, force[k, n])
        missing.append(tau)
    joints = np.abs(missing)[:, 6:]
    # a hundredth is the tolerance of a step, the rest that of the contact forces
    assert 0.99 * limit < joints.max() < 1.015 * limit
    assert (joints > 0.99 * limit).any(axis=1).mean() > 0.2
    power = np.array(missing)[:, 6:] * v[2:, 6:]
    assert power[joints > 0.99 * limit].max() < 1e-4 * limit  # it does not drive: 3e-6 rad/s may be


def test_a_joint_that_friction_holds_is_a_stiff_spring():
    """A push that no joint gives way to turns each by less than its torque can, as a spring of
    I / dt^2 with the mean inertia I of the joint (docs/solver.md), from -F to F; then it rests.
    """
    sim, q0 = with_dry_friction("rigid")
    robot, dt = sim.scene.robot, sim.dt
    sim.run(1.0, q0=q0, record="final", progress=False)
    sim.push(body="WAIST", force=[0.05, 0, 0], duration=0.2)
    data = sim.run(0.5, record=("q", "v"), progress=False).data
    turned = np.abs(data.q.values[0] - data.q.values[0, 0])[:, 7:].max(axis=0)
    pose = robot.pose("stance")
    inertia = np.sqrt(joint_inertias(robot, pose) * carried_inertias(robot, pose))[6:]
    assert (turned < 2 * FRICTION * dt**2 / inertia).all()
    assert turned.max() > 1e-7  # [rad]: it is a spring, and the push is felt
    assert np.abs(data.v.values[0, -1]).max() < 1e-12


@pytest.mark.nightly
@pytest.mark.parametrize("law", LAWS)
def test_g1_stands(law):
    robot = loaded("g1")
    gravity = slopes(np.array([0, 3, 3]), np.array([0, 0, 90]))
    start = {"q0": robot.pose("stand"), "v0": np.zeros(robot.nv), "worlds": 3}
    run = {"vary": {"gravity": gravity}, "every": 10, "record": RECORDED, "progress": False}
    data = standing("g1", law).run(10.0, **start, **run).data
    check_rest(data, robot, gravity, points=6, duration=10)


@pytest.mark.nightly
def test_hoap1_stands_in_single_precision():
    robot = loaded("hoap1")
    gravity = slopes(np.array([0, 5]), np.array([0, 45]))
    start = {"q0": robot.pose("stance"), "v0": np.zeros(robot.nv), "worlds": 2}
    run = {"vary": {"gravity": gravity}, "every": 10, "record": RECORDED, "progress": False}
    data = standing("hoap1", "rigid", "float32").run(4.0, **start, **run).data
    # positions of some 0.1 m are good to 1e-8, the servo's torques of some N m to 1e-7
    check_rest(data, robot, gravity, points=8, duration=4, creeps=1e-5, lacks=1e-3)


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.nightly)])
def test_a_start_whose_passes_crawl_throws_nothing_up(dtype):
    """Joints a little off their pose. Found among 65,536 such starts: passes that were relaxed
    without looking whether they overshoot gave a joint 2,000 rad/s in step 23.
    """
    robot = hs.load("hoap1", collide="feet")
    pose = first_pose(robot)
    scene = hs.Scene(robot, hs.Plane(law=hs.Rigid(friction=hs.Coulomb(0.8, 0.6))))
    sim = hs.Simulator(scene, dt=1e-3, control=hs.Servo(reference=pose), dtype=dtype)
    q0 = pose.copy()
    q0[7:] += 0.01 * np.random.default_rng(0).normal(size=(65_536, robot.nq - 7))[63_964]
    data = sim.run(0.05, q0=q0, record=("v", "solver_residual"), progress=False).data
    assert data.failed == -1
    assert np.abs(data.v.values).max() < 1  # it is 0.46: the servo's own
    # what counts as sticking: 1e-5 of the largest free velocity, in float32 1e-3
    assert data.solver_residual.values.max() < (1e-5 if dtype == "float64" else 1e-3)
