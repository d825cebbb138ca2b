"""Contact points of a collision shape; docs/loading.md, "Contact points", lists them.

A cylinder touches with its caps and with its rims. Fixed points on each cap hold it where it
stands. Each rim is a flat ellipsoid, which touches where it is lowest: the cylinder tilts on it and
rolls on it. The ellipsoid is a little below the cap, so that it is free while the cap lies flat,
where a rim has no lowest point, and the fixed points are inside the rim, so that they are free when
the cylinder rolls or tilts by more than INSET / (1 - CAP), 0.01 rad.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.hull import SIDES, place_hull
from heelstrike.robot.hull_cells import HullCells
from heelstrike.robot.robot import Point, Shape

CAP_POINTS = 4
"""Number of fixed points on a cap of a cylinder."""
CAP = 0.9
"""Distance of these points from the axis, relative to the cylinder's radius."""
THICKNESS = 5e-4
"""Half thickness of the ellipsoid of a rim, relative to its radius."""
FIRST_END = "capsule", 0
"""Kind of shape, and number of the point that knows where the other end is."""
INSET = 1e-3
"""Distance of its centre from the plane of the cap, relative to its radius."""


def outline(shape: Shape, edge_points: int = 0) -> list[Point]:
    """Return the contact points of a shape, numbered after its name.

    The `edge_points` points on each edge of a box come after its corners.
    """
    if shape.cells is not None:
        return _sides(shape, shape.cells)
    size, radius = shape.size, 0.0
    half_axes: dict[int, np.ndarray] = {}
    if shape.kind == "box":
        signs = np.array([[x, y, z] for z in (-1, 1) for x in (1, -1) for y in (1, -1)])
        local = np.vstack([signs, _between(signs, edge_points)]) * size
    elif shape.kind == "sphere":
        local, radius = np.zeros((1, 3)), float(size[0])
    elif shape.kind == "capsule":
        local, radius = np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]]), float(size[0])
    elif shape.kind == "cylinder":
        thickness = min(THICKNESS * size[0], size[1] * THICKNESS / INSET)
        angle = 2 * np.pi * np.arange(CAP_POINTS) / CAP_POINTS
        cap = CAP * size[0] * np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
        end, inner = np.array([0.0, 0.0, size[1]]), [0.0, 0.0, thickness * INSET / THICKNESS]
        local = np.vstack([cap - end, inner - end, cap + end, end - inner])
        rims = (CAP_POINTS, 2 * CAP_POINTS + 1)
        half_axes = dict.fromkeys(rims, np.diag([size[0], size[0], thickness]))
    elif shape.kind == "ellipsoid":
        local, half_axes = np.zeros((1, 3)), {0: np.diag(size)}
    elif shape.kind == "mesh" and shape.vertices is not None:
        local = shape.vertices[shape.corners]
    else:
        raise HeelstrikeError(
            f"shape '{shape.name}' of kind {shape.kind} gives no contact points",
            path=shape.name,
            value=shape.kind,
        )
    return [
        Point(
            f"{shape.name}.{k}",
            shape.body,
            shape.rotation @ position + shape.translation,
            radius,
            shape.rotation @ half_axes[k] if k in half_axes else None,
            along=shape.rotation @ (local[1] - local[0]) if (shape.kind, k) == FIRST_END else None,
        )
        for k, position in enumerate(local)
    ]


def _sides(shape: Shape, cells: HullCells) -> list[Point]:
    """Return the contact points of a hull of many corners."""
    assert shape.vertices is not None
    assert shape.corners is not None
    hull = place_hull(cells, shape.vertices, shape.corners, shape.rotation, shape.translation)
    return [
        Point(f"{shape.name}.{k}", shape.body, hull.centre, hull=hull, side=k) for k in range(SIDES)
    ]


def between(point: Point) -> list[Point]:
    """Return the contact points between both ends of a capsule, with its first end."""
    if point.along is None:
        return []
    stem = point.name.rpartition(".")[0]
    return [replace(point, name=f"{stem}.between{half}", half=half) for half in range(2)]


def corner_points(point: Point) -> list[Point]:
    """Return the contact points on ground that is no plane: for a side of a hull, the same among
    its other corners, and with the first side the few corners (hull.py).
    """
    if point.hull is None:
        return [point]
    stem = point.name.rpartition(".")[0]
    corners = [
        Point(f"{stem}.corner{k}", point.body, place, foot=point.foot)
        for k, place in enumerate(() if point.side else point.hull.corners)
    ]
    if (others := point.hull.others) is None:
        return corners
    return [*corners, replace(point, name=f"{stem}.side{point.side}", hull=others)]


def _between(corners: np.ndarray, count: int) -> np.ndarray:
    """Return evenly spaced points on the edges of a cube with these corners, (12 count, 3)."""
    shares = np.arange(1, count + 1)[:, None] / (count + 1)
    edges = [
        corners[i] + shares * (corners[j] - corners[i])
        for i, j in combinations(range(len(corners)), 2)
        if (corners[i] != corners[j]).sum() == 1
    ]
    return np.vstack(edges)
