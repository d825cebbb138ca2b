"""Ridges of height fields and meshes as lines, which shapes touch between their contact points.

A ridge is a line a-b where the ground bends by more than BEND. Of each end it has three unit
vectors in the ground: along the ground's lines that leave the end to both sides, and along the one
that goes on most nearly straight. A normal leads out of the ground at a place inside a-b where it
has no component along those to the sides, at an end of a-b where it has none along all three.

Ridges of a height field are the lines between neighbouring heights, looked up by their place in
the grid. Those of a mesh are edges between triangles, and edges of one triangle, beyond which there
is no ground; a cell of a grid lists those within reach of a shape whose centre is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.contact.law import where
from heelstrike.ir.table import Table
from heelstrike.scene.surfaces import HeightField, Mesh, Surface
from heelstrike.scene.surfaces.triangle_grid import TriangleGrid, triangle_grid
from heelstrike.spatial.vector import SX, constant

BEND = 1e-2
"""Least bend of the ground at a ridge [-], about radians."""
BELOW = 1e3
"""Depth below the lowest height, in units of heights, of what is beyond an end without ground."""
SAME_PLACE = 9
"""Decimals of a metre to which vertices of a mesh count as one."""


@dataclass(frozen=True)
class RidgeLine:
    """A line of the ground, in the frame of its surface, as symbols."""

    start: SX
    """a [m]"""
    end: SX
    """b [m]"""
    from_start: SX
    """Directions from a: to both sides, and onward, as columns, (3, 3)."""
    from_end: SX
    """The same from b."""
    up: SX
    """Unit normal in the middle between both sides."""
    bulges: SX
    """1 where it is a ridge."""


@dataclass(frozen=True, eq=False)
class FieldRidges:
    """Lines of a height field: two at each height, to the next one along x and along y."""

    shape: tuple[int, int]
    tables: dict[str, np.ndarray]
    """`rows`: a height, and of both lines the rises along it, to both sides from its start and from
    its end, and beyond its start and its end."""

    @property
    def structure(self) -> object:
        """What decides the compiled code."""
        return list(self.shape)

    @property
    def most(self) -> int:
        """Largest number of lines that a shape may be near."""
        return 2 * self.shape[0] * self.shape[1]

    def span(self, surface: Surface, tables: Mapping[str, Table], centre: SX, reach: SX) -> SX:
        """Return where the lines near a box begin, and how many there are; inside a block."""
        assert isinstance(surface, HeightField)
        per, last = _per_metre(surface), SX(self.shape) - 1
        low, high = ((centre + x - SX(surface.point))[:2] * per + last / 2 for x in (-reach, reach))
        first = ca.fmin(ca.fmax(ca.floor(low), 0), last)
        counts = ca.fmin(ca.fmax(ca.floor(high), 0), last) - first + 1
        return ca.vertcat(first, counts[1], 2 * counts[0] * counts[1])

    def line(self, surface: Surface, tables: Mapping[str, Table], span: SX, n: SX) -> RidgeLine:
        """Return the n-th line of a span; inside a block."""
        assert isinstance(surface, HeightField)
        node = ca.floor(n / 2)
        along_y = n - 2 * node
        row_of_span = ca.floor((node + 0.5) / span[2])
        place = span[:2] + ca.vertcat(row_of_span, node - row_of_span * span[2])
        row = tables["rows"].row(place[0] * self.shape[1] + place[1])
        own = SX(surface.scale) * where(along_y, row[8:], row[1:8])
        per = _per_metre(surface)
        run, across = where(along_y, per[1], per[0]), where(along_y, per[0], per[1])
        along = ca.vertcat(1 - along_y, along_y, 0)
        aside = ca.vertcat(along_y, 1 - along_y, 0)
        z = SX([0, 0, 1])
        slope, aside_of = own[0] * run, own[1:5] * across
        tilt = (aside_of[0] - aside_of[1] + aside_of[2] - aside_of[3]) / 4
        grid = (place - (SX(self.shape) - 1) / 2) / per
        start = SX(surface.point) + ca.vertcat(grid, SX(surface.scale) * row[0])
        return RidgeLine(
            start,
            start + (along + slope * z) / run,
            _columns(aside + aside_of[0] * z, aside_of[1] * z - aside, own[5] * run * z - along),
            _columns(aside + aside_of[2] * z, aside_of[3] * z - aside, own[6] * run * z + along),
            _unit(z - slope * along - tilt * aside),
            ca.sum1(aside_of) < -2 * BEND,
        )


@dataclass(frozen=True, eq=False)
class MeshRidges:
    """Ridges of a mesh, and a grid that lists those near each of its cells."""

    grid: TriangleGrid
    tables: dict[str, np.ndarray]
    """`rows`: a, b, three directions from each, and the normal; `spans` and `members` of cells."""

    @property
    def structure(self) -> object:
        """What decides the compiled code."""
        grid, sizes = self.grid, [len(x) for x in self.tables.values()]
        return [grid.corner.tolist(), grid.cell, list(grid.shape), sizes, grid.most]

    @property
    def most(self) -> int:
        """Largest number of lines that a shape may be near."""
        return max(self.grid.most, 1)

    def span(self, surface: Surface, tables: Mapping[str, Table], centre: SX, reach: SX) -> SX:
        """Return where the lines near a box begin, and how many there are; inside a block."""
        grid, shape = self.grid, SX(self.grid.shape)
        cell = ca.floor((centre - SX(surface.point) - constant(grid.corner)) / grid.cell)
        inside = ca.logic_and(ca.mmin(cell) >= 0, ca.mmax(cell - shape) < 0)
        row = (cell[0] * shape[1] + cell[1]) * shape[2] + cell[2]
        return tables["spans"].row(where(inside, row, len(grid.spans) - 1))

    def line(self, surface: Surface, tables: Mapping[str, Table], span: SX, n: SX) -> RidgeLine:
        """Return the n-th line of a span; inside a block."""
        row = tables["rows"].row(tables["members"].row(span[0] + n)[0])
        start, end, from_start, from_end, up = ca.vertsplit(row, [0, 3, 6, 15, 24, 27])
        origin, bulges = SX(surface.point), span[1] > 0
        ways = ca.reshape(from_start, 3, 3), ca.reshape(from_end, 3, 3)
        return RidgeLine(origin + start, origin + end, ways[0], ways[1], up, bulges)


Ridges = FieldRidges | MeshRidges


def ridges_of(surface: Surface, reach: float) -> Ridges | None:
    """Return the ridges of a surface for shapes that reach so far from their centres [m]; None:
    it has none.
    """
    if isinstance(surface, HeightField):
        return FieldRidges(surface.shape, {"rows": _field_rows(surface)})
    if not isinstance(surface, Mesh):
        return None
    vertices, lines, rows = _mesh_rows(*surface.triangles)
    if not len(rows):
        return None
    grid = triangle_grid(vertices, lines[:, [0, 1, 1]], reach)
    tables = {"rows": np.vstack([rows, rows[:1]]), "spans": grid.spans, "members": grid.members}
    return MeshRidges(grid, tables)


def _per_metre(surface: HeightField) -> SX:
    """Return cells per metre along x and y."""
    return (SX(surface.shape) - 1) / SX(surface.size)


def _unit(a: SX) -> SX:
    return a / ca.sqrt(ca.sumsqr(a))


def _columns(*directions: SX) -> SX:
    return ca.horzcat(*map(_unit, directions))


def _field_rows(field: HeightField) -> np.ndarray:
    """Return `rows` of FieldRidges; lines that leave the grid do not bulge."""
    heights = field.table
    nx, ny = heights.shape
    if field.outside == "hold":
        padded = np.pad(heights, (1, 2), mode="edge")
    else:
        padded = np.pad(heights, (1, 2), constant_values=heights.min() - BELOW)

    def at(i: int, j: int) -> np.ndarray:
        return padded[1 + i : 1 + i + nx, 1 + j : 1 + j + ny]

    columns = [at(0, 0)]
    for dx, dy, inside in ((1, 0, np.arange(nx)[:, None] < nx - 1), (0, 1, np.arange(ny) < ny - 1)):
        start, end = at(0, 0), at(dx, dy)
        sides = [at(dy, dx) - start, at(-dy, -dx) - start]
        sides += [at(1, 1) - end, at(dx - dy, dy - dx) - end]
        own = end - start, *sides, at(-dx, -dy) - start, at(2 * dx, 2 * dy) - end
        columns += [np.where(inside, x, 0.0) for x in own]
    rows = np.stack(columns, axis=-1).reshape(nx * ny, -1)
    return np.vstack([rows, rows[-1:]])


def _mesh_rows(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return vertices, the two of each ridge by number, and `rows` of MeshRidges."""
    vertices, number = np.unique(np.round(vertices, SAME_PLACE), axis=0, return_inverse=True)
    faces = number.reshape(-1)[faces]
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sound = np.linalg.norm(normals, axis=1) > 0
    faces, normals = faces[sound], normals[sound]
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    owners: dict[tuple[int, int], list[tuple[int, int]]] = {}
    ends: dict[int, list[int]] = {}
    for k, face in enumerate(faces.tolist()):
        for i in range(3):
            a, b, c = face[i], face[(i + 1) % 3], face[(i + 2) % 3]
            owners.setdefault((min(a, b), max(a, b)), []).append((k, c))
    for a, b in owners:
        ends.setdefault(a, []).append(b)
        ends.setdefault(b, []).append(a)
    lines, rows = [], []
    for (a, b), own in owners.items():
        row = _mesh_row(vertices, normals, ends, (a, b), own)
        if row is not None:
            lines.append((a, b))
            rows.append(row)
    return vertices, np.array(lines, dtype=int).reshape(-1, 2), np.array(rows)


