"""An MJCF as a Robot.

The file's own XML is resolved here (default classes, includes, frames, compiler settings, masses of
geoms, several joints on a body) and handed to Pinocchio joint by joint. Pinocchio's own reader of
MJCF is not used: docs/loading.md lists what it reads otherwise than MuJoCo.
"""

from __future__ import annotations

from dataclasses import replace
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin

from heelstrike.robot.convert import from_pinocchio
from heelstrike.robot.known import MJCF, warn_unknown
from heelstrike.robot.mjcf_actuators import Motors, read_actuators
from heelstrike.robot.mjcf_defaults import Compiler, Defaults, expand_includes
from heelstrike.robot.mjcf_geom import read_colour
from heelstrike.robot.mjcf_mesh import Meshes
from heelstrike.robot.mjcf_model import build_model, shapes_of
from heelstrike.robot.mjcf_tree import MjJoint, Tree
from heelstrike.robot.robot import Robot
from heelstrike.robot.xml import RobotFile

DISABLING = ("actuation", "damper", "frictionloss", "limit")
"""Flags of <option> that would switch off something that is read here."""
UNMODELLED = {"density": 1, "viscosity": 1, "wind": 3}
"""Attributes of <option> that say something of the air, and how many numbers they take."""


def read_mjcf(reading: RobotFile, root: Element, base: str) -> Robot:
    """The robot of a parsed MJCF, with its shapes; contact points are left empty."""
    expand_includes(reading, root)
    warn_unknown(reading, root, MJCF)
    compiler = Compiler.read(reading, root)
    defaults = Defaults(reading, root)
    tree = Tree(reading, compiler, defaults)
    for world in root.findall("worldbody"):
        tree.walk(world)
    tree.finish()
    _note_what_is_dropped(reading, root)
    _set_base(tree, base)
    meshes = Meshes(reading, compiler, defaults, root)
    name = root.get("model", reading.path.stem)
    model, carriers = build_model(tree, meshes, name, _gravity(reading, root))

    motors = Motors(read_actuators(reading, compiler, defaults, root), reading)
    motors.weigh_down(model)
    materials = [defaults.apply(e, "main") for e in root.findall("asset/material")]
    colours = {e.get("name", ""): read_colour(reading, e) for e in materials}
    robot = replace(from_pinocchio(model), shapes=shapes_of(tree, meshes, carriers, colours))
    robot = motors.drive(robot, tree.joints, _from_qpos(tree, robot, None))
    return replace(robot, poses=_poses(tree, robot, root))


def _gravity(reading: RobotFile, root: Element) -> float:
    """Along -z [m/s^2]."""
    gravity = np.array([0.0, 0.0, -9.81])
    for option in root.findall("option"):
        if "gravity" in option.attrib:
            gravity = reading.numbers(option, "gravity", None, 3)
    if gravity[0] or gravity[1]:
        reading.warn(f"gravity {gravity.tolist()} is not along z; only its z part is kept")
    flags = [flag for option in root.findall("option") for flag in option.findall("flag")]
    for flag in flags:
        for key in DISABLING:
            if flag.get(key) == "disable":
                reading.warn(f"the option {key}='disable' is not followed")
    off = any(flag.get("gravity") == "disable" for flag in flags)
    return 0.0 if off else float(-gravity[2])


def _note_what_is_dropped(reading: RobotFile, root: Element) -> None:
    for section, word in (("equality", "equality constraint"), ("tendon", "tendon")):
        elements = [e for s in root.findall(section) for e in s if e.get("active") != "false"]
        if elements:
            names = ", ".join(_called(e) for e in elements)
            plural = word if len(elements) == 1 else word + "s"
            reading.warn(f"{len(elements)} {plural} left out, the joints move freely: {names}")
    for option in root.findall("option"):
        for key, most in UNMODELLED.items():
            if any(reading.numbers(option, key, "0", 1, most)):
                reading.warn(f"the option {key}='{option.get(key)}' is not followed")
    if root.find("deformable") is not None:
        reading.warn("<deformable> is left out")


def _called(element: Element) -> str:
    """A constraint's name, or what it joins."""
    ends = [element.get(k, "") for k in ("joint1", "joint2", "body1", "body2", "site1", "site2")]
    joined = "-".join(end for end in ends if end)
    return element.get("name") or f"{element.tag} {joined}".strip()


def _set_base(tree: Tree, base: str) -> None:
    """Give the root body a free joint, or take it away, as `base` asks."""
    roots = [body for body in tree.bodies if body.parent < 0]
    if base == "fixed":
        for body in roots:
            body.joints = [joint for joint in body.joints if joint.kind != "free"]
    if base == "floating" and not any(j.kind == "free" for b in roots for j in b.joints):
        if len(roots) > 1 or roots[0].joints:
            tree.reading.fail(
                "cannot float: its root must be one body without joints of its own; wrap it in a "
                "<body> with a <freejoint/>, or use base='auto'"
            )
        free = MjJoint("root", "free", np.zeros(3), np.zeros(3), np.array([-np.inf, np.inf]))
        while free.name in {joint.name for _, joint in tree.joints}:
            free.name += "_free"
        roots[0].joints = [free]


def _from_qpos(tree: Tree, robot: Robot, qpos: np.ndarray | None) -> np.ndarray:
    """Our q of the file's qpos; None (MuJoCo's qpos0) and joints it does not have: as drawn."""
    q = robot.neutral
    for (body, drawn), joint in zip(tree.joints, robot.joints, strict=True):
        at = joint.q_slice
        given = None if qpos is None or drawn.qpos < 0 else qpos[drawn.qpos :][: joint.nq]
        if joint.kind == "free":
            if given is None:
                q[at] = pin.SE3ToXYZQUAT(pin.SE3(body.rotation, body.pos))
            else:
                q[at] = np.concatenate([given[:3], _quaternion(given[3:])])
        elif joint.kind == "spherical":
            q[at] = [0, 0, 0, 1] if given is None else _quaternion(given)
        else:
            q[at] = drawn.ref if given is None else given
    return q


def _quaternion(wxyz: np.ndarray) -> np.ndarray:
    """MuJoCo's quaternion as xyzw of length one; a zero one is no turn."""
    length = np.linalg.norm(wxyz)
    return wxyz[[1, 2, 3, 0]] / length if length > 1e-12 else np.array([0.0, 0.0, 0.0, 1.0])


def _poses(tree: Tree, robot: Robot, root: Element) -> dict[str, np.ndarray]:
    """The keyframes by name, and "zero": joints at zero, a free base where the file draws it."""
    poses = {}
    for k, key in enumerate(e for section in root.findall("keyframe") for e in section):
        qpos = None
        if "qpos" in key.attrib:
            qpos = tree.reading.numbers(key, "qpos", None, tree.nq)
        name = key.get("name") or f"key{k}"
        if name in poses:
            tree.reading.fail(f"two keyframes are called '{name}'; give each its own name")
        poses[name] = _from_qpos(tree, robot, qpos)
    zero = robot.neutral
    drawn = _from_qpos(tree, robot, None)
    for joint in robot.joints:
        if joint.kind == "free":
            zero[joint.q_slice] = drawn[joint.q_slice]
    return {**poses, "zero": poses.get("zero", zero)}
