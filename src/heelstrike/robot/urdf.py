"""A URDF as a Robot.

Pinocchio reads the tree. What it would answer with a crash of urdfdom, or without a word, is looked
for first: unknown joint types, more than one root, loops, names that occur twice, impossible
inertias, mimic joints, planes that are not horizontal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

import numpy as np
import pinocchio as pin

from heelstrike.robot.check import inertia_fault
from heelstrike.robot.convert import from_pinocchio
from heelstrike.robot.robot import Robot
from heelstrike.robot.urdf_shapes import shapes_of
from heelstrike.robot.xml import Reading, label

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
KEPT = ("link", "joint")


def read_urdf(reading: Reading, root: Element, base: str, package_dirs: Sequence[Path]) -> Robot:
    """The robot of a parsed URDF, with its shapes; contact points are left empty."""
    links = {link.get("name", ""): link for link in root.findall("link")}
    root_link = _check_tree(reading, root, links)
    for link in links.values():
        _check_inertia(reading, link)
    mimics = [j.get("name", "") for j in root.findall("joint") if j.find("mimic") is not None]
    if mimics:
        reading.note(f"mimic joints move freely: {', '.join(mimics)}")
    floating = base == "floating" or (base == "auto" and root_link != "world")
    text = tostring(_skeleton(reading, root), encoding="unicode")
    try:
        arguments = (pin.JointModelFreeFlyer(),) if floating else ()
        model = pin.buildModelFromXML(text, *arguments)
    except (ValueError, RuntimeError) as error:
        reading.fail(f"Pinocchio cannot read it ({str(error).strip()}); check it with check_urdf")
    robot = from_pinocchio(model)
    robot = replace(robot, poses={"zero": robot.neutral})
    return replace(robot, shapes=shapes_of(reading, robot, links, package_dirs))


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
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            reading.fail(f"two {what} are called '{twice[0]}'; give each its own name")
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


def _check_inertia(reading: Reading, link: Element) -> None:
    inertial = link.find("inertial")
    if inertial is None:
        return
    of_link = f"of link '{link.get('name')}'"
    values = {}
    moments = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    for tag, keys in (("mass", ("value",)), ("inertia", moments)):
        element = inertial.find(tag)
        if element is None:
            reading.fail(f"the <inertial> {of_link} has no <{tag}>; add it")
        for key in keys:
            text = element.get(key, "0" if key in ("ixy", "ixz", "iyz") else "")
            values[key] = reading.parse_numbers(text, f"'{key}' {of_link}", 1)[0]
    xx, yy, zz, xy, xz, yz = (values[key] for key in moments)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    fault = inertia_fault(float(values["value"]), inertia)
    if fault:
        reading.note(f"link '{link.get('name')}' has {fault}")


def _skeleton(reading: Reading, root: Element) -> Element:
    """The links and joints alone, without surfaces, every number checked."""
    skeleton = Element("robot", {"name": root.get("name", reading.path.stem)})
    for element in root:
        if element.tag not in KEPT:
            continue
        copy = Element(element.tag, dict(element.attrib))
        copy.extend(e for e in element if e.tag not in ("visual", "collision", "mimic", "sensor"))
        for part in copy.iter():
            _check_numbers(reading, element, part)
        if element.tag == "joint":
            _normalise_axis(reading, copy)
        skeleton.append(copy)
    return skeleton


def _check_numbers(reading: Reading, owner: Element, part: Element) -> None:
    sizes = {"xyz": 3, "rpy": 3, "damping": 1, "friction": 1}
    limits = ("lower", "upper", "effort", "velocity") if part.tag == "limit" else ()
    for key, text in part.attrib.items():
        what = f"'{key}' of {label(owner)}"
        if key in sizes:
            reading.parse_numbers(text, what, sizes[key])
        elif key in limits:
            if text.strip().lower().lstrip("+-").startswith("inf"):
                part.set(key, "-1.7e308" if text.strip().startswith("-") else "1.7e308")
            else:
                reading.parse_numbers(text, what, 1)


def _normalise_axis(reading: Reading, joint: Element) -> None:
    axis = joint.find("axis")
    kind = joint.get("type")
    if axis is None or kind in ("fixed", "floating"):
        return
    direction = reading.numbers(axis, "xyz", "1 0 0", 3)
    length = np.linalg.norm(direction)
    if length < 1e-10:
        reading.fail(f"{label(joint)} has no axis: '{axis.get('xyz')}'")
    direction = direction / length
    if kind == "planar" and abs(direction[2]) < 1 - 1e-9:
        reading.fail(
            f"{label(joint)} slides in a plane whose normal is not z, which Pinocchio cannot read; "
            "turn its <origin> so that the normal is z"
        )
    # a fresh element: the one in `joint` belongs to the file's own tree
    fresh = Element("axis", {"xyz": " ".join(repr(float(x)) for x in direction)})
    joint.remove(axis)
    joint.append(fresh)
