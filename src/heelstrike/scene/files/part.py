"""A robot or an object of a scene: its model, its pose, where it is and how it moves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError
from heelstrike.robot import Robot, bundled, load
from heelstrike.robot.placement import lowest_height

BASES = ("auto", "floating", "fixed")
FAR = 1e6
"""Beyond it no place is meant [m]."""


@dataclass(frozen=True)
class Part:
    """A robot or an object."""

    model: str
    """A bundled name (`heelstrike list robots`), or a file relative to this one"""
    name: str = ""
    """Before its bodies' and joints' names, "name/...", where a scene has several parts; empty:
    the model's"""
    base: str = "auto"
    """"floating", "fixed", or "auto": as the model says"""
    points: str | Sequence[Sequence[Any]] = "feet"
    """Contact points: "feet", "all", or a list of [link, [x, y, z], radius] [m]"""
    edge_points: int = 0
    """More contact points on each edge of a box, evenly between its corners"""
    package_dirs: Sequence[Path] = ()
    """Folders in which package:// of a URDF is sought first, relative to this file"""
    pose: str | None = None
    """A pose of the model; none: its first, or all joints at zero"""
    joints: Mapping[str, float] = field(default_factory=dict)
    """Positions of joints, instead of the pose's [rad or m]"""
    position: Sequence[float] | None = None
    """Of a free base [m]; none: the pose's"""
    rotation: Sequence[float] | None = None
    """Roll, pitch and yaw of a free base [rad]; none: the pose's"""
    drop: float | None = None
    """Height of its lowest contact point above z = 0 [m]; none: as the position says"""
    velocity: Sequence[float] = (0.0, 0.0, 0.0)
    """Of a free base, in world axes [m/s]"""
    spin: Sequence[float] = (0.0, 0.0, 0.0)
    """Of a free base, in world axes [rad/s]"""
    speeds: Mapping[str, float] = field(default_factory=dict)
    """Velocities of joints [rad/s or m/s]"""

    def __post_init__(self) -> None:
        for word in ("position", "rotation", "velocity", "spin"):
            value = getattr(self, word)
            if value is not None and (len(value) != 3 or not _near(value)):
                raise ParameterError(word, list(value), "three finite numbers")
        for word in ("joints", "speeds"):
            if not _near(getattr(self, word).values()):
                raise ParameterError(word, getattr(self, word), "finite numbers")
        if self.drop is not None and not 0 <= self.drop < FAR:
            raise ParameterError("drop", self.drop, "a height of at least 0 m")
        if self.base not in BASES:
            raise ParameterError("base", self.base, " or ".join(map(repr, BASES)))
        if "/" in self.name or "." in self.name:
            raise ParameterError("name", self.name, "a name without dots and slashes")
        if not isinstance(self.points, str):
            for point in self.points:
                _check_point(point)

    def robot(self) -> Robot:
        """The model, loaded."""
        points: Any = self.points
        return load(
            self.model,
            base=self.base,
            points=points if isinstance(points, str) else [tuple(point) for point in points],
            package_dirs=self.package_dirs,
            edge_points=self.edge_points,
        )

    def source(self, folder: Path) -> str:
        """The bundled name, or the file that is meant by a path relative to a folder."""
        path = folder / Path(self.model).expanduser()
        if self.model in bundled() or not (path.suffix or path.exists()):
            return self.model
        return str(path.resolve())

    def coordinates(self, robot: Robot) -> np.ndarray:
        """q at the start."""
        first = next(iter(robot.poses), None)
        pose = self.pose or first
        if self.pose is not None and self.pose not in robot.poses:
            raise UnknownNameError("pose", self.pose, robot.poses, path="pose", owner=robot.name)
        q = robot.neutral if pose is None else robot.pose(pose)
        for name, value in self.joints.items():
            joint = _joint(robot, name, "joints")
            if joint.kind == "continuous":
                q[joint.q_slice] = math.cos(value), math.sin(value)
            else:
                q[joint.iq] = value
        if self.position is not None:
            q[_free(robot, "position")] = self.position
        if self.rotation is not None:
            at = _free(robot, "rotation").stop
            q[at : at + 4] = _quaternion(*self.rotation)
        if self.drop is not None:
            place = _free(robot, "drop")
            if not robot.points:
                raise HeelstrikeError(
                    f"drop is a height of contact points, and {robot.name} has none",
                    path="drop",
                    remedy="define them by points = [...]",
                )
            q[place.start + 2] += self.drop - lowest_height(robot, q)
        return q

    def velocities(self, robot: Robot, q: np.ndarray) -> np.ndarray:
        """v at the start."""
        v = np.zeros(robot.nv)
        for name, value in self.speeds.items():
            v[_joint(robot, name, "speeds").iv] = value
        if any(self.velocity) or any(self.spin):
            import pinocchio as pin

            at = _free(robot, "velocity" if any(self.velocity) else "spin").stop
            turn = pin.Quaternion(q[at : at + 4]).toRotationMatrix().T
            v[:3], v[3:6] = turn @ self.velocity, turn @ self.spin
        return v


def _joint(robot: Robot, name: str, word: str) -> Any:
    """A joint whose position is one number."""
    joints = {j.name: j for j in robot.joints if j.nv == 1}
    if name not in joints:
        raise UnknownNameError(
            "joint", name, joints, "joints of one coordinate", path=word, owner=robot.name
        )
    return joints[name]


def _free(robot: Robot, word: str) -> slice:
    """Where the position of a free base stands in q."""
    if robot.joints[0].kind != "free":
        raise HeelstrikeError(
            f"{word} applies to a free base, and {robot.name} has none",
            path=word,
            remedy='set joints, or base = "floating"',
        )
    return slice(robot.joints[0].iq, robot.joints[0].iq + 3)


def _quaternion(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """xyzw, turned about x, then y, then z of the world."""
    import pinocchio as pin

    return pin.Quaternion(pin.rpy.rpyToMatrix(roll, pitch, yaw)).coeffs()


def _check_point(point: Any) -> None:
    """Raise ParameterError for what is neither (link, position) nor (link, position, radius)."""
    if not isinstance(point, Sequence) or isinstance(point, str) or len(point) not in (2, 3):
        raise ParameterError("points", point, "lists of [link, [x, y, z], radius]")


def _near(values: Any) -> bool:
    return all(isinstance(x, int | float) and abs(x) < FAR for x in values)
