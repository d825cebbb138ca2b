"""A robot as an MJCF that MuJoCo loads: the same inertia, joints, shapes, forces and constraints.

Body i is MuJoCo's body of that name, in the same frame; a joint without a body of its own (several
joints on one body) is a further joint of the body that its chain ends in. Links and sites become
sites. Shapes touch a ground by contact bits, and one another by <pair>, as `self_pairs` has them.

Meshes are their convex hulls, those that are only drawn are left out. What MJCF has no likeness of
is refused with a sentence.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import mujoco
import numpy as np
import pinocchio as pin

from heelstrike.errors import HeelstrikeError
from heelstrike.files import whole_file
from heelstrike.robot.mjcf_export_forces import add_forces, fluid_of, spring_of
from heelstrike.robot.robot import WORLD, Body, Joint, Robot

KINDS = {
    "revolute": "hinge",
    "continuous": "hinge",
    "prismatic": "slide",
    "spherical": "ball",
    "free": "free",
}
FIXED = "fixed shapes"
"""Body of the shapes that do not move."""
FAR = 1e6
"""End of a range that the robot has at one side only [rad or m]."""
WIDENING = 1.0
"""Width at each side by which a range without width is written wider, with as much margin."""
Holders = list[Element | None]
"""MuJoCo's <body> of each body; None for one without inertia inside a chain of joints."""


def write_mjcf(robot: Robot, path: str | os.PathLike[str]) -> Path:
    """Write a robot as an MJCF and return the path."""
    root = Element("mujoco", model=robot.name)
    put(root, "compiler", angle="radian", autolimits="false")
    put(root, "option", gravity=robot.gravity_vector, **fluid_of(robot))
    asset, world = put(root, "asset"), put(root, "worldbody")
    holders = _add_tree(world, robot)
    _add_sites(world, robot, holders)
    names, contact = _add_shapes(asset, world, robot, holders), put(root, "contact")
    for i, j in robot.self_pairs:
        if names[i] and names[j]:
            put(contact, "pair", geom1=names[i], geom2=names[j])
    add_forces(root, robot, [world, *holders], put)
    _add_keys(root, robot, _compiled(robot, root))
    _compiled(robot, root)
    target = Path(path)
    indent(root)
    with whole_file(target) as part:
        part.write_text(tostring(root, encoding="unicode") + "\n", encoding="utf-8")
    return target


def put(parent: Element, tag: str, **attributes: Any) -> Element:
    """Return a new element; numbers are written with all their digits."""
    return SubElement(parent, tag, {key: _text(value) for key, value in attributes.items()})


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(repr(float(x)) for x in np.ravel(value))


def _compiled(robot: Robot, root: Element) -> mujoco.MjModel:
    try:
        return mujoco.MjModel.from_xml_string(tostring(root, encoding="unicode"))
    except ValueError as error:
        raise HeelstrikeError(f"MuJoCo does not take {robot.name}: {error}") from error


def _add_tree(world: Element, robot: Robot) -> Holders:
    """Add all bodies with their joints; joints of bodies without inertia are merged."""
    made: Holders = []
    waiting: dict[int, list[tuple[Joint, pin.SE3]]] = {}  # joints above a body that has no own
    for i, (joint, body) in enumerate(zip(robot.joints, robot.bodies, strict=True)):
        place = pin.SE3(joint.rotation, joint.translation)
        above = [(own, placed * place) for own, placed in waiting.get(joint.parent, [])]
        chain = [*above, (joint, pin.SE3.Identity())]
        if _is_inner(robot, i):
            waiting[i] = chain
            made.append(None)
            continue
        root, start = joint, place
        if above:
            root, moved = above[0]
            start = pin.SE3(root.rotation, root.translation) * moved
        parent = world if root.parent == WORLD else made[root.parent]
        assert parent is not None
        start = _drawn(robot, joint, start)
        lift = {"gravcomp": _gravcomp(body)} if body.lifted else {}
        new = put(parent, "body", name=body.name, **placed_at(start), **lift)
        _add_inertia(new, body)
        for own, moved in chain:
            _add_joint(new, robot, own, moved.inverse())
        made.append(new)
    return made


def _add_inertia(holder: Element, body: Body) -> None:
    full = body.inertia
    numbers = [*np.diag(full), full[0, 1], full[0, 2], full[1, 2]]
    put(holder, "inertial", pos=body.com, mass=body.mass, fullinertia=numbers)


def _is_inner(robot: Robot, i: int) -> bool:
    """Return whether a body has no inertia, and one child that its joint moves."""
    body, children = robot.bodies[i], robot.children(i)
    empty = body.mass == 0 and not body.inertia.any()
    return empty and len(children) == 1 and robot.joints[i].kind != "free"


def _drawn(robot: Robot, joint: Joint, place: pin.SE3) -> pin.SE3:
    """Return where the file draws a body: a free one as in the pose zero."""
    if joint.kind != "free" or "zero" not in robot.poses:
        return place
    return pin.XYZQUATToSE3(robot.poses["zero"][joint.q_slice])


