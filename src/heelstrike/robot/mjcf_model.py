"""The Pinocchio model of a compiled MJCF: joints, masses and frames.

A body with several joints becomes a chain of joints whose inner bodies have no mass.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
import pinocchio as pin
from mujoco import mjtDisableBit, mjtJoint
from scipy.spatial.transform import Rotation

from heelstrike.robot.convert import joint_model

KINDS = {
    mjtJoint.mjJNT_HINGE: "revolute",
    mjtJoint.mjJNT_SLIDE: "prismatic",
    mjtJoint.mjJNT_BALL: "spherical",
    mjtJoint.mjJNT_FREE: "free",
}
ADDED = -1
"""Index of a free joint that the file does not have."""
ROUNDING = 1e-15
"""Size below which an entry of a rotation, or a product of inertia as a share of the trace, is
rounding of MuJoCo's quaternions [-]: exact zeros keep the traced code short."""

Carriers = list[tuple[int, pin.SE3]]
"""For each body of MuJoCo, the Pinocchio joint that carries it and its placement there."""


@dataclass(frozen=True)
class ModelJoint:
    """A joint of the Pinocchio model, in its order."""

    name: str
    index: int
    """Index in MuJoCo's model, or ADDED."""
    body: int
    """MuJoCo's body that it moves."""


def placement(quat: np.ndarray, pos: np.ndarray) -> pin.SE3:
    """Return the placement of a quaternion wxyz and a position."""
    return pin.SE3(rotation(quat), np.array(pos))


def rotation(quat: np.ndarray) -> np.ndarray:
    """Return the rotation matrix of a quaternion wxyz, with exact entries of 0, 1 and -1."""
    R = Rotation.from_quat(np.asarray(quat)[[1, 2, 3, 0]]).as_matrix()
    nearest = np.rint(R)
    return np.where(np.abs(R - nearest) < ROUNDING, nearest, R)


def name_of(model: mujoco.MjModel, body: int) -> str:
    """Return the name of a body; unnamed ones are numbered."""
    name = model.body(body).name
    if name:
        return str(name)
    name = f"body{body}"
    while mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name) >= 0:
        name += "_"
    return name


def joint_label(model: mujoco.MjModel, joint: int) -> str:
    """Return how errors and warnings name a joint."""
    name = model.joint(joint).name
    return (
        f"joint '{name}'" if name else f"the joint of '{name_of(model, model.jnt_bodyid[joint])}'"
    )


def joints_of(model: mujoco.MjModel, base: str) -> list[ModelJoint]:
    """Return the joints; `base` "fixed" removes free ones, "floating" adds one to the root."""
    joints = []
    taken = {model.joint(i).name for i in range(model.njnt)}
    for body in range(1, model.nbody):
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        for k in range(count):
            name = model.joint(first + k).name
            if not name:
                name = name_of(model, body) if count == 1 else f"{name_of(model, body)}.{k}"
                name = _unused(name, "_joint", taken)
            if base != "fixed" or model.jnt_type[first + k] != mjtJoint.mjJNT_FREE:
                joints.append(ModelJoint(name, first + k, body))
    if base == "floating" and not (model.jnt_type == mjtJoint.mjJNT_FREE).any():
        joints.insert(0, ModelJoint(_unused("root", "_free", taken), ADDED, 1))
    return joints


def _unused(name: str, suffix: str, taken: set[str]) -> str:
    while name in taken:
        name += suffix
    taken.add(name)
    return name


def build_model(
    mj: mujoco.MjModel, joints: list[ModelJoint], name: str
) -> tuple[pin.Model, Carriers]:
    """Return the Pinocchio model with these joints, and what carries each body."""
    model = pin.Model()
    model.name = name
    model.gravity.linear = gravity(mj)
    carriers: Carriers = [(0, pin.SE3.Identity())]
    for body in range(1, mj.nbody):
        carrier, place = carriers[mj.body_parentid[body]]
        place = place * placement(mj.body_quat[body], mj.body_pos[body])
        for joint in joints:
            if joint.body == body:
                carrier, place = _add_joint(model, mj, joint, carrier, place)
        model.appendBodyToJoint(carrier, _inertia(mj, body), place)
        frame = model.getFrameId(model.names[carrier], pin.FrameType.JOINT) if carrier else 0
        model.addBodyFrame(name_of(mj, body), carrier, place, frame)
        for i in np.flatnonzero(mj.site_bodyid == body):
            site = mj.site(int(i)).name
            if site:
                here = place * placement(mj.site_quat[i], mj.site_pos[i])
                model.addFrame(pin.Frame(site, carrier, frame, here, pin.FrameType.OP_FRAME))
        carriers.append((carrier, place))
    return model, carriers


