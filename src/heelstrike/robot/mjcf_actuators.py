"""Gains and torque limits of an MJCF's actuators.

An actuator applies gear (g u + b_0 + b_1 l + b_2 l_dot) with l = gear q, so at the joint

    kp = -gear^2 b_1        kd = -gear^2 b_2

A <position> is g = kp, b = (0, -kp, -kv). A positive b_2 of a position servo is a damping ratio
(of `dampratio`): kv = 2 ratio sqrt(kp m), m = 1 / (gear^2 (H^-1)_ii) the inertia that the actuator
moves at qpos0 with all else free (MuJoCo 3.15 and later; before, m = H_ii / gear^2). An actuator's
own armature and damping reach the joint times gear^2. A default class holds one actuator, whatever
its tag: a <motor ctrlrange> there also reaches a <position>.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin

from heelstrike.robot.check import inertia_matrix
from heelstrike.robot.mjcf_defaults import ACTUATORS, Compiler, Defaults
from heelstrike.robot.mjcf_tree import MjBody, MjJoint
from heelstrike.robot.robot import Robot
from heelstrike.robot.xml import RobotFile, label

UNREAD = ("orientation", "damper", "cylinder", "muscle", "adhesion", "dcmotor", "plugin")
PLAIN = {"dyntype": ("none",), "gaintype": ("fixed",), "biastype": ("none", "affine")}
"""What a <general> may say without a note; the first is what else it is read as."""
OTHER_TARGETS = ("tendon", "site", "body", "cranksite", "slidersite")


@dataclass
class Actuator:
    """What one actuator says about its joint, before its gear."""

    joint: str = ""
    gear: float = 1.0
    gain: float = 1.0
    bias: np.ndarray = field(default_factory=lambda: np.zeros(3))
    affine: bool = False
    """Whether the bias counts."""
    types: dict[str, str] = field(default_factory=dict)
    """dyntype, gaintype and biastype of a <general>."""
    force: np.ndarray | None = None
    control: np.ndarray | None = None
    armature: float = 0.0
    damping: float = 0.0

    def gains(self, mobility: float) -> tuple[float, float]:
        """(kp, kd) at the joint, whose entry of H^-1 is `mobility`."""
        if not self.affine:
            return 0.0, 0.0
        b1, b2 = self.bias[1], self.bias[2]
        if b2 > 0 and self.gain == -b1:
            b2 = -2 * b2 * np.sqrt(self.gain / (self.gear**2 * mobility))
        return float(-(self.gear**2) * b1), float(-(self.gear**2) * b2)

    def torque(self) -> np.ndarray:
        """Lowest and highest torque at the joint [N m]."""
        limits = np.array([-np.inf, np.inf])
        if self.control is not None and not self.affine:  # a motor: its control is its force
            limits = np.sort(self.gain * self.control)
        if self.force is not None:
            limits = np.array([max(limits[0], self.force[0]), min(limits[1], self.force[1])])
        return np.sort(self.gear * limits)


def read_actuators(
    reading: RobotFile, compiler: Compiler, defaults: Defaults, root: Element
) -> list[Actuator]:
    """The actuators of joints; those of other things are named and left out."""
    actuators = []
    for element in (e for section in root.findall("actuator") for e in section):
        if element.tag not in ACTUATORS:
            reading.fail(f"{label(element)} in <actuator> is unknown; use {', '.join(ACTUATORS)}")
        layers = [*defaults.actuators[defaults.class_of(element, "main")], element]
        merged = Element(element.tag)
        for layer in layers:
            merged.attrib.update(layer.attrib)
        target = merged.get("joint") or merged.get("jointinparent")
        other = next((key for key in OTHER_TARGETS if key in merged.attrib), None)
        if element.tag in UNREAD or not target:
            why = f"it drives a {other}" if other and not target else f"<{element.tag}> is not read"
            reading.warn(f"actuator {label(element)} is left out: {why}")
            continue
        actuators.append(_actuator(reading, compiler, merged, layers, target))
    return actuators


def _actuator(
    reading: RobotFile, compiler: Compiler, merged: Element, layers: list[Element], joint: str
) -> Actuator:
    actuator = Actuator(
        joint,
        gear=float(reading.numbers(merged, "gear", "1", 1, 6)[0]),
        armature=float(reading.numbers(merged, "armature", "0", 1)[0]),
        damping=float(reading.numbers(merged, "damping", "0", 1, 3)[0]),
    )
    if any(reading.numbers(merged, "ki", "0", 1)):
        reading.warn(f"the integral gain of {label(merged)} is left out")
    for layer in layers:
        _apply(reading, actuator, layer)
    for key, plain in PLAIN.items():
        if actuator.types.get(key, plain[0]) not in plain:
            reading.warn(f"{key} {actuator.types[key]} of {label(merged)} is read as {plain[0]}")
    lags = ("timeconst", "delay") if merged.tag == "position" else ("delay",)
    for key in lags:
        if any(reading.numbers(merged, key, "0", 1)):
            reading.warn(f"{key} of {label(merged)} is left out: it acts at once")
    actuator.force = compiler.span(reading, merged, "forcerange", "forcelimited")
    actuator.control = compiler.span(reading, merged, "ctrlrange", "ctrllimited")
    return actuator


def _apply(reading: RobotFile, actuator: Actuator, layer: Element) -> None:
    """Let one element, of a class or the actuator's own, set the gain and bias."""

    def number(key: str, default: float) -> float:
        return float(reading.numbers(layer, key, repr(default), 1, 3)[0])

    if layer.tag == "general":
        actuator.types.update({key: layer.attrib[key] for key in PLAIN if key in layer.attrib})
        if "biastype" in layer.attrib:
            actuator.affine = layer.get("biastype") == "affine"
        if "gainprm" in layer.attrib:
            actuator.gain = float(reading.numbers(layer, "gainprm", None, 1, 10)[0])
        if "biasprm" in layer.attrib:
            given = reading.numbers(layer, "biasprm", None, 1, 10)[:3]
            actuator.bias[: len(given)] = given
        return
    actuator.types.clear()
    if layer.tag == "motor":
        actuator.gain, actuator.affine = 1.0, False
        actuator.bias = np.zeros(3)
    elif layer.tag in ("position", "intvelocity", "pid"):
        kp = number("kp", actuator.gain)
        actuator.gain, actuator.affine = kp, True
        actuator.bias[1] = -kp
        if "kv" in layer.attrib:
            actuator.bias[2] = -number("kv", 0.0)
        if "dampratio" in layer.attrib:
            actuator.bias[2] = number("dampratio", 0.0)
    elif layer.tag == "velocity":
        kv = number("kv", actuator.gain)
        actuator.gain, actuator.affine = kv, True
        actuator.bias = np.array([0.0, 0.0, -kv])


