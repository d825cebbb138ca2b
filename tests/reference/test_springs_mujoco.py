"""Springs, damping and gravity compensation against MuJoCo's accelerations.

A step of 1 us changes the velocity by MuJoCo's qacc times dt, up to the step's own error.
"""

import mujoco
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.robot.mjcf_model import rotation

DT = 1e-6
"""Time step [s]: accelerations change by about DT of their size within it."""
BODIES = {
    "hinge and slide": """<body name="a"><joint name="h" axis="0 1 0" stiffness="30" springref="20"
        damping=".3"/><geom size=".05" pos=".3 0 0" mass="1"/><body name="b" pos=".3 0 0">
        <joint name="s" type="slide" axis="1 .2 0" stiffness="500" springref=".1" ref=".02"/>
        <geom size=".05" pos=".1 .02 0" mass="1"/></body></body>""",
    "ball": """<body name="c" gravcomp=".7"><joint name="w" type="ball" stiffness="3"/>
        <geom type="capsule" fromto="0 0 0 .1 .05 .2" size=".03"/></body>""",
    "free": """<body name="f" pos="0 0 2" quat="1 .2 .3 .4"><joint name="r" type="free"
        stiffness="20"/><geom type="box" size=".1 .05 .2"/><body name="g" pos="0 0 .3">
        <joint name="e" axis="1 0 0" stiffness="1"/><geom size=".05" pos="0 .1 0"/></body>
        </body>""",
    "fixed links with gravcomp": """<body name="f" pos="0 0 2" gravcomp=".4"><freejoint/>
        <geom type="box" size=".1 .05 .2"/><body name="g" pos="0 .1 .3" quat="1 1 0 0"
        gravcomp="1.3"><geom size=".05" pos="0 .1 0"/><body name="h" pos=".1 0 0" gravcomp="2">
        <joint name="e" axis="1 0 0"/><geom size=".06" pos="0 .1 0"/></body></body></body>""",
}


@pytest.mark.parametrize("name", BODIES)
def test_accelerations(name, tmp_path):
    """The change of velocity in a step, at a random state; a free base in world axes."""
    path = tmp_path / "robot.xml"
    path.write_text(f"<mujoco><worldbody>{BODIES[name]}</worldbody></mujoco>")
    robot, m = hs.load(path), mujoco.MjModel.from_xml_path(str(path))
    assert robot.fidelity == ()
    m.opt.timestep, m.opt.disableflags = DT, int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    d, rng = mujoco.MjData(m), np.random.default_rng(5)
    mujoco.mj_integratePos(m, d.qpos, rng.uniform(-0.7, 0.7, m.nv), 1.0)
    d.qvel[:] = rng.uniform(-1, 1, m.nv)
    mujoco.mj_forward(m, d)
    free = m.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    q, v = np.array(d.qpos), np.array(d.qvel)
    if m.nq > m.nv:
        at = slice(3, 7) if free else slice(0, 4)
        q[at] = np.roll(q[at], -1)
    if free:
        v[:3] = rotation(d.qpos[3:7]).T @ v[:3]
    sim = hs.Simulator(hs.Scene(robot, self_contact=False), dt=DT)
    sim.reset(q0=q, v0=v)
    sim.step()
    new, old = np.ravel(sim.state["v"]), v.copy()
    if free:
        after = np.roll(np.ravel(sim.state["q"])[3:7], 1)
        new[:3], old[:3] = rotation(after) @ new[:3], d.qvel[:3]
    # rounding of a difference of velocities over DT is 1e-10; the step's error is 1e-5 at most
    np.testing.assert_allclose((new - old) / DT, d.qacc, rtol=0, atol=3e-5 * np.abs(d.qacc).max())
