"""Shapes that are fixed to the world: an arm over its pedestal and a table, objects on them.

Oracle: MuJoCo with the same file, at rest.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.robot.robot import WORLD

ARM = """<mujoco><worldbody>
<geom name="floor" type="plane" size="2 2 .1"/>
<geom name="slab" type="box" size="1 1 0.05" pos="0 0 -0.05"/>
<geom name="table" type="box" size="0.3 0.3 0.02" pos="0.4 0 0.4"/>
<body name="pedestal" pos="0 0 0.25"><geom name="pedestal" type="box" size="0.1 0.1 0.25"/>
 <body name="upper" pos="0 0 0.3"><joint name="shoulder" axis="0 1 0"/>
  <geom name="upper" type="capsule" fromto="0 0 0 0.4 0 0" size="0.04" mass="1"/>
  <body name="lower" pos="0.4 0 0"><joint name="elbow" axis="0 1 0"/>
   <geom name="lower" type="capsule" fromto="0 0 0 0.35 0 0" size="0.03" mass="1"/></body></body>
</body></worldbody></mujoco>"""
URDF = """<robot name="post">
<link name="world"/><link name="post"><collision><geometry><box size="0.2 0.2 1"/></geometry>
</collision></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
iyz="0"/></inertial><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<link name="hand"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
iyz="0"/></inertial><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="fix" type="fixed"><parent link="world"/><child link="post"/></joint>
<joint name="turn" type="continuous"><parent link="post"/><child link="arm"/></joint>
<joint name="bend" type="continuous"><parent link="arm"/><child link="hand"/>
<origin xyz="0.5 0 0"/></joint></robot>"""
STIFF = hs.Elastic(hs.HuntCrossley(k=1e5, alpha=1.0), hs.Bristle())


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm") / "arm.xml"
    path.write_text(ARM)
    return path


def mujoco_rest(path, start: list[float], seconds: float = 3.0) -> np.ndarray:
    """Return the coordinates at rest of MuJoCo, in steps of 0.2 ms."""
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep = 2e-4
    data = mujoco.MjData(model)
    data.qpos[:] = start
    mujoco.mj_step(model, data, round(seconds / 2e-4))
    assert np.abs(data.qvel).max() < 1e-3
    return np.array(data.qpos)


def test_fixed_shapes_of_files(arm, tmp_path):
    """Geoms of the world that do not reach above z = 0 are ground; neighbours of a URDF's base
    do not touch it.
    """
    robot = hs.load(arm)
    fixed = [shape.name for shape in robot.shapes if shape.body == WORLD]
    assert fixed == ["table", "pedestal"]
    touching = {frozenset(robot.shapes[i].name for i in pair) for pair in robot.self_pairs}
    assert touching == {frozenset((a, b)) for a in ("upper", "lower") for b in fixed}
    assert not hs.load(arm, collide="feet").self_pairs
    assert len(hs.load(arm, collide=["lower"]).self_pairs) == 2
    (tmp_path / "post.urdf").write_text(URDF)
    post = hs.load(tmp_path / "post.urdf")
    pairs = [{post.shapes[i].link for i in pair} for pair in post.self_pairs]
    assert pairs == [{"post", "hand"}]


@pytest.mark.parametrize(("law", "dt"), [(hs.Rigid(), 1e-3), (STIFF, 1e-4)])
def test_an_arm_rests_on_its_pedestal_and_on_a_table(arm, law, dt):
    """Both links rest where they do in MuJoCo."""
    robot = hs.load(arm)
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law)), dt=dt, control=None)
    # one spring under each link: the last swing falls by ten in 0.25 s
    data = sim.run(4.0, q0=[-0.5, -0.5], record=("q", "v", "self_pair")).data.isel(world=0)
    assert np.abs(data["v"].values[-1]).max() < 1e-6
    touching = data["shape_pair"].values[data["self_pair"].values[-1][:2]]
    assert list(touching) == ["upper on pedestal", "lower on table"]
    # 1 mm that Rigid allows, 0.2 mm that MuJoCo and the springs sink in, on levers of 0.1 m and
    # 0.3 m
    assert data["q"].values[-1] == pytest.approx(mujoco_rest(arm, [-0.5, -0.5]), abs=0.01)


def test_a_part_rests_on_fixed_shapes_of_another(arm, tmp_path):
    """A ball that falls onto the table stays there; copies of the whole touch as it does."""
    (tmp_path / "ball.xml").write_text(
        '<mujoco><worldbody><body name="ball" pos="1 1 1"><freejoint/>'
        '<geom name="ball" type="sphere" size="0.05" mass="1"/></body></worldbody></mujoco>'
    )
    whole = hs.combine({"arm": hs.load(arm), "ball": hs.load(tmp_path / "ball.xml")})
    copied = hs.load(whole.to_mjcf(tmp_path / "whole.xml"))
    assert len(copied.self_pairs) == len(whole.self_pairs) == 4 + 2 + 2
    q0 = [-1.5, 0.0, 0.5, 0.2, 0.5, 0, 0, 0, 1]
    for robot in (whole, copied):
        sim = hs.Simulator(hs.Scene(robot, hs.Plane(STIFF)), dt=2e-4, control=None)
        q = sim.run(0.6, q0=q0, record=["q"]).data["q"].values[0, -1]
        # m g = 10 N sinks by 0.1 mm into 1e5 N/m; it has bounced until then
        assert q[4] == pytest.approx(0.42 + 0.05, abs=5e-4)
