"""Springs at joints and gravity compensation of a compiled MJCF."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
from mujoco import mjtDisableBit, mjtJoint

from heelstrike.robot.mjcf_model import Carriers, ModelJoint, has_no, is_off, joint_label
from heelstrike.robot.robot import Robot
from heelstrike.robot.springs import Cone, Spring
from heelstrike.robot.xml import RobotFile


def read_springs(
    file: RobotFile, robot: Robot, mj: mujoco.MjModel, joints: list[ModelJoint], rest: np.ndarray
) -> tuple[Spring, ...]:
    """Return the springs of the robot's joints, which are relaxed at q = `rest`."""
    if is_off(mj, mjtDisableBit.mjDSBL_SPRING):
        return ()
    springs = []
    for number, (theirs, joint) in enumerate(zip(joints, robot.joints, strict=True)):
        i = theirs.index
        if i < 0:
            continue
        label, stiffness = joint_label(mj, i), float(mj.jnt_stiffness[i])
        if np.any(mj.jnt_stiffnesspoly[i]):
            file.warn(f"of the stiffness of {label} only the linear term is used", label)
        if mj.jnt_springyield[i] > 0 and (stiffness or np.any(mj.jnt_stiffnesspoly[i])):
            file.warn(f"the spring of {label} does not yield: springyield is not simulated", label)
        if stiffness < 0:
            file.fail(f"stiffness of {label} is negative", value=stiffness, allowed="0 or more")
        if stiffness:
            springs.append(Spring(number, stiffness, rest[joint.q_slice].copy()))
    return tuple(springs)


def read_cones(mj: mujoco.MjModel, joints: list[ModelJoint]) -> tuple[Cone, ...]:
    """Return the ranges of ball joints."""
    if has_no(mj, mjtDisableBit.mjDSBL_LIMIT):
        return ()
    return tuple(
        Cone(k, max(0.0, float(mj.jnt_range[joint.index].max() - mj.jnt_margin[joint.index])))
        for k, joint in enumerate(joints)
        if joint.index >= 0
        and mj.jnt_type[joint.index] == mjtJoint.mjJNT_BALL
        and mj.jnt_limited[joint.index]
    )


def with_lift(robot: Robot, mj: mujoco.MjModel, carriers: Carriers) -> Robot:
    """Return the robot whose bodies have the gravity compensation of their links."""
    if is_off(mj, mjtDisableBit.mjDSBL_GRAVITY) or not mj.ngravcomp:  # 0 unless some body is lifted
        return robot
    bodies = list(robot.bodies)
    for link in np.flatnonzero(mj.body_gravcomp):
        carrier, place = carriers[link]
        if carrier == 0:
            continue
        mass = float(mj.body_gravcomp[link] * mj.body_mass[link])
        body = bodies[carrier - 1]
        bodies[carrier - 1] = replace(
            body,
            lifted=body.lifted + mass,
            lifted_moment=body.lifted_moment + mass * place.act(np.array(mj.body_ipos[link])),
        )
    return replace(robot, bodies=tuple(bodies))
