"""Conversion between a Robot and a Pinocchio model.

A composite joint (several joints of one body) becomes a chain whose inner bodies have no mass: q, v
and the equations of motion are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin

from heelstrike.errors import LoadError
from heelstrike.robot.mirror import with_mirrored
from heelstrike.robot.robot import WORLD, Body, Frame, Joint, Robot

KINDS = {
    "RX": "revolute", "RY": "revolute", "RZ": "revolute", "RevoluteUnaligned": "revolute",
    "PX": "prismatic", "PY": "prismatic", "PZ": "prismatic", "PrismaticUnaligned": "prismatic",
    "RUBX": "continuous", "RUBY": "continuous", "RUBZ": "continuous",
    "RevoluteUnboundedUnaligned": "continuous",
    "Spherical": "spherical", "Planar": "planar", "FreeFlyer": "free",
}  # fmt: skip

ALIGNED = {
    "revolute": (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ),
    "prismatic": (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ),
    "continuous": (pin.JointModelRUBX, pin.JointModelRUBY, pin.JointModelRUBZ),
}
UNALIGNED = {
    "revolute": pin.JointModelRevoluteUnaligned,
    "prismatic": pin.JointModelPrismaticUnaligned,
}
WITHOUT_AXIS = {
    "free": pin.JointModelFreeFlyer,
    "spherical": pin.JointModelSpherical,
    "planar": pin.JointModelPlanar,
}
NO_LIMIT = 1e300
"""Value above which a limit counts as none: Pinocchio writes the largest float."""


def joint_model(kind: str, axis: np.ndarray) -> Any:
    """Return Pinocchio's joint of a kind about a unit axis."""
    if kind in WITHOUT_AXIS:
        return WITHOUT_AXIS[kind]()
    for unit, aligned in zip(np.eye(3), ALIGNED[kind], strict=True):
        if np.array_equal(axis, unit):
            return aligned()
    if kind == "continuous":
        return _unaligned_continuous(axis)
    return UNALIGNED[kind](np.asarray(axis, dtype=float))


def _unaligned_continuous(axis: np.ndarray) -> Any:
    """Return a continuous joint built by way of a URDF: the constructor in Python takes no axis."""
    xyz = " ".join(repr(float(x)) for x in axis)
    urdf = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        f'<parent link="a"/><child link="b"/><axis xyz="{xyz}"/></joint></robot>'
    )
    return pin.buildModelFromXML(urdf).joints[1]


def from_pinocchio(model: pin.Model) -> Robot:
    """Return the robot of a Pinocchio model; gains, points and poses are left empty."""
    joints: list[Joint] = []
    bodies: list[Body] = []
    links = _first_links(model)
    carried = {0: WORLD}  # Pinocchio's joint -> our body
    for i in range(1, model.njoints):
        parent = carried[model.parents[i]]
        chain = list(_simple_joints(model.joints[i], model.jointPlacements[i]))
        for k, (simple, placement) in enumerate(chain):
            name = model.names[i] if len(chain) == 1 else f"{model.names[i]}.{k}"
            joints.append(_joint(name, simple, parent, placement))
            last = k == len(chain) - 1
            inner = Body(f"{name}.inner", 0.0, np.zeros(3), np.zeros((3, 3)))
            bodies.append(_body(model, i, links) if last else inner)
            parent = len(joints) - 1
        carried[i] = parent

    lower, upper = _position_limits(model, joints)
    robot = Robot(
        name=model.name,
        joints=tuple(joints),
        bodies=tuple(bodies),
        armature=np.array(model.armature),
        damping=np.array(model.damping),
        friction=np.array(model.upperDryFrictionLimit),
        lower=lower,
        upper=upper,
        velocity_limit=_limit(model.upperVelocityLimit),
        torque_limit=_limit(model.upperEffortLimit),
        kp=np.zeros(model.nv),
        kd=np.zeros(model.nv),
        frames=_frames(model, carried),
        gravity=float(-model.gravity.linear[2]),
        tilted_gravity=_tilted(model),
        model=model,
    )
    return with_mirrored(robot)


