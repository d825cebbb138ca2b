"""Tendons of a compiled MJCF: fixed ones, linear in the joints, and spatial ones without wrapping.

A tendon without stiffness, damping, limit, dry friction and armature does nothing by itself; its
actuators are read by mjcf_actuators.py.
"""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
from mujoco import mjtDisableBit, mjtEq, mjtWrap

from heelstrike.robot.actuators import STOP_RATE, Arms, Path, Range, SpatialTendon, Tendon
from heelstrike.robot.cord_mass import cord_mass
from heelstrike.robot.mjcf_model import Carriers, ModelJoint, has_no, is_off, within_margin
from heelstrike.robot.robot import Robot
from heelstrike.robot.xml import RobotFile


def tendon_label(mj: mujoco.MjModel, i: int) -> str:
    """Return how warnings name a tendon."""
    return f"tendon '{mj.tendon(i).name}'" if mj.tendon(i).name else f"tendon {i}"


def scalar_joints(robot: Robot, joints: list[ModelJoint]) -> dict[int, int]:
    """Return the velocity index of each joint of MuJoCo's model that has one coordinate."""
    pairs = zip(joints, robot.joints, strict=True)
    return {theirs.index: ours.iv for theirs, ours in pairs if ours.nv == 1}


def tendon_arms(mj: mujoco.MjModel, i: int, where: dict[int, int]) -> Arms | None:
    """Return the arms of a fixed tendon; None if it is spatial or has a joint that is removed."""
    arms: dict[int, float] = {}
    for k in range(mj.tendon_adr[i], mj.tendon_adr[i] + mj.tendon_num[i]):
        joint = int(mj.wrap_objid[k])
        if mj.wrap_type[k] != mjtWrap.mjWRAP_JOINT or joint not in where:
            return None
        arms[where[joint]] = arms.get(where[joint], 0.0) + float(mj.wrap_prm[k])
    return tuple((at, arm) for at, arm in arms.items() if arm)


def tendon_path(mj: mujoco.MjModel, i: int, carriers: Carriers) -> Path | None:
    """Return the points of a spatial tendon; None if it is fixed, wraps or has pulleys."""
    path = []
    for k in range(mj.tendon_adr[i], mj.tendon_adr[i] + mj.tendon_num[i]):
        if mj.wrap_type[k] != mjtWrap.mjWRAP_SITE:
            return None
        site = int(mj.wrap_objid[k])
        carrier, place = carriers[mj.site_bodyid[site]]
        path.append((carrier - 1, np.array(place.act(np.array(mj.site_pos[site])))))
    return tuple(path)


def with_tendons(
    file: RobotFile,
    robot: Robot,
    mj: mujoco.MjModel,
    joints: list[ModelJoint],
    carriers: Carriers,
    q0: np.ndarray,
) -> Robot:
    """Return the robot with the tendons that act by themselves; warn of what is left out.

    What a tendon of one joint does to it alone is in `with_tendons_of_one_joint`.
    """
    fixed: list[Tendon] = []
    spatial: list[SpatialTendon] = []
    where = scalar_joints(robot, joints)
    for i in range(mj.ntendon):
        label, arms = tendon_label(mj, i), tendon_arms(mj, i, where)
        spring = 0.0 if is_off(mj, mjtDisableBit.mjDSBL_SPRING) else float(mj.tendon_stiffness[i])
        damper = 0.0 if is_off(mj, mjtDisableBit.mjDSBL_DAMPER) else float(mj.tendon_damping[i])
        limited, several = _is_limited(mj, i), arms is None or len(arms) > 1
        lost, path = _unsupported(mj, i, several), tendon_path(mj, i, carriers)
        name = mj.tendon(i).name or f"tendon{i}"
        rest = (float(mj.tendon_lengthspring[i, 0]), float(mj.tendon_lengthspring[i, 1]))
        ends = _ends(mj, i)
        if arms is not None:
            limit = ends if limited and several else None
            if spring or damper or limit:
                fixed.append(Tendon(name, arms, spring, rest, damper, limit))
        else:
            if path is None:
                lost += ["the spring"] * bool(spring) + ["damping"] * bool(damper)
                lost += ["the limit"] * limited
            elif spring or damper or limited:
                cord = SpatialTendon(name, path, spring, rest, damper)
                spatial.append(_with_limit(cord, robot, q0, ends) if limited else cord)
        if lost:
            kind = "the spatial " if arms is None else ""
            why = "it wraps around geoms, or has pulleys" if arms is None and path is None else ""
            file.warn(f"left out of {kind}{label}: {', '.join(lost)}", label, why=why)
    return replace(robot, tendons=tuple(fixed), spatial_tendons=tuple(spatial))


