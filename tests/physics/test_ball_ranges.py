"""Ranges of ball joints against the closed form of a mass that leans on its cone, and MuJoCo's.

A pendulum on a ball joint that is held against gravity at the angle A + d has
k d = m g l sin(A + d): upside down, it falls until its cone carries it.
"""

import mujoco
import numpy as np
import pytest

import heelstrike as hs

PENDULUM = """<mujoco><compiler angle="radian"/><worldbody><body name="a">
  <joint name="w" type="ball" range="0 .5" damping=".05"/>
  <inertial pos="0 0 .4" mass="2" diaginertia=".01 .01 .005"/></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory):
    path = tmp_path_factory.mktemp("ball") / "pendulum.xml"
    path.write_text(PENDULUM)
    return path


def test_rests_on_its_cone(pendulum):
    """It begins to fall in the direction (0.8, 0.6), and rests there beyond 0.5 rad."""
    robot = hs.load(pendulum)
    assert robot.fidelity == ()
    k = 400.0
    sim = hs.Simulator(hs.Scene(robot), dt=1e-3, stops=hs.Stops(k=k, c=4.0))
    e = 0.3 * np.array([0.8, 0.6, 0.0])
    q0 = [*(np.sin(0.15) * e / 0.3), np.cos(0.15)]
    end = np.ravel(sim.run(8.0, q0=q0).data["q"].values[0, -1])
    angle = 2 * np.arctan2(np.linalg.norm(end[:3]), end[3])
    d = 0.0
    for _ in range(50):
        d = 2 * 9.81 * 0.4 * np.sin(0.5 + d) / k
    assert angle == pytest.approx(0.5 + d, abs=1e-5)
    # along the cone nothing holds it: the impact, which the bound of its slope skews, moves it
    assert end[:2] / np.linalg.norm(end[:3]) == pytest.approx([0.8, 0.6], abs=5e-3)


def test_stiff_cone_is_stable_and_holds_the_angle(pendulum):
    """Thrown about at 6 rad/s on a stop of 1e6 N m/rad it stays within 1e-3 rad of its range."""
    sim = hs.Simulator(hs.Scene(hs.load(pendulum)), dt=1e-3, stops=hs.Stops(k=1e6, c=1e3))
    q = sim.run(2.0, v0=[6.0, 1.0, 3.0]).data["q"].values.reshape(-1, 4)
    angles = 2 * np.arctan2(np.linalg.norm(q[:, :3], axis=1), np.abs(q[:, 3]))
    assert 0.49 < angles.max() < 0.5 + 1e-2  # a step of 6 rad/s: 6 mrad
    assert angles[500:].max() < 0.5 + 1e-3


def test_mujoco_limits_the_same_angle(pendulum):
    """MuJoCo's constraint is active beyond the angle at which the stop begins."""
    m = mujoco.MjModel.from_xml_path(str(pendulum))
    (cone,) = hs.load(pendulum).cones
    for angle, rows in ((cone.angle - 1e-6, 0), (cone.angle + 1e-6, 1)):
        d = mujoco.MjData(m)
        d.qpos[:] = [np.cos(angle / 2), 0, -np.sin(angle / 2), 0]
        mujoco.mj_forward(m, d)
        assert d.nefc == rows