def is_off(mj: mujoco.MjModel, flag: mjtDisableBit) -> bool:
    """Return whether a flag of <option> switches something off."""
    return bool(mj.opt.disableflags & flag)


def has_no(mj: mujoco.MjModel, constraint: mjtDisableBit) -> bool:
    """Return whether a kind of constraints is off, by its own flag or with all constraints."""
    return is_off(mj, constraint) or is_off(mj, mjtDisableBit.mjDSBL_CONSTRAINT)


def within_margin(ends: np.ndarray, margin: float) -> np.ndarray:
    """Return the range in which nothing pushes: MuJoCo's stops rest at a margin before its ends."""
    inset = min(margin, float(ends[1] - ends[0]) / 2)
    return np.array([ends[0] + inset, ends[1] - inset])


def gravity(mj: mujoco.MjModel) -> np.ndarray:
    """Return gravity in world axes, (3,) [m/s^2]."""
    return np.zeros(3) if is_off(mj, mjtDisableBit.mjDSBL_GRAVITY) else np.array(mj.opt.gravity)


def _add_joint(
    model: pin.Model, mj: mujoco.MjModel, joint: ModelJoint, carrier: int, place: pin.SE3
) -> tuple[int, pin.SE3]:
    """Add a joint to a body placed on a carrier; return the new carrier and placement."""
    if joint.index == ADDED:
        new = model.addJoint(carrier, pin.JointModelFreeFlyer(), pin.SE3.Identity(), joint.name)
        model.addJointFrame(new)
        return new, pin.SE3.Identity()
    i = joint.index
    kind, axis = KINDS[mjtJoint(mj.jnt_type[i])], np.array(mj.jnt_axis[i])
    ref = mj.qpos0[mj.jnt_qposadr[i]]  # qpos = ref where the file draws the joint
    offset = pin.SE3(np.eye(3), np.array(mj.jnt_pos[i]))
    if kind == "free":  # its coordinates are those of the body in the world
        at = offset = pin.SE3.Identity()
    elif kind == "revolute":
        at = place * offset * pin.SE3(pin.exp3(-ref * axis), np.zeros(3))
    elif kind == "prismatic":
        at = place * offset * pin.SE3(np.eye(3), -ref * axis)
    else:
        at = place * offset
    new = model.addJoint(carrier, joint_model(kind, axis), at, joint.name)
    model.addJointFrame(new)
    ours = slice(model.idx_vs[new], model.idx_vs[new] + model.nvs[new])
    theirs = slice(mj.jnt_dofadr[i], mj.jnt_dofadr[i] + model.nvs[new])
    model.armature[ours] = mj.dof_armature[theirs]
    if not is_off(mj, mjtDisableBit.mjDSBL_DAMPER):
        model.damping[ours] = mj.dof_damping[theirs]
    if not has_no(mj, mjtDisableBit.mjDSBL_FRICTIONLOSS):
        model.upperDryFrictionLimit[ours] = mj.dof_frictionloss[theirs]
        model.lowerDryFrictionLimit[ours] = -mj.dof_frictionloss[theirs]
    stops = not has_no(mj, mjtDisableBit.mjDSBL_LIMIT)
    limited = stops and mj.jnt_limited[i] and kind in ("revolute", "prismatic")
    limits = np.array([-np.inf, np.inf])
    if limited:
        limits = within_margin(mj.jnt_range[i], float(mj.jnt_margin[i]))
    q = slice(model.idx_qs[new], model.idx_qs[new] + model.nqs[new])
    model.lowerPositionLimit[q], model.upperPositionLimit[q] = limits
    return new, offset.inverse()


def _inertia(mj: mujoco.MjModel, body: int) -> pin.Inertia:
    """Return a body's mass and inertia in its own frame, without products that are rounding."""
    R = rotation(mj.body_iquat[body])
    inertia = R @ np.diag(mj.body_inertia[body]) @ R.T
    inertia = np.where(np.abs(inertia) > ROUNDING * np.trace(inertia), inertia, 0.0)
    return pin.Inertia(float(mj.body_mass[body]), np.array(mj.body_ipos[body]), inertia)