def _gravcomp(body: Body) -> float:
    if np.abs(body.lifted_moment - body.lifted * body.com).max() > 1e-12 * abs(body.lifted):
        raise HeelstrikeError(
            f"gravity compensation of a part of body '{body.name}' has no likeness in one body"
        )
    return body.lifted / body.mass


def _add_joint(holder: Element, robot: Robot, joint: Joint, place: pin.SE3) -> None:
    """Add a joint to a body in whose frame it is placed."""
    if joint.kind not in KINDS:
        raise HeelstrikeError(f"MuJoCo has no {joint.kind} joint, as '{joint.name}' is")
    if joint.kind == "free" and (joint.parent != WORLD or joint.translation.any()):
        raise HeelstrikeError(f"MuJoCo has no free joint inside a tree, as '{joint.name}' is")
    for what in ("armature", "damping", "friction"):
        if np.ptp(getattr(robot, what)[joint.v_slice]):
            raise HeelstrikeError(f"{what} of joint '{joint.name}' differs by direction")
    options: dict[str, Any] = spring_of(robot, joint)
    if joint.axis.any():
        options["axis"] = place.rotation @ joint.axis
    if joint.kind != "free":
        options["pos"] = place.translation
    ends = float(robot.lower[joint.iq]), float(robot.upper[joint.iq])
    if joint.nq == 1 and np.isfinite(ends).any():
        inset = WIDENING if ends[0] == ends[1] else 0.0  # MuJoCo takes no range without width
        low, high = max(ends[0], -FAR) - inset, min(ends[1], FAR) + inset
        options |= {"limited": True, "range": [low, high], "margin": inset}
    cones = [cone.angle for cone in robot.cones if robot.joints[cone.joint] is joint]
    if cones:
        options |= {"limited": True, "range": [0.0, min(cones)]}
    limit = float(robot.torque_limit[joint.iv])
    if joint.nv == 1 and np.isfinite(limit) and not robot.actuators:  # else theirs are written
        options |= {"actuatorfrclimited": True, "actuatorfrcrange": [-limit, limit]}
    put(
        holder,
        "joint",
        name=joint.name,
        type=KINDS[joint.kind],
        armature=robot.armature[joint.iv],
        damping=robot.damping[joint.iv],
        frictionloss=robot.friction[joint.iv],
        **options,
    )


def placed_at(place: pin.SE3) -> dict[str, Any]:
    """Return position and orientation as attributes."""
    turned = pin.Quaternion(np.asarray(place.rotation))
    return {"pos": place.translation, "quat": [turned.w, turned.x, turned.y, turned.z]}


def _add_sites(world: Element, robot: Robot, holders: Holders) -> None:
    """Add links and sites that are no bodies."""
    own = {body.name for body in robot.bodies}
    for name, frame in robot.frames.items():
        holder = world if frame.body == WORLD else holders[frame.body]
        if name not in own and holder is not None:
            put(holder, "site", name=name, **placed_at(pin.SE3(frame.rotation, frame.translation)))


def _add_shapes(asset: Element, world: Element, robot: Robot, holders: Holders) -> list[str]:
    """Add the shapes; return their names, "" of those that are left out."""
    names: list[str] = []
    fixed: Element | None = None
    for k, shape in enumerate(robot.shapes):
        names.append("")
        if shape.kind == "mesh" and shape.vertices is None:
            continue
        if shape.body == WORLD and fixed is None:  # geoms of the world itself are ground
            fixed = put(world, "body", name=FIXED)
        holder = fixed if shape.body == WORLD else holders[shape.body]
        if holder is None:
            continue
        name = names[-1] = f"{shape.name}.{k}"
        options: dict[str, Any] = {"size": shape.size}
        if shape.vertices is not None:
            put(asset, "mesh", name=name, vertex=shape.vertices)
            options = {"mesh": name}
        if shape.colour is not None:
            options["rgba"] = shape.colour
        put(
            holder,
            "geom",
            name=name,
            type=shape.kind,
            contype="0",
            conaffinity="1" if shape.collides and shape.meets_floor else "0",
            group="3" if shape.collides else "2",
            mass=0.0,
            **placed_at(pin.SE3(shape.rotation, shape.translation)),
            **options,
        )
    return names


def _add_keys(root: Element, robot: Robot, model: mujoco.MjModel) -> None:
    """Add the poses as keyframes; zero is where the bodies are drawn."""
    keys = put(root, "keyframe")
    for name, q in robot.poses.items():
        if name == "zero":
            continue
        qpos = np.zeros(model.nq)
        for joint in robot.joints:
            at, own = int(model.joint(joint.name).qposadr[0]), q[joint.q_slice]
            if joint.kind in ("free", "spherical"):
                own = np.concatenate([own[:-4], np.roll(own[-4:], 1)])
            elif joint.kind == "continuous":
                own = np.array([np.arctan2(own[1], own[0])])
            qpos[at : at + len(own)] = own
        controls = robot.controls.get(name, {})
        given = {"ctrl": [controls[own.name] for own in robot.actuators]} if controls else {}
        put(keys, "key", name=name, qpos=qpos, **given)
