"""Boxes around collision shapes: a box at right angles, plus a ball (a sum of Minkowski).

A box is its own bounding box, and so is a capsule, as a segment with a ball. Cylinders, ellipsoids
and hulls are enclosed along their principal axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heelstrike.robot.convex import ConvexShape

RIGHT_ANGLE = 1e-9
"""Largest cosine of the angle of two edges that count as being at right angles."""


@dataclass(frozen=True, eq=False)
class BoundingBox:
    """A box around a shape, in the frame of its body."""

    centre: np.ndarray
    """(3,) [m]"""
    axes: np.ndarray
    """Unit vectors along its edges as columns, (3, 3)."""
    half: np.ndarray
    """Half lengths of its edges, (3,) [m]."""
    radius: float
    """Radius of the ball [m]."""


def bounding_box(shape: ConvexShape) -> BoundingBox:
    """Return a box around a shape."""
    axes = _box_axes(shape)
    if axes is None:
        centred = shape.vertices - shape.vertices.mean(axis=0)
        axes = np.linalg.svd(np.vstack([centred, shape.half_axes.T]))[2].T
    along, round_part = shape.vertices @ axes, np.linalg.norm(shape.half_axes.T @ axes, axis=0)
    low, high = along.min(axis=0) - round_part, along.max(axis=0) + round_part
    return BoundingBox(axes @ (low + high) / 2, axes, (high - low) / 2, shape.radius)


def _box_axes(shape: ConvexShape) -> np.ndarray | None:
    """Return the edges of a shape whose vertices are in the order of a box's; None: they are not.

    Principal axes of a box with equal sides could be any.
    """
    if len(shape.vertices) != 8 or shape.is_curved:
        return None
    edges = (shape.vertices[[4, 2, 1]] - shape.vertices[0]).T
    lengths = np.linalg.norm(edges, axis=0)
    if lengths.min() <= 0:
        return None
    axes: np.ndarray = np.round(edges / lengths, 12)  # most are along the axes of their body
    return axes if np.abs(axes.T @ axes - np.eye(3)).max() < RIGHT_ANGLE else None
