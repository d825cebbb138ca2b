"""Actuators of a compiled MJCF: of joints, of tendons and of sites.

MuJoCo resolves `dampratio` when it compiles the model,

    b_2 = -2 dampratio sqrt(kp m),    m = 1 / (gear^2 (H^-1)_ii) at qpos0;

where base= adds or removes a free joint, this is repeated with the inertia that results. An
actuator's own armature and damping act on its joint times gear^2.
"""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
from mujoco import mjtBias, mjtDisableBit, mjtDyn, mjtGain, mjtTrn

from heelstrike.robot.actuators import Actuator, Arms, BodyWrench, Range, SpatialTendon
from heelstrike.robot.mjcf_force_ranges import within_joints, within_tendons
from heelstrike.robot.mjcf_model import Carriers, ModelJoint, is_off, joint_label, placement
from heelstrike.robot.mjcf_tendons import scalar_joints, tendon_arms, tendon_path
from heelstrike.robot.pose_kinematics import inertia_matrix
from heelstrike.robot.robot import Robot
from heelstrike.robot.xml import RobotFile

GAINS = (mjtGain.mjGAIN_FIXED, mjtGain.mjGAIN_AFFINE)
BIASES = (mjtBias.mjBIAS_NONE, mjtBias.mjBIAS_AFFINE)
DYNAMICS = {
    mjtDyn.mjDYN_NONE: "none",
    mjtDyn.mjDYN_INTEGRATOR: "integrator",
    mjtDyn.mjDYN_FILTER: "filter",
    mjtDyn.mjDYN_FILTEREXACT: "filterexact",
}
GROUPS = 31
"""Groups of actuators that a file can disable."""
JOINTS = (mjtTrn.mjTRN_JOINT, mjtTrn.mjTRN_JOINTINPARENT)
TARGETS = {
    mjtTrn.mjTRN_SLIDERCRANK: "it drives a slider-crank",
    mjtTrn.mjTRN_TENDON: "its tendon wraps around geoms, or has pulleys",
    mjtTrn.mjTRN_SITE: "it drives a site relative to another",
    mjtTrn.mjTRN_BODY: "it drives a body",
    mjtTrn.mjTRN_SO3: "it drives an orientation",
}


def read_actuators(
    file: RobotFile,
    spec: mujoco.MjSpec,
    mj: mujoco.MjModel,
    robot: Robot,
    joints: list[ModelJoint],
    carriers: Carriers,
    q0: np.ndarray,
) -> dict[int, Actuator]:
    """Return the actuators that are simulated by MuJoCo's index; warn about all others.

    q0 is at qpos0.
    """
    if is_off(mj, mjtDisableBit.mjDSBL_ACTUATION):
        return {}
    changed = [joint.index for joint in joints] != list(range(mj.njnt))
    mobility = _mobility(robot, q0) if changed else None
    found: dict[int, Actuator] = {}
    for i in range(len(mj.actuator_trntype)):
        label = _label(mj, i)
        if _is_switched_off(mj, i):
            file.warn(f"{label} is left out: the file disables its group", label, "file")
            continue
        unsupported = _unsupported(mj, i)
        if unsupported:
            why = f"a {unsupported} actuator is not simulated"
            file.warn(f"{label} is left out: {why}", label)
            continue
        acts = _transmission(mj, i, robot, joints, carriers)
        if isinstance(acts, str):
            file.warn(f"{label} is left out: {acts}", label)
            continue
        if mj.actuator_delay[i]:
            file.warn(f"the delay of {label} is left out: it acts at once", label)
        if np.any(mj.actuator_dampingpoly[i]):
            file.warn(f"of the damping of {label} only the linear term is used", label)
        name = actuator_name(mj, i, {actuator.name for actuator in found.values()})
        found[i] = _actuator(spec, mj, i, name, acts, mobility)
    found = within_tendons(file, mj, found)
    return within_joints(file, mj, scalar_joints(robot, joints), robot, found)


def _label(mj: mujoco.MjModel, i: int) -> str:
    """Return how warnings name an actuator."""
    if mj.actuator(i).name:
        return f"actuator '{mj.actuator(i).name}'"
    if mjtTrn(mj.actuator_trntype[i]) in JOINTS:
        return f"the actuator of {joint_label(mj, int(mj.actuator_trnid[i, 0]))}"
    return f"actuator {i}"


def actuator_name(mj: mujoco.MjModel, i: int, taken: set[str]) -> str:
    """Return an actuator's name; one without is named after its joint, or numbered."""
    name = str(mj.actuator(i).name)
    if not name and mjtTrn(mj.actuator_trntype[i]) in JOINTS:
        name = str(mj.joint(int(mj.actuator_trnid[i, 0])).name)
    name = name or f"actuator{i}"
    return name if name not in taken else f"{name}.{i}"


def _is_switched_off(mj: mujoco.MjModel, i: int) -> bool:
    """Return whether `actuatorgroupdisable` of <option> names the group of an actuator."""
    group = int(mj.actuator_group[i])
    return 0 <= group < GROUPS and bool(mj.opt.disableactuator & (1 << group))


def _unsupported(mj: mujoco.MjModel, i: int) -> str:
    """Return the kind of an actuator that is not simulated, or ""."""
    if mj.actuator_plugin[i] >= 0:
        return "plugin"
    for value, simulated in (
        (mjtGain(mj.actuator_gaintype[i]), GAINS),
        (mjtBias(mj.actuator_biastype[i]), BIASES),
        (mjtDyn(mj.actuator_dyntype[i]), tuple(DYNAMICS)),
    ):
        if value not in simulated:
            return value.name.partition("_")[2].lower()
    return ""