def _with_limit(cord: SpatialTendon, robot: Robot, q0: np.ndarray, ends: Range) -> SpatialTendon:
    """Return a tendon with a range, whose stops are as stiff as the mass that it moves asks for."""
    return replace(cord, limit=ends, stop=STOP_RATE**2 * cord_mass(robot, cord.path, q0))


def _ends(mj: mujoco.MjModel, i: int) -> Range:
    low, high = within_margin(mj.tendon_range[i], float(mj.tendon_margin[i]))
    return float(low), float(high)


def _is_limited(mj: mujoco.MjModel, i: int) -> bool:
    return bool(mj.tendon_limited[i]) and not has_no(mj, mjtDisableBit.mjDSBL_LIMIT)


def _is_held(mj: mujoco.MjModel, i: int) -> bool:
    """Return whether an equality keeps the length of a tendon, so that dry friction is nothing."""
    held = (mj.eq_type == mjtEq.mjEQ_TENDON) & (mj.eq_active0 != 0) & (mj.eq_obj2id < 0)
    return i in mj.eq_obj1id[held] and not has_no(mj, mjtDisableBit.mjDSBL_EQUALITY)


def _unsupported(mj: mujoco.MjModel, i: int, several: bool) -> list[str]:
    """Return what a tendon has that one over several joints, or any, is not simulated with."""
    rubs = mj.tendon_frictionloss[i] and not has_no(mj, mjtDisableBit.mjDSBL_FRICTIONLOSS)
    rubs = rubs and not _is_held(mj, i)
    curved = np.any(mj.tendon_stiffnesspoly[i]) or np.any(mj.tendon_dampingpoly[i])
    parts = {
        "the dry friction": several and rubs,
        "the armature": several and mj.tendon_armature[i],
        "terms of higher order": curved,
        "yielding": mj.tendon_springyield[i] > 0 and mj.tendon_stiffness[i],
    }
    return [name for name, has in parts.items() if has]


def with_tendons_of_one_joint(robot: Robot, mj: mujoco.MjModel, joints: list[ModelJoint]) -> Robot:
    """Return the robot whose joints have limit, friction and armature of tendons over them alone.

    A tendon of one joint limits its coordinate to range / arm, rubs with |arm| times its dry
    friction, and adds arm^2 times its armature.
    """
    lower, upper = robot.lower.copy(), robot.upper.copy()
    friction, armature = robot.friction.copy(), robot.armature.copy()
    coordinate = {joint.iv: joint.iq for joint in robot.joints}
    for i in range(mj.ntendon):
        arms = tendon_arms(mj, i, scalar_joints(robot, joints))
        if arms is None or len(arms) != 1:
            continue
        ((at, arm),) = arms
        if _is_limited(mj, i):
            low, high = np.sort(np.array(_ends(mj, i)) / arm)
            iq = coordinate[at]
            lower[iq], upper[iq] = max(lower[iq], low), min(upper[iq], high)
        if not has_no(mj, mjtDisableBit.mjDSBL_FRICTIONLOSS):
            friction[at] += abs(arm) * mj.tendon_frictionloss[i]
        armature[at] += arm**2 * mj.tendon_armature[i]
    if robot.model is not None:
        robot.model.armature = armature
        robot.model.lowerPositionLimit, robot.model.upperPositionLimit = lower, upper
    return replace(robot, lower=lower, upper=upper, friction=friction, armature=armature)
