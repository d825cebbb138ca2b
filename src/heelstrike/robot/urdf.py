"""Reader of URDF.

Pinocchio reads the tree. Errors on which urdfdom would crash, or which it would ignore silently,
are checked first: unknown joint types, several roots, loops, duplicate names, missing or impossible
inertias and limits, mimic joints, planar joints that are not horizontal.
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
from heelstrike.robot.robot import Robot, first_duplicate
from heelstrike.robot.urdf_contacts import disabled_pairs, find_srdf, touching_shapes
from heelstrike.robot.urdf_mimic import coupled_joints, with_mimics
from heelstrike.robot.urdf_schema import warn_unknown
from heelstrike.robot.urdf_shapes import shapes_of
from heelstrike.robot.xml import RobotFile, label

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
KEPT = {
    "link": ("inertial",),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics"),
}
"""Elements that are passed to Pinocchio, with the children that are kept."""
ROOT = "root_joint"
"""Name of the free joint of a floating base, as in Pinocchio."""
LIMITS = {"lower": "0", "upper": "0", "effort": "inf", "velocity": "inf"}
"""Attributes of <limit> with their defaults."""
TINY = 1e-300
"""Magnitude below which a number is read as 0."""
NO_LIMIT = "1.7e308"
"""Text for an infinite limit (urdfdom does not read inf)."""


def read_urdf(
    file: RobotFile,
    root: Element,
    base: str,
    package_dirs: Sequence[Path],
    srdf: Path | None = None,
) -> Robot:
    """Return the robot of a parsed URDF, with its shapes and without contact points."""
    links = {link.get("name", ""): link for link in root.findall("link")}
    warn_unknown(file, root)
    root_link = _check_tree(file, root, links)
    floating = base == "floating" or (base == "auto" and root_link != "world")
    text = tostring(_skeleton(file, root), encoding="unicode")
    try:
        arguments = (pin.JointModelFreeFlyer(), _root_name(root)) if floating else ()
        model = pin.buildModelFromXML(text, *arguments)
    except (ValueError, RuntimeError) as error:
        file.fail(
            f"Pinocchio cannot read it ({str(error).strip()})", remedy="check it with check_urdf"
        )
    _check_mass(file, root, model)
    robot = from_pinocchio(model)
    robot = with_mimics(file, root, robot)
    shapes = shapes_of(file, robot, root, package_dirs)
    srdf = srdf or find_srdf(file.path)
    disabled = set() if srdf is None else disabled_pairs(srdf, set(links))
    self_pairs = touching_shapes(robot.joints, shapes, disabled)
    return replace(robot, shapes=shapes, self_pairs=self_pairs)


def _root_name(root: Element) -> str:
    """Return a name for the free joint that no other joint has."""
    name = ROOT
    while name in {joint.get("name") for joint in root.findall("joint")}:
        name += "_free"
    return name


def _check_tree(file: RobotFile, root: Element, links: dict[str, Element]) -> str:
    """Return the name of the root link, after checking that links and joints form a tree."""
    joints = root.findall("joint")
    if not links:
        if any(element.tag.startswith("xacro:") for element in root.iter()):
            file.fail(
                "is a xacro, not a URDF", remedy="run `xacro FILE > robot.urdf` and load that"
            )
        file.fail("has no <link>", remedy="a robot needs at least one")
    for what, elements in (("links", root.findall("link")), ("joints", joints)):
        names = [element.get("name", "") for element in elements]
        if "" in names:
            file.fail(f"one of its {what} has no name", remedy="give it one")
        duplicate = first_duplicate(names)
        if duplicate is not None:
            file.fail(
                f"two {what} are called '{duplicate}'",
                value=duplicate,
                remedy="give each its own name",
            )
    parent: dict[str, str] = {}
    for joint in joints:
        kind = joint.get("type", "")
        if kind not in TYPES:
            file.fail(
                f"{label(joint)} has the unknown type '{kind}'",
                value=kind,
                remedy=f"types: {', '.join(TYPES)}",
            )
        above, below = (_end(file, joint, tag, links) for tag in ("parent", "child"))
        if below in parent:
            file.fail(
                f"link '{below}' is the child of two joints, which closes a loop",
                value=below,
                remedy="a URDF must be a tree: remove one joint",
            )
        parent[below] = above
    roots = [name for name in links if name not in parent]
    if not roots:
        file.fail(
            "every link is the child of a joint, which closes a loop", remedy="remove one joint"
        )
    if len(roots) > 1:
        file.fail(
            f"has {len(roots)} root links ({', '.join(roots)})", remedy="join them into one tree"
        )
    for name in links:
        visited = {name}
        while name in parent:
            name = parent[name]
            if name in visited:
                file.fail(
                    f"link '{name}' is its own ancestor, which closes a loop",
                    value=name,
                    remedy="remove a joint",
                )
            visited.add(name)
    return roots[0]


def _check_mass(file: RobotFile, root: Element, model: pin.Model) -> None:
    """Fail if Pinocchio read another mass than the file has: urdfdom drops what it cannot read."""
    masses = [mass.get("value", "0") for mass in root.findall("link/inertial/mass")]
    total = sum(float(file.parse_numbers(text, "a mass", 1)[0]) for text in masses)
    found = sum(inertia.mass for inertia in model.inertias)
    if abs(found - total) > 1e-9 * abs(total):
        file.fail(
            f"Pinocchio reads a mass of {found:g} kg where its links have {total:g} kg",
            remedy="check the <inertial> of every link",
        )


def _text(*numbers: float) -> str:
    """Return numbers as urdfdom reads them: it drops an element with a space or 1e-310 in it."""
    return " ".join(repr(float(x)) if abs(x) > TINY else "0" for x in numbers)


def _end(file: RobotFile, joint: Element, tag: str, links: dict[str, Element]) -> str:
    """Return the name of a joint's parent or child link."""
    end = joint.find(tag)
    name = "" if end is None else end.get("link", "")
    if name not in links:
        file.fail(
            f"{label(joint)} has the {tag} '{name}', which is not among the links", value=name
        )
    return name


