"""The convex hull by which a mesh collides: few corners, or tables of all where few miss too much.

Every corner is a contact point, so the hull is reduced to few corners. With the support function

    h(d) = max over corners v of d . v                                       [m], |d| = 1

of the whole hull, corners are chosen one after another, each the one that reaches h(d) - tolerance
in the most directions d that none reached before (the greedy cover of a set), until none is left.
If this takes more corners than allowed, the tolerance grows until it does not; the mesh collides by
tables of all corners then (hull_cells.py), on ground that is no plane by the few as well. The
reduced hull lies inside the whole one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.fidelity import Concern
from heelstrike.robot.hull_cells import HullCells, hull_cells
from heelstrike.robot.mesh import hull
from heelstrike.robot.robot import Shape
from heelstrike.robot.xml import RobotFile

MAX_CORNERS, MIN_CORNERS = 24, 12
"""Largest number of corners of a reduced hull, and the same for robots of many meshes."""
CORNERS_OF_ROBOT = 480
"""Number of corners of all hulls of a robot from which each gets fewer: each point takes
10 to 30 ms to compile."""
TOLERANCE = 1e-3
"""Distance of the reduced hull from the whole one that is allowed [m]."""
RELATIVE_TOLERANCE = 0.01
"""The same as a share of the mesh's largest extent [-]; the larger of the two applies."""
GROWTH_OF_TOLERANCE = 1.1
"""Factor by which the tolerance grows while a hull has too many corners."""
MIN_GROWTH = 0.2
"""Share by which a hull's volume must exceed its mesh's for a warning [-]."""
CLOSED = 1e-3
"""Sum of a mesh's area vectors over its area, below which it counts as closed [-]."""
LISTED = 5
"""Largest number of meshes that a warning names."""


def _directions() -> np.ndarray:
    """Return unit vectors (m, 3): to faces, edges and corners of a cube, and spread evenly."""
    grid = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])
    cube = grid[np.abs(grid).sum(axis=1).argsort(kind="stable")][1:]
    turn = np.pi * (3 - np.sqrt(5)) * np.arange(1000)  # a spiral of Fibonacci
    z = 1 - (2 * np.arange(1000) + 1) / 1000
    r = np.sqrt(1 - z**2)
    spiral = np.column_stack([r * np.cos(turn), r * np.sin(turn), z])
    return np.vstack([cube / np.linalg.norm(cube, axis=1)[:, None], spiral])


DIRECTIONS = _directions()
"""Directions in which hulls are compared, about 6 degrees apart."""


@dataclass(frozen=True, eq=False)
class CollisionHull:
    """The convex hull of a mesh, reduced."""

    vertices: np.ndarray
    """Corners of the whole hull, (n, 3) [m]."""
    corners: np.ndarray
    """Indices of the vertices that the reduced hull keeps."""
    cells: HullCells | None
    """Corners of the whole hull by directions; None: the reduced one is good enough."""
    corner_error: float
    """Largest distance by which the whole hull exceeds the reduced one [m]: in DIRECTIONS and
    along the normals of its faces."""
    growth: float
    """Volume of the whole hull over that of the mesh, less 1; 0 if the mesh is not closed."""

    @property
    def error(self) -> float:
        """Largest distance by which the whole hull exceeds what collides [m]."""
        return self.corner_error if self.cells is None else self.cells.error

    def of_shape(self) -> dict[str, Any]:
        """Return the fields of a Shape that hold the hull."""
        return {
            "vertices": self.vertices,
            "corners": self.corners,
            "cells": self.cells,
            "hull_error": self.error,
            "corner_error": self.corner_error,
        }


