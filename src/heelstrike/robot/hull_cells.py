"""Convex hulls of many corners: tables of the corner that is farthest along a direction.

The directions are divided into cells, an octahedron unfolded into a square grid (Meyer et al. 2010,
On floating-point normal vectors): with d scaled to |x| + |y| + |z| = 1,

    (u, v) = (x, y)                                                where z >= 0
    (u, v) = (sign(x) (1 - |y|), sign(y) (1 - |x|))                where z < 0

A corner v is farthest along the directions between the normals of the faces that meet in it, and
this set of directions is bounded by an arc for each edge of the hull, from the normal of one of its
faces to that of the other. A cell is therefore left to the corners of all arcs that pass through it
and to those farthest along a few of its own directions. Where these are more than CANDIDATES, some
are left out, and the error is measured. To find the farthest corner of any hull takes a row of the
table and CANDIDATES products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

ACROSS = 16
"""Cells along a side of the square."""
CANDIDATES = 8
"""Corners of each cell."""
SAMPLES = 5
"""Directions along a side of a cell, its borders included, for which its corners are chosen."""
ARC_STEP = 0.01
"""Distance of the directions at which arcs are looked up, and by which cells reach over their
borders [rad]."""
EXACT = 1e-9
"""Error, as a share of the hull's size, at which no more corners are added to a cell."""


@dataclass(frozen=True, eq=False)
class HullCells:
    """Corners of a hull by cells of directions."""

    rows: np.ndarray
    """Corners of each cell, (ACROSS^2, CANDIDATES, 3) [m]; the first is repeated in place of
    missing ones."""
    error: float
    """Largest distance by which the hull exceeds the corners of a cell along its directions [m]."""

    def corners(self) -> np.ndarray:
        """Return all corners, (n, 3) [m]."""
        return np.unique(self.rows.reshape(-1, 3), axis=0)

    def farthest(self, directions: np.ndarray) -> np.ndarray:
        """Return the corners farthest along directions (k, 3), as (k, 3) [m]."""
        own = self.rows[cell_of(directions)]
        best = np.einsum("kci,ki->kc", own, directions).argmax(axis=1)
        return own[np.arange(len(own)), best]


def cell_of(directions: np.ndarray) -> np.ndarray:
    """Return the cells of directions (k, 3)."""
    x, y, z = (directions / np.abs(directions).sum(axis=1, keepdims=True)).T
    low = z < 0
    u = np.where(low, np.where(x < 0, -1, 1) * (1 - np.abs(y)), x)
    v = np.where(low, np.where(y < 0, -1, 1) * (1 - np.abs(x)), y)
    along, across = (
        np.clip(np.floor((w + 1) * (ACROSS / 2)), 0, ACROSS - 1).astype(int) for w in (u, v)
    )
    return np.asarray(along * ACROSS + across)


def hull_cells(vertices: np.ndarray) -> HullCells:
    """Return the cells of the hull of vertices (n, 3) [m]."""
    samples = _directions_of_cells(np.linspace(0, 1, SAMPLES))
    own = np.zeros((len(samples), len(vertices)), dtype=bool)
    np.put_along_axis(own, _reach(samples, vertices)[1], True, axis=1)
    for cells, corners in _arcs(vertices):
        own[cells, corners] = True
    most = own.sum(axis=1).max()
    listed = np.argsort(~own, axis=1, kind="stable")[:, :most]  # those of the cell come first
    reach = np.einsum("dsi,dci->dsc", samples, vertices[listed])
    reach = np.where(np.take_along_axis(own, listed, axis=1)[:, None], reach, -np.inf)
    lost = reach.max(axis=2)[:, :, None] - reach
    left = np.full(samples.shape[:2], np.inf)  # of each sample
    chosen = np.zeros((len(samples), CANDIDATES), dtype=int)
    enough = EXACT * float(np.ptp(vertices, axis=0).max())
    every = np.arange(len(samples))
    for k in range(CANDIDATES):
        worst = left.argmax(axis=1)
        done = left[every, worst] <= enough
        chosen[:, k] = np.where(done, chosen[:, 0], lost[every, worst].argmin(axis=1))
        left = np.minimum(left, lost[every, :, chosen[:, k]])
    rows = vertices[np.take_along_axis(listed, chosen, axis=1)]
    between = _directions_of_cells((np.arange(SAMPLES - 1) + 0.5) / (SAMPLES - 1))
    reached = np.einsum("dsi,dci->dsc", between, rows).max(axis=2)
    missed = _reach(between, vertices)[0] - reached
    return HullCells(rows, max(float(left.max()), float(missed.max()), 0.0))


def _reach(directions: np.ndarray, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how far vertices reach along directions of cells, (cells, k) [m], and which do."""
    reach, best = np.empty(directions.shape[:2]), np.empty(directions.shape[:2], dtype=int)
    for cell, own in enumerate(directions):
        along = own @ vertices.T
        best[cell] = along.argmax(axis=1)
        reach[cell] = along.max(axis=1)
    return reach, best


def _arcs(vertices: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return cells and the corners of the edges whose arcs pass through them; none if flat."""
    try:
        hull = ConvexHull(vertices)
    except (QhullError, ValueError):
        return []
    normals, faces = hull.equations[:, :3], np.arange(len(hull.simplices))
    first, second = np.repeat(faces, 3), hull.neighbors.ravel()
    side = np.tile(np.arange(3), len(faces))
    ends = [hull.simplices[first, (side + i) % 3] for i in (1, 2)]
    once = first < second
    first, second, ends = first[once], second[once], [x[once] for x in ends]
    cosine = np.einsum("ij,ij->i", normals[first], normals[second])
    count = np.ceil(np.arccos(np.clip(cosine, -1, 1)) / ARC_STEP).astype(int) + 1
    edge = np.repeat(np.arange(len(first)), count)
    number = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    share = (number / np.maximum(count[edge] - 1, 1))[:, None]
    at = normals[first[edge]] * (1 - share) + normals[second[edge]] * share
    at /= np.maximum(np.linalg.norm(at, axis=1, keepdims=True), 1e-12)
    aside = [ARC_STEP * sign * axis for axis in np.eye(3) for sign in (-1, 1)]
    return [(cell_of(at + offset), end[edge]) for offset in (0, *aside) for end in ends]


def _directions_of_cells(shares: np.ndarray) -> np.ndarray:
    """Return unit directions of each cell at shares (k,) of its sides, (ACROSS^2, k^2, 3)."""
    grid = (np.arange(ACROSS)[:, None] + shares) * (2 / ACROSS) - 1
    u = np.broadcast_to(grid[:, None, :, None], (ACROSS, ACROSS, len(shares), len(shares)))
    v = np.broadcast_to(grid[None, :, None, :], u.shape)
    z = 1 - np.abs(u) - np.abs(v)
    x = np.where(z < 0, np.where(u < 0, -1, 1) * (1 - np.abs(v)), u)
    y = np.where(z < 0, np.where(v < 0, -1, 1) * (1 - np.abs(u)), v)
    found = np.stack([x, y, z], axis=-1).reshape(ACROSS**2, -1, 3)
    return np.asarray(found / np.linalg.norm(found, axis=-1, keepdims=True))
