"""Equality constraints of tendons of a compiled MJCF.

In MuJoCo's letters L_1 - L_1(qpos0) = c_0 + c_1 x + ... + c_4 x^4 with x = L_2 - L_2(qpos0), 0
without a second tendon. Lengths of fixed tendons are linear in the joints, so that these are
couplings of joints; a spatial tendon from one site to another that keeps its length is a rod.
"""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np
from mujoco import mjtDisableBit, mjtEq

from heelstrike.robot.constraints import Constraint, Distance, JointCoupling
from heelstrike.robot.mjcf_equality import equality_name
from heelstrike.robot.mjcf_model import Carriers, ModelJoint, has_no
from heelstrike.robot.mjcf_tendons import scalar_joints, tendon_arms, tendon_path
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.robot.xml import RobotFile


def tendon_equalities(
    file: RobotFile,
    robot: Robot,
    mj: mujoco.MjModel,
    joints: list[ModelJoint],
    carriers: Carriers,
) -> tuple[Constraint, ...]:
    """Return the active equalities of tendons; warn of those that are left out."""
    found: list[Constraint] = []
    if has_no(mj, mjtDisableBit.mjDSBL_EQUALITY):
        return ()
    number = {joint.iv: k for k, joint in enumerate(robot.joints)}
    where = scalar_joints(robot, joints)
    for i in np.flatnonzero((mj.eq_type == mjtEq.mjEQ_TENDON) & (mj.eq_active0 != 0)):
        name = equality_name(mj, int(i))
        own = _rod(mj, int(i), name, carriers) or _coupling(mj, int(i), name, number, where)
        if own is None:
            why = "one tendon of two sites can, and fixed ones: two of several joints if linear"
            what = f"equality constraint {name} left out: its tendons cannot be coupled"
            file.warn(what, name, why=why)
        else:
            found.append(own)
    return tuple(found)


def _rod(mj: mujoco.MjModel, i: int, name: str, carriers: Carriers) -> Distance | None:
    """Return the rod of a spatial tendon of two sites that keeps its length."""
    tendon = int(mj.eq_obj1id[i])
    path = tendon_path(mj, tendon, carriers) if mj.eq_obj2id[i] < 0 else None
    length = float(mj.tendon_length0[tendon] + mj.eq_data[i, 0])
    if path is None or len(path) != 2 or path[0][0] == path[1][0] or length <= 0:
        return None
    (body, point), (other, other_point) = path if path[0][0] != WORLD else path[::-1]
    return Distance(name, body, point, other, other_point, length)


def _coupling(
    mj: mujoco.MjModel, i: int, name: str, number: Mapping[int, int], where: dict[int, int]
) -> JointCoupling | None:
    """Return the coupling of joints of one fixed tendon or of two."""
    one, two = int(mj.eq_obj1id[i]), int(mj.eq_obj2id[i])
    arms = tendon_arms(mj, one, where)
    beside = () if two < 0 else tendon_arms(mj, two, where)
    if arms is None or beside is None:
        return None
    c, length = [float(x) for x in mj.eq_data[i, :5]], float(mj.tendon_length0[one])
    its_length = 0.0 if two < 0 else float(mj.tendon_length0[two])
    if not beside or not any(c[2:]):  # linear: a sum of joints is constant
        sums = dict(arms)
        for at, arm in beside:
            sums[at] = sums.get(at, 0.0) - c[1] * arm
        slope = c[1] if beside else 0.0
        return _sum(name, number, sums, length + c[0] - slope * its_length)
    if len(beside) > 1 or beside[0][0] in dict(arms) or not arms:
        return None
    ((other, its),), (at, arm) = beside, arms[0]
    return JointCoupling(
        name,
        number[at],
        number[other],
        tuple(c[k] * its**k / arm for k in range(5)),
        length / arm,
        its_length / its,
        tuple((number[k], -own / arm) for k, own in arms[1:]),
    )


def _sum(
    name: str, number: Mapping[int, int], sums: Mapping[int, float], total: float
) -> JointCoupling | None:
    """Return the coupling by which a sum of arm times joint is constant."""
    arms = [(number[at], arm) for at, arm in sums.items() if arm]
    if not arms:
        return None
    (joint, arm), *others = arms
    rest = (total / arm,)
    if not others:
        return JointCoupling(name, joint, None, rest)
    (other, its), *more = others
    factors = tuple((k, -own / arm) for k, own in more)
    return JointCoupling(name, joint, other, (*rest, -its / arm), more=factors)
