"""A URDF that no bundled scene knows: from the file to a picture of contact forces in one command.

The oracle is the weight: a robot that stands presses the ground with m g. Bolt, on two point feet,
cannot stand; its feet carry its weight on average until it has tipped over. No file is edited.
"""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from matplotlib.image import imread

import heelstrike as hs
from heelstrike.cli import main
from heelstrike.robot.check import massless_joint
from heelstrike.robot.convert import to_pinocchio
from heelstrike.robot.load import MIN_ARMATURE
from heelstrike.robot.placement import joints_into_range
from heelstrike.scene.files.robot_on_plane import robot_on_plane
from heelstrike.scene.holding import standing_gains
from heelstrike.simulate.robot_scene import robot_scene
from tests.models import example_file as example

STANDING = {"solo12.urdf": "elastic", "talos_reduced.urdf": "rigid"}


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        main(["run", "--robot", *arguments, "--json"])
    assert not left.value.code
    return json.loads(capsys.readouterr().out)


@pytest.mark.filterwarnings("ignore::heelstrike.errors.HeelstrikeWarning")
@pytest.mark.nightly
@pytest.mark.parametrize("name", STANDING)
def test_a_robot_of_ones_own_stands(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = run(capsys, str(example(name)), "--law", STANDING[name], "--duration", "0.6")
    assert not found["summary"]["failures"]
    made = hs.Recording.load(found["recording"])
    force = made.data["normal_force"].sum("point").values[0, -100:].mean()
    # solo's Hunt-Crossley ground still swings by a percent after 0.6 s
    assert abs(force / (9.81 * made.robot.mass) - 1) < 0.05
    assert imread(found["picture"]).std() > 0.05  # something is drawn


@pytest.mark.filterwarnings("ignore::heelstrike.errors.HeelstrikeWarning")
@pytest.mark.nightly
def test_a_robot_that_cannot_stand_does_not_diverge(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    fall = str(example("bolt.urdf")), "--drop", "0.02", "--duration", "0.3"
    assert not run(capsys, *fall)["summary"]["failures"]
    found = run(capsys, *fall, "--collide", "feet")
    assert not found["summary"]["failures"]
    made = hs.Recording.load(found["recording"])
    force = made.data["normal_force"].sum("point").values[0, 150:]
    assert abs(force.mean() / (9.81 * made.robot.mass) - 1) < 0.2  # it tips: a fifth at most


def test_joints_start_in_their_ranges():
    """Go2's knees cannot be at zero: they start at the nearest end, not against a stop."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)
        robot = hs.load(example("go2.urdf"), collide="feet")
    moved = joints_into_range(robot, robot.pose("zero"))
    assert set(moved) == {f"{leg}_calf_joint" for leg in ("FL", "FR", "RL", "RR")}
    assert all(-0.9 < angle < -0.8 for angle in moved.values())


def test_gains_hold_an_inverted_pendulum():
    """5 m g h, h the height of the centre of mass above the soles, by the simulator."""
    robot = hs.load("hoap1", collide="feet")
    q = robot.pose("stance")
    kp, kd = standing_gains(robot, q)
    com = hs.Simulator(hs.Scene(robot)).run(steps=1, q0=q).data["com"].values[0, 0, 2]
    # the soles of its stance are on z = 0; two digits are kept
    assert np.isclose(kp, 5 * robot.mass * 9.81 * com, rtol=0.05)
    assert np.isclose(kd, 0.05 * kp, rtol=0.05)


@pytest.mark.filterwarnings("ignore::heelstrike.errors.HeelstrikeWarning")
def test_a_moment_that_rounding_made_negative_is_no_obstacle():
    """iCub's hip has moments of -5e-20 kg m^2: its model is built, mass for mass."""
    robot = hs.load(example("icub_reduced.urdf"), collide="feet")
    assert min(np.linalg.eigvalsh(body.inertia).min() for body in robot.bodies) < 0
    masses = [inertia.mass for inertia in to_pinocchio(robot).inertias][1:]
    assert masses == [body.mass for body in robot.bodies]


def test_a_robot_without_shapes_is_told():
    with pytest.warns(hs.HeelstrikeWarning, match="no collision shapes"):
        robot_on_plane(str(example("simple_humanoid_classical.urdf")))


LINK = (
    '<link name="{0}"><inertial><mass value="{1}"/><origin xyz="0 0 0.1"/>'
    '<inertia ixx="1e-2" ixy="0" ixz="0" iyy="1e-2" iyz="0" izz="1e-2"/></inertial>'
    '<collision><origin xyz="0 0 0.1"/><geometry><box size="0.1 0.1 0.2"/></geometry></collision>'
    "</link>"
)
JOINT = (
    '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/>'
    '<origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>'
    '<limit lower="-2" upper="2" effort="50" velocity="9"/></joint>'
)
ARM = (
    "<robot name='arm'>"
    + LINK.format("base", 5) + LINK.format("upper", 2) + LINK.format("lower", 1)
    + "<link name='thumb'/>"
    + JOINT.format("shoulder", "base", "upper") + JOINT.format("elbow", "upper", "lower")
    + JOINT.format("thumb_joint", "lower", "thumb")
    + "</robot>"
)  # fmt: skip


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm") / "arm.urdf"
    path.write_text(ARM)
    return path


@pytest.mark.filterwarnings("ignore:arm.urdf")
def test_an_arm_is_mounted_and_held(arm):
    """It rests on its base alone: fixed, and gains of 20 m g l at each joint, by hand."""
    with pytest.warns(hs.HeelstrikeWarning, match="so the base is fixed"):
        made = robot_scene(str(arm))
    assert made.robot.nv == 3
    kp = made.content.servo.kp
    assert kp["elbow"] == pytest.approx(20 * 1 * 9.81 * 0.1, rel=0.05)
    assert kp["shoulder"] == pytest.approx(20 * 9.81 * (2 * 0.1 + 1 * 0.3), rel=0.05)
    run = made.run()
    assert np.abs(run.data["v"].values[0, -1]).max() < 1e-3  # at rest
    with warnings.catch_warnings():
        warnings.simplefilter("error", hs.HeelstrikeWarning)
        warnings.filterwarnings("ignore", "arm.urdf")
        assert robot_scene(str(arm), drop=0.1).robot.nv == 9  # dropped, it is free


def test_a_body_without_mass_gets_an_armature(arm):
    with pytest.warns(hs.HeelstrikeWarning, match="thumb_joint have neither mass nor inertia"):
        robot = hs.load(arm)
    assert robot.armature[-1] == MIN_ARMATURE
    assert massless_joint(robot) is None


def test_the_ground_is_chosen_for_the_robot():
    """hs.suggest's numbers for the speed of the fall; options of --set come last."""
    made = robot_scene("hoap1", collide="feet", drop=0.2)
    robot = made.robot
    speed = np.sqrt(2 * 9.81 * 0.2)
    found = hs.suggest(robot, dt=1e-3, speed=speed, q=made.start[0], control=hs.Servo())
    assert made.scene.surfaces[0].law == found.law
    sim = made.simulator()  # which checks the start
    used = 2 * found.law.friction.c_t * 1e-3 / found.support.tangent_mass
    assert used < 4
    assert sim.robot is robot
    stiff = robot_scene("hoap1", collide="feet", settings=["ground.normal.k=123"])
    assert stiff.scene.surfaces[0].law.normal.k == 123
    named = robot_scene("hoap1", collide="feet", law="linear-spring")
    assert isinstance(named.scene.surfaces[0].law.normal, hs.LinearSpring)
    assert named.scene.surfaces[0].law.normal.k == pytest.approx(found.k, rel=0.01)
