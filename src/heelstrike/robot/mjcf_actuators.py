"""Gains and torque limits of an MJCF's actuators.

An actuator applies gear (g u + b_0 + b_1 l + b_2 l_dot) with l = gear q, so at the joint

    kp = -gear^2 b_1        kd = -gear^2 b_2

A <position> is g = kp, b = (0, -kp, -kv). MuJoCo resolves `dampratio` when it compiles the model,

    kv = 2 dampratio sqrt(kp m),    m = 1 / (gear^2 (H^-1)_ii) at qpos0;

where base= adds or removes a free joint, this is repeated with the inertia that results. An
actuator's own armature and damping act on the joint times gear^2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import mujoco
import numpy as np
import pinocchio as pin
from mujoco import mjtBias, mjtDyn, mjtGain, mjtTrn

from heelstrike.robot.check import inertia_matrix
from heelstrike.robot.mjcf_model import ADDED, ModelJoint, joint_label
from heelstrike.robot.robot import Robot
from heelstrike.robot.xml import RobotFile

TARGETS = {
    mjtTrn.mjTRN_SLIDERCRANK: "a slider-crank",
    mjtTrn.mjTRN_TENDON: "a tendon",
    mjtTrn.mjTRN_SITE: "a site",
    mjtTrn.mjTRN_BODY: "a body",
    mjtTrn.mjTRN_SO3: "an orientation",
}
GAINS = (mjtGain.mjGAIN_FIXED, mjtGain.mjGAIN_AFFINE, mjtGain.mjGAIN_PID)
BIASES = (mjtBias.mjBIAS_NONE, mjtBias.mjBIAS_AFFINE)
DYNAMICS = (
    mjtDyn.mjDYN_NONE, mjtDyn.mjDYN_INTEGRATOR, mjtDyn.mjDYN_FILTER, mjtDyn.mjDYN_FILTEREXACT,
    mjtDyn.mjDYN_PID,
)  # fmt: skip


@dataclass(frozen=True)
class Actuator:
    """An actuator of one joint, before its gear."""

    joint: int
    """MuJoCo's index of the joint."""
    gear: float
    gain: float
    bias: np.ndarray | None
    """(b_0, b_1, b_2); None for a motor, whose force is its control."""
    force: np.ndarray | None
    """Force range, or None."""
    control: np.ndarray | None
    """Control range, or None."""
    armature: float
    damping: float
    dampratio: float
    """Damping ratio of a <position> that has one, else 0 [-]."""

    def gains(self, mobility: float | None) -> tuple[float, float]:
        """Return (kp, kd) at the joint; `mobility` is (H^-1)_ii if the base was changed."""
        if self.bias is None:
            return 0.0, 0.0
        b1, b2 = self.bias[1], self.bias[2]
        if self.dampratio and mobility is not None:
            b2 = -2 * self.dampratio * np.sqrt(self.gain / (self.gear**2 * mobility))
        return float(-(self.gear**2) * b1), float(-(self.gear**2) * b2)

    def torque_range(self) -> np.ndarray:
        """Return the lowest and the highest torque at the joint [N m or N]."""
        limits = np.array([-np.inf, np.inf])
        if self.control is not None and self.bias is None:
            limits = np.sort(self.gain * self.control)
        if self.force is not None:
            limits = np.array([max(limits[0], self.force[0]), min(limits[1], self.force[1])])
        return np.sort(self.gear * limits)


def read_actuators(file: RobotFile, spec: mujoco.MjSpec, mj: mujoco.MjModel) -> list[Actuator]:
    """Return the actuators of joints; warn about all others, and about what is left out."""
    actuators = []
    for i in range(len(mj.actuator_trntype)):
        target = mjtTrn(mj.actuator_trntype[i])
        name = mj.actuator(i).name
        what = f"actuator '{name}'" if name else f"actuator {i}"
        if target not in (mjtTrn.mjTRN_JOINT, mjtTrn.mjTRN_JOINTINPARENT):
            file.warn(f"{what} is left out: it drives {TARGETS.get(target, 'no joint')}")
            continue
        if not name:
            what = f"the actuator of {joint_label(mj, int(mj.actuator_trnid[i, 0]))}"
        unsupported = _unsupported(mj, i)
        if unsupported:
            file.warn(f"{what} is left out: a {unsupported} actuator is not simulated")
            continue
        _warn_left_out(file, mj, i, what)
        actuators.append(_actuator(spec, mj, i))
    return actuators


def _unsupported(mj: mujoco.MjModel, i: int) -> str:
    """Return the kind of an actuator that is not simulated, or ""."""
    gain = mjtGain(mj.actuator_gaintype[i])
    if mj.actuator_plugin[i] >= 0:
        return "plugin"
    if gain == mjtGain.mjGAIN_AFFINE and mj.actuator_gainprm[i, 0] == 0:
        return "damper"
    for value, simulated in (
        (gain, GAINS),
        (mjtBias(mj.actuator_biastype[i]), BIASES),
        (mjtDyn(mj.actuator_dyntype[i]), DYNAMICS),
    ):
        if value not in simulated:
            return _word(value)
    return ""


