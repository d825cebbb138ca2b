"""Nearest points of two segments: spheres and capsules, in closed form.

    a(s) = a_0 + s u,   b(t) = b_0 + t v,   0 <= s, t <= 1

The distance is least where s = (v.v c - u.v f) / (u.u v.v - (u.v)^2), clamped; then t, clamped;
then s again for that t (Ericson 2005, 5.1.9). Where the segments are parallel, every s is as near,
and an end of the overlap is taken. A vertex counts as a segment of no length.
"""

from __future__ import annotations

import casadi as ca

from heelstrike.contact.geometry.convex import (
    TINY,
    ContactPoint,
    Convex,
    length,
    tangents,
    unit,
)
from heelstrike.contact.law import where
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX, cross

PARALLEL = 1e-13
"""Square of the sine of the angle below which segments count as parallel."""
SPREAD = 1e-2
"""Distance, as a share of the sum of radii, by which nearly parallel axes may diverge between the
two points of contact."""


def clamp(x: SX) -> SX:
    """Return x within 0 and 1."""
    return ca.fmin(ca.fmax(x, 0), 1)


def ball_contacts(p: Program, first: Convex, second: Convex, count: int) -> list[ContactPoint]:
    """Return the points of contact of two spheres or capsules."""
    with p.block("segments"):
        if first.count == 1 and second.count == 1:
            pairs = [(first.vertex(0), second.vertex(0))]
        elif first.count == 1:
            pairs = [(first.vertex(0), nearest_of_segment(second, first.vertex(0)))]
        elif second.count == 1:
            pairs = [(nearest_of_segment(first, second.vertex(0)), second.vertex(0))]
        else:
            pairs = _two_segments(p, first, second)
        found = [_of_balls(p, first, second, a, b) for a, b in pairs]
    return (found + found[-1:] * count)[:count]


def nearest_of_segment(segment: Convex, place: SX) -> SX:
    """Return the point of a segment that is nearest to a place (3) [m]."""
    start, along = segment.vertex(0), segment.vertex(1) - segment.vertex(0)
    share = ca.dot(along, place - start) / ca.fmax(ca.dot(along, along), TINY)
    return start + clamp(share) * along


def nearest_points(first: Convex, second: Convex) -> tuple[SX, SX]:
    """Return the nearest points of two segments, (3) each [m]."""
    return _pair(first, second, _nearest_share(first, second))


def _nearest_share(first: Convex, second: Convex) -> SX:
    """Return s of the nearest points, 0 to 1."""
    uu, uv, vv, c, f, sine = _products(first, second)
    skew = sine > PARALLEL * uu * vv
    free = clamp((uv * f - c * vv) / ca.fmax(sine, TINY))
    s = where(skew, free, 0)
    t = clamp((s * uv + f) / ca.fmax(vv, TINY))
    return clamp((t * uv - c) / ca.fmax(uu, TINY))


def _products(first: Convex, second: Convex) -> tuple[SX, ...]:
    """Return u.u, u.v, v.v, u.(a_0 - b_0), v.(a_0 - b_0) and (u x v)^2 of two segments."""
    u, v = first.vertex(1) - first.vertex(0), second.vertex(1) - second.vertex(0)
    apart = first.vertex(0) - second.vertex(0)
    twist = cross(u, v)  # its square is u.u v.v - (u.v)^2 without the cancellation
    return tuple(ca.dot(*x) for x in ((u, u), (u, v), (v, v), (u, apart), (v, apart), (twist,) * 2))


def _two_segments(p: Program, first: Convex, second: Convex) -> list[tuple[SX, SX]]:
    """Return the nearest points, and those at the other end of the overlap."""
    uu, uv, vv, c, _, sine = _products(first, second)
    s = p.let("share", _nearest_share(first, second))
    pairs = [_pair(first, second, s)]
    # the overlap: ends of the second segment, seen from the first
    ends = [clamp((e * uv - c) / ca.fmax(uu, TINY)) for e in (0, 1)]
    low, high = ca.fmin(*ends), ca.fmax(*ends)
    far = where(s - low > high - s, low, high)
    reach = (
        SPREAD * (first.radius + second.radius) * ca.sqrt(vv / ca.fmax(sine, TINY)) - 1
    )  # > 1: nearly parallel over the whole first segment
    far = ca.fmin(ca.fmax(far, s - ca.fmax(reach, 0)), s + ca.fmax(reach, 0))
    return [*pairs, _pair(first, second, p.let("share", far))]


def _pair(first: Convex, second: Convex, share: SX) -> tuple[SX, SX]:
    a = first.vertex(0) + share * (first.vertex(1) - first.vertex(0))
    return a, nearest_of_segment(second, a)


def _of_balls(p: Program, first: Convex, second: Convex, a: SX, b: SX) -> ContactPoint:
    """Return the contact of two balls about points of the cores; inside a block.

    Where the centres coincide the normal is a direction across both axes.
    """
    apart = a - b
    distance = length(apart)
    across = _across(first, second)
    normal = p.let("normal", where(distance > 2e-15, apart / distance, across))
    gap = ca.dot(normal, apart)
    middle = (a + b + normal * (second.radius - first.radius)) / 2
    depth = p.let("depth", first.radius + second.radius - gap)
    return ContactPoint(depth, normal, p.let("position", middle))


def _across(first: Convex, second: Convex) -> SX:
    """Return a unit vector across the axes of both."""
    axes = [s.vertex(1) - s.vertex(0) for s in (first, second) if s.count == 2]
    if not axes:
        return SX([0, 0, 1])
    across = tangents(unit(axes[0]))[0]
    if len(axes) == 1:
        return across
    twist = cross(*axes)
    least = 1e-12 * ca.dot(axes[0], axes[0]) * ca.dot(axes[1], axes[1])
    return where(ca.dot(twist, twist) > least, unit(twist), across)
