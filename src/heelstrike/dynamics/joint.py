"""What each kind of joint does: its transform, its free directions, how its coordinates move."""

from __future__ import annotations

import casadi as ca
import numpy as np

from heelstrike.robot.robot import Joint
from heelstrike.spatial.motion import Motion
from heelstrike.spatial.rotation import (
    AxisRotation,
    Rotation,
    about_axis,
    constant_rotation,
    from_quaternion,
)
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, constant, zeros


def turned(joint: Joint, q: SX) -> SX:
    """The joint's own coordinates q, with cosine and sine in place of an angle."""
    return ca.vertcat(ca.cos(q), ca.sin(q)) if joint.kind == "revolute" else q


def transform(joint: Joint, q: SX) -> Transform:
    """Where the moving frame is in the parent's, for the joint's own coordinates, `turned`."""
    turn, shift = _motion_of(joint, q)
    fixed = constant_rotation(joint.rotation)
    origin = constant(joint.translation)
    if shift is not None:
        origin = origin + (shift if fixed is None else fixed.apply(shift))
    if (
        isinstance(turn, AxisRotation)
        and isinstance(fixed, AxisRotation)
        and turn.axis == fixed.axis
    ):
        cos = turn.cos * fixed.cos - turn.sin * fixed.sin  # two turns about one axis are one
        sin = turn.sin * fixed.cos + turn.cos * fixed.sin
        return Transform((AxisRotation(turn.axis, cos, sin),), origin)
    return Transform(tuple(r for r in (fixed, turn) if r is not None), origin)


def _motion_of(joint: Joint, q: SX) -> tuple[Rotation | None, SX | None]:
    """Turn and shift of the moving frame in the joint frame."""
    match joint.kind:
        case "revolute" | "continuous":
            return about_axis(joint.axis, q[0], q[1]), None
        case "prismatic":
            return None, constant(joint.axis) * q
        case "spherical":
            return from_quaternion(q), None
        case "planar":
            return AxisRotation(2, q[2], q[3]), ca.vertcat(q[0], q[1], 0)
        case "free":
            return from_quaternion(q[3:7]), q[0:3]
    raise AssertionError(joint.kind)


def subspace(joint: Joint) -> tuple[SX, SX]:
    """Free directions S in the moving frame: linear and angular part, (3, nv) each."""
    none, axis = np.zeros((3, 1)), joint.axis.reshape(3, 1)
    eye = np.eye(3)
    linear, angular = {
        "revolute": (none, axis),
        "continuous": (none, axis),
        "prismatic": (axis, none),
        "spherical": (np.zeros((3, 3)), eye),
        "planar": (np.diag([1.0, 1.0, 0.0]), np.diag([0.0, 0.0, 1.0])),
        "free": (np.hstack([eye, 0 * eye]), np.hstack([0 * eye, eye])),
    }[joint.kind]
    return constant(linear), constant(angular)


def velocity(joint: Joint, v: SX) -> Motion:
    """S v, the moving frame's velocity against the joint frame, in the moving frame."""
    linear, angular = subspace(joint)
    return Motion(linear @ v, angular @ v)


def coordinates(joint: Joint, q: SX) -> SX:
    return q[joint.iq : joint.iq + joint.nq]


def velocities(joint: Joint, v: SX) -> SX:
    return v[joint.iv : joint.iv + joint.nv]


def at_rest() -> Transform:
    """The world seen from itself."""
    return Transform((), zeros())
