"""Depth of two cores that overlap: the direction along which they come apart soonest.

    h(n) = max n.b - min n.a            how far the first core must move along n      [m]
    depth = min h(n) over unit vectors n

The differences b - a form a convex set that holds the origin; h is the distance of its tangent
planes, and for polytopes the least one is a face's. `candidates` finds a good direction r among a
few; from there rays are followed until they stand at right angles on the face through which they
leave the set, a local minimum of h:

    ray r leaves through a face with normal n,  h(n) <= h(r);    r := n

The face is found by portals (Snethen 2008): a triangle of three points of the set that the ray
crosses is replaced by a higher one, with the point that is farthest along its normal, until there
is none. The first triangle lies far below, so that any ray crosses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import casadi as ca
import numpy as np

from heelstrike.contact.geometry.candidates import NEVER, start_count, start_directions
from heelstrike.contact.geometry.convex import (
    Convex,
    extent,
    single_precision,
    size_of,
    support,
    tangents,
    unit,
)
from heelstrike.contact.geometry.refinement import refine
from heelstrike.contact.geometry.separation import Nearest
from heelstrike.contact.law import where
from heelstrike.ir.guard import guarded
from heelstrike.ir.loop import counted, repeated
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX, cross

ROUNDS = 60
"""Limit of rounds from a start."""
FLAT, FLAT_SINGLE, FLAT_ROUND = 1e-14, 1e-6, 1e-4
"""Height of the farthest point over a portal, as a share of the size, that ends its rounds; the
last where there is an ellipsoid, since refinement.py follows."""
STARTS, RING = 5, 4
"""Number of directions that rays start from, and of those about the best one found, after them."""
ASIDE = 0.12
"""Angle between the best direction and those about it [rad]."""
SLACK = 0.1
"""Excess of depth over the best, as a share of the size, beyond which a direction is left out."""
FOLLOWED = 0.1
"""Depth along the last normal, as a share of the size, below which its minimum is followed."""
BELOW, ACROSS = 10.0, 3.0
"""Depth and radius of the first portal, in sizes."""


@dataclass(frozen=True)
class Portal:
    """A triangle of points of the set, which a ray crosses."""

    ray: SX
    """Unit vector (3)."""
    points: SX
    """Differences of both cores, (3, 3), counterclockwise as seen from outside."""
    second: SX
    """The same points on the second core, (3, 3)."""

    @property
    def columns(self) -> SX:
        return ca.vertcat(self.ray, ca.vec(self.points), ca.vec(self.second))

    @classmethod
    def of(cls, columns: SX) -> Portal:
        points, second = ca.reshape(columns[3:12], 3, 3), ca.reshape(columns[12:21], 3, 3)
        return cls(columns[:3], points, second)

    @classmethod
    def far_below(cls, ray: SX, size: SX) -> Portal:
        """Return a large triangle far below the set, about the ray's line."""
        s, t = tangents(ray)
        half, root = 0.5, 0.75**0.5
        corners = [s, -half * s + root * t, -half * s - root * t]
        points = [size * (ACROSS * corner - BELOW * ray) for corner in corners]
        return cls(ray, ca.horzcat(*points), ca.densify(SX.zeros(3, 3)))

    @property
    def normal(self) -> SX:
        """Unit normal (3), outward."""
        w = self.points
        return unit(cross(w[:, 1] - w[:, 0], w[:, 2] - w[:, 0]))

    def shares(self, ray: SX) -> SX:
        """Return the shares of the corners in the point where a ray's line meets the plane (3)."""
        w = self.points
        parts = [ca.dot(ray, cross(w[:, (i + 1) % 3], w[:, (i + 2) % 3])) for i in range(3)]
        total = parts[0] + parts[1] + parts[2]
        return ca.vertcat(*parts) / where(total == 0, 1, total)

    def with_point(self, w: SX, b: SX) -> Portal:
        """Return the triangle of a new point and two corners that the ray crosses."""
        sides = [ca.dot(self.ray, cross(w, self.points[:, i])) for i in range(3)]
        keeps = [ca.logic_and(sides[i] >= 0, sides[(i + 1) % 3] <= 0) for i in range(2)]
        drop = [ca.logic_and(keeps[1], ca.logic_not(keeps[0])), SX(0), keeps[0]]
        drop[1] = ca.logic_not(ca.logic_or(keeps[0], keeps[1]))
        points = [where(drop[i], w, self.points[:, i]) for i in range(3)]
        second = [where(drop[i], b, self.second[:, i]) for i in range(3)]
        return Portal(self.ray, ca.horzcat(*points), ca.horzcat(*second))


