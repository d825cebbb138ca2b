"""Inertia, bias and passive forces of a loaded robot beside MuJoCo's or Pinocchio's.

MuJoCo's velocities of a free joint are in world axes, so that with v = T qvel

    M = T^T H T      bias = T^T b(q, v, a = T_dot qvel)      passive = T^T tau      J = J_c T
"""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import mujoco
import numpy as np
import pinocchio as pin
from mujoco import mjtJoint

from heelstrike.robot import Robot
from heelstrike.robot.actuators import Path as Cord
from heelstrike.robot.closing import jacobian
from heelstrike.robot.convert import to_pinocchio
from heelstrike.robot.mjcf_actuators import actuator_name
from heelstrike.robot.mjcf_model import rotation
from heelstrike.spatial.motion import MotionVector
from heelstrike.spatial.rotation import MatrixRotation
from heelstrike.spatial.transform import Transform
from heelstrike.step.actuators import activation_indices, actuator_torque, free_force, inputs_of
from heelstrike.step.fluid import drag_force
from heelstrike.step.springs import spring_torque
from heelstrike.step.tendons import tendon_torque

QUANTITIES = ("inertia", "bias", "passive", "actuation")
RANK = 1e-9
"""Singular values below this share of the largest count as none."""
STATES = 3
"""Random states at which dynamics are compared."""
Errors = dict[str, float]
"""Largest error of each quantity, relative to its largest entry."""


def beside_mujoco(robot: Robot, path: Path) -> Errors:
    """Return the differences of an MJCF's robot from MuJoCo's own reading of the file."""
    m = mujoco.MjModel.from_xml_path(str(path))
    if m.nv != robot.nv:
        return {"coordinates": np.inf}
    d, model, rng = mujoco.MjData(m), to_pinocchio(robot), np.random.default_rng(3)
    data, errors = model.createData(), dict.fromkeys(QUANTITIES, 0.0)
    forces = _forces(robot)
    for _ in range(STATES):
        d.qpos[:] = m.qpos0
        mujoco.mj_integratePos(m, d.qpos, rng.uniform(-1, 1, m.nv), 1.0)
        d.qvel[:] = rng.uniform(-1, 1, m.nv)
        d.ctrl[:], d.act[:] = rng.uniform(-1, 1, m.nu), rng.uniform(-1, 1, m.na)
        mujoco.mj_fwdPosition(m, d)
        mujoco.mj_fwdVelocity(m, d)
        mujoco.mj_fwdActuation(m, d)
        q, (T, drift) = _coordinates(m, d), _velocities(m, d)
        v = T @ d.qvel
        H, M = _symmetric(pin.crba(model, data, q)), np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        bias = T.T @ pin.rnea(model, data, q, v, drift)
        springs, driven, w = (np.ravel(x) for x in forces(q, v, *_inputs(robot, m, d)))
        driven = driven + _on_bodies(robot, model, q, v, w)
        springs = springs + _cords(robot, model, q, v) + _drags(robot, model, q, v)
        passive = T.T @ (-robot.damping * v + springs + _lift(robot, model, q))
        for name, ours, theirs in (
            ("inertia", T.T @ H @ T, M),
            ("bias", bias, d.qfrc_bias),
            ("passive", passive, d.qfrc_passive),
            ("actuation", T.T @ driven, d.qfrc_actuator),
        ):
            errors[name] = max(errors[name], _relative(ours, theirs))
        if robot.constraints:
            rows = _row_space(jacobian(robot, q) @ T), _row_space(_equality_rows(m, d))
            errors["constraints"] = max(errors.get("constraints", 0.0), _relative(*rows))
    return errors


