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
from heelstrike.robot.convert import to_pinocchio
from heelstrike.scene.files.robot_on_plane import (
    joints_into_range,
    robot_on_plane,
    standing_gains,
)
from tests.models import example_file as example

STANDING = {"solo12.urdf": "elastic", "talos_reduced.urdf": "rigid"}
LARGE = "talos_reduced.urdf"  # half a minute on a busy machine: nightly


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        main(["run", "--robot", *arguments, "--json"])
    assert not left.value.code
    return json.loads(capsys.readouterr().out)


@pytest.mark.filterwarnings("ignore::heelstrike.errors.HeelstrikeWarning")
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.nightly if n == LARGE else ()) for n in STANDING]
)
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
