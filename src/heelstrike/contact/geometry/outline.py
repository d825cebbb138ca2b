"""Outlines of the parts of two shapes that face one another, seen along the normal.

The outline of a core consists of its farthest points along directions that are tilted from the
normal by a small angle to each side,

    o_k = support(d + eps t_k),     t_k in eight directions across the normal,

so that it is a face, an edge or a corner, as the shape has it there, counterclockwise, with
repeated points. Faces that lean from the contact by less than eps belong to it. An ellipsoid adds
nothing but where it is as flat as a disc that leans by less than 2 eps: a cylinder on its cap has
an outline of eight points, on its side of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import casadi as ca
import numpy as np

from heelstrike.contact.geometry.convex import TINY, Convex, farthest_vertex, length, unit
from heelstrike.contact.law import where
from heelstrike.ir.loop import counted
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX, zeros

TILT = 0.05
"""Tilt eps [rad]."""
SIDES = 8
"""Number of directions."""
TURNS = 2 * np.pi * (np.arange(SIDES) + 0.37) / SIDES
"""Angles of the directions, aligned with no axis [rad]."""


@dataclass(frozen=True)
class HalfPlane:
    """The set a x + b y <= c that an outline lies in."""

    a: SX
    b: SX
    c: SX

    def room(self, point: SX) -> SX:
        """Return how far inside a point is, times the length of (a, b)."""
        return self.c - self.a * point[0] - self.b * point[1]


@dataclass(frozen=True)
class Outline:
    """A polygon of points (x, y, height) in the axes of a contact, counterclockwise."""

    points: list[SX]
    """Places in the plane of contact and heights along its normal, each (3) [m]."""
    limits: list[HalfPlane]
    """Half planes whose intersection is the polygon, but for a margin."""
    plane: SX
    """Height at the origin and its slopes along x and y (3): the plane that fits best."""

    def height(self, point: SX) -> SX:
        """Return the height of the outline's plane at a point [m]."""
        return self.plane[0] + self.plane[1] * point[0] + self.plane[2] * point[1]

    def edges(self) -> list[tuple[SX, SX]]:
        """Return the edges."""
        if len(self.points) == 2:
            return [(self.points[0], self.points[1])]
        return list(zip(self.points, self.points[1:] + self.points[:1], strict=True))


def outlines(
    p: Program, first: Convex, second: Convex, axes: SX, margin: SX
) -> tuple[Outline, Outline]:
    """Return the outlines of both cores; outside blocks.

    Args:
        p: the program.
        first: the first shape.
        second: the second shape.
        axes: two tangents and the normal as rows, (3, 3).
        margin: how far half planes lie outside [m].
    """
    normal = axes[2, :].T
    sides: list[tuple[Convex, SX]] = [(first, -normal), (second, normal)]
    searched = [k for k, (shape, _) in enumerate(sides) if _is_searched(shape)]
    found: dict[int, list[SX]] = {}
    if searched:
        with counted(p, "outlines", SIDES) as loop:
            turn = loop.constants(np.stack([np.cos(TURNS), np.sin(TURNS)], axis=1))
            rows = {k: loop.carry("outline", zeros(3, SIDES)) for k in searched}
            for k, row in rows.items():
                shape, direction = sides[k]
                with p.block("outline", member=k):
                    side = axes[:2, :].T @ turn
                    place = axes @ _leaning(shape, direction, side)
                    loop.next(row, ca.horzcat(row[:, 1:], place))
        found = {k: ca.horzsplit(row) for k, row in rows.items()}
    result = []
    for k, (shape, _) in enumerate(sides):
        with p.block("outline", member=k):
            points = found.get(k)
            if points is None:
                ends = [shape.vertex(i) for i in range(shape.count)]
                points = [p.let("end", axes @ end) for end in ends]
            result.append(_outline(p, points, margin))
    return result[0], result[1]


def _is_searched(shape: Convex) -> bool:
    """Return whether a core is more than a segment."""
    return shape.count > 2 or shape.round


def _leaning(shape: Convex, direction: SX, side: SX) -> SX:
    """Return the farthest point along a direction that is tilted to a side (3) [m]."""
    place = farthest_vertex(shape, direction + TILT * side)
    if shape.half_axes is None:
        return place
    lean = length(shape.half_axes.T @ direction) / (TILT * ca.sqrt(ca.sumsqr(shape.half_axes) / 2))
    weight = ca.fmin(ca.fmax(2 - lean, 0), 1)
    return place + shape.half_axes @ unit(shape.half_axes.T @ (direction + TILT * weight * side))


def _outline(p: Program, points: Sequence[SX], margin: SX) -> Outline:
    """Return the outline of points; inside a block."""
    limits, longest, along = [], SX(0), SX([1, 0])
    if len(points) > 2:
        for start, end in zip(points, [*points[1:], points[0]], strict=True):
            edge = (end - start)[:2]
            square = p.let("square", ca.dot(edge, edge))
            limits.append(_limit(p, edge[1], -edge[0], [start], margin))
            along = where(square > longest, edge, along)
            longest = ca.fmax(longest, square)
    else:
        edge = (points[1] - points[0])[:2]
        along = where(ca.dot(edge, edge) > TINY, edge, along)
    along = p.let("along", along / length(along))
    for a, b in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        out = ca.vertcat(a * along[0] - b * along[1], a * along[1] + b * along[0])
        limits.append(_limit(p, out[0], out[1], points, margin))
    return Outline(list(points), limits, p.let("plane", _plane(points, along)))


def _limit(p: Program, a: SX, b: SX, points: Sequence[SX], margin: SX) -> HalfPlane:
    """Return the half plane with an outward normal (a, b) that touches the points."""
    bound = reduce(ca.fmax, (a * point[0] + b * point[1] for point in points))
    reach = margin * ca.sqrt(a * a + b * b)
    return HalfPlane(p.let("a", a), p.let("b", b), p.let("c", bound + reach))


def _plane(points: Sequence[SX], along: SX) -> SX:
    """Return the plane that fits points best, level where they say nothing (3).

    Sums are taken along the outline's longest edge and across it: in other axes those of an edge
    cancel one another to rounding, which float32 takes for a slope.
    """
    mean = sum(points, SX(0)) / len(points)
    rest = [point - mean for point in points]
    axes = along, ca.vertcat(-along[1], along[0])
    s, t = ([ca.dot(axis, r[:2]) for r in rest] for axis in axes)
    h = [r[2] for r in rest]
    ss, st, tt, sh, th = (
        sum((a * b for a, b in zip(x, y, strict=True)), SX(0))
        for x, y in ((s, s), (s, t), (t, t), (s, h), (t, h))
    )
    damping = 1e-7 * (ss + tt) + TINY
    ss, tt = ss + damping, tt + damping
    scale = 1 / (ss * tt - st * st)
    slope = axes[0] * ((tt * sh - st * th) * scale) + axes[1] * ((ss * th - st * sh) * scale)
    return ca.vertcat(mean[2] - ca.dot(slope, mean[:2]), slope)