def beside_pinocchio(robot: Robot, path: Path) -> Errors:
    """Return the differences of a URDF's robot from Pinocchio's own reading of the file."""
    free = any(joint.kind == "free" and joint.parent < 0 for joint in robot.joints)
    base = (pin.JointModelFreeFlyer(),) if free else ()
    theirs, ours = pin.buildModelFromUrdf(str(path), *base), to_pinocchio(robot)
    if theirs.nv != ours.nv:
        return {"coordinates": np.inf}
    rng, errors = np.random.default_rng(3), {"inertia": 0.0, "bias": 0.0}
    for _ in range(STATES):
        x, v, none = *rng.uniform(-1, 1, (2, theirs.nv)), np.zeros(theirs.nv)
        found = []
        for model, data in ((ours, ours.createData()), (theirs, theirs.createData())):
            q = pin.integrate(model, pin.neutral(model), x)
            H, bias = pin.crba(model, data, q), pin.rnea(model, data, q, v, none)
            found.append((_symmetric(H), bias))
        for name, own, other in zip(errors, *found, strict=True):
            errors[name] = max(errors[name], _relative(own, other))
    return errors


def _equality_rows(m: mujoco.MjModel, d: mujoco.MjData) -> np.ndarray:
    """Return MuJoCo's Jacobian of the equality constraints, (n, nv)."""
    whole = np.zeros((d.nefc, m.nv))
    if mujoco.mj_isSparse(m):
        mujoco.mju_sparse2dense(whole, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
    else:
        whole[:] = np.reshape(d.efc_J, whole.shape)
    return whole[np.array(d.efc_type) == mujoco.mjtConstraint.mjCNSTR_EQUALITY]


def _row_space(rows: np.ndarray) -> np.ndarray:
    """Return the projector onto the directions that constraints hold.

    With inertia and bias it decides their rigid forces; MuJoCo's own are soft.
    """
    return np.asarray(np.linalg.pinv(rows, rcond=RANK) @ rows)


def _relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max() / (np.abs(theirs).max() + 1e-9))


def _symmetric(upper: np.ndarray) -> np.ndarray:
    return np.triu(upper) + np.triu(upper, 1).T


def _coordinates(m: mujoco.MjModel, d: mujoco.MjData) -> np.ndarray:
    """Return our q: quaternions xyzw."""
    q = np.array(d.qpos)
    for kind, at in zip(m.jnt_type, m.jnt_qposadr, strict=True):
        if mjtJoint(kind) in (mjtJoint.mjJNT_FREE, mjtJoint.mjJNT_BALL):
            at = at + (3 if kind == mjtJoint.mjJNT_FREE else 0)
            q[at : at + 4] = np.roll(q[at : at + 4], -1) / np.linalg.norm(q[at : at + 4])
    return q