@dataclass
class Motors:
    """The actuators of a file, at work on its robot."""

    actuators: list[Actuator]
    reading: RobotFile

    def weigh_down(self, model: pin.Model) -> None:
        """Add the actuators' own armature and damping to their joints."""
        for actuator in self.actuators:
            if model.existJointName(actuator.joint):
                joint = model.getJointId(actuator.joint)
                if model.nvs[joint] == 1:
                    model.armature[model.idx_vs[joint]] += actuator.gear**2 * actuator.armature
                    model.damping[model.idx_vs[joint]] += actuator.gear**2 * actuator.damping

    def drive(self, robot: Robot, drawn: list[tuple[MjBody, MjJoint]], q0: np.ndarray) -> Robot:
        """The robot with its motors' gains and torque limits; q0 is MuJoCo's qpos0."""
        mobility = _mobility(robot, q0)
        kp, kd = np.zeros(robot.nv), np.zeros(robot.nv)
        torque = {joint.name: np.zeros(2) for joint in robot.joints}
        driven = set()
        where = {joint.name: joint for joint in robot.joints}
        for actuator in self.actuators:
            joint = where.get(actuator.joint)
            if joint is None or joint.nv > 1:
                why = "the robot does not have it" if joint is None else f"it is {joint.kind}"
                self.reading.warn(f"the actuator of joint '{actuator.joint}' is left out: {why}")
                continue
            stiffness, damping = actuator.gains(mobility[joint.iv])
            kp[joint.iv] += stiffness
            kd[joint.iv] += damping
            torque[joint.name] += actuator.torque()
            driven.add(joint.name)
        limit = np.full(robot.nv, np.inf)
        for _, mj in drawn:
            if where[mj.name].nv == 1:
                span = torque[mj.name] if mj.name in driven else np.array([-np.inf, np.inf])
                limit[where[mj.name].iv] = self._limit(mj, span)
        if robot.model is not None:
            robot.model.upperEffortLimit = limit
            robot.model.lowerEffortLimit = -limit
        return replace(robot, kp=kp, kd=kd, torque_limit=limit)

    def _limit(self, joint: MjJoint, span: np.ndarray) -> float:
        """The largest torque, of the motors and of the joint's actuatorfrcrange."""
        if joint.torque is not None:
            span = np.array([max(span[0], joint.torque[0]), min(span[1], joint.torque[1])])
        if span[0] != -span[1]:
            self.reading.warn(
                f"the torque range {span.tolist()} of joint '{joint.name}' is not symmetric; "
                "its larger end is taken both ways"
            )
        return float(np.abs(span).max())


def _mobility(robot: Robot, q: np.ndarray) -> np.ndarray:
    """The diagonal of H^-1 at q; inf where H has no inverse (such a robot is refused later)."""
    model = robot.model
    assert model is not None
    try:
        return np.linalg.inv(inertia_matrix(model, q)).diagonal().copy()
    except np.linalg.LinAlgError:
        return np.full(robot.nv, np.inf)
