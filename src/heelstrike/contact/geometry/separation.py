"""Distance of two cores that are apart, by the method of Gilbert, Johnson and Keerthi (1988).

The differences w = a - b of points of both cores form a convex set, whose point v nearest to the
origin joins the nearest points. Each round finds the point of the set that is farthest along -v,
and takes the nearest point of the simplex of it and those of the last rounds. The nearest point
always lies on a face, edge or corner that has the new point, so three edges, three triangles and
the tetrahedron are looked at, all lanes alike. Simplices of fewer points repeat the new one.

If the tetrahedron holds the origin, or v is too short to have a direction, the cores overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.contact.geometry.convex import (
    TINY,
    Convex,
    length,
    single_precision,
    size_of,
    support,
)
from heelstrike.contact.law import where
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX, cross

ROUNDS, ROUNDS_ROUND = 40, 80
"""Limits of rounds, for polytopes and where there is an ellipsoid."""
TOUCHING, TOUCHING_SINGLE = 1e-10, 3e-6
"""Distance, as a share of the size, below which cores count as overlapping."""
NOISE, NOISE_SINGLE = 1e-14, 1e-6
"""Area and volume, in squares and cubes of the size, below which simplices count as degenerate."""
SETTLED, SETTLED_SINGLE = 1e-15, 1e-7
"""Progress, as a share of the squared distance, below which a lane is done."""
LOST, LOST_SINGLE = 1e-9, 1e-6
"""Growth of the squared distance that ends the rounds where there is an ellipsoid. With 1e-13 they
ended early in 11 of 110,000 poses, up to 8e-8 m off."""
FINE, FINE_SINGLE = 1e-13, 1e-8
"""Error of the distance, as a share of the size, that is left where there is an ellipsoid."""
CLOSE, COARSE = 0.01, 1e-3
"""Distance, as a share of the size, below which cores with ellipsoids are refined (refinement.py),
since rounds get many where they nearly touch; and the error that is left to that."""


@dataclass(frozen=True)
class Nearest:
    """Nearest points of two cores, or deepest ones."""

    normal: SX
    """Unit vector (3) out of the second core."""
    distance: SX
    """Distance along the normal [m], < 0 where the cores overlap."""
    first: SX
    """Point of the first core (3) [m]."""
    second: SX
    """Point of the second core (3) [m]."""
    overlap: SX
    """1 where the cores overlap, and nothing else of this is true."""


@dataclass(frozen=True)
class Simplex:
    """Nearest point of a simplex to the origin."""

    near: SX
    """(3)"""
    points: SX
    """Its corners that count, differences of both cores, (3, 3)."""
    first: SX
    """The same points on the first core, (3, 3)."""
    shares: SX
    """Shares of the corners in the nearest point, (3)."""

    @property
    def columns(self) -> SX:
        return ca.vertcat(ca.vec(self.points), ca.vec(self.first), self.shares, self.near)

    @classmethod
    def of(cls, columns: SX) -> Simplex:
        points, first = ca.reshape(columns[:9], 3, 3), ca.reshape(columns[9:18], 3, 3)
        return cls(columns[21:], points, first, columns[18:21])

    def at_first(self) -> SX:
        """Return the nearest point on the first core (3)."""
        return self.first @ self.shares


def separation(p: Program, first: Convex, second: Convex, direction: SX | None = None) -> Nearest:
    """Return the nearest points of two cores; outside blocks.

    The search starts from a direction (3), if there is one.
    """
    with p.block("size"):
        single = p.let("single", single_precision(first))
        size = p.let("size", size_of(first, second))
        if direction is None:
            direction = first.vertex(0) - second.vertex(0)
        begin = _begin(first, second, direction)
    with repeated(p, "nearest", ROUNDS_ROUND if first.round or second.round else ROUNDS) as loop:
        state, overlap = loop.carry("simplex", begin.columns), loop.carry("overlap", SX(0))
        old = Simplex.of(state)
        with p.block("support"):
            a = p.let("a", support(first, -old.near))
            w = p.let("w", a - support(second, old.near))
        with p.block("simplex"):
            noise = where(single, NOISE_SINGLE, NOISE)
            new, inside = nearest_of_simplex(p, old, w, a, size, noise)
            square, last = ca.dot(new.near, new.near), ca.dot(old.near, old.near)
            short = where(single, TOUCHING_SINGLE, TOUCHING) * size
            settled = where(single, SETTLED_SINGLE, SETTLED)
            progress = last - ca.dot(old.near, w)
            end = progress <= settled * last
            if first.round or second.round:
                fine = where(last < (CLOSE * size) ** 2, COARSE, where(single, FINE_SINGLE, FINE))
                end = ca.logic_or(end, progress <= fine * size * ca.sqrt(last))
            for i in range(3):
                end = ca.logic_or(end, ca.mmax(ca.fabs(old.points[:, i] - w)) <= 0)
            inside = ca.logic_and(inside, ca.dot(old.near, w) <= 0)  # else v separates them
            touch = ca.logic_or(inside, square <= short * short)
            touch = ca.logic_and(touch, ca.logic_not(p.let("end", end)))
            touch = p.let("touch", ca.logic_or(touch, last <= short * short))
            if first.round or second.round:  # a round may gain nothing and prepare the next
                end = ca.logic_or(end, square > (1 + where(single, LOST_SINGLE, LOST)) * last)
            else:
                end = ca.logic_or(end, square >= last)
            loop.next(state, where(ca.logic_or(end, touch), old.columns, new.columns))
            loop.next(overlap, touch)
            loop.until(ca.logic_or(end, touch))
    with p.block("nearest"):
        distance = p.let("distance", length(old.near))
        at_first = p.let("at first", old.at_first())
        at_second = p.let("at second", at_first - old.near)
        normal = p.let("normal", old.near / distance)
    return Nearest(normal, distance, at_first, at_second, overlap)


def _begin(first: Convex, second: Convex, direction: SX) -> Simplex:
    """Return a simplex of one point on the surface of both cores."""
    a = support(first, -direction)
    w = a - support(second, direction)
    return Simplex(w, ca.horzcat(w, w, w), ca.horzcat(a, a, a), SX([1, 0, 0]))


def nearest_of_simplex(
    p: Program, old: Simplex, w: SX, a: SX, size: SX, noise: SX
) -> tuple[Simplex, SX]:
    """Return the nearest point of old corners and a new one, and 1 where they hold the origin.

    Args:
        p: the program, in a block.
        old: simplex of the last round.
        w: new point, difference of both cores (3).
        a: the same on the first core (3).
        size: size of both cores [m].
        noise: error of numbers, as a share.
    """
    edges = [p.let("edge", old.points[:, i] - w) for i in range(3)]
    best, square = old, SX(np.inf)
    for i, edge in enumerate(edges):
        share = -ca.dot(w, edge) / ca.fmax(ca.dot(edge, edge), TINY)
        share = p.let("share", ca.fmin(ca.fmax(share, 0), 1))
        near = p.let("near", w + share * edge)
        own = p.let("square", ca.dot(near, near))
        found = _simplex(old, w, a, (i, None), (1 - share, share), near)
        best, square = _nearer(p, best, square, found, own, SX(1))
    planes = [p.let("plane", cross(edges[i], edges[(i + 1) % 3])) for i in range(3)]
    least = (noise * size * size) ** 2
    for i, plane in enumerate(planes):
        j = (i + 1) % 3
        area = p.let("area", ca.fmax(ca.dot(plane, plane), TINY**2))
        share_i = p.let("share", ca.dot(cross(edges[j], w), plane) / area)
        share_j = p.let("share", ca.dot(cross(w, edges[i]), plane) / area)
        near = p.let("near", plane * (ca.dot(plane, w) / area))
        own = p.let("square", ca.dot(near, near))
        rest = 1 - share_i - share_j
        valid = ca.logic_and(area > least, ca.mmin(ca.vertcat(share_i, share_j, rest)) >= 0)
        found = _simplex(old, w, a, (i, j), (rest, share_i, share_j), near)
        best, square = _nearer(p, best, square, found, own, valid)
    volume = ca.dot(planes[0], edges[2])
    shares = [-ca.dot(w, planes[i]) / where(volume == 0, 1, volume) for i in (1, 2, 0)]
    rest = 1 - shares[0] - shares[1] - shares[2]
    inside = ca.logic_and(
        ca.fabs(volume) > noise * size**3, ca.mmin(ca.vertcat(*shares, rest)) >= 0
    )
    return best, p.let("inside", inside)


def _simplex(
    old: Simplex,
    w: SX,
    a: SX,
    corners: tuple[int, int | None],
    shares: Sequence[SX],
    near: SX,
) -> Simplex:
    """Return the simplex of the new point and one or two old corners that have a share."""
    i, j = corners
    used = shares[1] > 0
    if j is None:
        points = ca.horzcat(w, where(used, old.points[:, i], w), w)
        first = ca.horzcat(a, where(used, old.first[:, i], a), a)
        return Simplex(near, points, first, ca.vertcat(*shares, 0))
    points = ca.horzcat(w, old.points[:, i], old.points[:, j])
    first = ca.horzcat(a, old.first[:, i], old.first[:, j])
    return Simplex(near, points, first, ca.vertcat(*shares))


def _nearer(
    p: Program, best: Simplex, square: SX, found: Simplex, own: SX, valid: SX
) -> tuple[Simplex, SX]:
    """Return the nearer of two simplices, and its squared distance."""
    if square.is_constant():
        return found, own
    take = p.let("take", ca.logic_and(valid, own < square))
    chosen = p.let("simplex", where(take, found.columns, best.columns))
    return Simplex.of(chosen), p.let("square", where(take, own, square))
