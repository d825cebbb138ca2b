"""Files that nobody prepared: six URDFs of example-robot-data from file to picture.

Each takes one command, or three lines of Python, which give the same bits. What is expected of a
first picture: nothing diverges, nothing leaves the ground, and the oracle is the weight, which the
ground carries under what can stand (bolt, on two point feet, tips slowly; baxter is mounted).
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from matplotlib.image import imread

import heelstrike as hs
from heelstrike.cli import main
from tests.models import example_file as example

FILES = {
    "arm": "baxter_description/urdf/baxter.urdf",
    "hand": "allegro_right_hand.urdf",
    "biped": "bolt.urdf",
    "quadruped": "laikago.urdf",
    "humanoid": "romeo_small.urdf",
    "wheels": "tiago_no_hand.urdf",
}
STANDING = ("hand", "quadruped", "humanoid", "wheels")
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.filterwarnings("ignore::heelstrike.errors.HeelstrikeWarning"),
]


@pytest.mark.parametrize("kind", FILES)
def test_a_file_becomes_a_picture(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    file = example(FILES[kind])
    with pytest.raises(SystemExit) as left:
        main(["run", "--robot", str(file), "--json"])
    assert not left.value.code
    found = json.loads(capsys.readouterr().out)
    data = hs.Recording.load(found["recording"]).data

    run = hs.robot_scene(file).run(progress=False)
    run.plot(path="first.png")
    assert run.data["q"].equals(data["q"])

    for picture in (found["picture"], "first.png"):
        assert imread(picture).std() > 0.05  # something is drawn
    assert np.all(data["failed"] < 0)
    height = data["com"].sel(axis="z").values[0]
    assert height.max() < height[0] + 0.01  # [m]
    force = data["normal_force"].sum("point").values[0, -100:].mean()
    share = force / (9.81 * run.robot.mass)
    if kind in STANDING:
        assert share == pytest.approx(1, abs=0.02)  # they still sway a little
    else:
        assert share == 0 if kind == "arm" else 0.5 < share < 1


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