def _skeleton(file: RobotFile, root: Element) -> Element:
    """Return the links and joints without shapes, with every number checked and written out."""
    skeleton = Element("robot", {"name": root.get("name", file.path.stem)})
    coupled = coupled_joints(root)
    for element in root:
        if element.tag not in KEPT:
            continue
        copy = Element(element.tag, dict(element.attrib))
        copy.extend(deepcopy(e) for e in element if e.tag in KEPT[element.tag])
        for origin in copy.iter("origin"):
            for key in origin.attrib.keys() & {"xyz", "rpy"}:
                place = file.parse_numbers(origin.attrib[key], f"'{key}' of {label(element)}", 3)
                origin.set(key, _text(*place))
        if element.tag == "link":
            _write_inertia(file, copy)
        else:
            _write_axis(file, copy)
            _write_limit(file, copy)
            if copy.get("type") == "continuous" and copy.get("name") in coupled:
                _write_endless(copy)
            _write_dynamics(file, copy)
        skeleton.append(copy)
    return skeleton


def _write_inertia(file: RobotFile, link: Element) -> None:
    """Check mass and moments, and write missing products: urdfdom drops all six without them."""
    inertial = link.find("inertial")
    if inertial is None:
        return
    name = link.get("name")
    values = {}
    moments = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    for tag, keys in (("mass", ("value",)), ("inertia", moments)):
        element = inertial.find(tag)
        if element is None:
            file.fail(f"the <inertial> of link '{name}' has no <{tag}>", remedy="add it")
        for key in keys:
            text = element.get(key, "0" if key in ("ixy", "ixz", "iyz") else None)
            if text is None:
                file.fail(f"link '{name}': <{tag}> lacks {key}", remedy="add it")
            values[key] = file.parse_numbers(text, f"'{key}' of link '{name}'", 1)[0]
            element.set(key, _text(values[key]))
    xx, yy, zz, xy, xz, yz = (values[key] for key in moments)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    fault = inertia_fault(float(values["value"]), inertia)
    if fault:
        file.inertia_faults.append(f"link '{name}' has {fault}")
    fault = fault or triangle_fault(inertia)
    if fault:
        file.warn(f"link '{name}' has {fault}", f"link '{name}'", "file")