def _velocities(m: mujoco.MjModel, d: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
    """Return T, and T_dot qvel."""
    T, drift = np.eye(m.nv), np.zeros(m.nv)
    for kind, iq, iv in zip(m.jnt_type, m.jnt_qposadr, m.jnt_dofadr, strict=True):
        if kind == mjtJoint.mjJNT_FREE:
            R = rotation(d.qpos[iq + 3 : iq + 7])
            T[iv : iv + 3, iv : iv + 3] = R.T
            drift[iv : iv + 3] = -np.cross(d.qvel[iv + 3 : iv + 6], R.T @ d.qvel[iv : iv + 3])
    return T, drift


def _forces(robot: Robot) -> ca.Function:
    """Return springs with tendons, actuators of joints, and inputs of all, of (q, v, u, w, dt)."""
    q, v = ca.SX.sym("q", robot.nq), ca.SX.sym("v", robot.nv)
    u, w = ca.SX.sym("u", len(robot.actuators)), ca.SX.sym("w", len(activation_indices(robot)))
    dt = ca.SX.sym("dt")
    inputs, _ = inputs_of(robot, u, w, dt)
    springs = spring_torque(robot, q, 0.0).now + tendon_torque(robot, q, v, 0.0, {}).now
    driven = actuator_torque(robot, inputs, q, v, 0.0, {}).now
    return ca.Function("forces", [q, v, u, w, dt], [springs, driven, ca.vertcat(*inputs)])


def _numbers(robot: Robot, m: mujoco.MjModel) -> list[int]:
    """Return MuJoCo's number of each actuator."""
    ours, found = [actuator.name for actuator in robot.actuators], []
    for i in range(len(m.actuator_trntype)):
        if len(found) < len(ours) and ours[len(found)] == actuator_name(
            m, i, set(ours[: len(found)])
        ):
            found.append(i)
    return found


def _inputs(
    robot: Robot, m: mujoco.MjModel, d: mujoco.MjData
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return MuJoCo's controls and activations in our order, and the time step."""
    numbers = _numbers(robot, m)
    u = np.array([d.ctrl[m.actuator_ctrladr[i]] for i in numbers])
    w = [d.act[m.actuator_actadr[numbers[k]]] for k in activation_indices(robot)]
    return u, np.array(w), float(m.opt.timestep)


def _on_bodies(
    robot: Robot, model: pin.Model, q: np.ndarray, v: np.ndarray, w: np.ndarray
) -> np.ndarray:
    """Return the torque of actuators of sites and spatial tendons with inputs w."""
    tau, data = np.zeros(robot.nv), model.createData()
    pin.computeJointJacobians(model, data, q)
    for actuator, own in zip(robot.actuators, w, strict=True):
        if actuator.wrench is not None:
            J = pin.getJointJacobian(model, data, actuator.wrench.body + 1, pin.LOCAL)
            arms = J.T @ np.concatenate([actuator.wrench.force, actuator.wrench.moment])
            tau += arms * float(free_force(actuator, ca.DM(own), ca.DM(0), ca.DM(arms @ v)))
        elif actuator.path:
            length, arms = _cord(model, data, actuator.path)
            moved = ca.DM(actuator.gear * length), ca.DM(actuator.gear * arms @ v)
            tau += actuator.gear * arms * float(free_force(actuator, ca.DM(own), *moved))
    return tau


def _cords(robot: Robot, model: pin.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the torque of springs and damping of spatial tendons."""
    tau, data = np.zeros(robot.nv), model.createData()
    pin.computeJointJacobians(model, data, q)
    for tendon in robot.spatial_tendons:
        length, arms = _cord(model, data, tendon.path)
        stretch = length - np.clip(length, *tendon.rest)
        tau += arms * (-tendon.stiffness * stretch - tendon.damping * arms @ v)
    return tau


def _cord(model: pin.Model, data: pin.Data, path: Cord) -> tuple[float, np.ndarray]:
    """Return the length of a path, and its derivative by the motion of the joints."""
    places, jacobians = [], []
    for body, point in path:
        place, J = data.oMi[body + 1], np.zeros((6, model.nv))
        if body >= 0:
            J = pin.getJointJacobian(model, data, body + 1, pin.LOCAL)
        places.append(place.act(point) if body >= 0 else point)
        jacobians.append(place.rotation @ (J[:3] - pin.skew(point) @ J[3:]))
    length, arms = 0.0, np.zeros(model.nv)
    for k in range(len(path) - 1):
        gap = places[k + 1] - places[k]
        length += float(np.linalg.norm(gap))
        arms += gap / np.linalg.norm(gap) @ (jacobians[k + 1] - jacobians[k])
    return length, arms


def _drags(robot: Robot, model: pin.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the torque of the drag of a fluid, by the traced formula of step/fluid.py."""
    tau, data = np.zeros(robot.nv), model.createData()
    if robot.drags:
        pin.computeJointJacobians(model, data, q)
        pin.forwardKinematics(model, data, q, v)
    for drag in robot.drags:
        place, moving = data.oMi[drag.body + 1], data.v[drag.body + 1]
        pose = Transform((MatrixRotation(ca.SX(place.rotation)),), ca.SX(place.translation))
        force = drag_force(drag, pose, MotionVector(ca.SX(moving.linear), ca.SX(moving.angular)))
        J = pin.getJointJacobian(model, data, drag.body + 1, pin.LOCAL).reshape(6, robot.nv)
        tau += J.T @ np.ravel(ca.evalf(force.column))
    return tau


def _lift(robot: Robot, model: pin.Model, q: np.ndarray) -> np.ndarray:
    """Return the torque of gravity compensation: that of a robot of the lifted masses, upward."""
    if not any(body.lifted for body in robot.bodies):
        return np.zeros(robot.nv)
    lifted = model.copy()
    for i, body in enumerate(robot.bodies, start=1):
        com = body.lifted_moment / body.lifted if body.lifted else np.zeros(3)
        lifted.inertias[i] = pin.Inertia(body.lifted, com, np.zeros((3, 3)))
    return pin.computeGeneralizedGravity(lifted, lifted.createData(), q)
