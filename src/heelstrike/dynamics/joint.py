"""Kinds of joints: their transforms, and their motion subspaces [Featherstone2008]."""

from __future__ import annotations

import casadi as ca
import numpy as np

from heelstrike.robot.robot import Joint
from heelstrike.spatial.motion import MotionVector
from heelstrike.spatial.rotation import (
    AxisRotation,
    MatrixRotation,
    Rotation,
    about_axis,
    axis_rotations,
    constant_rotation,
    from_quaternion,
)
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, constant, zeros


def with_cos_sin(joint: Joint, q: SX) -> SX:
    """Return a joint's coordinates q, with cosine and sine in place of a revolute joint's angle."""
    return ca.vertcat(ca.cos(q), ca.sin(q)) if joint.kind == "revolute" else q


def transform(joint: Joint, q: SX) -> Transform:
    """Return the placement of a joint's moving frame in its parent's, for q of `with_cos_sin`."""
    turn, shift = _motion_of(joint, q)
    fixed = constant_rotation(joint.rotation, joint.mirrored.get("rotation"))
    origin = constant(joint.translation, joint.mirrored.get("translation"))
    if shift is not None:
        origin = origin + Transform(fixed, zeros()).rotate(shift)
    if turn is None:
        return Transform(fixed, origin)
    general = "rotation" not in joint.mirrored and any(isinstance(x, MatrixRotation) for x in fixed)
    if general and isinstance(turn, AxisRotation):
        *others, last = axis_rotations(joint.rotation, turn.axis)
        return Transform((*others, last.then(turn)), origin)
    first = fixed[0] if fixed else None
    if (
        isinstance(turn, AxisRotation)
        and isinstance(first, AxisRotation)
        and turn.axis == first.axis
    ):
        rest = fixed[1:]  # half a turn about another axis: it reverses this one
        own = rest[0].matrix[turn.axis, turn.axis] * turn.sin if rest else turn.sin
        return Transform((first.then(AxisRotation(turn.axis, turn.cos, own)), *rest), origin)
    return Transform((*fixed, turn), origin)


def _motion_of(joint: Joint, q: SX) -> tuple[Rotation | None, SX | None]:
    """Return the rotation and the translation of the moving frame in the joint frame."""
    match joint.kind:
        case "revolute" | "continuous":
            return about_axis(joint.axis, q[0], q[1], joint.mirrored.get("axis")), None
        case "prismatic":
            return None, _axis(joint) * q
        case "spherical":
            return from_quaternion(q), None
        case "planar":
            return AxisRotation(2, q[2], q[3]), ca.vertcat(q[0], q[1], 0)
        case "free":
            return from_quaternion(q[3:7]), q[0:3]
    raise AssertionError(joint.kind)


def subspace(joint: Joint) -> tuple[SX, SX]:
    """Return the motion subspace S in the moving frame: linear and angular part, (3, nv) each."""
    eye = np.eye(3)
    match joint.kind:
        case "revolute" | "continuous":
            return zeros(), _axis(joint)
        case "prismatic":
            return _axis(joint), zeros()
        case "spherical":
            return zeros(3, 3), constant(eye)
        case "planar":
            return constant(np.diag([1.0, 1.0, 0.0])), constant(np.diag([0.0, 0.0, 1.0]))
        case "free":
            return constant(np.hstack([eye, 0 * eye])), constant(np.hstack([0 * eye, eye]))
    raise AssertionError(joint.kind)


def _axis(joint: Joint) -> SX:
    return constant(joint.axis, joint.mirrored.get("axis"))


def velocity(joint: Joint, v: SX) -> MotionVector:
    """Return S v, the velocity of the moving frame relative to the joint frame, in its own axes."""
    linear, angular = subspace(joint)
    return MotionVector(linear @ v, angular @ v)


def coordinates(joint: Joint, q: SX) -> SX:
    """Return a joint's part of q."""
    return q[joint.iq : joint.iq + joint.nq]


def velocities(joint: Joint, v: SX) -> SX:
    """Return a joint's part of v, or of any vector by velocity index."""
    return v[joint.iv : joint.iv + joint.nv]
