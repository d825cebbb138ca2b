"""The `actuatorfrcrange` of joints and tendons of a compiled MJCF: limits of sums of forces.

MuJoCo limits what all actuators together exert on a joint, or along a tendon. Where one actuator
acts alone, this is a force range of its own; a range of several is left out with a warning.
Actuators are given and returned by their index in MuJoCo's model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import mujoco
import numpy as np
from mujoco import mjtTrn

from heelstrike.robot.actuators import Actuator
from heelstrike.robot.mjcf_model import joint_label
from heelstrike.robot.mjcf_tendons import tendon_label
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.robot.xml import RobotFile


def within_joints(
    file: RobotFile,
    mj: mujoco.MjModel,
    where: Mapping[int, int],
    robot: Robot,
    actuators: Mapping[int, Actuator],
) -> dict[int, Actuator]:
    """Return the actuators within the ranges of joints; `where` has their velocity indices."""
    found = dict(actuators)
    for joint, at in where.items():
        acting = [i for i, own in found.items() if _acts_on(robot, own, at)]
        if joint < 0 or not mj.jnt_actfrclimited[joint] or not acting:
            continue
        arms = found[acting[0]].arms
        if len(acting) > 1 or len(arms) != 1:
            label = joint_label(mj, joint)
            file.warn(f"actuatorfrcrange of {label} is left out: it limits a sum", label)
            continue
        ends = np.sort(mj.jnt_actfrcrange[joint] / arms[0][1])
        found[acting[0]] = _within(found[acting[0]], ends)
    return found


def within_tendons(
    file: RobotFile, mj: mujoco.MjModel, actuators: Mapping[int, Actuator]
) -> dict[int, Actuator]:
    """Return the actuators within the ranges of tendons."""
    found = dict(actuators)
    of_tendons = mj.actuator_trntype == int(mjtTrn.mjTRN_TENDON)
    for tendon in np.flatnonzero(mj.tendon_actfrclimited):
        acting = [i for i in found if of_tendons[i] and mj.actuator_trnid[i, 0] == tendon]
        if len(acting) > 1:
            label = tendon_label(mj, int(tendon))
            file.warn(f"actuatorfrcrange of {label} is left out: it limits a sum", label)
        elif acting:
            found[acting[0]] = _within(found[acting[0]], mj.tendon_actfrcrange[tendon])
    return found


def _acts_on(robot: Robot, actuator: Actuator, at: int) -> bool:
    """Return whether an actuator may exert a torque on the joint of a velocity index."""
    if actuator.arms:
        return any(index == at and arm for index, arm in actuator.arms)
    own = actuator.wrench
    ends = [body for body, _ in actuator.path] if own is None else [WORLD, own.body]
    return len({_is_moved(robot, body, at) for body in ends}) > 1  # some of its points, not all


def _is_moved(robot: Robot, body: int, at: int) -> bool:
    """Return whether the joint of a velocity index moves a body."""
    while body != WORLD and robot.joints[body].iv != at:
        body = robot.joints[body].parent
    return body != WORLD


def _within(actuator: Actuator, ends: np.ndarray) -> Actuator:
    """Return an actuator whose force is within a range as well."""
    low, high = actuator.force_range or (-np.inf, np.inf)
    return replace(actuator, force_range=(max(float(ends[0]), low), min(float(ends[1]), high)))