def to_pinocchio(robot: Robot) -> pin.Model:
    """Return the Pinocchio model of a robot's joints, bodies, frames and limits."""
    model = pin.Model()
    model.name = robot.name
    model.gravity.linear = robot.gravity_vector
    for joint, body in zip(robot.joints, robot.bodies, strict=True):
        placement = pin.SE3(joint.rotation, joint.translation)
        kind = joint_model(joint.kind, joint.axis)
        new = model.addJoint(joint.parent + 1, kind, placement, joint.name)
        model.addJointFrame(new)
        inertia = pin.Inertia.Zero()  # its constructor refuses a moment that rounding made -1e-20
        inertia.mass, inertia.lever, inertia.inertia = body.mass, body.com, body.inertia
        model.appendBodyToJoint(new, inertia, pin.SE3.Identity())
    links = {body.name for body in robot.bodies}
    for name, frame in robot.frames.items():
        kind = pin.FrameType.BODY if name in links else pin.FrameType.OP_FRAME
        place = pin.SE3(frame.rotation, frame.translation)
        carrier = frame.body + 1
        above = model.getFrameId(model.names[carrier], pin.FrameType.JOINT) if carrier else 0
        model.addFrame(pin.Frame(name, carrier, above, place, kind))
    model.armature = robot.armature
    model.damping = robot.damping
    model.lowerDryFrictionLimit, model.upperDryFrictionLimit = -robot.friction, robot.friction
    model.lowerPositionLimit, model.upperPositionLimit = robot.lower, robot.upper
    model.lowerEffortLimit, model.upperEffortLimit = -robot.torque_limit, robot.torque_limit
    speed = robot.velocity_limit
    model.lowerVelocityLimit, model.upperVelocityLimit = -speed, speed
    return model


def _simple_joints(model: Any, placement: pin.SE3) -> Iterator[tuple[Any, pin.SE3]]:
    """Yield (joint, placement): one, or those of a composite in order."""
    if model.shortname() != "JointModelComposite":
        yield model, placement
        return
    composite = model.extract()
    for k in range(composite.njoints):
        inner = composite.jointPlacements[k]
        yield composite.joints[k], placement * inner if k == 0 else inner


def _joint(name: str, model: Any, parent: int, placement: pin.SE3) -> Joint:
    short = model.shortname().removeprefix("JointModel")
    if short not in KINDS:
        raise LoadError(
            f"joint '{name}' is of type {short}, which is not supported",
            path=name,
            value=short,
            allowed="revolute, prismatic, continuous, spherical, planar, free or fixed joints",
        )
    if short.endswith("Unaligned"):  # its direction; not all these joints expose their axis
        data = model.createData()
        model.calc(data, np.eye(model.idx_q + model.nq)[model.idx_q])
        axis = np.ravel(data.S)[:3] + np.ravel(data.S)[3:]
    else:
        axis = np.array([short[-1] == letter for letter in "XYZ"], dtype=float)
    return Joint(
        name=name,
        kind=KINDS[short],
        parent=parent,
        rotation=np.array(placement.rotation),
        translation=np.array(placement.translation),
        axis=axis,
        iq=model.idx_q,
        iv=model.idx_v,
    )


def _first_links(model: pin.Model) -> dict[int, str]:
    """Return the name of the first link of each of Pinocchio's joints that has one."""
    links: dict[int, str] = {}
    for frame in model.frames:
        if frame.type == pin.FrameType.BODY:
            links.setdefault(frame.parentJoint, frame.name)
    return links


def _body(model: pin.Model, i: int, links: dict[int, str]) -> Body:
    """Return the body of Pinocchio's joint i, named after its first link."""
    inertia = model.inertias[i]
    return Body(
        name=links.get(i, model.names[i]),
        mass=float(inertia.mass),
        com=np.array(inertia.lever),
        inertia=np.array(inertia.inertia),
    )


def _frames(model: pin.Model, carried: dict[int, int]) -> dict[str, Frame]:
    """Return links and sites by name; a link takes precedence over a site of the same name."""
    frames = {}
    for kind in (pin.FrameType.OP_FRAME, pin.FrameType.BODY):
        for frame in model.frames:
            if frame.type == kind:
                R, p = frame.placement.rotation, frame.placement.translation
                frames[frame.name] = Frame(carried[frame.parentJoint], np.array(R), np.array(p))
    return frames


def _position_limits(model: pin.Model, joints: list[Joint]) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of q; joints whose q is not an angle or a length have none."""
    lower, upper = np.array(model.lowerPositionLimit), np.array(model.upperPositionLimit)
    for joint in joints:
        if joint.kind not in ("revolute", "prismatic"):
            lower[joint.q_slice], upper[joint.q_slice] = -np.inf, np.inf
    lower[lower < -NO_LIMIT] = -np.inf
    upper[upper > NO_LIMIT] = np.inf
    return lower, upper


def _tilted(model: pin.Model) -> tuple[float, float, float] | None:
    """Return gravity if it is not along z, else None."""
    x, y, z = (float(part) for part in model.gravity.linear)
    return (x, y, z) if x or y else None


def _limit(limit: np.ndarray) -> np.ndarray:
    """Return a limit with inf for none: Pinocchio writes the largest float, infinity or 0."""
    limit = np.array(limit, dtype=float)
    return np.where((limit > 0) & (limit < NO_LIMIT), limit, np.inf)
