"""A robot or an object of a scene: its model, and its position and velocity at the start."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError
from heelstrike.robot import Robot, bundled, load
from heelstrike.robot.placement import on_flat_ground
from heelstrike.robot.robot import Joint

BASES = ("auto", "floating", "fixed")
MAX_VALUE = 1e6
"""Largest position or velocity that is accepted [m, rad, m/s or rad/s]."""


@dataclass(frozen=True)
class Part:
    """Robot or object of a scene: [[robot]], [[object]].

    Args:
        model: a bundled name (`heelstrike list robots`), or a file relative to this one.
        name: prefix of its bodies and joints, "name/...", if the scene has several parts;
            empty: the model's name.
        base: "floating", "fixed", or "auto": as in the model.
        collide: shapes that collide: "all", "feet", or a list of names of bodies, links and
            shapes; none: "all", unless points are listed.
        points: contact points in place of shapes, a list of [link, [x, y, z], radius] [m], with
            the half axes of an ellipsoid as a fourth entry.
        edge_points: additional contact points on each edge of a box, evenly between its
            corners.
        package_dirs: folders to search first for package:// of a URDF, relative to this file.
        pose: a pose of the model; none: its first, or all joints at zero.
        joints: positions of joints in place of the pose's [rad or m].
        position: position of the free base [m]; none: that of the pose.
        rotation: roll, pitch and yaw of the free base [rad]; none: those of the pose.
        drop: height of fall until the first contact [m], above z = 0 where a scene has several
            parts; none: as the position has it.
        velocity: linear velocity of the free base in world axes [m/s].
        spin: angular velocity of the free base in world axes [rad/s].
        speeds: velocities of joints [rad/s or m/s].
    """

    model: str
    name: str = ""
    base: str = "auto"
    collide: str | Sequence[str] | None = None
    points: str | Sequence[Sequence[Any]] | None = None
    edge_points: int = 0
    package_dirs: Sequence[Path] = ()
    pose: str | None = None
    joints: Mapping[str, float] = field(default_factory=dict)
    position: Sequence[float] | None = None
    rotation: Sequence[float] | None = None
    drop: float | None = None
    velocity: Sequence[float] = (0.0, 0.0, 0.0)
    spin: Sequence[float] = (0.0, 0.0, 0.0)
    speeds: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("position", "rotation", "velocity", "spin"):
            value = getattr(self, name)
            if value is not None and (len(value) != 3 or not _are_finite(value)):
                raise ParameterError(name, list(value), "three finite numbers")
        for name in ("joints", "speeds"):
            if not _are_finite(getattr(self, name).values()):
                raise ParameterError(name, getattr(self, name), "finite numbers")
        if self.drop is not None and not 0 <= self.drop < MAX_VALUE:
            raise ParameterError("drop", self.drop, "a height of at least 0 m")
        if self.base not in BASES:
            raise ParameterError("base", self.base, " or ".join(map(repr, BASES)))
        if "/" in self.name or "." in self.name:
            raise ParameterError("name", self.name, "a name without dots and slashes")
        if self.points is not None and not isinstance(self.points, str):
            for point in self.points:
                _check_point(point)

    def robot(self) -> Robot:
        """Load the model."""
        points: Any = self.points
        plain = points is None or isinstance(points, str)
        return load(
            self.model,
            base=self.base,
            points=points if plain else [tuple(point) for point in points],
            collide=self.collide,
            package_dirs=self.package_dirs,
            edge_points=self.edge_points,
        )

    def source(self, folder: Path) -> str:
        """Return the bundled name, or the absolute path of a file relative to a folder."""
        path = folder / Path(self.model).expanduser()
        if self.model in bundled() or not (path.suffix or os.path.exists(path)):
            return self.model
        return str(path.resolve())

    def coordinates(self, robot: Robot) -> np.ndarray:
        """Return q at the start."""
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
            q = on_flat_ground(robot, q, self.drop)
        return q

    def velocities(self, robot: Robot, q: np.ndarray) -> np.ndarray:
        """Return v at the start, where the position is q."""
        v = np.zeros(robot.nv)
        for name, value in self.speeds.items():
            v[_joint(robot, name, "speeds").iv] = value
        if any(self.velocity) or any(self.spin):
            import pinocchio as pin

            at = _free(robot, "velocity" if any(self.velocity) else "spin").stop
            R_BW = pin.Quaternion(q[at : at + 4]).toRotationMatrix().T
            v[:3], v[3:6] = R_BW @ self.velocity, R_BW @ self.spin
        return v


def _joint(robot: Robot, name: str, path: str) -> Joint:
    """Return a joint whose position is one number; `path` is the key that names it."""
    joints = {j.name: j for j in robot.joints if j.nv == 1}
    if name not in joints:
        raise UnknownNameError(
            "joint", name, joints, "joints of one coordinate", path=path, owner=robot.name
        )
    return joints[name]


def _free(robot: Robot, path: str) -> slice:
    """Return the slice of a free base's position in q; `path` is the key that needs it."""
    if robot.joints[0].kind != "free":
        raise HeelstrikeError(
            f"{path} applies to a free base, and {robot.name} has none",
            path=path,
            remedy='set joints, or base = "floating"',
        )
    return slice(robot.joints[0].iq, robot.joints[0].iq + 3)


def _quaternion(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return the quaternion (x, y, z, w) of turns about x, then y, then z of the world."""
    import pinocchio as pin

    return pin.Quaternion(pin.rpy.rpyToMatrix(roll, pitch, yaw)).coeffs()


def _check_point(point: Any) -> None:
    """Raise ParameterError for what is not (link, position), with or without radius, half axes."""
    if not isinstance(point, Sequence) or isinstance(point, str) or not 2 <= len(point) <= 4:
        raise ParameterError("points", point, "lists of [link, [x, y, z], radius, half_axes]")


def _are_finite(values: Iterable[object]) -> bool:
    return all(isinstance(x, int | float) and abs(x) < MAX_VALUE for x in values)
