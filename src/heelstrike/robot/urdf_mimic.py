"""Mimic joints of a URDF, as constraints: q = multiplier q_leader + offset.

A leader that is fixed stays at 0. Continuous joints that mimic or are mimicked are revolute joints
without ends here.
"""

from __future__ import annotations

from dataclasses import replace
from xml.etree.ElementTree import Element

import numpy as np

from heelstrike.robot.constraints import JointCoupling
from heelstrike.robot.robot import Robot
from heelstrike.robot.xml import RobotFile, label

COUPLED = ("revolute", "prismatic")
"""Kinds of joints whose coordinate is one number."""


def coupled_joints(root: Element) -> set[str]:
    """Return the names of joints that mimic others or are mimicked."""
    found = {joint.get("name", ""): joint.find("mimic") for joint in root.findall("joint")}
    pairs = ((name, mimic.get("joint", "")) for name, mimic in found.items() if mimic is not None)
    return {name for pair in pairs for name in pair}


def with_mimics(file: RobotFile, root: Element, robot: Robot) -> Robot:
    """Return the robot with its mimic joints, and the pose zero, in which they hold."""
    number = {joint.name: k for k, joint in enumerate(robot.joints)}
    found = []
    kinds = {joint.get("name", ""): joint.get("type") for joint in root.findall("joint")}
    for element in root.findall("joint"):
        mimic, name = element.find("mimic"), element.get("name", "")
        if mimic is None or kinds[name] == "fixed":
            continue
        leader = mimic.get("joint", "")
        ends = [robot.joints[number[n]] for n in (name, leader) if n in number]
        still = kinds.get(leader) == "fixed"
        if len(ends) < 2 - still or any(joint.kind not in COUPLED for joint in ends):
            why = "it and the joint that it follows must have one coordinate"
            if leader not in kinds:
                why = f"the joint '{leader}', which it follows, is not in the file"
            file.warn(f"mimic {label(element)} moves freely", label(element), why=why)
            continue
        ratio, offset = (
            float(file.numbers(mimic, key, default, 1)[0])
            for key, default in (("multiplier", "1"), ("offset", "0"))
        )
        follows = None if still else number[leader]
        numbers = (offset,) if still else (offset, ratio)
        found.append(JointCoupling(f"mimic {name}", number[name], follows, numbers))
    zero = robot.neutral
    for _ in found:  # a mimic may follow another
        for coupling in found:
            x = 0.0 if coupling.other is None else zero[robot.joints[coupling.other].iq]
            zero[robot.joints[coupling.joint].iq] = np.polyval(coupling.coefficients[::-1], x)
    return replace(robot, constraints=tuple(found), poses={"zero": zero})