def _transmission(
    mj: mujoco.MjModel, i: int, robot: Robot, joints: list[ModelJoint], carriers: Carriers
) -> Arms | BodyWrench | SpatialTendon | str:
    """Return what an actuator acts on, or why it is left out."""
    target, at, gear = mjtTrn(mj.actuator_trntype[i]), mj.actuator_trnid[i], mj.actuator_gear[i]
    if target in JOINTS:
        ours = {t.index: j for t, j in zip(joints, robot.joints, strict=True)}.get(int(at[0]))
        if ours is None:
            return "the base is fixed"
        if ours.nv > 1:
            return f"the joint is {ours.kind}"
        return ((ours.iv, float(gear[0])),)
    if target == mjtTrn.mjTRN_TENDON:
        arms = tendon_arms(mj, int(at[0]), scalar_joints(robot, joints))
        if arms is not None:
            return tuple((iv, float(gear[0]) * arm) for iv, arm in arms)
        path = tendon_path(mj, int(at[0]), carriers)
        if path is not None:
            return SpatialTendon("", path)
    if target == mjtTrn.mjTRN_SITE and at[1] < 0:
        carrier, place = carriers[mj.site_bodyid[at[0]]]
        place = place * placement(mj.site_quat[at[0]], mj.site_pos[at[0]])
        force, moment = place.rotation @ gear[:3], place.rotation @ gear[3:]
        if carrier == 0:
            return "its site is fixed to the world"
        return BodyWrench(carrier - 1, force, moment + np.cross(place.translation, force))
    return TARGETS.get(target, "it drives no joint")


def _actuator(
    spec: mujoco.MjSpec,
    mj: mujoco.MjModel,
    i: int,
    name: str,
    acts: Arms | BodyWrench | SpatialTendon,
    mobility: np.ndarray | None,
) -> Actuator:
    """Return an actuator; `mobility` is the diagonal of H^-1 if the base was changed."""
    affine = mj.actuator_gaintype[i] == mjtGain.mjGAIN_AFFINE
    biased = mj.actuator_biastype[i] == mjtBias.mjBIAS_AFFINE
    g = [float(x) for x in mj.actuator_gainprm[i, :3]]
    b = [float(x) * biased for x in mj.actuator_biasprm[i, :3]]
    written = spec.actuators[i].biasprm  # has a damping ratio as b_2 > 0; the model has kv
    ratio = float(written[2]) if biased and g[0] == -written[1] else 0.0
    arms = acts if isinstance(acts, tuple) else ()
    if ratio > 0 and mobility is not None and len(arms) == 1:
        (at, gear) = arms[0]
        b[2] = -2 * ratio * float(np.sqrt(g[0] / (gear**2 * mobility[at])))
    control = int(mj.actuator_ctrladr[i])
    clamped = mj.actuator_ctrllimited[control] and not is_off(mj, mjtDisableBit.mjDSBL_CLAMPCTRL)
    return Actuator(
        name=name,
        arms=arms,
        wrench=acts if isinstance(acts, BodyWrench) else None,
        path=acts.path if isinstance(acts, SpatialTendon) else (),
        gear=float(mj.actuator_gear[i, 0]) if isinstance(acts, SpatialTendon) else 1.0,
        gain=(g[0], g[1] * affine, g[2] * affine),
        bias=(b[0], b[1], b[2]),
        dynamics=DYNAMICS[mjtDyn(mj.actuator_dyntype[i])],
        time_constant=float(mj.actuator_dynprm[i, 0]),
        control_range=_range(clamped, mj.actuator_ctrlrange[control]),
        force_range=_range(mj.actuator_forcelimited[i], mj.actuator_forcerange[i]),
        activation_range=_range(mj.actuator_actlimited[i], mj.actuator_actrange[i]),
        acts_early=bool(mj.actuator_actearly[i]),
    )


def _range(limited: bool, ends: np.ndarray) -> Range | None:
    return (float(ends[0]), float(ends[1])) if limited else None


def _mobility(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return the diagonal of H^-1 at q; inf if H is singular (`load` refuses such a robot)."""
    assert robot.model is not None
    try:
        return np.linalg.inv(inertia_matrix(robot.model, q)).diagonal().copy()
    except np.linalg.LinAlgError:
        return np.full(robot.nv, np.inf)


def with_actuator_inertia(
    file: RobotFile, robot: Robot, mj: mujoco.MjModel, joints: list[ModelJoint]
) -> Robot:
    """Return the robot whose joints have the actuators' own armature and damping."""
    armature, damping = robot.armature.copy(), robot.damping.copy()
    where = scalar_joints(robot, joints)
    for i in np.flatnonzero((mj.actuator_armature != 0) | (mj.actuator_damping != 0)):
        joint, square = int(mj.actuator_trnid[i, 0]), float(mj.actuator_gear[i, 0] ** 2)
        if mjtTrn(mj.actuator_trntype[i]) not in JOINTS or joint not in where:
            label = _label(mj, int(i))
            file.warn(f"armature and damping of {label} are left out: it drives no joint", label)
            continue
        armature[where[joint]] += square * mj.actuator_armature[i]
        damping[where[joint]] += square * mj.actuator_damping[i]
    if robot.model is not None:
        robot.model.armature, robot.model.damping = armature, damping
    return replace(robot, armature=armature, damping=damping)
