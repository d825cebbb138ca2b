"""Mesh: ground of triangles, with overhangs where it has them.

    s     distance of p from the nearest triangle, negative behind it
    d     = r - s                         for a sphere of radius r about p
    nu    = the triangle's normal, or (p - c) / s if the nearest point c is on an edge or corner

The side is that of the triangle whose normal is nearest to p - c among those that share c. A place
above a flat part is nearest to the inside of a triangle, so that edges between triangles of a plane
are not felt. Each contact point touches the mesh at one place, the nearest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Self

import casadi as ca
import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.ir.table import Table
from heelstrike.parameters import check_numbers, static, structure_of_fields
from heelstrike.robot.mesh import read_mesh
from heelstrike.scene.surfaces.base import Surface
from heelstrike.scene.surfaces.sphere import radial_axes
from heelstrike.scene.surfaces.triangle_grid import (
    TriangleGrid,
    corner_and_edges,
    nearest_points,
    triangle_grid,
)
from heelstrike.spatial.vector import SX, constant, cross, zeros

MeshSource = str | os.PathLike[str] | Sequence[Sequence[Sequence[float]] | np.ndarray]
"""A file; or vertices (n, 3), and triangles (m, 3) of their numbers."""
SQUARE = (
    ((-0.5, -0.5, 0.0), (0.5, -0.5, 0.0), (0.5, 0.5, 0.0), (-0.5, 0.5, 0.0)),
    ((0, 1, 2), (0, 2, 3)),
)
"""A level square of 1 m."""
DEEPEST = 0.03
"""Depth up to which a point is found behind the mesh [m]."""
SAME = 1e-6
"""Share by which the squares of two distances may differ and count as one."""
NEAREST = 1e-12
"""Square of a distance below which a place is on the mesh [m^2]."""


@dataclass(frozen=True, eq=False)
class MeshTables:
    """A mesh as tables of the compiled step."""

    grid: TriangleGrid
    spans: Table
    members: Table
    triangles: Table


@dataclass(frozen=True, eq=False)
class NearestPlace:
    """The place of a mesh that is nearest to a point, as symbols."""

    point: SX
    """The point, in the frame of the surface [m]."""
    distance: SX
    """Its signed distance, negative behind the mesh [m]."""
    normal: SX


@dataclass(frozen=True, eq=False)
class Mesh(Surface):
    """Ground of triangles, from a file or from arrays; `point` is where its origin lies.

    Args:
        law: contact law, such as hs.Elastic(...) or hs.Rigid(...).
        name: name of the surface; paths of its parameters begin with it: "ground.normal.k".
        point: position of the shape's reference point [m].
        velocity: velocity of the material, as of a conveyor belt [m/s]; the shape does not
            move.
        body: body that the surface rides on; None: it is fixed in the world.
        touches: bodies whose contact points may touch it; "world" for points fixed in the
            world. None: all but its own body and those that a joint connects to that body.
        mesh: an .stl, .obj or .dae file; or vertices (n, 3) [m] and triangles (m, 3) of their
            numbers, counterclockwise from outside; by default a level square of 1 m.
        scale: metres per unit of the mesh [m].
        reach: distance from the mesh up to which contacts are found [m]; None: the largest radius
            of a contact point, or half that of a hull, and 3 cm.

    Examples:
        >>> vertices = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0.2], [-1, 1, 0.2]])
        >>> triangles = np.array([[0, 1, 2], [0, 2, 3]])
        >>> ramp = hs.Mesh(hs.Rigid(), name="ramp", mesh=(vertices, triangles))
    """

    mesh: MeshSource | MeshTables | NearestPlace = SQUARE
    scale: float = static(1.0)
    reach: float | None = static(None)

    searches: ClassVar[bool] = True
    has_ridges: ClassVar[bool] = True
    by_number: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, scale=(1e-9, 1e9), reach=(1e-6, 1e3))
        if not isinstance(self.mesh, MeshTables | NearestPlace):
            self.triangles  # noqa: B018  raises for anything but a mesh

    def fitted(self, radius: float, around: float = 0.0) -> Self:
        """Return the mesh with a reach for points of this radius [m]."""
        if self.reach is None:
            return replace(self, reach=max(radius, around) + DEEPEST)
        if self.reach <= radius:
            raise self._invalid(
                "reach", f"more than the radius of its contact points, {radius:g} m"
            )
        return self

    @cached_property
    def triangles(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices about `point` (n, 3) [m], and triangles (m, 3) of their numbers."""
        if isinstance(self.mesh, str | os.PathLike):
            vertices, faces = self._read(Path(self.mesh).expanduser())
        else:
            try:
                vertices, faces = (np.asarray(part) for part in self.mesh)  # type: ignore[union-attr]
            except (TypeError, ValueError):
                vertices, faces = np.zeros(0), np.zeros(0)
        sound = vertices.ndim == faces.ndim == 2 and vertices.shape[1] == faces.shape[1] == 3
        whole = sound and np.array_equal(faces, np.rint(faces))
        if not whole or not len(faces):
            raise self._invalid(
                "mesh", "an .stl, .obj or .dae file, or vertices (n, 3) and triangles (m, 3)"
            )
        if faces.min() < 0 or faces.max() >= len(vertices) or not np.isfinite(vertices).all():
            raise self._invalid("mesh", "finite vertices, and triangles of their numbers from 0")
        vertices, faces = self.scale * np.asarray(vertices, dtype=float), faces.astype(int)
        one, other = (vertices[faces[:, k]] - vertices[faces[:, 0]] for k in (1, 2))
        kept = np.linalg.norm(np.cross(one, other), axis=1) > 0
        if not kept.any():
            raise self._invalid("mesh", "triangles with an area")
        return vertices, faces[kept]

    def _read(self, path: Path) -> tuple[np.ndarray, np.ndarray]:
        if not os.path.isfile(path):
            raise HeelstrikeError(
                f"{path}: no such file",
                path="mesh",
                value=path,
                remedy="pass a path to an .stl, .obj or .dae file, or arrays",
            )
        try:
            return read_mesh(path)
        except (ValueError, RuntimeError) as error:
            raise HeelstrikeError(
                f"{path}: cannot read a mesh ({error})", path="mesh", value=path
            ) from error

    @cached_property
    def grid(self) -> TriangleGrid:
        """The mesh with lists of the triangles that are near."""
        if isinstance(self.mesh, MeshTables):
            return self.mesh.grid
        return triangle_grid(*self.triangles, DEEPEST if self.reach is None else self.reach)

    def tables(self) -> dict[str, np.ndarray]:
        grid = self.grid
        return {"spans": grid.spans, "members": grid.members, "triangles": grid.triangles}

    def from_tables(self, tables: Mapping[str, Table]) -> Self:
        return replace(self, mesh=MeshTables(self.grid, **tables))

    def structure(self) -> object:
        """Return what decides the compiled code: the grid, not its triangles."""
        grid = self.grid
        sizes = [len(grid.spans), len(grid.members), len(grid.triangles), grid.most]
        return structure_of_fields(
            self, mesh=[grid.corner.tolist(), grid.cell, list(grid.shape), sizes]
        )

    def tangents_vary(self, radius: float, part: int = 0) -> bool:
        return True

    def depth_and_axes(self, place: SX, radius: float = 0.0, part: int = 0) -> tuple[SX, SX]:
        found = self.mesh if isinstance(self.mesh, NearestPlace) else self._nearest(place)
        _, axes = radial_axes(found.normal)
        beyond = ca.dot(found.normal, place - found.point)  # of parts of a shape about the point
        return radius - found.distance - beyond, axes

    def gap(self, place: SX, radius: float = 0.0) -> SX | None:
        grid, offset = self.grid, place - SX(self.point)
        reach = DEEPEST if self.reach is None else self.reach
        low = grid.corner + reach
        high = grid.corner + grid.cell * np.array(grid.shape) - reach
        return ca.mmax(ca.fmax(constant(low) - offset, offset - constant(high)))

    def _nearest(self, place: SX) -> NearestPlace:
        """Return the nearest place to a place in numbers."""
        at = np.array(ca.DM(place - SX(self.point)), dtype=float).ravel()
        edges = corner_and_edges(*self.triangles)
        away = at - nearest_points(np.broadcast_to(at, (len(edges), 3)), edges)
        normals = np.cross(edges[:, 1], edges[:, 2])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        far, above = np.linalg.norm(away, axis=1), np.einsum("ij,ij->i", away, normals)
        same = np.flatnonzero(far**2 <= (1 + SAME) * far.min() ** 2)
        k = same[np.argmax(np.abs(above[same]))]
        side = 1.0 if above[k] >= 0 else -1.0
        flat = far[k] ** 2 < NEAREST or abs(above[k]) > (1 - SAME) * far[k]
        normal = normals[k] if flat else side * away[k] / far[k]
        return NearestPlace(SX(place), SX(side * far.min()), SX(normal))

    def search(self, p: Program, place: SX) -> Self:
        assert isinstance(self.mesh, MeshTables)
        assert self.reach is not None
        tables, grid = self.mesh, self.mesh.grid
        with p.block("cell"):
            at = p.let("at", place - SX(self.point))
            cell = ca.floor((at - constant(grid.corner)) / grid.cell)
            inside = ca.logic_and(ca.mmin(cell) >= 0, ca.mmax(cell - SX(grid.shape)) < 0)
            row = ca.dot(SX([grid.shape[1] * grid.shape[2], grid.shape[2], 1]), cell)
            row = p.let("row", ca.if_else(inside, row, len(grid.spans) - 1))
        span, _ = tables.spans.at(row)
        with repeated(p, "triangles", limit=max(grid.most, 1)) as loop:
            n = loop.carry("n", SX(0))
            best = loop.carry("best", ca.vertcat(self.reach**2, 0, self.reach, 0, 0, 1))
            member, _ = tables.members.at(span[0] + n)
            triangle, _ = tables.triangles.at(member[0])
            with p.block("triangle"):
                found = _against(at - triangle[:3], triangle[3:6], triangle[6:])
                closer = found[0] < (1 - SAME) * best[0]
                level = ca.logic_and(found[0] <= (1 + SAME) * best[0], found[1] > best[1])
                better = ca.logic_and(n < span[1], ca.logic_or(closer, level))
                loop.next(best, ca.if_else(better, found, best))
                loop.next(n, n + 1)
                loop.until(n + 1 >= span[1])
        return replace(self, mesh=NearestPlace(place, best[2], best[3:]))