def corners_each(meshes: int) -> int:
    """Return the largest number of corners of each hull of a robot with so many meshes."""
    return int(np.clip(CORNERS_OF_ROBOT // max(meshes, 1), MIN_CORNERS, MAX_CORNERS))


def collision_hull(
    vertices: np.ndarray, triangles: np.ndarray, most: int = MAX_CORNERS
) -> CollisionHull:
    """Return the hull of a mesh's vertices (n, 3) [m] and triangles (m, 3), reduced to `most`."""
    whole, faces = hull(vertices)
    corners, error = reduce_hull(whole, most)
    growth = _growth(vertices, triangles, _volume(whole, faces))
    cells = hull_cells(whole) if error > _tolerance(whole) else None
    return CollisionHull(whole, corners, cells, error, growth)


def with_hull(shape: Shape) -> Shape:
    """Return a mesh that was only drawn with its hull; other shapes as they are."""
    if shape.file is None or shape.vertices is not None:
        return shape
    try:
        convex = collision_hull(*shape.file.read())
    except (ValueError, RuntimeError, OSError):
        raise HeelstrikeError(
            f"shape '{shape.name}' cannot collide: {shape.file.path} cannot be read as a mesh",
            path="collide",
            value=shape.name,
        ) from None
    return replace(shape, **convex.of_shape())


def reduce_hull(vertices: np.ndarray, most: int = MAX_CORNERS) -> tuple[np.ndarray, float]:
    """Return indices of few vertices, and by how much the hull of all exceeds theirs [m]."""
    centred = vertices - vertices.mean(axis=0)
    reach = DIRECTIONS @ centred.T  # of each corner in each direction [m]
    support = reach.max(axis=1)
    candidates = np.unique(reach.argmax(axis=1))
    gap = support[:, None] - reach[:, candidates]
    tolerance = _tolerance(vertices)
    chosen = _cover(gap <= tolerance)
    while len(chosen) > most:
        tolerance *= GROWTH_OF_TOLERANCE
        chosen = _cover(gap <= tolerance)
    corners = np.sort(candidates[chosen])
    normals = _face_normals(centred[corners])
    beyond = (normals @ centred.T).max(axis=1) - (normals @ centred[corners].T).max(axis=1)
    return corners, max(float(gap[:, chosen].min(axis=1).max()), float(beyond.max(initial=0.0)))


def _tolerance(vertices: np.ndarray) -> float:
    """Return the distance by which a reduced hull may miss the whole one [m]."""
    return max(TOLERANCE, RELATIVE_TOLERANCE * float(np.ptp(vertices, axis=0).max()))


def _face_normals(corners: np.ndarray) -> np.ndarray:
    """Return the outward unit normals of a hull's faces, (m, 3); none if it is flat."""
    vertices, triangles = hull(corners)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    return normals / np.linalg.norm(normals, axis=1)[:, None]


def _cover(reached: np.ndarray) -> list[int]:
    """Return few columns of a mask (m, n) that together have a True in every row."""
    left = np.full(len(reached), True)
    count = reached.sum(axis=0)  # of the rows that are left
    chosen: list[int] = []
    while left.any():
        chosen.append(int(count.argmax()))
        covered = left & reached[:, chosen[-1]]
        count = count - reached[covered].sum(axis=0)
        left &= ~covered
    return chosen


def _volume(vertices: np.ndarray, triangles: np.ndarray) -> float:
    """Return the volume inside a closed surface [m^3]."""
    a, b, c = (vertices[triangles[:, k]] - vertices.mean(axis=0) for k in range(3))
    return abs(float(np.einsum("ij,ij->", a, np.cross(b, c)))) / 6


def _growth(vertices: np.ndarray, triangles: np.ndarray, hull_volume: float) -> float:
    """Return the share by which a hull exceeds a closed mesh, and 0 for an open one."""
    if not len(triangles):
        return 0.0
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    areas = np.cross(b - a, c - a)
    total = float(np.linalg.norm(areas, axis=1).sum())
    volume = _volume(vertices, triangles)
    if np.linalg.norm(areas.sum(axis=0)) > CLOSED * total or volume <= 1e-12 * hull_volume:
        return 0.0
    return max(hull_volume / volume - 1, 0.0)


def warn_left_out(file: RobotFile, missing: Sequence[str], remedy: str = "") -> None:
    """Warn about collision shapes, "NAME (REASON)", that give no contact points."""
    if not missing:
        return
    listed = ", ".join(missing[:LISTED])
    more = f" and {len(missing) - LISTED} more" if len(missing) > LISTED else ""
    what = f"{len(missing)} collision shapes left out, they give no contact points: {listed}{more}"
    file.warn(what + remedy, ", ".join(missing), "contact")


def warn_concave(file: RobotFile, growths: Sequence[tuple[str, float]], concerns: Concern) -> None:
    """Warn about the meshes (name, growth) that collide as hulls much larger than they are."""
    grown = sorted((g for g in growths if g[1] > MIN_GROWTH), key=lambda g: -g[1])
    if not grown:
        return
    listed = ", ".join(f"{name} by {100 * growth:.0f} %" for name, growth in grown[:LISTED])
    more = f" and {len(grown) - LISTED} more" if len(grown) > LISTED else ""
    meshes = (
        "1 concave mesh collides" if len(grown) == 1 else f"{len(grown)} concave meshes collide"
    )
    names = ", ".join(name for name, _ in grown)
    what = f"{meshes} as the convex hull, whose volume is larger: {listed}{more}"
    file.warn(what, names, concerns)


def warn_reduced(file: RobotFile, shapes: Iterable[Shape]) -> None:
    """Warn about meshes whose hull has so many corners that it is missed by more than the
    tolerance.
    """
    far = [
        shape
        for shape in shapes
        if shape.vertices is not None and shape.hull_error > _tolerance(shape.vertices)
    ]
    if not far:
        return
    worst = max(far, key=lambda shape: shape.hull_error)
    meshes = "1 mesh collides" if len(far) == 1 else f"{len(far)} meshes collide"
    file.warn(
        f"{meshes} as hulls of fewer corners, up to {1e3 * worst.hull_error:.2g} mm "
        f"({worst.name}) inside their convex hull",
        ", ".join(dict.fromkeys(shape.name for shape in far)),
        "hull",
    )