def _write_axis(file: RobotFile, joint: Element) -> None:
    """Write a unit axis; the default is x."""
    axis = joint.find("axis")
    kind = joint.get("type")
    if kind in ("fixed", "floating"):
        return
    if axis is None:
        axis = SubElement(joint, "axis")
    direction = file.numbers(axis, "xyz", "1 0 0", 3)
    length = np.linalg.norm(direction)
    if length < 1e-10:
        file.fail(f"{label(joint)} has no axis: '{axis.get('xyz')}'", value=axis.get("xyz"))
    direction = direction / length
    if kind == "planar" and direction[2] < 1 - 1e-9:
        file.fail(
            f"{label(joint)} slides in a plane whose normal is not z, which Pinocchio cannot read",
            value=axis.get("xyz"),
            remedy="turn its <origin> so that the normal is z (without an <axis> it is x)",
        )
    axis.set("xyz", _text(*direction))


def _write_limit(file: RobotFile, joint: Element) -> None:
    """Check the limits and write all four out; missing effort and velocity are infinite."""
    limit = joint.find("limit")
    kind = joint.get("type")
    ranged = kind in ("revolute", "prismatic")
    if limit is None and ranged:
        hint = ", or make it continuous" if kind == "revolute" else ""
        file.fail(
            f"{label(joint)} is {kind} and has no <limit>",
            remedy=f"give it lower and upper{hint}",
        )
    if limit is None:
        return
    if kind in ("fixed", "floating"):
        joint.remove(limit)
        return
    missing = [key for key in ("effort", "velocity") if key not in limit.attrib]
    if missing:
        file.warn(f"{label(joint)} has no {' and no '.join(missing)} limit", label(joint), "file")
    if ranged and not limit.attrib.keys() & {"lower", "upper"}:
        what = f"{label(joint)} has neither lower nor upper; both are 0, the default of URDF"
        file.warn(what, label(joint), "file")
    ends = {}
    for key, default in LIMITS.items():
        text = limit.get(key, default).strip()
        if text.lower().lstrip("+-").startswith("inf"):
            text = f"-{NO_LIMIT}" if text.startswith("-") else NO_LIMIT
        ends[key] = float(file.parse_numbers(text, f"'{key}' of {label(joint)}", 1)[0])
        if key in ("effort", "velocity") and ends[key] < 0:
            what = f"the negative {key} {ends[key]:g} of {label(joint)} is read as {-ends[key]:g}"
            file.warn(what, label(joint), "file")
            ends[key] = -ends[key]
        limit.set(key, _text(ends[key]))
    if ranged and ends["lower"] > ends["upper"]:
        file.fail(f"{label(joint)} has a lower limit above its upper one", remedy="exchange them")


def _write_endless(joint: Element) -> None:
    """Write a continuous joint as a revolute one without ends, whose angle is one number."""
    limit = joint.find("limit")
    if limit is None:
        limit = SubElement(joint, "limit", {"effort": NO_LIMIT, "velocity": NO_LIMIT})
    limit.set("lower", f"-{NO_LIMIT}")
    limit.set("upper", NO_LIMIT)
    joint.set("type", "revolute")


def _write_dynamics(file: RobotFile, joint: Element) -> None:
    """Check damping and friction, and write both: urdfdom refuses a <dynamics> with neither."""
    dynamics = joint.find("dynamics")
    if dynamics is None:
        return
    for key in ("damping", "friction"):
        value = file.parse_numbers(dynamics.get(key, "0"), f"'{key}' of {label(joint)}", 1)[0]
        if value < 0:
            file.fail(
                f"{label(joint)} has the negative {key} {value:g}",
                value=float(value),
                allowed="0 or more",
            )
        dynamics.set(key, _text(value))