def with_penetration(
    p: Program, first: Convex, second: Convex, apart: Nearest, last_normal: SX | None
) -> Nearest:
    """Return the nearest points, or where cores overlap the deepest; outside blocks."""
    count = start_count(first, second)
    plan = _plan(min(count, STARTS), 0 if count == 1 else RING)
    with p.block("nearest"):
        names = "normal", "distance", "first", "second"
        variables = {name: p.variable(name, getattr(apart, name)) for name in names}
        distance = variables["distance"]
        size = p.let("size", size_of(first, second))
        starts = p.variable("starts", ca.repmat(ca.vertcat(0, 0, 1, NEVER), 1, count))
        known = _follows(p, first, second, last_normal, size)
    with guarded(p, "penetration", apart.overlap):
        with guarded(p, "search", ca.logic_not(known)):
            found = start_directions(p, first, second)
            with p.block("starts"):
                p.assign(starts, found)
        with p.block("deepest"):
            p.assign(distance, SX(-NEVER))
            rounds = p.variable("rounds", SX(0))
        with counted(p, "starts", len(plan)) as loop:
            turn = loop.constants(plan)
            with p.block("start"):
                direction, depth = _taken(p, starts)
                start = where(turn[2], _aside(variables["normal"], turn), direction)
                near = ca.logic_or(depth <= SLACK * size - distance, turn[2])
                if last_normal is not None:
                    start = where(known, last_normal, start)
                    near = ca.logic_and(near, ca.logic_or(rounds == 0, ca.logic_not(known)))
                start, need = p.let("start", start), p.let("need", near)
                p.assign(rounds, rounds + 1)
            with guarded(p, "start", need):
                deep = descent(p, first, second, start)
                with p.block("deepest"):
                    better = p.let("better", deep.distance > distance)
                    for name, variable in variables.items():
                        p.assign(variable, where(better, getattr(deep, name), variable))
    if first.round or second.round:
        refine(p, first, second, variables)
    with p.block("nearest"):
        n, d, a, b = (p.let(name, variable) for name, variable in variables.items())
    return Nearest(n, d, a, b, apart.overlap)


def _follows(p: Program, first: Convex, second: Convex, last_normal: SX | None, size: SX) -> SX:
    """Return 1 where the last normal is known and the overlap along it is small; in a block."""
    if last_normal is None:
        return SX(0)
    depth = extent(second, last_normal)[1] - extent(first, last_normal)[0]
    given = ca.dot(last_normal, last_normal) > 0.5
    return p.let("follows", ca.logic_and(given, depth < FOLLOWED * size))


def _plan(given: int, about: int) -> np.ndarray:
    """Return rows (cosine, sine, 1) for directions about the best one, 0 for those given."""
    angles = 2 * np.pi * np.arange(about) / max(about, 1)
    ring = np.stack([np.cos(angles), np.sin(angles), np.ones(about)], axis=1)
    return np.vstack([np.zeros((given, 3)), ring])


def _aside(normal: SX, turn: SX) -> SX:
    """Return a direction beside a normal (3)."""
    s, t = tangents(normal)
    return unit(normal + ASIDE * (turn[0] * s + turn[1] * t))


def _taken(p: Program, starts: SX) -> tuple[SX, SX]:
    """Return the best direction of those left and its depth, and take it away; in a block."""
    columns = ca.horzsplit(starts)
    best = reduce(lambda a, b: where(b[3] < a[3], b, a), columns)
    best = p.let("best", best)
    for column in columns:
        p.assign(column[3], where(column[3] <= best[3], NEVER, column[3]))
    return best[:3], best[3]


def descent(p: Program, first: Convex, second: Convex, start: SX) -> Nearest:
    """Return the local minimum of the depth that rays from a direction lead to; outside blocks."""
    with p.block("first portal"):
        size = p.let("size", size_of(first, second))
        flat = where(single_precision(first), FLAT_SINGLE, FLAT)
        flat = p.let("flat", (FLAT_ROUND if first.round or second.round else flat) * size)
        b, a = support(second, start), support(first, -start)
        begin = p.let("portal", Portal.far_below(start, size).columns)
        first_answer = ca.vertcat(start, ca.dot(start, b - a), b)
    with repeated(p, "portal", ROUNDS) as loop:
        state, answer = loop.carry("portal", begin), loop.carry("answer", first_answer)
        portal = Portal.of(state)
        with p.block("support"):
            normal = p.let("normal", portal.normal)
            b = p.let("b", support(second, normal))
            w = p.let("w", b - support(first, -normal))
        with p.block("portal"):
            height = ca.dot(normal, w - portal.points[:, 0])
            known = [ca.mmax(ca.fabs(portal.points[:, i] - w)) <= 0 for i in range(3)]
            known = ca.logic_or(ca.logic_or(known[0], known[1]), known[2])
            found = p.let("found", ca.logic_or(height <= flat, known))
            own = p.let("shares", portal.shares(normal))
            across = ca.mmin(own) >= -1e-9
            depth = p.let("depth", ca.dot(normal, w))
            better = depth < answer[3] - flat
            shares = where(across, own, portal.shares(portal.ray))
            reached = ca.vertcat(normal, depth, portal.second @ shares)
            ends = p.let("ends", ca.logic_or(across, ca.logic_not(better)))
            take = ca.logic_and(found, ca.logic_or(depth <= answer[3], across))
            loop.next(answer, where(take, reached, answer))
            restart = Portal.far_below(normal, size)
            higher = portal.with_point(w, b)
            loop.next(state, where(found, restart.columns, higher.columns))
            loop.until(ca.logic_and(found, ends))
    with p.block("deepest"):
        normal, depth, at_second = answer[:3], answer[3], answer[4:]
        at_first = p.let("at first", at_second - depth * normal)
    return Nearest(normal, -depth, at_first, at_second, SX(1))
