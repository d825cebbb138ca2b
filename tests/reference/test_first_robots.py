"""Files that nobody prepared: six URDFs of example-robot-data from file to picture.

Each takes one command, and five lines of Python. What is expected of a first picture: nothing
diverges, arms and hands stay where they are mounted, what stands does not leave the ground.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.simulate.robot_scene import robot_scene
from tests.models import example_file as example

FILES = {
    "arm": "baxter_description/urdf/baxter.urdf",
    "hand": "allegro_right_hand.urdf",
    "biped": "bolt.urdf",
    "quadruped": "laikago.urdf",
    "humanoid": "simple_humanoid.urdf",
    "wheels": "tiago_no_hand.urdf",
}
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.filterwarnings("ignore::heelstrike.errors.HeelstrikeWarning"),
]


def is_sensible(run: hs.Recording) -> bool:
    """Return whether a run ended, and its centre of mass did not rise by more than 10 cm."""
    height = run.data["com"].sel(axis="z").values[0]
    return bool(np.all(run.data["failed"] < 0) and height.max() < height[0] + 0.1)


@pytest.mark.parametrize("name", FILES.values(), ids=FILES)
def test_one_command(name):
    """The scene of `heelstrike run --robot FILE`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)
        assert is_sensible(robot_scene(str(example(name))).run(progress=False))


@pytest.mark.parametrize("name", FILES.values(), ids=FILES)
def test_five_lines(name, tmp_path):
    robot = hs.load(example(name), collide="feet")
    ground = hs.Plane(hs.suggest(robot, "implicit").law if robot.points else hs.Elastic())
    sim = hs.Simulator(hs.Scene(robot, ground), control=hs.Servo.holding(robot))
    run = sim.run(0.5, q0=sim.place() if robot.points else None, check=False)
    run.plot(path=tmp_path / "first.png")
    assert is_sensible(run)


def test_the_suggested_ground_carries_a_heavy_quadruped():
    """HyQ, 87 kg, dropped 2 cm: the class's default ground lets it sink 21 mm and bounce.

    hs.suggest aims at 1 mm at rest under equal loads; the most loaded foot rests at 1.3 mm, and the
    robot lands once.
    """
    robot = hs.load(example("hyq_no_sensors.urdf"), collide="feet")
    found = {}
    for name, law in (("default", hs.Elastic()), ("suggested", hs.suggest(robot).law)):
        scene = hs.Scene(robot, hs.Plane(law=law))
        sim = hs.Simulator(scene, control=hs.Servo.holding(robot))
        data = sim.run(1.0, q0=sim.place(drop=0.02), progress=False).data
        force = data["normal_force"].sum("point").values[0]
        landings = int(((force[1:] > 0) & (force[:-1] <= 0)).sum())
        found[name] = data["depth"].values[0], landings, force
    depth, landings, force = found["suggested"]
    assert depth[-1].max() < 2e-3
    assert depth.max() < found["default"][0].max() / 3
    assert landings == 1 < found["default"][1]
    assert force[-200:].mean() == pytest.approx(9.81 * robot.mass, rel=1e-2)
