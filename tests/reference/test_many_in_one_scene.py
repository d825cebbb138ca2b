"""Robots and objects of several files in one scene: attached, replicated, combined.

Oracles: MuJoCo's names and inertia matrix of the same file; statics of an arm that a spring holds.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.robot.convert import to_pinocchio

ARM = """<mujoco model="arm"><compiler angle="radian"/><worldbody><body name="base">
<joint name="shoulder" axis="0 1 0" range="-2 2"/>
<geom name="arm" type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/></body></worldbody>
<actuator><position name="motor" joint="shoulder" kp="50" kv="4"/></actuator></mujoco>"""
SCENE = """<mujoco model="scene"><compiler angle="radian"/>
<asset><model name="arm" file="arm.xml"/></asset><worldbody>
<geom name="floor" type="plane" size="5 5 .1"/>
<frame pos="0 .5 .5"><attach model="arm" body="base" prefix="left_"/></frame>
<frame pos="0 -.5 .5"><attach model="arm" body="base" prefix="right_"/></frame>
<replicate count="3" offset="0 0 .25" sep="_"><body name="box" pos="1 0 .2"><freejoint/>
<geom name="cube" type="box" size=".1 .1 .1" mass=".5"/></body></replicate>
</worldbody></mujoco>"""
ARMS = ["left_shoulder", "right_shoulder"]
BOXES = ["box_0", "box_1", "box_2"]


@pytest.fixture
def scene(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "scene.xml").write_text(SCENE)
    return tmp_path / "scene.xml"


def test_names_do_not_collide(scene):
    """Each copy has its prefix or its number, as in MuJoCo; inertias are MuJoCo's."""
    robot, mj = hs.load(scene), mujoco.MjModel.from_xml_path(str(scene))
    assert [joint.name for joint in robot.joints] == ARMS + BOXES
    assert [body.name for body in robot.bodies] == [mj.body(i).name for i in range(1, mj.nbody)]
    assert [a.name for a in robot.actuators] == [mj.actuator(i).name for i in range(mj.nu)]
    assert not robot.fidelity
    data, theirs = mujoco.MjData(mj), np.zeros((mj.nv, mj.nv))
    mujoco.mj_forward(mj, data)
    mujoco.mj_fullM(mj, data, theirs)
    model = to_pinocchio(robot)
    ours = np.diag(pin.crba(model, model.createData(), robot.pose("zero")))
    assert np.abs(ours - np.diag(theirs)).max() < 1e-12


def test_two_scenes_are_combined(scene):
    """Names of parts begin with the part's; poses, actuators and pairs are those of both."""
    robot = hs.load(scene)
    both = hs.combine({"one": robot, "two": robot})
    names = [joint.name for joint in both.joints]
    assert names == [f"{part}/{name}" for part in ("one", "two") for name in ARMS + BOXES]
    assert len({a.name for a in both.actuators}) == 4
    own = len(robot.self_pairs)
    assert len(both.self_pairs) == 2 * own + len(robot.shapes) ** 2  # and each with each


@pytest.mark.nightly
def test_all_move_in_one_scene(scene):
    """The left arm takes the angle that its motor is told, less what its weight yields."""
    robot = hs.load(scene)
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(hs.Rigid(), "ground")), control=hs.Actuators())
    sim.control["left_motor"] = -0.5
    last = sim.run(3.0, q0=robot.pose("zero")).data.isel(world=0, time=-1)
    for angle, told in zip(last.q.values[:2], (-0.5, 0.0), strict=True):
        torque = 1 * 9.81 * 0.15 * np.cos(angle)  # of the weight, about y
        assert 50 * (told - angle) + torque == pytest.approx(0, abs=1e-6)
    heights = last.q.values[[4, 11, 18]]
    assert heights == pytest.approx([0.1, 0.3, 0.5], abs=3e-3)  # 1 mm is allowed at each contact
    assert float(last.normal_force.sum()) == pytest.approx(3 * 0.5 * 9.81, rel=1e-6)