def _mesh_row(
    vertices: np.ndarray,
    normals: np.ndarray,
    ends: Mapping[int, list[int]],
    line: tuple[int, int],
    own: list[tuple[int, int]],
) -> np.ndarray | None:
    """Return the row of a line between triangles, `own`: their numbers and third corners; None: it
    is no ridge, or of more than two triangles.
    """
    a, b = line
    first, third = normals[own[0][0]], [vertices[c] for _, c in own]
    up, below = first, np.zeros(3)
    if len(own) == 1:  # beyond it there is no ground
        below = -first
    else:
        second = normals[own[1][0]]
        bends = first @ second < 1 - BEND**2 / 2 and first @ (third[1] - vertices[a]) < 0
        if len(own) > 2 or not bends:
            return None
        up = _unit_of(first + second)
    found = [vertices[a], vertices[b]]
    for one, other in ((a, b), (b, a)):
        place, way = vertices[one], _unit_of(vertices[one] - vertices[other])
        sides = [_unit_of(x - place) for x in third] + [below] * (2 - len(own))
        onward = [_unit_of(vertices[x] - place) for x in ends[one] if x != other]
        found += [*sides, max(onward, key=lambda x: float(x @ way))]
    return np.concatenate([*found, up])


def _unit_of(a: np.ndarray) -> np.ndarray:
    return a / max(float(np.linalg.norm(a)), 1e-12)
