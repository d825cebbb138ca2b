"""Convex shapes in one form: a hull of vertices, plus an ellipsoid, plus a ball.

    S = conv(v_1, ..., v_n) + { E x : |x| <= 1 } + { x : |x| <= r }          (sums of Minkowski)

    sphere     1 vertex,   r            box       8 vertices
    capsule    2 vertices, r            cylinder  2 vertices, E of rank 2 (a disc)
    ellipsoid  1 vertex,   E            hull      n vertices

What is farthest along a direction d is the sum of the parts' farthest points (`support`). The ball
is left out of the search for the nearest points, and added at the end: what is left is the core.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from itertools import product

import casadi as ca

from heelstrike.contact.geometry.cells import CellTable
from heelstrike.contact.law import where
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX

TINY = 1e-30
"""Number below which a square is taken for zero."""
MANY = 1000
"""More vertices than are looked at one by one."""


@dataclass(frozen=True)
class PlacedCorners:
    """Corners of a hull in a table (cells.py), and where the hull is."""

    table: CellTable
    first: SX
    """Row of the hull's first cell."""
    turn: SX
    """Rotation of the table's frame, (3, 3)."""
    offset: SX
    """Place of its origin (3) [m]."""
    size: SX
    """Largest distance of a corner from the shape's first vertex [m]."""

    def farthest(self, direction: SX) -> SX:
        """Return the corner that is farthest along a direction (3) [m]."""
        own = self.table.farthest(self.first, self.turn.T @ direction)
        return self.turn @ own + self.offset


@dataclass(frozen=True)
class Convex:
    """A convex shape in world axes, from a reference point near both shapes of a pair.

    Entries are symbols or constants. Sizes, and what is None, are part of the compiled code;
    numbers may differ from world to world.
    """

    vertices: SX
    """(3, n) [m]. Vertices may be repeated, so that shapes with fewer share the code."""
    half_axes: SX | None = None
    """Half axes of the ellipsoid as columns, (3, 3) [m]; a column may be 0. None: no ellipsoid."""
    radius: SX | float = 0.0
    """Radius of the ball [m]."""
    box: bool = False
    """Whether the vertices are those of a box in the order of `box`."""
    normals: SX | None = None
    """Unit normals of the hull's faces up to their sign, (3, m), if they are known. Those of boxes
    are found from the vertices."""
    edges: SX | None = None
    """Unit directions of the hull's edges up to their sign, (3, k), if all are known and few. Those
    of boxes and segments are found from the vertices."""
    corners: PlacedCorners | None = None
    """All vertices, by a table. Those of `vertices` are then two of them: both where there are no
    more."""

    @property
    def count(self) -> int:
        """Number of vertices, MANY where a table has them."""
        return int(self.vertices.shape[1]) if self.corners is None else MANY

    def vertex(self, i: int) -> SX:
        """Return a vertex (3) [m]."""
        return self.vertices[:, i]

    @property
    def round(self) -> bool:
        """Whether the core has an ellipsoid."""
        return self.half_axes is not None


@dataclass(frozen=True)
class ContactPoint:
    """A point of contact of two shapes."""

    depth: SX
    """Overlap along the normal [m], > 0 where the shapes overlap, < 0 where they are apart."""
    normal: SX
    """Unit normal (3), out of the second shape, toward the first."""
    position: SX
    """Middle between both surfaces along the normal (3) [m]."""


def sphere(centre: SX, radius: SX | float) -> Convex:
    """Return a sphere: centre (3) [m]."""
    return Convex(ca.reshape(SX(centre), 3, 1), None, radius)


def capsule(start: SX, end: SX, radius: SX | float) -> Convex:
    """Return a capsule about a segment [m]."""
    return Convex(ca.horzcat(start, end), None, radius)


def box(centre: SX, half_axes: SX) -> Convex:
    """Return a box; half axes as columns (3, 3) [m], at right angles.

    Vertex 4 i + 2 j + k has the signs of bits i, j, k along the first, second and third axis.
    """
    corners = [half_axes @ ca.DM(signs) for signs in product((-1.0, 1.0), repeat=3)]
    return Convex(ca.horzcat(*(centre + corner for corner in corners)), box=True)


def hull(vertices: SX, normals: SX | None = None) -> Convex:
    """Return the hull of vertices (3, n) [m]; normals of its faces (3, m) if they are known."""
    return Convex(vertices, normals=normals)


def cylinder(start: SX, end: SX, half_axes: SX) -> Convex:
    """Return a cylinder between the centres of its caps [m].

    Half axes (3, 3) [m]: two of the cap, at right angles to the cylinder's axis, and a column of 0.
    """
    return Convex(ca.horzcat(start, end), half_axes)


