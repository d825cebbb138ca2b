"""Triangle meshes: files and convex hulls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull, QhullError


@lru_cache(maxsize=64)
def _read(path: str, _modified: int) -> tuple[np.ndarray, np.ndarray]:
    if path.lower().endswith(".msh"):
        return _read_msh(Path(path).read_bytes())
    import coal

    mesh = coal.MeshLoader().load(path, np.ones(3))
    vertices = np.array(mesh.vertices(), dtype=float)
    triangles = [mesh.tri_indices(i) for i in range(mesh.num_tris)]
    return vertices, np.array([[t[0], t[1], t[2]] for t in triangles], dtype=int)


def _read_msh(data: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and triangles of MuJoCo's own format: four numbers of vertices, normals,
    texture coordinates and triangles (int32), then these (float32 and int32).
    """
    numbers = np.frombuffer(data[:16], dtype="<i4")
    if len(numbers) < 4 or numbers.min() < 0:
        raise ValueError("no numbers of vertices and triangles")
    vertices, normals, texture, triangles = (int(n) for n in numbers)
    end = 16 + 12 * (vertices + normals) + 8 * texture
    if len(data) != end + 12 * triangles:
        raise ValueError("its size is not that of its vertices and triangles")
    places = np.frombuffer(data[16 : 16 + 12 * vertices], dtype="<f4").reshape(-1, 3)
    corners = np.frombuffer(data[end:], dtype="<i4").reshape(-1, 3)
    return places.astype(float), corners.astype(int)


def read_mesh(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return (vertices (n, 3), triangles (m, 3)) of an STL, OBJ, DAE or MSH file.

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


def half_spaces(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return outward normals (n, 3) and offsets (n,) of the faces of a convex hull, each once."""
    found = np.unique(np.round(ConvexHull(np.asarray(vertices, dtype=float)).equations, 9), axis=0)
    return found[:, :3], -found[:, 3]


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
