"""Grid over a mesh of triangles: each cell lists those that are near.

A cell lists every triangle that may be nearer than `reach` to some place in it: those whose bounds,
larger by the reach on all sides, overlap it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST_CELLS = 1_000_000
"""Largest number of cells."""


@dataclass(frozen=True, eq=False)
class TriangleGrid:
    """Triangles of a mesh, and those of each cell of a grid around it."""

    corner: np.ndarray
    """Least coordinates of the grid [m]."""
    cell: float
    """Length of a cell [m]."""
    shape: tuple[int, int, int]
    """Numbers of cells."""
    spans: np.ndarray
    """First entry in `members` and number of entries, (cells + 1, 2)."""
    members: np.ndarray
    """Numbers of triangles, (entries, 1)."""
    triangles: np.ndarray
    """A corner of each triangle and the two edges from it, (triangles + 1, 9) [m]."""

    @property
    def most(self) -> int:
        """Largest number of triangles in a cell."""
        return int(self.spans[:, 1].max())


def triangle_grid(vertices: np.ndarray, faces: np.ndarray, reach: float) -> TriangleGrid:
    """Return the grid of a mesh for places up to `reach` from it [m]."""
    corners, edges = vertices[faces], corner_and_edges(vertices, faces)
    one, other = edges[:, 1], edges[:, 2]
    low, high = vertices.min(axis=0) - reach, vertices.max(axis=0) + reach
    edge = np.median(np.linalg.norm(np.concatenate([one, other, other - one]), axis=1))
    cell = max(edge / 2, reach, (np.prod(high - low) / MOST_CELLS) ** (1 / 3))
    shape = np.ceil((high - low) / cell).astype(int)
    first = np.floor((corners.min(axis=1) - reach - low) / cell).astype(int)
    last = np.floor((corners.max(axis=1) + reach - low) / cell).astype(int)
    counts, members = _members(np.maximum(first, 0), np.minimum(last, shape - 1), shape)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    spans = np.column_stack([starts, counts])
    rows = edges.reshape(-1, 9)
    return TriangleGrid(  # a lookup reads one row beyond the one that it is asked for
        low,
        float(cell),
        (int(shape[0]), int(shape[1]), int(shape[2])),
        np.vstack([spans, [0, 0]]).astype(float),
        np.concatenate([members, [0, 0]])[:, None].astype(float),
        np.vstack([rows, rows[:1]]),
    )


def corner_and_edges(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the first corner of each triangle and the two edges from it, (m, 3, 3)."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.stack([a, b - a, c - a], axis=1)


def _members(low: np.ndarray, high: np.ndarray, shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of triangles of each cell, and their numbers one cell after another.

    `low` and `high` are the first and last cell of each triangle along each axis.
    """
    cells, numbers = [], []
    spans = high - low + 1
    for span in np.unique(spans, axis=0):
        own = np.flatnonzero((spans == span).all(axis=1))
        steps = np.indices(span).reshape(3, -1).T
        cells.append(((low[own, None] + steps) @ [shape[1] * shape[2], shape[2], 1]).ravel())
        numbers.append(np.repeat(own, len(steps)))
    cell, number = np.concatenate(cells), np.concatenate(numbers)
    order = np.lexsort([number, cell])
    return np.bincount(cell, minlength=int(np.prod(shape))), number[order]


def nearest_points(places: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the point of each triangle that is nearest to its place, (n, 3)."""
    a, one, other = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    normal = np.cross(one, other)
    square = np.maximum(np.einsum("ij,ij->i", normal, normal), 1e-300)
    offset = places - a
    u = np.einsum("ij,ij->i", np.cross(offset, other), normal) / square
    v = np.einsum("ij,ij->i", np.cross(one, offset), normal) / square
    inside = (u >= 0) & (v >= 0) & (u + v <= 1)
    best = a + u[:, None] * one + v[:, None] * other
    least = np.where(inside, np.sum((places - best) ** 2, axis=1), np.inf)
    for start, edge in ((a, one), (a, other), (a + one, other - one)):
        t = np.einsum("ij,ij->i", places - start, edge) / np.maximum(
            np.einsum("ij,ij->i", edge, edge), 1e-300
        )
        point = start + np.clip(t, 0, 1)[:, None] * edge
        distance = np.sum((places - point) ** 2, axis=1)
        closer = ~inside & (distance < least)
        best[closer], least[closer] = point[closer], distance[closer]
    return best
