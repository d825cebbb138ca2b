"""Points of contact where faces, edges and caps lie on one another.

The contact is the overlap of both outlines (outline.py), a polygon in the plane across the normal.
Its corners are the ends of the first outline's edges, cut off at the second outline, and those
corners of the second that are inside the first. Of these, up to four are taken:

    1  the farthest along a fixed direction     3  the farthest to the left of the line 1-2
    2  the farthest from 1                      4  the farthest to its right

Three points are the farthest along three fixed directions.
An overlap that is as narrow as the margin of its outlines has two points, a short one has one.
Each has the depth at its own place. The deepest points of the cores, which are exact, replace the
nearest of them where they are deeper than all, and stand for corners that there are not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

import casadi as ca
import numpy as np

from heelstrike.contact.geometry.convex import (
    ContactPoint,
    Convex,
    single_precision,
    size_of,
    tangents,
)
from heelstrike.contact.geometry.outline import Outline, outlines
from heelstrike.contact.geometry.separation import Nearest
from heelstrike.contact.law import where
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.vector import SX

MARGIN = 1e-5
"""Distance, as a share of the size, by which outlines may miss one another."""
DEEPER, DEEPER_SINGLE = 1e-10, 1e-6
"""Depth, as a share of the size, by which the deepest points must exceed the others'."""
THIN = 1e-4
"""Width of an overlap, as a share of its length, below which it has two points."""
SHORT, NARROW = 20.0, 4.0
"""Length and width of an overlap, in margins, below which it has one point and two: edges that
cross overlap by what the margin widens them."""
FIXED = 0.9211, 0.3894
"""Direction of the first point in the plane of contact, aligned with nothing."""


def manifold(
    p: Program, first: Convex, second: Convex, near: Nearest, count: int
) -> list[ContactPoint]:
    """Return points of contact of two shapes whose nearest points are known; outside blocks."""
    if _is_segment(second) and not _is_segment(first):
        return [_turned(p, point) for point in manifold(p, second, first, _swapped(p, near), count)]
    with p.block("axes"):
        size = p.let("size", size_of(first, second))
        rows = ca.horzcat(*tangents(near.normal), near.normal).T
        axes = p.let("axes", rows)
        at = axes @ ca.horzcat(near.first, near.second)
        middle = (at[:2, 0] + at[:2, 1]) / 2
        deepest = p.let("deepest", ca.vertcat(middle, at[2, 0], at[2, 1]))
        margin = p.let("margin", MARGIN * size)
    one, other = outlines(p, first, second, axes, margin)
    found = [deepest]
    for k, (start, end) in enumerate(one.edges()):
        found += call(p, "clip", _clipped, p, start, end, other, deepest, member=k)
    if not _is_segment(first):
        for k, point in enumerate(other.points):
            found.append(call(p, "corner", _corner, p, point, one, deepest, member=k))
    with p.block("choose"):
        chosen = _chosen(p, found, count, margin)
    with p.block("points"):
        tolerance = where(single_precision(first), DEEPER_SINGLE, DEEPER) * size
        chosen = _with_deepest(p, chosen, deepest, tolerance)
        most = p.let("most", deepest[3] - deepest[2])
        return [_point(p, first, second, axes, point, most) for point in chosen]


def _is_segment(shape: Convex) -> bool:
    return shape.count <= 2 and not shape.round


def _swapped(p: Program, near: Nearest) -> Nearest:
    with p.block("swap"):
        normal = p.let("normal", -near.normal)
    return Nearest(normal, near.distance, near.second, near.first, near.overlap)


def _turned(p: Program, point: ContactPoint) -> ContactPoint:
    with p.block("swap"):
        return ContactPoint(point.depth, p.let("normal", -point.normal), point.position)


