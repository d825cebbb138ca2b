"""Depths of a robot's collision shapes below the ground and in one another, at given poses.

Neither uses the contact points of the simulator: the lowest point of a shape is a closed form, and
the depth of two shapes is found by coal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

import heelstrike as hs
from heelstrike.robot.overlaps import overlaps, solids_of
from heelstrike.robot.placement import placements
from heelstrike.robot.robot import WORLD, Shape


class Depths:
    """Depths of a robot's shapes; negative where they are apart, -1 m for pairs far apart."""

    def __init__(self, robot: hs.Robot) -> None:
        self.robot = robot
        self._floor = [s for s in robot.shapes if s.collides and s.meets_floor and s.body != WORLD]
        self._pairs = np.array(robot.self_pairs, dtype=int).reshape(-1, 2)
        self._solids = solids_of(robot)
        self._radius = np.array([_radius(s) if s.collides else 0.0 for s in robot.shapes])

    @property
    def both(self) -> tuple[Callable[[np.ndarray], float], Callable[[np.ndarray], float]]:
        """Both functions of q below."""
        return self.below_ground, self.in_one_another

    def below_ground(self, q: np.ndarray) -> float:
        """Return the depth of the lowest point of all shapes below z = 0 [m]."""
        placed, lowest = placements(self.robot, q), np.inf
        for shape in self._floor:
            R, p = placed[shape.body]
            lowest = min(lowest, R[2] @ shape.translation + p[2] - _reach(shape, R[2]))
        return -float(lowest)

    def in_one_another(self, q: np.ndarray) -> float:
        """Return the largest depth of two shapes that may touch, or 0 where none overlap [m]."""
        placed = placements(self.robot, q)
        centre = np.zeros((len(self.robot.shapes), 3))
        for k in np.unique(self._pairs):
            shape = self.robot.shapes[k]
            R, p = (np.eye(3), np.zeros(3)) if shape.body == WORLD else placed[shape.body]
            centre[k] = R @ shape.translation + p
        one, two = self._pairs.T
        apart = np.linalg.norm(centre[one] - centre[two], axis=1)
        near = self._pairs[apart < self._radius[one] + self._radius[two]]
        if not len(near):
            return 0.0
        near_pairs = replace(self.robot, self_pairs=tuple((int(a), int(b)) for a, b in near))
        return max(overlaps(near_pairs, q, self._solids).values(), default=0.0)


def _reach(shape: Shape, up: np.ndarray) -> float:
    """Return how far a shape reaches down from its centre; `up` in its body's frame [m]."""
    u, size = shape.rotation.T @ up, shape.size
    match shape.kind:
        case "sphere":
            return float(size[0])
        case "capsule":
            return float(size[0] + abs(u[2]) * size[1])
        case "cylinder":
            return float(size[0] * np.hypot(u[0], u[1]) + abs(u[2]) * size[1])
        case "ellipsoid":
            return float(np.linalg.norm(size * u))
        case "box":
            return float(size @ np.abs(u))
    assert shape.vertices is not None
    return -float((shape.vertices @ u).min())


def _radius(shape: Shape) -> float:
    """Return the radius of a ball about a shape's origin that holds it [m]."""
    match shape.kind:
        case "sphere":
            return float(shape.size[0])
        case "capsule":
            return float(shape.size[0] + shape.size[1])
        case "mesh":
            assert shape.vertices is not None
            return float(np.linalg.norm(shape.vertices, axis=1).max())
    return float(np.linalg.norm(shape.size))
