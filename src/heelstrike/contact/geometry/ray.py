"""Rays against convex shapes: where a ray o + t d, |d| = 1, enters one and where it leaves.

    half-space    n . x <= c              t = (c - n . o) / n . d
    box           |x_i| <= h_i            slabs [Kay1986]
    sphere        |x| <= r                t = -o . d -+ sqrt((o . d)^2 - |o|^2 + r^2)
    cylinder      about z                 a circle in x and y, and a slab
    polytope      half-spaces             the largest entry and the least exit

An interval without points has its end before its start.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import casadi as ca
import numpy as np

from heelstrike.contact.law import where
from heelstrike.spatial.vector import SX

FAR = 1e9
"""Distance that stands for none [m]."""
PARALLEL = 1e-12
"""Part of a direction below which a ray counts as parallel."""

Interval = tuple[SX, SX]
"""Where a ray enters a shape and where it leaves it [m]."""


def distance(interval: Interval) -> SX:
    """Return the distance at which a ray meets a shape, 0 inside of it, FAR where it does not."""
    enters, leaves = interval
    meets = ca.logic_and(enters <= leaves, leaves >= 0)
    return where(meets, ca.fmax(enters, 0), FAR)


def half_space(normal: SX, offset: SX, o: SX, d: SX) -> Interval:
    """Return the part of a ray in n . x <= c."""
    gap, rate = offset - ca.dot(normal, o), ca.dot(normal, d)
    level = ca.fabs(rate) < PARALLEL
    t = gap / where(level, 1, rate)
    inside = where(gap >= 0, -FAR, FAR)
    enters = where(level, inside, where(rate < 0, t, -FAR))
    return enters, where(ca.logic_or(level, rate < 0), FAR, t)


def common(intervals: Sequence[Interval]) -> Interval:
    """Return the part of a ray in all of some shapes."""
    enters, leaves = zip(*intervals, strict=True)
    return reduce(ca.fmax, enters), reduce(ca.fmin, leaves)


def polytope(normals: np.ndarray, offsets: np.ndarray, o: SX, d: SX) -> Interval:
    """Return the part of a ray in the half-spaces n . x <= c, rows of normals (n, 3)."""
    rows = zip(normals, offsets, strict=True)
    return common([half_space(SX(normal), SX(float(c)), o, d) for normal, c in rows])


def box(half: SX, o: SX, d: SX) -> Interval:
    """Return the part of a ray in a box with half sizes about the origin."""
    return common([slab(half[i], o[i], d[i]) for i in range(3)])


def slab(half: SX, o: SX, d: SX) -> Interval:
    """Return the part of a ray, of whose o and d one coordinate is given, within +-half."""
    level = ca.fabs(d) < PARALLEL
    rate = where(level, 1, d)
    one, other = (-half - o) / rate, (half - o) / rate
    outside = ca.fabs(o) > half
    enters = where(level, where(outside, FAR, -FAR), ca.fmin(one, other))
    return enters, where(level, FAR, ca.fmax(one, other))


def sphere(radius: SX, o: SX, d: SX) -> Interval:
    """Return the part of a ray in a ball about the origin; d need not have length 1."""
    a, b, c = ca.dot(d, d), ca.dot(o, d), ca.dot(o, o) - radius * radius
    level = a < PARALLEL**2
    square = b * b - a * c
    root, share = ca.sqrt(ca.fmax(square, 0)), 1 / where(level, 1, a)
    outside = where(c > 0, FAR, -FAR)
    enters = where(level, outside, where(square < 0, FAR, (-b - root) * share))
    return enters, where(level, FAR, where(square < 0, -FAR, (-b + root) * share))


def ellipsoid(half: SX, o: SX, d: SX) -> Interval:
    """Return the part of a ray in an ellipsoid with half axes along x, y, z."""
    return sphere(SX(1), o / half, d / half)


def cylinder(radius: SX, half: SX, o: SX, d: SX) -> Interval:
    """Return the part of a ray in a cylinder about z, with its half length."""
    return common([sphere(radius, o[:2], d[:2]), slab(half, o[2], d[2])])


def capsule(radius: SX, half: SX, o: SX, d: SX) -> Interval:
    """Return the part of a ray in a capsule about z, with the half length of its segment."""
    ends = [sphere(radius, o - ca.vertcat(0, 0, side * half), d) for side in (-1, 1)]
    parts = [cylinder(radius, half, o, d), *ends]
    enters, leaves = zip(
        *((where(a > b, FAR, a), where(a > b, -FAR, b)) for a, b in parts), strict=True
    )
    return reduce(ca.fmin, enters), reduce(ca.fmax, leaves)