def _clipped(p: Program, start: SX, end: SX, other: Outline, deepest: SX) -> tuple[SX, SX]:
    """Return the ends of an edge within the other outline, or the deepest points.

    Each is x, y and the heights of both cores, (4) [m].
    """
    low, high = SX(0), SX(1)
    for limit in other.limits:
        a, b = limit.room(start), limit.room(end)
        cut = a / where(a == b, 1, a - b)
        low = where(a < 0, where(b < 0, 2, ca.fmax(low, cut)), low)
        high = where(ca.logic_and(a >= 0, b < 0), ca.fmin(high, cut), high)
    empty = p.let("empty", low > high)
    ends = []
    for share in (p.let("low", low), p.let("high", high)):
        point = start + share * (end - start)
        place = ca.vertcat(point, other.height(point))
        ends.append(p.let("corner", where(empty, deepest, place)))
    return ends[0], ends[1]


def _corner(p: Program, point: SX, one: Outline, deepest: SX) -> SX:
    """Return a corner of the second outline if it is inside the first, or the deepest points."""
    room = reduce(ca.fmin, (limit.room(point) for limit in one.limits))
    place = ca.vertcat(point[:2], one.height(point), point[2])
    return p.let("corner", where(room >= 0, place, deepest))


def _best(p: Program, points: list[SX], score: Callable[[SX], SX]) -> SX:
    """Return the point with the largest score; the first of equals."""
    best, chosen = score(points[0]), points[0]
    for point in points[1:]:
        own = score(point)
        chosen = where(own > best, point, chosen)
        best = ca.fmax(own, best)
    return p.let("chosen", chosen)


def _along(side: tuple[float, float], point: SX) -> SX:
    return side[0] * point[0] + side[1] * point[1]


def _chosen(p: Program, points: list[SX], count: int, margin: SX) -> list[SX]:
    """Return up to four points that span the overlap; inside a block.

    The first of `points` is the deepest, which stands for an overlap that is short.
    """
    if count == 3:
        turns = np.arctan2(FIXED[1], FIXED[0]) + 2 * np.pi * np.arange(3) / 3
        sides = [(float(np.cos(turn)), float(np.sin(turn))) for turn in turns]
        return [_best(p, points, partial(_along, side)) for side in sides]
    first = _best(p, points, partial(_along, FIXED))
    second = _best(p, points, lambda q: ca.sumsqr(q[:2] - first[:2]))
    length = p.let("length", ca.sqrt(ca.sumsqr(second[:2] - first[:2])))
    short = length <= SHORT * margin
    first, second = (p.let("end", where(short, points[0], x)) for x in (first, second))
    if count == 2:
        return [first, second]
    along = second - first

    def left(q: SX) -> SX:
        return along[0] * (q[1] - first[1]) - along[1] * (q[0] - first[0])

    least = ca.fmax(THIN * length, NARROW * margin) * length
    third, fourth = _best(p, points, left), _best(p, points, lambda q: -left(q))
    third, fourth = (
        p.let("side", where(ca.logic_and(ca.logic_not(short), width > least), x, end))
        for x, width, end in ((third, left(third), first), (fourth, -left(fourth), second))
    )
    return [first, second, third, fourth]


def _with_deepest(p: Program, chosen: list[SX], deepest: SX, tolerance: SX) -> list[SX]:
    """Replace the point nearest to the deepest one by it, if it is deeper than all."""
    depths = [point[3] - point[2] for point in chosen]
    missing = deepest[3] - deepest[2] > reduce(ca.fmax, depths) + tolerance
    squares = [p.let("square", ca.sumsqr(point[:2] - deepest[:2])) for point in chosen]
    least = reduce(ca.fmin, squares)
    free, result = p.let("missing", missing), []
    for point, square in zip(chosen, squares, strict=True):
        here = ca.logic_and(free, square <= least)
        free = ca.logic_and(free, ca.logic_not(here))
        result.append(p.let("point", where(here, deepest, point)))
    return result


def _point(
    p: Program, first: Convex, second: Convex, axes: SX, place: SX, most: SX
) -> ContactPoint:
    """Return the point of contact of a place and the heights of both cores; inside a block."""
    # planes of outlines are extended by the margin: no point is deeper than the deepest
    excess = ca.fmax(place[3] - place[2] - most, 0) / 2
    low, high = place[2] + excess - first.radius, place[3] - excess + second.radius
    position = axes.T @ ca.vertcat(place[:2], (low + high) / 2)
    depth = p.let("depth", high - low)
    return ContactPoint(depth, axes[2, :].T, p.let("position", position))
