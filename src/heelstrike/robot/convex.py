"""Collision shapes as convex sets of one form, and capsules around them.

A shape is the convex hull of vertices, plus an ellipsoid, plus a ball (Minkowski sums):

    sphere       one vertex, ball            box         eight vertices
    capsule      two vertices, ball          mesh        corners of its hull
    cylinder     two vertices, disc          ellipsoid   one vertex, ellipsoid

so that one code finds the distance of any two of them (contact/geometry/).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np

from heelstrike.robot.hull_cells import HullCells
from heelstrike.robot.robot import Shape


@dataclass(frozen=True, eq=False)
class ConvexShape:
    """A collision shape, in the frame of its body."""

    body: int
    """Body that carries it."""
    vertices: np.ndarray
    """Vertices of the hull, (n, 3) [m]."""
    half_axes: np.ndarray
    """Half axes of the ellipsoid as columns, (3, 3) [m]; zero: there is none."""
    radius: float
    """Radius of the ball [m]."""
    cells: HullCells | None = None
    """Vertices of a hull of many corners by directions, in a frame of its own."""
    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    """Rotation of that frame, (3, 3)."""
    translation: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """Its origin (3) [m]."""

    @property
    def is_curved(self) -> bool:
        """True if it has an ellipsoid."""
        return bool(self.half_axes.any())

    @property
    def lever(self) -> float:
        """Radius at which it rolls [m]: of a cylinder that of its cap, of an ellipsoid its middle
        half axis; 0: it is flat.
        """
        return self.radius + float(np.sort(np.linalg.norm(self.half_axes, axis=0))[1])

    @property
    def is_capsule(self) -> bool:
        """True if it is a capsule or a sphere."""
        return len(self.vertices) <= 2 and not self.is_curved


@dataclass(frozen=True, eq=False)
class Capsule:
    """A capsule around a shape, in the frame of its body."""

    ends: np.ndarray
    """Ends of its segment, (2, 3) [m]."""
    radius: float
    """[m]"""


def convex_shape(shape: Shape) -> ConvexShape:
    """Return a collision shape in the one form."""
    size, half_axes, radius = np.asarray(shape.size, dtype=float), np.zeros((3, 3)), 0.0
    match shape.kind:
        case "sphere":
            vertices, radius = np.zeros((1, 3)), float(size[0])
        case "capsule":
            vertices, radius = _along_z(size[1]), float(size[0])
        case "cylinder":
            vertices, half_axes = _along_z(size[1]), np.diag([size[0], size[0], 0.0])
        case "ellipsoid":
            vertices, half_axes = np.zeros((1, 3)), np.diag(size)
        case "box":
            vertices = np.array(list(product((-1, 1), repeat=3))) * size
        case _:
            vertices = shape.collision_vertices()
    turn, offset = shape.rotation, shape.translation
    own = shape.body, vertices @ turn.T + offset, turn @ half_axes, radius
    if shape.cells is None:
        return ConvexShape(*own)
    return ConvexShape(*own, shape.cells, turn, offset)


def _along_z(half_length: float) -> np.ndarray:
    """Return the ends of a segment along z about the origin [m]."""
    return np.array([[0.0, 0.0, -half_length], [0.0, 0.0, half_length]])


def bounding_capsule(shape: ConvexShape) -> Capsule:
    """Return a capsule that contains a shape; spheres and capsules are their own."""
    vertices, centre = shape.vertices, shape.vertices.mean(axis=0)
    axis = np.linalg.svd(vertices - centre, full_matrices=len(vertices) < 3)[2][0]
    along = (vertices - centre) @ axis
    across = np.linalg.norm(vertices - centre - np.outer(along, axis), axis=1)
    widest = across.max()
    room = np.sqrt(np.maximum(widest**2 - across**2, 0.0))
    low, high = (along + room).min(), (along - room).max()
    if low > high:  # a ball about any place between contains it
        low = high = (low + high) / 2
    ends = centre + np.outer([low, high], axis)
    return Capsule(ends, float(widest + np.linalg.norm(shape.half_axes, 2) + shape.radius))


def smallest_width(shape: ConvexShape) -> float:
    """Return the extent of a shape along that of its principal axes on which it is least [m]."""
    centred = shape.vertices - shape.vertices.mean(axis=0)
    along = np.linalg.svd(np.vstack([centred, shape.half_axes.T]), full_matrices=False)[2]
    round_part = 2 * (np.linalg.norm(shape.half_axes.T @ along.T, axis=0) + shape.radius)
    return float((np.ptp(shape.vertices @ along.T, axis=0) + round_part).min())
