"""Triangles to look at: shapes of bodies, smooth where they are round and sharp where they are not.

The normal at a triangle's corner is the mean of the normals of all triangles that meet there at
less than CREASE, by area; so a cylinder is round and its rim is an edge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from heelstrike.robot.mesh import hull
from heelstrike.robot.robot import Shape

CREASE = np.cos(np.radians(35))
ROUND = 40
"""Sides of what is round."""

ODD = np.random.default_rng(0).integers(0, 2**63, 6, dtype=np.uint64) * np.uint64(2) + np.uint64(1)

Triangles = tuple[np.ndarray, np.ndarray]
"""(vertices (n, 3) [m], triangles (m, 3))"""


@dataclass(frozen=True, eq=False)
class Solid:
    """A surface of one colour."""

    vertices: np.ndarray
    """(n, 3) [m]"""
    triangles: np.ndarray
    """(m, 3)"""
    normals: np.ndarray
    """At the corners of each triangle, (m, 3, 3)."""
    colour: tuple[float, float, float] = (0.8, 0.8, 0.8)
    """Red, green, blue, 0 to 1, as screens have them."""
    floor: bool = False
    """Whether it shows tiles and fades into the distance."""

    def moved(self, rotation: np.ndarray, translation: np.ndarray) -> Solid:
        return replace(
            self,
            vertices=self.vertices @ rotation.T + translation,
            normals=self.normals @ rotation.T,
        )


def solid(triangles: Triangles, colour: tuple[float, float, float], floor: bool = False) -> Solid:
    """Triangles with their normals."""
    vertices, corners = triangles
    return Solid(vertices, corners, corner_normals(vertices, corners), colour, floor)


def of_shape(shape: Shape, colour: tuple[float, float, float]) -> Solid | None:
    """A shape in its body's frame; None where there is nothing to draw."""
    try:
        found = _triangles(shape)
    except (ValueError, RuntimeError, OSError):  # a file that holds no mesh
        return None
    if found is None or not len(found[1]):
        return None
    return solid(found, colour).moved(shape.rotation, shape.translation)


def _triangles(shape: Shape) -> Triangles | None:
    size = shape.size
    if shape.kind == "box":
        return box(size)
    if shape.kind in ("sphere", "ellipsoid"):
        return ball(np.broadcast_to(size, 3))
    if shape.kind == "capsule":
        return capsule(size[0], size[1])
    if shape.kind == "cylinder":
        radius, half = size
        return turned(np.array([[0, -half], [radius, -half], [radius, half], [0, half]]))
    if shape.file is not None:
        return shape.file.read()
    return None if shape.vertices is None else hull(shape.vertices)


def box(half: np.ndarray) -> Triangles:
    """About the origin, by its half sizes."""
    return hull(np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half)


def ball(radii: np.ndarray) -> Triangles:
    """An ellipsoid about the origin."""
    vertices, triangles = turned(_arc(1.0, 0.0))
    return vertices * radii, triangles


def capsule(radius: float, half: float) -> Triangles:
    """About the origin along z; half the length of its line, without the round ends."""
    return turned(_arc(radius, half))


def turned(profile: np.ndarray) -> Triangles:
    """What a line of (radius, z), from the bottom up, sweeps when it turns about z."""
    angle = 2 * np.pi * np.arange(ROUND) / ROUND
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    rows = [np.column_stack([r * ring, np.full(ROUND, z)]) for r, z in profile]
    i = np.arange(ROUND)
    j = (i + 1) % ROUND
    triangles = []
    for k in range(len(profile) - 1):
        low, high = k * ROUND, (k + 1) * ROUND
        if profile[k][0] > 0:
            triangles.append(np.column_stack([low + i, low + j, high + j]))
        if profile[k + 1][0] > 0:
            triangles.append(np.column_stack([low + i, high + j, high + i]))
    return np.vstack(rows), np.vstack(triangles)


def _arc(radius: float, half: float) -> np.ndarray:
    """The profile of a capsule; of a ball, if its half length is 0."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, ROUND // 2 + 1)
    side = np.where(np.arange(len(angle)) <= ROUND // 4, -half, half)
    rim = np.column_stack([radius * np.cos(angle), radius * np.sin(angle) + side])
    rim[[0, -1], 0] = 0.0
    if half > 0:  # the equator once more, at the other end
        middle = ROUND // 4
        rim = np.insert(rim, middle + 1, [radius, half], axis=0)
    return rim


def corner_normals(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Of length one, (m, 3, 3); see the module's text."""
    from scipy.sparse import coo_matrix

    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    areas = np.cross(b - a, c - a)
    flat = areas / np.maximum(np.linalg.norm(areas, axis=1, keepdims=True), 1e-30)
    scale = max(float(np.ptp(vertices, axis=0).max()), 1e-9)
    _, place = np.unique(np.round(vertices / scale, 6), axis=0, return_inverse=True)
    corners = place.ravel()[triangles].ravel()
    at = coo_matrix((np.ones(len(corners)), (np.arange(len(corners)), corners))).tocsr()
    one, other = (at @ at.T).nonzero()
    alike = np.einsum("ij,ij->i", flat[one // 3], flat[other // 3]) > CREASE
    one, other = one[alike], other[alike]
    total = np.column_stack(
        [np.bincount(one, areas[other // 3, k], len(corners)) for k in range(3)]
    )
    length = np.linalg.norm(total, axis=1, keepdims=True)
    normals = np.where(length > 0, total / np.maximum(length, 1e-30), np.repeat(flat, 3, axis=0))
    return normals.reshape(-1, 3, 3)


def split(shown: Solid) -> Triangles:
    """The same triangles with a vertex of its own for each normal at a place: what computes
    normals from shared vertices alone finds ours, and edges stay sharp.
    """
    places, normals = shown.vertices[shown.triangles].reshape(-1, 3), shown.normals.reshape(-1, 3)
    scale = max(float(np.ptp(shown.vertices, axis=0).max()), 1e-9)
    keys = np.hstack([np.round(places / scale * 1e6), np.round(normals * 1e3)]).astype(np.int64)
    # one number a row, by odd factors modulo 2^64: numbers are sorted faster than rows
    hashed = (keys.astype(np.uint64) * ODD).sum(axis=1, dtype=np.uint64)
    _, first, corners = np.unique(hashed, return_index=True, return_inverse=True)
    return places[first], corners.reshape(-1, 3)
