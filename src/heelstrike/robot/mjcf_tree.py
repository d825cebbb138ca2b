"""The bodies of an MJCF with everything resolved: placements, joints, shapes, mass.

Angles in radians, frames and default classes dissolved, sizes written out: what MuJoCo's compiler
would see. Bodies come depth first, in the order of the file, which is MuJoCo's order of joints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

import numpy as np

from heelstrike.robot.mjcf_defaults import Compiler, Defaults, orientation
from heelstrike.robot.mjcf_geom import MjGeom, read_geom
from heelstrike.robot.robot import first_duplicate
from heelstrike.robot.xml import RobotFile, label

REFUSED = {"composite", "flexcomp", "replicate", "attach", "plugin"}
JOINT_SIZES = {"free": (7, 6), "ball": (4, 3), "hinge": (1, 1), "slide": (1, 1)}


@dataclass
class MjJoint:
    """A joint in the frame of its body; `qpos` is where it starts in the file's qpos."""

    name: str
    kind: str
    pos: np.ndarray
    axis: np.ndarray
    limits: np.ndarray
    """(2,), infinite where there is none."""
    ref: float = 0.0
    armature: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    torque: np.ndarray | None = None
    """actuatorfrcrange, where it is in force."""
    qpos: int = -1


@dataclass
class MjBody:
    """A body in the frame of its parent."""

    name: str
    parent: int
    """Index of the parent in the list of bodies, -1 for the world."""
    rotation: np.ndarray
    pos: np.ndarray
    inertial: Element | None = None
    joints: list[MjJoint] = field(default_factory=list)
    geoms: list[MjGeom] = field(default_factory=list)
    sites: list[tuple[str, np.ndarray, np.ndarray]] = field(default_factory=list)


