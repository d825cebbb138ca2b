"""Triangle meshes: files, convex hulls, volumes and inertias.

Inertia: each triangle and a common apex span a tetrahedron; with signed volumes the sum is exact
for a closed surface ("exact"), with absolute volumes from the centroid it is MuJoCo's "legacy".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull, QhullError


@lru_cache(maxsize=64)
def _read(path: str, _modified: int) -> tuple[np.ndarray, np.ndarray]:
    import coal

    mesh = coal.MeshLoader().load(path, np.ones(3))
    vertices = np.array(mesh.vertices(), dtype=float)
    triangles = [mesh.tri_indices(i) for i in range(mesh.num_tris)]
    return vertices, np.array([[t[0], t[1], t[2]] for t in triangles], dtype=int)


def read_mesh(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return (vertices (n, 3), triangles (m, 3)) of an STL, OBJ or DAE file.

    Raises ValueError or RuntimeError if the file holds no mesh that coal can read.
    """
    vertices, triangles = _read(str(path), path.stat().st_mtime_ns)
    if len(vertices) == 0 or not np.isfinite(vertices).all():
        raise ValueError("no usable vertices")
    if triangles.size and not (triangles.min() >= 0 and triangles.max() < len(vertices)):
        raise ValueError("a triangle refers to a vertex that does not exist")
    return vertices, triangles


@dataclass(frozen=True, eq=False)
class MeshFile:
    """A mesh file that is read when needed; its vertices v become (v - shift) @ matrix."""

    path: Path
    shift: np.ndarray
    """[m]"""
    matrix: np.ndarray
    """(3, 3)"""

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (vertices, triangles); triangles face outward even if the matrix mirrors."""
        vertices, triangles = read_mesh(self.path)
        return self.placed(vertices), self.outward(triangles)

    def placed(self, vertices: np.ndarray) -> np.ndarray:
        return (vertices - self.shift) @ self.matrix

    def outward(self, triangles: np.ndarray) -> np.ndarray:
        return triangles[:, ::-1] if np.linalg.det(self.matrix) < 0 else triangles


def hull(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (corners, outward triangles) of the convex hull; flat sets have no triangles."""
    try:
        convex = ConvexHull(vertices)
    except (QhullError, ValueError):
        return np.unique(vertices, axis=0), np.zeros((0, 3), dtype=int)
    corners = vertices[convex.vertices]
    renumber = np.full(len(vertices), -1)
    renumber[convex.vertices] = np.arange(len(convex.vertices))
    triangles = renumber[convex.simplices]
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), convex.equations[:, :3]) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return corners, triangles


def volume_inertia(
    vertices: np.ndarray, triangles: np.ndarray, absolute: bool = False
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return (volume, centroid, inertia about it) at density 1; absolute: MuJoCo's legacy rule."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    apex = np.zeros(3)
    if absolute:
        area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        if area.sum() == 0:
            return 0.0, apex, np.zeros((3, 3))
        apex = (area[:, None] * (a + b + c)).sum(axis=0) / (3 * area.sum())
    a, b, c = a - apex, b - apex, c - apex
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    if absolute:
        volumes = np.abs(volumes)
    volume = float(volumes.sum())
    if volume <= 0:
        return 0.0, apex, np.zeros((3, 3))
    centre = (volumes[:, None] * (a + b + c)).sum(axis=0) / (4 * volume)
    total = a + b + c  # second moments of a tetrahedron with a corner at the origin: V/20 (...)
    moments = sum(np.einsum("i,ij,ik->jk", volumes, p, p) for p in (a, b, c, total)) / 20
    moments = moments - volume * np.outer(centre, centre)
    return volume, centre + apex, np.trace(moments) * np.eye(3) - moments