def _actuator(spec: mujoco.MjSpec, mj: mujoco.MjModel, i: int) -> Actuator:
    gain, control = float(mj.actuator_gainprm[i, 0]), int(mj.actuator_ctrladr[i])
    affine = mj.actuator_biastype[i] == mjtBias.mjBIAS_AFFINE
    written = spec.actuators[i].biasprm  # has a damping ratio as b_2 > 0; the model has kv
    ratio = float(written[2]) if affine and gain == -written[1] else 0.0
    forced, controlled = mj.actuator_forcelimited[i], mj.actuator_ctrllimited[control]
    return Actuator(
        joint=int(mj.actuator_trnid[i, 0]),
        gear=float(mj.actuator_gear[i, 0]),
        gain=gain,
        bias=np.array(mj.actuator_biasprm[i, :3]) if affine else None,
        force=np.array(mj.actuator_forcerange[i]) if forced else None,
        control=np.array(mj.actuator_ctrlrange[control]) if controlled else None,
        armature=float(mj.actuator_armature[i]),
        damping=float(mj.actuator_damping[i]),
        dampratio=max(ratio, 0.0),
    )


def _word(value: mjtGain | mjtBias | mjtDyn) -> str:
    """Return the word of MJCF for a type: "muscle" for mjGAIN_MUSCLE."""
    return value.name.partition("_")[2].lower()


def _warn_left_out(file: RobotFile, mj: mujoco.MjModel, i: int, what: str) -> None:
    """Warn about the parts of an actuator that are not simulated."""
    gain, dynamics = mjtGain(mj.actuator_gaintype[i]), mjtDyn(mj.actuator_dyntype[i])
    servo = mj.actuator_biastype[i] == mjtBias.mjBIAS_AFFINE and mj.actuator_biasprm[i, 1] != 0
    if gain == mjtGain.mjGAIN_AFFINE:
        file.warn(f"{what} has an affine gain; its constant part is used")
    if gain == mjtGain.mjGAIN_PID and mj.actuator_gainprm[i, 0]:
        file.warn(f"the integral gain of {what} is left out")
    filtered = dynamics in (mjtDyn.mjDYN_FILTER, mjtDyn.mjDYN_FILTEREXACT)
    if filtered or (dynamics == mjtDyn.mjDYN_INTEGRATOR and not servo):
        file.warn(f"the dynamics ({_word(dynamics)}) of {what} are left out: it acts at once")
    if mj.actuator_delay[i]:
        file.warn(f"the delay of {what} is left out: it acts at once")
    if np.any(mj.actuator_dampingpoly[i]):
        file.warn(f"of the damping of {what} only the linear term is used")


def add_actuator_inertia(
    model: pin.Model, joints: list[ModelJoint], actuators: list[Actuator]
) -> None:
    """Add the actuators' own armature and damping to their joints."""
    for actuator in actuators:
        for k, joint in enumerate(joints, start=1):
            if joint.index == actuator.joint and model.nvs[k] == 1:
                model.armature[model.idx_vs[k]] += actuator.gear**2 * actuator.armature
                model.damping[model.idx_vs[k]] += actuator.gear**2 * actuator.damping


def with_actuators(
    file: RobotFile,
    robot: Robot,
    mj: mujoco.MjModel,
    joints: list[ModelJoint],
    actuators: list[Actuator],
    q0: np.ndarray,
) -> Robot:
    """Return the robot with the gains and torque limits of its actuators; q0 is at qpos0."""
    changed = [joint.index for joint in joints] != list(range(mj.njnt))
    mobility = _mobility(robot, q0) if changed else None
    kp, kd = np.zeros(robot.nv), np.zeros(robot.nv)
    ranges: dict[int, np.ndarray] = {}
    where = {joint.index: ours for joint, ours in zip(joints, robot.joints, strict=True)}
    for actuator in actuators:
        ours = where.get(actuator.joint)
        if ours is None or ours.nv > 1:
            why = "the base is fixed" if ours is None else f"the joint is {ours.kind}"
            file.warn(f"the actuator of {joint_label(mj, actuator.joint)} is left out: {why}")
            continue
        stiffness, damping = actuator.gains(None if mobility is None else mobility[ours.iv])
        kp[ours.iv] += stiffness
        kd[ours.iv] += damping
        ranges[actuator.joint] = ranges.get(actuator.joint, 0) + actuator.torque_range()
    limit = np.full(robot.nv, np.inf)
    for index, ours in where.items():
        if index != ADDED and ours.nv == 1:
            span = ranges.get(index, np.array([-np.inf, np.inf]))
            limit[ours.iv] = _torque_limit(file, mj, index, ours.name, span)
    if robot.model is not None:
        robot.model.upperEffortLimit = limit
        robot.model.lowerEffortLimit = -limit
    return replace(robot, kp=kp, kd=kd, torque_limit=limit)


def _mobility(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return the diagonal of H^-1 at q; inf if H is singular (`load` refuses such a robot)."""
    assert robot.model is not None
    try:
        return np.linalg.inv(inertia_matrix(robot.model, q)).diagonal().copy()
    except np.linalg.LinAlgError:
        return np.full(robot.nv, np.inf)


def _torque_limit(
    file: RobotFile, mj: mujoco.MjModel, joint: int, name: str, span: np.ndarray
) -> float:
    """Return the largest torque, of the actuators and of the joint's actuatorfrcrange."""
    if mj.jnt_actfrclimited[joint]:
        low, high = mj.jnt_actfrcrange[joint]
        span = np.array([max(span[0], low), min(span[1], high)])
    if span[0] != -span[1]:
        file.warn(
            f"the torque range {span.tolist()} of joint '{name}' is not symmetric; its larger end "
            "is used both ways"
        )
    return float(np.abs(span).max())
