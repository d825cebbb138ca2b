"""Parts of an MJCF that MuJoCo simulates and we do not, and values that we refuse.

MuJoCo reads all of them without a message. What acts on the motion is refused or named in a
warning, never dropped silently.
"""

from __future__ import annotations

import mujoco
import numpy as np
from mujoco import mjtDisableBit, mjtLimited

from heelstrike.robot.mjcf_equality import equality_name, unread_equalities
from heelstrike.robot.mjcf_model import has_no, is_off, joint_label, name_of
from heelstrike.robot.mjcf_tendons import tendon_label
from heelstrike.robot.xml import RobotFile

FINITE = (
    "body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia", "jnt_pos",
    "jnt_axis", "dof_armature", "dof_damping", "dof_frictionloss", "qpos0", "site_pos",
    "site_quat", "geom_pos", "geom_quat", "geom_size", "key_qpos", "actuator_gear",
    "actuator_gainprm", "actuator_biasprm", "actuator_armature", "actuator_damping",
)  # fmt: skip
"""Arrays of the compiled model that are used here and must be finite."""
DEFAULT_STIFFNESS = 1 / 0.02**2
"""Stiffness of a constraint of MuJoCo's default solref, "0.02 1", per mass [1/s^2]."""
NOT_NEGATIVE = {
    "armature": "dof_armature", "damping": "dof_damping", "frictionloss": "dof_frictionloss"
}  # fmt: skip


def refuse_impossible(file: RobotFile, spec: mujoco.MjSpec, mj: mujoco.MjModel) -> None:
    """Raise a LoadError for values and parts that cannot be simulated."""
    if mj.nbody < 2:
        file.fail("has no <body> in its <worldbody>", remedy="a robot needs at least one")
    for name in FINITE:
        if not np.isfinite(getattr(mj, name)).all():
            file.fail(f"'{name}' of the compiled model is not finite", value=name)
    for key, array in NOT_NEGATIVE.items():
        for i in np.flatnonzero(getattr(mj, array) < 0):
            what = joint_label(mj, int(mj.dof_jntid[i]))
            file.fail(f"{key} of {what} is negative", value=key, allowed="0 or more")
    for joint in spec.joints:
        what = f"joint '{joint.name}'" if joint.name else f"the joint of '{joint.parent.name}'"
        _check_range(file, f"range of {what}", joint.range, joint.limited)
        _check_range(file, f"actuatorfrcrange of {what}", joint.actfrcrange, joint.actfrclimited)
    for actuator in spec.actuators:
        what = (
            f"actuator '{actuator.name}'"
            if actuator.name
            else f"the actuator of '{actuator.target}'"
        )
        _check_range(file, f"ctrlrange of {what}", actuator.ctrlrange, actuator.ctrllimited)
        _check_range(file, f"forcerange of {what}", actuator.forcerange, actuator.forcelimited)
    if (mj.body_plugin >= 0).any():
        file.fail("has plugins in bodies, which are not simulated", remedy="remove them")
    if mj.nflex:
        file.fail("has flexible bodies, which are not simulated", remedy="remove them")


def _check_range(file: RobotFile, what: str, limits: np.ndarray, limited: int) -> None:
    if limited != mjtLimited.mjLIMITED_FALSE and limits[0] > limits[1]:
        text = f"{limits[0]:g} {limits[1]:g}"
        file.fail(f"the {what} is '{text}'", value=text, remedy="give the lower end first")


def warn_unmodelled(file: RobotFile, spec: mujoco.MjSpec, mj: mujoco.MjModel) -> None:
    """Warn about everything that acts on the motion in MuJoCo and is not simulated."""
    if names := unread_equalities(mj):
        plural = "equality constraint" + "s" * (len(names) > 1)
        listed = ", ".join(names)
        file.warn(f"{len(names)} {plural} left out, the joints move freely: {listed}", listed)
    for body in range(1, mj.nbody):
        if mj.body_mocapid[body] >= 0:
            name = f"body '{name_of(mj, body)}'"
            file.warn(f"mocap {name} is fixed to the world", name, "file")
    _warn_joints(file, mj)
    _warn_lifts(file, mj)
    _warn_soft(file, mj)


def _warn_lifts(file: RobotFile, mj: mujoco.MjModel) -> None:
    """Warn of gravity compensation by actuators, which is applied like that of bodies."""
    if not mj.ngravcomp or is_off(mj, mjtDisableBit.mjDSBL_GRAVITY):
        return
    idle = mj.nu == 0 or is_off(mj, mjtDisableBit.mjDSBL_ACTUATION)
    for i in np.flatnonzero(mj.jnt_actgravcomp):
        what = joint_label(mj, int(i))
        if idle:
            why = "MuJoCo leaves it out where no actuator acts"
            file.warn(f"gravity compensation at {what} acts all the same", what, why=why)
        elif mj.jnt_actfrclimited[i]:
            file.warn(f"actuatorfrcrange of {what} does not limit its gravity compensation", what)


def _warn_soft(file: RobotFile, mj: mujoco.MjModel) -> None:
    """Name constraints and stops that the file makes softer than MuJoCo does by default."""
    if not has_no(mj, mjtDisableBit.mjDSBL_EQUALITY):
        active = np.flatnonzero(mj.eq_active0)
        for i in (int(i) for i in active if _is_soft(mj.eq_solref[i])):
            name = equality_name(mj, i)
            solref = " ".join(f"{x:g}" for x in mj.eq_solref[i])
            why = f"its solref, {solref}, makes it a spring in MuJoCo"
            file.warn(f"equality constraint {name} is rigid", name, why=why)
    if has_no(mj, mjtDisableBit.mjDSBL_LIMIT):
        return
    joints, tendons = np.flatnonzero(mj.jnt_limited), np.flatnonzero(mj.tendon_limited)
    soft = [joint_label(mj, int(i)) for i in joints if _is_soft(mj.jnt_solref[i])]
    soft += [tendon_label(mj, int(i)) for i in tendons if _is_soft(mj.tendon_solref_lim[i])]
    if soft:
        listed = ", ".join(soft)
        why = "their solreflimit makes them softer than by default in MuJoCo"
        file.warn(f"stops are those of hs.Stops: {listed}", listed, why=why)


def _is_soft(solref: np.ndarray) -> bool:
    """Return whether a solref is softer than the default, by more than rounding."""
    time, ratio = (float(x) for x in solref)
    stiffness = 1 / (time * ratio) ** 2 if time > 0 and ratio > 0 else -time
    return stiffness < 0.99 * DEFAULT_STIFFNESS


def _warn_joints(file: RobotFile, mj: mujoco.MjModel) -> None:
    for i in range(mj.njnt):
        what = joint_label(mj, i)
        if np.any(mj.dof_dampingpoly[mj.jnt_dofadr[i]]):
            file.warn(f"of the damping of {what} only the linear term is used", what)
