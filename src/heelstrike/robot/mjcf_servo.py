"""Default gains and torque limits of hs.Servo, from the actuators of an MJCF.

An actuator of one joint with arm r applies r (g u + b_0 + b_1 r q + b_2 r q_dot), so at the joint

    kp = -r^2 b_1        kd = -r^2 b_2

summed over the actuators of a joint. A servo acts at once and has no other limits; hs.Actuators
has all of an actuator.
"""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np

from heelstrike.robot.actuators import Actuator
from heelstrike.robot.mjcf_model import ModelJoint
from heelstrike.robot.mjcf_tendons import scalar_joints
from heelstrike.robot.robot import Robot
from heelstrike.robot.xml import RobotFile


def with_servo(
    file: RobotFile, robot: Robot, mj: mujoco.MjModel, joints: list[ModelJoint]
) -> Robot:
    """Return the robot with the gains and torque limits of its actuators."""
    kp, kd, limit = np.zeros(robot.nv), np.zeros(robot.nv), np.full(robot.nv, np.inf)
    spans: dict[int, np.ndarray] = {}
    for actuator in robot.actuators:
        if len(actuator.arms) == 1:
            ((at, arm),) = actuator.arms
            kp[at] -= arm**2 * actuator.bias[1]
            kd[at] -= arm**2 * actuator.bias[2]
            spans[at] = spans.get(at, 0) + torque_range(actuator)
    for joint, at in scalar_joints(robot, joints).items():
        span = spans.get(at, np.array([-np.inf, np.inf]))
        if joint >= 0 and mj.jnt_actfrclimited[joint]:
            low, high = mj.jnt_actfrcrange[joint]
            span = np.array([max(span[0], low), min(span[1], high)])
        if span[0] != -span[1]:
            name = next(j.name for j in robot.joints if j.iv == at)
            file.warn(
                f"the torque range {span.tolist()} of joint '{name}' is not symmetric; hs.Servo "
                "has its larger end both ways",
                f"joint '{name}'",
                "file",
            )
        limit[at] = np.abs(span).max()
    if robot.model is not None:
        robot.model.upperEffortLimit, robot.model.lowerEffortLimit = limit, -limit
    return replace(robot, kp=kp, kd=kd, torque_limit=limit)


def torque_range(actuator: Actuator) -> np.ndarray:
    """Return the lowest and the highest torque of an actuator of one joint [N m or N]."""
    limits = np.array([-np.inf, np.inf])
    if actuator.control_range is not None and actuator.kind == "motor":
        limits = np.sort(actuator.gain[0] * np.array(actuator.control_range))
    if actuator.force_range is not None:
        low, high = actuator.force_range
        limits = np.array([max(limits[0], low), min(limits[1], high)])
    return np.sort(actuator.arms[0][1] * limits)
