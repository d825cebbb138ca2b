"""A URDF as a Robot.

Pinocchio reads the tree. What it would answer with a crash of urdfdom, or without a word, is looked
for first: unknown joint types, more than one root, loops, names that occur twice, missing or
impossible inertias and limits, mimic joints, planes that are not horizontal.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
import pinocchio as pin

from heelstrike.robot.check import inertia_fault, triangle_fault
from heelstrike.robot.convert import from_pinocchio
from heelstrike.robot.known import URDF, note_unknown
from heelstrike.robot.robot import Robot, first_duplicate
from heelstrike.robot.urdf_shapes import shapes_of
from heelstrike.robot.xml import Reading, label

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
KEPT = {
    "link": ("inertial",),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics"),
}
"""What is handed to Pinocchio, and which of its children."""
ROOT = "root_joint"
"""Name of the free joint of a floating base, as Pinocchio has it."""
LIMITS = {"lower": "0", "upper": "0", "effort": "inf", "velocity": "inf"}
"""Attributes of <limit>, and what they are where the file does not say."""
NONE = "1.7e308"
"""A limit that is none (urdfdom does not read inf)."""


def read_urdf(reading: Reading, root: Element, base: str, package_dirs: Sequence[Path]) -> Robot:
    """The robot of a parsed URDF, with its shapes; contact points are left empty."""
    links = {link.get("name", ""): link for link in root.findall("link")}
    note_unknown(reading, root, URDF)
    root_link = _check_tree(reading, root, links)
    mimics = [j.get("name", "") for j in root.findall("joint") if j.find("mimic") is not None]
    if mimics:
        reading.note(f"mimic joints move freely: {', '.join(mimics)}")
    floating = base == "floating" or (base == "auto" and root_link != "world")
    text = tostring(_skeleton(reading, root), encoding="unicode")
    try:
        arguments = (pin.JointModelFreeFlyer(), _root_name(root)) if floating else ()
        model = pin.buildModelFromXML(text, *arguments)
    except (ValueError, RuntimeError) as error:
        reading.fail(f"Pinocchio cannot read it ({str(error).strip()}); check it with check_urdf")
    robot = from_pinocchio(model)
    robot = replace(robot, poses={"zero": robot.neutral})
    return replace(robot, shapes=shapes_of(reading, robot, root, package_dirs))


def _root_name(root: Element) -> str:
    name = ROOT
    while name in {joint.get("name") for joint in root.findall("joint")}:
        name += "_free"
    return name


def _check_tree(reading: Reading, root: Element, links: dict[str, Element]) -> str:
    """The name of the one root link, if links and joints form a tree."""
    joints = root.findall("joint")
    if not links:
        if any(element.tag.startswith("xacro:") for element in root.iter()):
            reading.fail("is a xacro, not yet a URDF; run `xacro FILE > robot.urdf` and load that")
        reading.fail("has no <link>; a robot needs at least one")
    for what, elements in (("links", root.findall("link")), ("joints", joints)):
        names = [element.get("name", "") for element in elements]
        if "" in names:
            reading.fail(f"one of its {what} has no name; give it one")
        twice = first_duplicate(names)
        if twice is not None:
            reading.fail(f"two {what} are called '{twice}'; give each its own name")
    parent: dict[str, str] = {}
    for joint in joints:
        kind = joint.get("type", "")
        if kind not in TYPES:
            reading.fail(f"{label(joint)} has the unknown type '{kind}'; types: {', '.join(TYPES)}")
        above, below = (_end(reading, joint, tag, links) for tag in ("parent", "child"))
        if below in parent:
            reading.fail(
                f"link '{below}' is the child of two joints, which closes a loop; "
                "a URDF must be a tree: cut one joint"
            )
        parent[below] = above
    roots = [name for name in links if name not in parent]
    if not roots:
        reading.fail("every link is the child of a joint, which closes a loop; cut one joint")
    if len(roots) > 1:
        reading.fail(f"has {len(roots)} root links ({', '.join(roots)}); join them into one tree")
    for name in links:
        seen = {name}
        while name in parent:
            name = parent[name]
            if name in seen:
                reading.fail(f"link '{name}' is its own ancestor, which closes a loop; cut a joint")
            seen.add(name)
    return roots[0]


def _end(reading: Reading, joint: Element, tag: str, links: dict[str, Element]) -> str:
    end = joint.find(tag)
    name = "" if end is None else end.get("link", "")
    if name not in links:
        reading.fail(f"{label(joint)} has the {tag} '{name}', which is not among the links")
    return name


def _skeleton(reading: Reading, root: Element) -> Element:
    """The links and joints alone, without surfaces, every number checked and written out."""
    skeleton = Element("robot", {"name": root.get("name", reading.path.stem)})
    for element in root:
        if element.tag not in KEPT:
            continue
        copy = Element(element.tag, dict(element.attrib))
        copy.extend(deepcopy(e) for e in element if e.tag in KEPT[element.tag])
        for origin in copy.iter("origin"):
            for key in origin.attrib.keys() & {"xyz", "rpy"}:
                reading.parse_numbers(origin.attrib[key], f"'{key}' of {label(element)}", 3)
        if element.tag == "link":
            _settle_inertia(reading, copy)
        else:
            _settle_axis(reading, copy)
            _settle_limit(reading, copy)
            _settle_dynamics(reading, copy)
        skeleton.append(copy)
    return skeleton


def _settle_inertia(reading: Reading, link: Element) -> None:
    """Check mass and moments; write out the missing products, for urdfdom drops all six then."""
    inertial = link.find("inertial")
    if inertial is None:
        return
    name = link.get("name")
    values = {}
    moments = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    for tag, keys in (("mass", ("value",)), ("inertia", moments)):
        element = inertial.find(tag)
        if element is None:
            reading.fail(f"the <inertial> of link '{name}' has no <{tag}>; add it")
        for key in keys:
            text = element.get(key, "0" if key in ("ixy", "ixz", "iyz") else None)
            if text is None:
                reading.fail(f"link '{name}': <{tag}> lacks {key}; add it")
            values[key] = reading.parse_numbers(text, f"'{key}' of link '{name}'", 1)[0]
            element.set(key, text)
    xx, yy, zz, xy, xz, yz = (values[key] for key in moments)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    fault = inertia_fault(float(values["value"]), inertia) or triangle_fault(inertia)
    if fault:
        reading.note(f"link '{name}' has {fault}")


def _settle_axis(reading: Reading, joint: Element) -> None:
    """Write a unit axis; without one it is x."""
    axis = joint.find("axis")
    kind = joint.get("type")
    if kind in ("fixed", "floating"):
        return
    if axis is None:
        axis = SubElement(joint, "axis")
    direction = reading.numbers(axis, "xyz", "1 0 0", 3)
    length = np.linalg.norm(direction)
    if length < 1e-10:
        reading.fail(f"{label(joint)} has no axis: '{axis.get('xyz')}'")
    direction = direction / length
    if kind == "planar" and direction[2] < 1 - 1e-9:
        reading.fail(
            f"{label(joint)} slides in a plane whose normal is not z, which Pinocchio cannot read; "
            "turn its <origin> so that the normal is z (without an <axis> it is x)"
        )
    axis.set("xyz", " ".join(repr(float(x)) for x in direction))


def _settle_limit(reading: Reading, joint: Element) -> None:
    """Check the limits and write all four out; effort and velocity that are missing are none."""
    limit = joint.find("limit")
    kind = joint.get("type")
    ranged = kind in ("revolute", "prismatic")
    if limit is None and ranged:
        hint = ", or make it continuous" if kind == "revolute" else ""
        reading.fail(f"{label(joint)} is {kind} and has no <limit>; give it lower and upper{hint}")
    if limit is None:
        return
    if kind in ("fixed", "floating"):
        joint.remove(limit)
        return
    missing = [key for key in ("effort", "velocity") if key not in limit.attrib]
    if missing:
        reading.note(f"{label(joint)} has no {' and no '.join(missing)} limit")
    if ranged and not limit.attrib.keys() & {"lower", "upper"}:
        reading.note(f"{label(joint)} has neither lower nor upper; both are 0, as URDF has it")
    ends = {}
    for key, default in LIMITS.items():
        text = limit.get(key, default).strip()
        if text.lower().lstrip("+-").startswith("inf"):
            text = f"-{NONE}" if text.startswith("-") else NONE
        ends[key] = float(reading.parse_numbers(text, f"'{key}' of {label(joint)}", 1)[0])
        limit.set(key, text)
    if ranged and ends["lower"] > ends["upper"]:
        reading.fail(f"{label(joint)} has a lower limit above its upper one; exchange them")
    if min(ends["effort"], ends["velocity"]) < 0:
        reading.fail(f"{label(joint)} has a negative effort or velocity in its <limit>")


def _settle_dynamics(reading: Reading, joint: Element) -> None:
    """Check damping and friction; urdfdom refuses a <dynamics> that says neither."""
    dynamics = joint.find("dynamics")
    if dynamics is None:
        return
    for key in ("damping", "friction"):
        value = reading.parse_numbers(dynamics.get(key, "0"), f"'{key}' of {label(joint)}", 1)[0]
        if value < 0:
            reading.fail(f"{label(joint)} has the negative {key} {value:g}; give 0 or more")
        dynamics.set(key, repr(float(value)))