@dataclass
class Tree:
    """Walks <worldbody> once and collects its bodies."""

    reading: RobotFile
    compiler: Compiler
    defaults: Defaults
    bodies: list[MjBody] = field(default_factory=list)
    nq: int = 0
    """Length of the file's qpos."""

    def walk(self, world: Element) -> None:
        childclass = world.get("childclass", "main")
        self._children(world, MjBody("world", -1, np.eye(3), np.zeros(3)), -1, childclass)

    @property
    def joints(self) -> list[tuple[MjBody, MjJoint]]:
        return [(body, joint) for body in self.bodies for joint in body.joints]

    def finish(self) -> None:
        """Check the whole, after every <worldbody> was walked."""
        if not self.bodies:
            self.reading.fail("has no <body> in its <worldbody>; a robot needs at least one")
        self._check_names()

    def _children(
        self,
        element: Element,
        body: MjBody,
        index: int,
        childclass: str,
        rotation: np.ndarray | None = None,
        pos: np.ndarray | None = None,
    ) -> None:
        """Read what stands inside a body, or inside a <frame> of it at (rotation, pos)."""
        R = np.eye(3) if rotation is None else rotation
        p = np.zeros(3) if pos is None else pos
        for child in element:
            if child.tag in REFUSED:
                self.reading.fail(
                    f"<{child.tag}> in body '{body.name}' is not read; save the compiled model "
                    "with MuJoCo (mujoco.mj_saveLastXML) and load that file"
                )
            if child.tag == "frame":
                R_child, p_child = self._placement(child)
                inner = child.get("childclass", childclass)
                self._children(child, body, index, inner, R @ R_child, p + R @ p_child)
            elif child.tag == "body":
                self._body(child, index, childclass, R, p)
            elif child.tag == "inertial":
                body.inertial = child
            elif child.tag == "site":
                resolved = self.defaults.apply(child, childclass)
                R_child, p_child = self._placement(resolved)
                if child.get("name"):
                    body.sites.append((child.get("name", ""), R @ R_child, p + R @ p_child))
            elif child.tag == "geom" and index >= 0:
                resolved = self.defaults.apply(child, childclass)
                body.geoms.append(read_geom(self.reading, self.compiler, resolved, body.name, R, p))
            elif child.tag in ("joint", "freejoint"):
                if index < 0:
                    self.reading.fail("a joint stands in the world; put it inside a <body>")
                self._joint(child, body, childclass, R, p)

    def _body(
        self, element: Element, parent: int, childclass: str, R: np.ndarray, p: np.ndarray
    ) -> None:
        R_child, p_child = self._placement(element)
        inner = self.defaults.class_of(element, element.get("childclass", childclass))
        name = element.get("name") or f"body{len(self.bodies) + 1}"
        body = MjBody(name, parent, R @ R_child, p + R @ p_child)
        self.bodies.append(body)
        if float(self.reading.numbers(element, "gravcomp", "0", 1)[0]):
            self.reading.warn(f"gravity compensation of body '{name}' is left out")
        if element.get("mocap") == "true":
            self.reading.warn(f"mocap body '{name}' stands still, as part of the world")
        self._children(element, body, len(self.bodies) - 1, inner)
        free = any(joint.kind == "free" for joint in body.joints)
        if free and (parent >= 0 or len(body.joints) > 1):
            self.reading.fail(
                f"body '{name}' has a free joint beside another joint or inside another body; "
                "a free joint must be the only one of a body of the world"
            )

    def _placement(self, element: Element) -> tuple[np.ndarray, np.ndarray]:
        pos = self.reading.numbers(element, "pos", "0 0 0", 3)
        return orientation(self.reading, self.compiler, element), pos

    def _joint(
        self, element: Element, body: MjBody, childclass: str, R: np.ndarray, p: np.ndarray
    ) -> None:
        reading = self.reading
        free = element.tag == "freejoint"
        resolved = element if free else self.defaults.apply(element, childclass)
        kind = "free" if free else resolved.get("type", "hinge")
        if kind not in JOINT_SIZES:
            reading.fail(
                f"{label(element)} has the unknown type '{kind}'; types: {', '.join(JOINT_SIZES)}"
            )
        named = resolved.get("name") or ""
        what = f"joint '{named}'" if named else f"the joint of body '{body.name}'"
        axis = R @ reading.numbers(resolved, "axis", "0 0 1", 3)
        length = np.linalg.norm(axis)
        if kind in ("hinge", "slide") and length < 1e-10:
            reading.fail(f"{what} has no axis: '{resolved.get('axis')}'")

        def number(key: str) -> float:
            return float(reading.numbers(resolved, key, "0", 1, 3)[0])

        def not_negative(key: str) -> float:
            if number(key) < 0:
                reading.fail(f"{key} of {what} is negative: '{resolved.get(key)}'; give 0 or more")
            return number(key)

        stiff = any(reading.numbers(resolved, "stiffness", "0", 1, 3))
        if not free and (stiff or resolved.get("springdamper", "0 0") != "0 0"):
            reading.warn(f"the spring of {what} is left out")
        if resolved.get("align") == "true":
            reading.warn(f"align of {what} is not followed: the body keeps its own frame")
        if len(resolved.get("damping", "").split()) > 1:
            reading.warn(f"of the damping of {what} only the linear term is kept")
        ref = number("ref")
        joint = MjJoint(
            name=named,
            kind=kind,
            pos=p + R @ reading.numbers(resolved, "pos", "0 0 0", 3),
            axis=axis / length if length else axis,
            limits=self._limits(resolved, kind, what),
            ref=float(self.compiler.angle(np.array(ref))) if kind == "hinge" else ref,
            armature=not_negative("armature"),
            damping=not_negative("damping"),
            friction=not_negative("frictionloss"),
            torque=self.compiler.span(reading, resolved, "actuatorfrcrange", "actuatorfrclimited"),
            qpos=self.nq,
        )
        self.nq += JOINT_SIZES[kind][0]
        body.joints.append(joint)

    def _limits(self, resolved: Element, kind: str, what: str) -> np.ndarray:
        limits = self.compiler.span(self.reading, resolved, "range", "limited")
        if limits is None or kind == "free":
            return np.array([-np.inf, np.inf])
        if kind == "ball":
            self.reading.warn(f"the range of {what} is left out: it is a ball joint")
            return np.array([-np.inf, np.inf])
        return self.compiler.angle(limits) if kind == "hinge" else limits

    def _check_names(self) -> None:
        """Give unnamed joints their body's name; refuse a name that occurs twice."""
        taken = {joint.name for body in self.bodies for joint in body.joints if joint.name}
        for body in self.bodies:
            for k, joint in enumerate(body.joints):
                if not joint.name:
                    name = body.name if len(body.joints) == 1 else f"{body.name}.{k}"
                    while name in taken:
                        name += "_joint"
                    joint.name = name
                    taken.add(name)
        bodies = [body.name for body in self.bodies]
        joints = [joint.name for body in self.bodies for joint in body.joints]
        for what, names in (("bodies", bodies), ("joints", joints)):
            twice = first_duplicate(names)
            if twice is not None:
                self.reading.fail(f"two {what} are called '{twice}'; give each its own name")
