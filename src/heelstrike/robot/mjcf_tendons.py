"""Fixed tendons of a compiled MJCF, which are linear in the joints.

A tendon without stiffness, damping, limit, dry friction and armature does nothing by itself; its
actuators are read by mjcf_actuators.py.
"""

from __future__ import annotations

import mujoco
import numpy as np
from mujoco import mjtDisableBit, mjtWrap

from heelstrike.robot.actuators import Arms, Tendon
from heelstrike.robot.mjcf_model import ModelJoint, has_no, is_off
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
    return tuple(arms.items())


def read_tendons(
    file: RobotFile, robot: Robot, mj: mujoco.MjModel, joints: list[ModelJoint]
) -> tuple[Tendon, ...]:
    """Return the fixed tendons with a spring or damping; warn of what else tendons have."""
    found, where = [], scalar_joints(robot, joints)
    for i in range(mj.ntendon):
        label, arms = tendon_label(mj, i), tendon_arms(mj, i, where)
        spring = 0.0 if is_off(mj, mjtDisableBit.mjDSBL_SPRING) else float(mj.tendon_stiffness[i])
        damper = 0.0 if is_off(mj, mjtDisableBit.mjDSBL_DAMPER) else float(mj.tendon_damping[i])
        lost = _unsupported(mj, i)
        if arms is None:
            lost += ["the spring"] * bool(spring) + ["damping"] * bool(damper)
        elif spring or damper:
            low, high = (float(x) for x in mj.tendon_lengthspring[i])
            name = mj.tendon(i).name or f"tendon{i}"
            found.append(Tendon(name, arms, spring, (low, high), damper))
        if lost:
            kind = "the spatial " if arms is None else ""
            why = "only fixed tendons are simulated" if arms is None else ""
            file.warn(f"left out of {kind}{label}: {', '.join(lost)}", label, why=why)
    return tuple(found)


def _unsupported(mj: mujoco.MjModel, i: int) -> list[str]:
    """Return what a tendon has that no tendon is simulated with."""
    limited = mj.tendon_limited[i] and not has_no(mj, mjtDisableBit.mjDSBL_LIMIT)
    rubs = mj.tendon_frictionloss[i] and not has_no(mj, mjtDisableBit.mjDSBL_FRICTIONLOSS)
    curved = np.any(mj.tendon_stiffnesspoly[i]) or np.any(mj.tendon_dampingpoly[i])
    parts = {
        "the limit": limited,
        "the dry friction": rubs,
        "the armature": mj.tendon_armature[i],
        "terms of higher order": curved,
        "yielding": mj.tendon_springyield[i] > 0 and mj.tendon_stiffness[i],
    }
    return [name for name, has in parts.items() if has]
