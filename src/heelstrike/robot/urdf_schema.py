"""Attributes and children of the elements of URDF that are read here.

They serve to report misspellings, which would otherwise be ignored silently. Elements without an
entry (materials, transmissions, plugins) are not checked. Names with a colon belong to other tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from heelstrike.errors import nearest
from heelstrike.robot.xml import RobotFile, label

URDF: Mapping[str, tuple[str, str]] = {
    "robot": (
        "name version xmlns",
        "link joint material transmission gazebo ros2_control mujoco sensor",
    ),
    "link": ("name type", "inertial visual collision sensor gazebo contact"),
    "inertial": ("", "origin mass inertia"),
    "origin": ("xyz rpy", ""),
    "mass": ("value", ""),
    "inertia": ("ixx iyy izz ixy ixz iyz", ""),
    "visual": ("name", "origin geometry material"),
    "collision": ("name group", "origin geometry material contact_coefficients verbose"),
    "geometry": ("", "box sphere cylinder capsule mesh"),
    "box": ("size", ""),
    "sphere": ("radius", ""),
    "cylinder": ("radius length", ""),
    "capsule": ("radius length", ""),
    "mesh": ("filename scale", ""),
    "joint": (
        "name type",
        "origin parent child axis limit dynamics mimic calibration safety_controller",
    ),
    "parent": ("link", ""),
    "child": ("link", ""),
    "axis": ("xyz", ""),
    "limit": ("lower upper effort velocity", ""),
    "dynamics": ("damping friction", ""),
}
"""(attributes, children) of each element."""


def warn_unknown(file: RobotFile, root: Element) -> None:
    """Warn once about each unknown attribute and element, with the nearest known name."""
    found: dict[str, list[str]] = {}

    def look(element: Element, what: str) -> None:
        attributes, children = (text.split() for text in URDF[element.tag])
        for kind, own, known in (
            ("attribute", list(element.attrib), attributes),
            ("element", [child.tag for child in element], children),
        ):
            for name in own:
                if name not in known and ":" not in name:
                    shown = f"'{name}'" if kind == "attribute" else f"<{name}>"
                    close = nearest(name, known)
                    hint = f"; did you mean '{close}'?" if close else ""
                    message = f"the unknown {kind} {shown} of {{}} is not read{hint}"
                    found.setdefault(message, []).append(what)
        for child in element:
            if child.tag in children and child.tag in URDF:
                inside = "" if element is root else f" in {what}"
                look(child, label(child) if child.get("name") else f"<{child.tag}>{inside}")

    look(root, f"<{root.tag}>")
    for message, owners in found.items():
        more = f" and {len(owners) - 1} more" if len(owners) > 1 else ""
        file.warn(message.replace("{}", owners[0] + more), owners[0], "file")