def _against(offset: SX, one: SX, other: SX) -> SX:
    """Return a place beside a triangle: square of the distance, agreement of direction and normal,
    signed distance and normal of the contact, (6,).

    `offset` is the place from the triangle's first corner, `one` and `other` are the edges there.
    """
    across = cross(one, other)
    square = ca.dot(across, across)
    unit = across / ca.sqrt(square)
    u, v = (
        ca.dot(cross(offset, other), across) / square,
        ca.dot(cross(one, offset), across) / square,
    )
    inside = ca.logic_and(ca.logic_and(u >= 0, v >= 0), u + v <= 1)
    height = ca.dot(offset, unit)
    away, far = _from_edge(offset, one)
    for start, edge in ((zeros(), other), (one, other - one)):
        own, own_far = _from_edge(offset - start, edge)
        nearer = own_far < far
        away, far = ca.if_else(nearer, own, away), ca.if_else(nearer, own_far, far)
    far = ca.if_else(inside, height * height, far)
    length = ca.sqrt(far)
    above = ca.if_else(inside, height, ca.dot(away, unit))
    side = ca.if_else(above >= 0, 1, -1)
    on = ca.logic_or(inside, far < NEAREST)
    normal = ca.if_else(on, unit, side * away / ca.fmax(length, ca.sqrt(NEAREST)))
    agreement = ca.if_else(on, 1, ca.fabs(above) / ca.fmax(length, ca.sqrt(NEAREST)))
    return ca.vertcat(far, agreement, side * length, normal)


def _from_edge(offset: SX, edge: SX) -> tuple[SX, SX]:
    """Return the vector from the nearest point of an edge, and its square."""
    share = ca.fmin(ca.fmax(ca.dot(offset, edge) / ca.dot(edge, edge), 0), 1)
    away = offset - share * edge
    return away, ca.dot(away, away)
