"""Inertia, bias and passive forces of a loaded robot beside MuJoCo's or Pinocchio's.

MuJoCo's velocities of a free joint are in world axes, so that with v = T qvel

    M = T^T H T      bias = T^T b(q, v, a = T_dot qvel)      passive = T^T tau
"""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import mujoco
import numpy as np
import pinocchio as pin
from mujoco import mjtJoint

from heelstrike.robot import Robot
from heelstrike.robot.convert import to_pinocchio
from heelstrike.robot.mjcf_model import rotation
from heelstrike.step.springs import spring_torque

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
    data, errors = model.createData(), dict.fromkeys(("inertia", "bias", "passive"), 0.0)
    springs = _springs(robot)
    for _ in range(STATES):
        d.qpos[:] = m.qpos0
        mujoco.mj_integratePos(m, d.qpos, rng.uniform(-1, 1, m.nv), 1.0)
        d.qvel[:] = rng.uniform(-1, 1, m.nv)
        mujoco.mj_fwdPosition(m, d)
        mujoco.mj_fwdVelocity(m, d)
        q, (T, drift) = _coordinates(m, d), _velocities(m, d)
        v = T @ d.qvel
        H, M = _symmetric(pin.crba(model, data, q)), np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        bias = T.T @ pin.rnea(model, data, q, v, drift)
        tau = -robot.damping * v + np.ravel(springs(q)) + _lift(robot, model, q)
        passive = T.T @ tau
        for name, ours, theirs in (
            ("inertia", T.T @ H @ T, M),
            ("bias", bias, d.qfrc_bias),
            ("passive", passive, d.qfrc_passive),
        ):
            errors[name] = max(errors[name], _relative(ours, theirs))
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
        q = pin.integrate(theirs, pin.neutral(theirs), rng.uniform(-1, 1, theirs.nv))
        v, none = rng.uniform(-1, 1, theirs.nv), np.zeros(theirs.nv)
        found = [
            (_symmetric(pin.crba(model, data, q)), pin.rnea(model, data, q, v, none))
            for model, data in ((ours, ours.createData()), (theirs, theirs.createData()))
        ]
        for name, own, other in zip(errors, *found, strict=True):
            errors[name] = max(errors[name], _relative(own, other))
    return errors


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


def _springs(robot: Robot) -> ca.Function:
    """Return the torque of the springs as a function of q."""
    q = ca.SX.sym("q", robot.nq)
    return ca.Function("springs", [q], [spring_torque(robot, q, 0.0).now])


def _lift(robot: Robot, model: pin.Model, q: np.ndarray) -> np.ndarray:
    """Return the torque of gravity compensation: that of a robot of the lifted masses, upward."""
    if not any(body.lifted for body in robot.bodies):
        return np.zeros(robot.nv)
    lifted = model.copy()
    for i, body in enumerate(robot.bodies, start=1):
        com = body.lifted_moment / body.lifted if body.lifted else np.zeros(3)
        lifted.inertias[i] = pin.Inertia(body.lifted, com, np.zeros((3, 3)))
    return pin.computeGeneralizedGravity(lifted, lifted.createData(), q)