def ellipsoid(centre: SX, half_axes: SX) -> Convex:
    """Return an ellipsoid; half axes as columns (3, 3) [m]."""
    return Convex(ca.reshape(SX(centre), 3, 1), half_axes)


def length(a: SX) -> SX:
    """Return |a|, no less than 1e-15."""
    return ca.sqrt(ca.fmax(ca.dot(a, a), TINY))


def unit(a: SX) -> SX:
    """Return a / |a|; 0 where a is 0."""
    return a / length(a)


def with_known_axes(shape: Convex) -> Convex:
    """Return a shape with the normals and edges that its vertices tell."""
    if shape.box:
        axes = [shape.vertex(i) - shape.vertex(0) for i in (4, 2, 1)]
        units = ca.horzcat(*(unit(axis) for axis in axes))
        return replace(shape, normals=units, edges=units)
    if shape.count == 2:
        axis = unit(shape.vertex(1) - shape.vertex(0))
        return replace(shape, normals=axis if shape.round else None, edges=axis)
    return shape


def moved(p: Program, shape: Convex, move: SX) -> Convex:
    """Return a shape that is moved by (3) [m]; inside a block."""
    columns = int(shape.vertices.shape[1])
    vertices = p.let("moved", shape.vertices + ca.repmat(move, 1, columns))
    if shape.corners is None:
        return replace(shape, vertices=vertices)
    offset = p.let("moved", shape.corners.offset + move)
    return replace(shape, vertices=vertices, corners=replace(shape.corners, offset=offset))


def farthest_vertex(shape: Convex, direction: SX) -> SX:
    """Return the vertex that is farthest along a direction (3) [m]; the first of equals."""
    if shape.corners is not None:
        return shape.corners.farthest(direction)
    best, place = ca.dot(direction, shape.vertex(0)), shape.vertex(0)
    for i in range(1, shape.count):
        along = ca.dot(direction, shape.vertex(i))
        place = where(along > best, shape.vertex(i), place)
        best = ca.fmax(best, along)
    return place


def farthest_of_ellipsoid(half_axes: SX, direction: SX) -> SX:
    """Return the point of an ellipsoid farthest along a direction, from its centre (3) [m]."""
    return half_axes @ unit(half_axes.T @ direction)


def support(shape: Convex, direction: SX) -> SX:
    """Return the point of a shape's core that is farthest along a direction (3) [m]."""
    place = farthest_vertex(shape, direction)
    if shape.half_axes is None:
        return place
    return place + farthest_of_ellipsoid(shape.half_axes, direction)


def extent(shape: Convex, direction: SX) -> tuple[SX, SX]:
    """Return the least and largest coordinate of a core along a direction [m]."""
    if shape.corners is not None:
        low = ca.dot(direction, farthest_vertex(shape, -direction))
        high = ca.dot(direction, farthest_vertex(shape, direction))
    else:
        along = [ca.dot(direction, shape.vertex(i)) for i in range(shape.count)]
        low, high = reduce(ca.fmin, along), reduce(ca.fmax, along)
    if shape.half_axes is None:
        return low, high
    reach = length(shape.half_axes.T @ direction)
    return low - reach, high + reach


def size_of(first: Convex, second: Convex) -> SX:
    """Return the sum of the sizes of two cores, at least 1e-15 [m].

    The size is the largest distance from the first vertex, plus half axes.
    """
    total = SX(1e-15)
    for shape in (first, second):
        if shape.corners is not None:
            total += shape.corners.size
        else:
            offsets = [shape.vertex(i) - shape.vertex(0) for i in range(1, shape.count)]
            total += ca.sqrt(reduce(ca.fmax, (ca.dot(a, a) for a in offsets), SX(0)))
        if shape.half_axes is not None:
            total += ca.sqrt(ca.sumsqr(shape.half_axes))
    return total


def single_precision(shape: Convex) -> SX:
    """Return 1 where numbers are float32, else 0."""
    one = 1 + ca.fmin(ca.fabs(shape.vertices[0]), 0)  # a one that no pass folds
    return one + 1e-10 == one


def tangents(normal: SX) -> tuple[SX, SX]:
    """Return two unit vectors at right angles to a unit normal, and to one another.

    They turn continuously with the normal, but where it crosses the plane z = 0
    (Duff et al. 2017, Building an orthonormal basis, revisited).
    """
    x, y, z = ca.vertsplit(normal)
    sign = where(z < 0, -1, 1)
    a = -1 / (sign + z)
    b = x * y * a
    first = ca.vertcat(1 + sign * x * x * a, sign * b, -sign * x)
    second = ca.vertcat(b, sign + y * y * a, -y)
    return first, second
