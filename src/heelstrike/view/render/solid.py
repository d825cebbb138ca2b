"""Triangle meshes with normals: smooth where a shape is round, sharp at its edges.

The normal at a corner of a triangle is the mean, weighted by area, of the normals of all triangles
that meet there at an angle below CREASE; so a cylinder is round and its rim is an edge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from heelstrike.robot.mesh import hull
from heelstrike.robot.robot import Shape

CREASE = np.cos(np.radians(35))
"""Cosine of the angle between triangles above which an edge is sharp."""
SIDES = 40
"""Number of sides of a circle."""

ODD_FACTORS = np.random.default_rng(0).integers(0, 2**63, 6, dtype=np.uint64) * np.uint64(
    2
) + np.uint64(1)

Mesh = tuple[np.ndarray, np.ndarray]
"""Vertices (n, 3) [m], and triangles (m, 3) as indices of vertices."""
Rgb = tuple[float, float, float]
"""Red, green and blue, 0 to 1, in the sRGB space of screens."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A mesh of one colour, with normals."""

    vertices: np.ndarray
    """(n, 3) [m]"""
    triangles: np.ndarray
    """(m, 3)"""
    normals: np.ndarray
    """Unit normals at the corners of each triangle, (m, 3, 3)."""
    colour: Rgb = (0.8, 0.8, 0.8)
    floor: bool = False
    """Whether it shows tiles and fades into the distance."""

    def moved(self, rotation: np.ndarray, translation: np.ndarray) -> Solid:
        """Return the solid rotated by (3, 3), then translated by (3,) [m]."""
        return replace(
            self,
            vertices=self.vertices @ rotation.T + translation,
            normals=self.normals @ rotation.T,
        )


def solid(mesh: Mesh, colour: Rgb, floor: bool = False) -> Solid:
    """Return a solid with the normals of a mesh."""
    vertices, triangles = mesh
    return Solid(vertices, triangles, corner_normals(vertices, triangles), colour, floor)


def solid_of_shape(shape: Shape, colour: Rgb) -> Solid | None:
    """Return a shape in its body's frame; None if there is nothing to draw."""
    try:
        mesh = _mesh(shape)
    except (ValueError, RuntimeError, OSError):  # a file that holds no mesh
        return None
    if mesh is None or not len(mesh[1]):
        return None
    return solid(mesh, colour).moved(shape.rotation, shape.translation)


def _mesh(shape: Shape) -> Mesh | None:
    size = shape.size
    if shape.kind == "box":
        return box(size)
    if shape.kind in ("sphere", "ellipsoid"):
        return ellipsoid(np.broadcast_to(size, 3))
    if shape.kind == "capsule":
        return capsule(size[0], size[1])
    if shape.kind == "cylinder":
        return cylinder(size[0], size[1])
    if shape.file is not None:
        return shape.file.read()
    return None if shape.vertices is None else hull(shape.vertices)


def box(half: np.ndarray) -> Mesh:
    """Return a box about the origin with half lengths (3,) [m]."""
    return hull(np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half)


def ellipsoid(radii: np.ndarray) -> Mesh:
    """Return an ellipsoid about the origin with radii (3,) [m]."""
    vertices, triangles = revolve(_capsule_profile(1.0, 0.0))
    return vertices * radii, triangles


def capsule(radius: float, half: float) -> Mesh:
    """Return a capsule about the origin along z; `half` is half the length of its axis [m]."""
    return revolve(_capsule_profile(radius, half))


def cylinder(radius: float, half: float) -> Mesh:
    """Return a cylinder about the origin along z; `half` is half its length [m]."""
    return revolve(np.array([[0, -half], [radius, -half], [radius, half], [0, half]]))


def revolve(profile: np.ndarray) -> Mesh:
    """Return the surface of revolution about z of a line of (radius, z), from the bottom up."""
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    rows = [np.column_stack([r * ring, np.full(SIDES, z)]) for r, z in profile]
    i = np.arange(SIDES)
    j = (i + 1) % SIDES
    triangles = []
    for k in range(len(profile) - 1):
        low, high = k * SIDES, (k + 1) * SIDES
        if profile[k][0] > 0:
            triangles.append(np.column_stack([low + i, low + j, high + j]))
        if profile[k + 1][0] > 0:
            triangles.append(np.column_stack([low + i, high + j, high + i]))
    return np.vstack(rows), np.vstack(triangles)


def _capsule_profile(radius: float, half: float) -> np.ndarray:
    """Return the profile of a capsule; of a sphere if its half length is 0."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, SIDES // 2 + 1)
    side = np.where(np.arange(len(angle)) <= SIDES // 4, -half, half)
    rim = np.column_stack([radius * np.cos(angle), radius * np.sin(angle) + side])
    rim[[0, -1], 0] = 0.0
    if half > 0:  # repeat the equator at the other end
        middle = SIDES // 4
        rim = np.insert(rim, middle + 1, [radius, half], axis=0)
    return rim


def corner_normals(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return unit normals at the corners of triangles, (m, 3, 3), as the module describes."""
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


def split_vertices(shown: Solid) -> Mesh:
    """Return the mesh with a separate vertex for each normal at a point.

    A renderer that computes normals from shared vertices then finds ours, and edges stay sharp.
    """
    places, normals = shown.vertices[shown.triangles].reshape(-1, 3), shown.normals.reshape(-1, 3)
    scale = max(float(np.ptp(shown.vertices, axis=0).max()), 1e-9)
    keys = np.hstack([np.round(places / scale * 1e6), np.round(normals * 1e3)]).astype(np.int64)
    # hash each row by odd factors modulo 2^64: numbers are sorted faster than rows
    hashed = (keys.astype(np.uint64) * ODD_FACTORS).sum(axis=1, dtype=np.uint64)
    _, first, corners = np.unique(hashed, return_index=True, return_inverse=True)
    return places[first], corners.reshape(-1, 3)
