"""Points on the outline of a collision shape; docs/loading.md, "Contact points", lists them."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import Shape

RIM_POINTS = 8
"""Number of points on a rim of a cylinder."""


def outline(shape: Shape, edge_points: int = 0) -> np.ndarray:
    """Return points of a shape in its body's frame, (n, 3) [m].

    The `edge_points` points on each edge of a box come after its corners. `point_radius` is the
    radius of each point.
    """
    size = shape.size
    if shape.kind == "box":
        signs = np.array([[x, y, z] for z in (-1, 1) for x in (1, -1) for y in (1, -1)])
        local = np.vstack([signs, _between(signs, edge_points)]) * size
    elif shape.kind == "sphere":
        local = np.zeros((1, 3))
    elif shape.kind == "capsule":
        local = np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]])
    elif shape.kind == "cylinder":
        angle = 2 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS
        rim = np.column_stack([size[0] * np.cos(angle), size[0] * np.sin(angle), 0 * angle])
        end = np.array([0.0, 0.0, size[1]])
        local = np.vstack([rim - end, rim + end])
    elif shape.kind == "ellipsoid":
        local = np.vstack([np.diag(size), -np.diag(size)])
    elif shape.kind == "mesh" and shape.vertices is not None:
        local = shape.vertices[shape.corners]
    else:
        raise HeelstrikeError(
            f"shape '{shape.name}' of kind {shape.kind} gives no contact points",
            path=shape.name,
            value=shape.kind,
        )
    return local @ shape.rotation.T + shape.translation


def _between(corners: np.ndarray, count: int) -> np.ndarray:
    """Return evenly spaced points on the edges of a cube with these corners, (12 count, 3)."""
    shares = np.arange(1, count + 1)[:, None] / (count + 1)
    edges = [
        corners[i] + shares * (corners[j] - corners[i])
        for i, j in combinations(range(len(corners)), 2)
        if (corners[i] != corners[j]).sum() == 1
    ]
    return np.vstack(edges)


def point_radius(shape: Shape) -> float:
    """Return the radius of the sphere about each of a shape's points [m]."""
    return float(shape.size[0]) if shape.kind in ("sphere", "capsule") else 0.0
