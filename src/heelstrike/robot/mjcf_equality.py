"""Equality constraints of an MJCF: connect, weld and joint, from MuJoCo's compiled model.

MuJoCo computes the anchors of the second body, and the relative placement of a weld, at `qpos0`;
between sites the anchors are the sites. In MuJoCo's letters, with body 1 first:

    connect   x_1 data[0:3] = x_2 data[3:6]
    weld      x_1 data[3:6] = x_2 data[0:3],    R_1 R(data[6:10]) = R_2
    joint     q_1 - qpos0_1 = data[0] + data[1] (q_2 - qpos0_2) + ... + data[4] (q_2 - qpos0_2)^4

Its softness (solref, solimp) and the scale of a weld's torque are not used: constraints are rigid.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
from mujoco import mjtDisableBit, mjtEq, mjtObj

from heelstrike.robot.constraints import Connect, Constraint, JointCoupling, Weld
from heelstrike.robot.mjcf_model import Carriers, ModelJoint, has_no, placement
from heelstrike.robot.robot import WORLD, first_duplicate
from heelstrike.robot.xml import RobotFile

READ = tuple(map(int, (mjtEq.mjEQ_CONNECT, mjtEq.mjEQ_WELD, mjtEq.mjEQ_JOINT)))
"""Types of <equality> that are simulated."""
ROUNDING = 1e-15
"""Entries of places below it, beside the largest one, are rounding of MuJoCo's qpos0 [-]."""


def read_equalities(
    file: RobotFile,
    mj: mujoco.MjModel,
    joints: list[ModelJoint],
    carriers: Carriers,
) -> tuple[Constraint, ...]:
    """Return the active constraints; those of types that are not simulated are left out."""
    if has_no(mj, mjtDisableBit.mjDSBL_EQUALITY):
        return ()
    found: list[Constraint] = []
    for i in range(mj.neq):
        if mj.eq_active0[i] and mj.eq_type[i] in READ:
            constraint = (
                _coupling(mj, i, joints)
                if mjtEq(mj.eq_type[i]) == mjtEq.mjEQ_JOINT
                else _between_bodies(mj, i, carriers)
            )
            if constraint is not None:
                found.append(constraint)
    twice = first_duplicate([constraint.name for constraint in found])
    if twice is not None:
        file.fail(f"two equality constraints are called '{twice}'", value=twice)
    return tuple(found)


def equality_name(mj: mujoco.MjModel, i: int) -> str:
    """Return a constraint's name, or its type and what it joins, numbered if that is not one."""
    name = mj.eq(i).name
    if name:
        return str(name)
    return _joined(mj, i) if _is_only(mj, i) else f"{_joined(mj, i)} {i}"


def _is_only(mj: mujoco.MjModel, i: int) -> bool:
    taken = [mj.eq(k).name or _joined(mj, k) for k in range(mj.neq) if k != i]
    return _joined(mj, i) not in taken


def _joined(mj: mujoco.MjModel, i: int) -> str:
    kind = mjtEq(mj.eq_type[i])
    word = kind.name.removeprefix("mjEQ_").lower()
    of = {
        mjtEq.mjEQ_JOINT: mjtObj.mjOBJ_JOINT,
        mjtEq.mjEQ_TENDON: mjtObj.mjOBJ_TENDON,
        mjtEq.mjEQ_CONNECT: mj.eq_objtype[i],
        mjtEq.mjEQ_WELD: mj.eq_objtype[i],
    }.get(kind, mjtObj.mjOBJ_FLEX)
    ends = [mujoco.mj_id2name(mj, of, k) for k in (mj.eq_obj1id[i], mj.eq_obj2id[i]) if k >= 0]
    return f"{word} {'-'.join(end or 'unnamed' for end in ends if end != 'world')}".strip()


def _between_bodies(mj: mujoco.MjModel, i: int, carriers: Carriers) -> Constraint | None:
    """Return a connect or a weld; None where both ends are on one body, or on the world."""
    name, data = equality_name(mj, i), mj.eq_data[i]
    ends = [int(mj.eq_obj1id[i]), int(mj.eq_obj2id[i])]
    weld = mjtEq(mj.eq_type[i]) == mjtEq.mjEQ_WELD
    if mjtObj(mj.eq_objtype[i]) == mjtObj.mjOBJ_SITE:
        local = [placement(mj.site_quat[k], mj.site_pos[k]) for k in ends]
        ends = [int(mj.site_bodyid[k]) for k in ends]
    elif weld:
        local = [placement(data[6:10], data[3:6]), pin.SE3(np.eye(3), data[0:3].copy())]
    else:
        local = [pin.SE3(np.eye(3), data[0:3].copy()), pin.SE3(np.eye(3), data[3:6].copy())]
    placed = [
        (carriers[k][0] - 1, carriers[k][1] * own) for k, own in zip(ends, local, strict=True)
    ]
    if placed[0][0] == placed[1][0]:
        return None
    if placed[0][0] == WORLD:
        placed.reverse()
    (body, own), (other, its) = placed
    points = _rounded(own.translation), other, _rounded(its.translation)
    if not weld:
        return Connect(name, body, *points)
    return Weld(
        name, body, _rounded(own.rotation), points[0], other, _rounded(its.rotation), points[2]
    )


def _coupling(mj: mujoco.MjModel, i: int, joints: list[ModelJoint]) -> JointCoupling:
    """Return the coupling of a joint; hinges and slides have one coordinate each."""
    index = {joint.index: k for k, joint in enumerate(joints)}
    one, other = int(mj.eq_obj1id[i]), int(mj.eq_obj2id[i])
    at = float(mj.qpos0[mj.jnt_qposadr[one]])
    if other < 0:
        return JointCoupling(equality_name(mj, i), index[one], None, (float(mj.eq_data[i, 0]),), at)
    coefficients = np.trim_zeros(mj.eq_data[i, :5], "b")
    beside = float(mj.qpos0[mj.jnt_qposadr[other]])
    return JointCoupling(
        equality_name(mj, i), index[one], index[other], tuple(map(float, coefficients)), at, beside
    )


def _rounded(x: np.ndarray) -> np.ndarray:
    """Return entries without those that are rounding, which would lengthen the traced code."""
    return np.where(np.abs(x) > ROUNDING * max(1.0, float(np.abs(x).max())), x, 0.0)


def unread_equalities(mj: mujoco.MjModel) -> list[str]:
    """Return the names of active constraints that are of no kind in READ, nor of tendons."""
    if has_no(mj, mjtDisableBit.mjDSBL_EQUALITY):
        return []
    read = (*READ, int(mjtEq.mjEQ_TENDON))
    unread = (i for i in range(mj.neq) if mj.eq_type[i] not in read)
    return [equality_name(mj, i) for i in unread if mj.eq_active0[i]]
