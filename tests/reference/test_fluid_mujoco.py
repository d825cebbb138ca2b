"""Drag of a fluid against MuJoCo: accelerations at random states, and a swimmer's motion.

A step of 1 us changes the velocity by MuJoCo's qacc times dt, up to the step's own error.
"""

import mujoco
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.robot.mjcf_model import rotation

DT = 1e-6
"""Time step [s]: accelerations change by about DT of their size within it."""
FREE = """<body name="f" pos="0 0 2" quat="1 .2 .3 .4"><joint name="r" type="free"/>
  <geom type="box" size=".1 .05 .2" euler="10 20 30"/><body name="p" pos=".1 .2 0"
  quat="1 1 0 0"><geom type="capsule" size=".03 .1" pos="0 .1 .2"/></body>
  <body name="g" pos="0 0 .3"><joint name="e" axis="1 0 0"/>
  <geom type="ellipsoid" size=".05 .1 .2" pos="0 .1 0"/></body></body>"""
SWIMMER = """<body name="a"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
  <joint axis="0 0 1"/><geom type="capsule" size=".1" fromto="0 0 0 .8 0 0"/>
  <body name="b" pos=".8 0 0"><joint name="j" axis="0 0 1"/>
  <geom type="capsule" size=".1" fromto="0 0 0 .8 0 0"/></body></body>"""


def written(folder, bodies: str, option: str) -> str:
    path = folder / "robot.xml"
    actuators = '<actuator><motor name="m" joint="j" gear="300"/></actuator>' * ('"j"' in bodies)
    text = f"<mujoco>{option}<worldbody>{bodies}</worldbody>{actuators}</mujoco>"
    path.write_text(text.replace("<geom", '<geom contype="0"'))
    return str(path)


@pytest.mark.parametrize(
    "option",
    ['density="900"', 'viscosity="2"', 'density="50" viscosity=".4" wind="3 -1 .5"'],
    ids=["density", "viscosity", "wind"],
)
def test_accelerations(option, tmp_path):
    """A floating base with a fixed and a moving link, at a random state, in world axes."""
    path = written(tmp_path, FREE, f"<option {option}/>")
    robot, m = hs.load(path), mujoco.MjModel.from_xml_path(path)
    assert not [own for own in robot.fidelity if own.concerns == "motion"]
    d, rng = mujoco.MjData(m), np.random.default_rng(5)
    mujoco.mj_integratePos(m, d.qpos, rng.uniform(-0.7, 0.7, m.nv), 1.0)
    d.qvel[:] = rng.uniform(-2, 2, m.nv)
    mujoco.mj_forward(m, d)
    assert np.abs(d.qfrc_passive).max() > 1.0
    q, v = np.array(d.qpos), np.array(d.qvel)
    q[3:7] = np.roll(q[3:7], -1)
    v[:3] = rotation(d.qpos[3:7]).T @ v[:3]
    sim = hs.Simulator(hs.Scene(robot, self_contact=False), dt=DT)
    sim.reset(q0=q, v0=v)
    sim.step()
    new = np.ravel(sim.state["v"]).copy()
    new[:3] = rotation(np.roll(np.ravel(sim.state["q"])[3:7], 1)) @ new[:3]
    old = np.concatenate([d.qvel[:3], v[3:]])
    # rounding of a difference of velocities over DT is 1e-10; the step's error is 1e-5 at most
    np.testing.assert_allclose((new - old) / DT, d.qacc, rtol=0, atol=3e-5 * np.abs(d.qacc).max())


def test_a_swimmer_moves_as_in_mujoco(tmp_path):
    """Two links in water, driven by a sine at their joint for 1 s; both by Runge-Kutta's method."""
    option = '<option density="1000" viscosity=".1" integrator="RK4" timestep=".001"/>'
    path = written(tmp_path, SWIMMER, option)
    robot, m = hs.load(path), mujoco.MjModel.from_xml_path(path)
    d = mujoco.MjData(m)
    scene = hs.Scene(robot, self_contact=False)
    sim = hs.Simulator(scene, dt=1e-3, control=hs.Actuators(), integrator="rk4")
    for k in range(1000):
        d.ctrl[0] = np.sin(6 * k * 1e-3)
        sim.control["m"] = d.ctrl[0]
        mujoco.mj_step(m, d)
        sim.step()
    assert np.abs(d.qpos[:2]).max() > 0.02  # it has swum
    # |v| v has a kink, where both are of the second order in 1 ms: 1e-9 measured
    np.testing.assert_allclose(np.ravel(sim.state["q"]), d.qpos, rtol=0, atol=1e-7)


def test_written_and_combined(tmp_path):
    """to_mjcf writes the fluid; parts of one body that it resists apart are refused."""
    option = '<option density="1000" viscosity=".1" wind="1 2 3"/>'
    robot = hs.load(written(tmp_path, SWIMMER, option))
    m = mujoco.MjModel.from_xml_path(str(robot.to_mjcf(tmp_path / "written.xml")))
    assert (m.opt.density, m.opt.viscosity, *m.opt.wind) == (1000, 0.1, 1, 2, 3)
    two = hs.combine({"one": robot, "two": robot})
    assert [drag.body for drag in two.drags] == [2, 3, 6, 7]
    with pytest.raises(hs.HeelstrikeError, match="parts of a body"):
        hs.load(written(tmp_path, FREE, option)).to_mjcf(tmp_path / "written.xml")
