"""A servo-driven robot in the air beside MuJoCo's: gains, torque limits, ranges and dry friction of
the same file, other integrators.

Both are of first order and treat the servo differently (MuJoCo: damping implicit, stiffness
explicit; here: both implicit), so they meet as the step falls, and the distance halves with it.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.robot.load import find_file
from tests.models import data_file

STEPS = (1e-3, 5e-4, 2.5e-4)  # [s]
DURATION = 0.1


def references(robot: hs.Robot, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """A pose, and another some way off, within the joints' ranges."""
    pose = next(iter(robot.poses.values()))
    away = pose.copy()
    away[7:] += reach * np.random.default_rng(2).uniform(-1, 1, robot.nq - 7)
    inside = np.clip(away, robot.lower + 0.05, robot.upper - 0.05)
    away[7:] = inside[7:]
    return pose, away


def peer(path, robot: hs.Robot, pose: np.ndarray, target: np.ndarray, dt: float) -> np.ndarray:
    """Joint angles of MuJoCo at the end, in the robot's order."""
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep = dt
    data = mujoco.MjData(model)
    data.qpos[:7] = [*pose[:3], pose[6], *pose[3:6]]
    names = [joint.name for joint in robot.joints[1:]]
    where = [model.joint(name).qposadr[0] for name in names]
    data.qpos[where] = pose[7:]
    data.qpos[2] = 10.0
    goal = dict(zip(names, target[7:], strict=True))
    for i in range(model.nu):
        data.ctrl[i] = goal[model.joint(model.actuator_trnid[i, 0]).name]
    mujoco.mj_step(model, data, round(DURATION / dt))
    return data.qpos[where]


def ours(sim: hs.Simulator, pose: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, float]:
    """Joint angles at the end by step, and the largest share of a torque limit."""
    sim.parameters["servo.q_ref"] = np.r_[np.zeros(6), target[7:]]
    ends, share = [], 0.0
    for dt in STEPS:
        sim.parameters["dt"] = dt
        data = sim.run(DURATION, q0=pose, record=["q", "torque"]).data
        ends.append(data["q"].values[0, -1, 7:])
        taken = np.abs(data["torque"].values[0, :, 6:]) / sim.robot.torque_limit[6:]
        share = max(share, taken.max())
    return np.array(ends), share


@pytest.mark.parametrize("name", ["hoap1", "g1"])
def test_joints_move_as_in_mujoco(name):
    path = find_file(name) if name == "hoap1" else data_file("robots/g1.xml")
    robot = hs.load(path, collide="feet")
    start = next(iter(robot.poses.values()))
    sim = hs.Simulator(hs.Scene(robot), control=hs.Servo(reference=start))
    # where dry friction holds a joint its place is known to F / kp; MuJoCo's friction creeps
    held = (robot.friction[6:] / robot.kp[6:]).max()
    for reach in (0.02, 0.3):
        pose, target = references(robot, reach)
        found, share = ours(sim, pose, target)
        expected = np.array([peer(path, robot, pose, target, dt) for dt in STEPS])
        apart = np.abs(found - expected).max(axis=1)
        assert np.abs(found[-1] - pose[7:]).max() > 0.5 * reach
        # measured: 5 reach dt for hoap1, 21 reach dt for G1
        assert (apart < 25 * reach * np.array(STEPS) + 1.1 * held).all()
        if held == 0:
            assert np.allclose(apart[:-1] / apart[1:], 2, rtol=0.05)
    assert share == 1.0  # limits were reached in the long one
