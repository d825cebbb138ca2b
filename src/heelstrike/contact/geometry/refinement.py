"""Depth of cores with ellipsoids that overlap or nearly touch, by distances of cores moved apart.

The first core is moved along the direction n found so far, by the depth h(n) and a little more, m.
The cores are then apart, and the direction n' of their distance v (separation.py) is better:

    h(n') = (h(n) + m) n.n' - |v| <= h(n)         since |v| >= m

It is the same where h has a local minimum. Errors of the direction shrink by (h + m) / (R + m) a
round, where R > h is the radius of curvature of the set of differences there; those of the depth
by the square. Since that is slow where the depth is close to R, a direction ahead is tried as well,
where steps that shrink at the same rate would lead to (Aitken).

In float32 the same is done for cores whose balls touch: simplices of the last rounds get so narrow
that the nearest points of two cores that are apart err by up to 4e-5 m.
"""

from __future__ import annotations

import casadi as ca

from heelstrike.contact.geometry.convex import (
    TINY,
    Convex,
    extent,
    moved,
    single_precision,
    size_of,
    unit,
)
from heelstrike.contact.geometry.separation import CLOSE, separation
from heelstrike.contact.law import where
from heelstrike.ir.guard import guarded
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX, zeros

ROUNDS = 30
"""Limit of rounds."""
APART = 0.02
"""Distance m to which cores are moved apart, as a share of the size."""
FASTEST = 0.98
"""Largest rate at which steps are taken to shrink."""
SETTLED, SETTLED_SINGLE = 1e-12, 1e-7
"""Change of the depth, as a share of the size, that ends the rounds."""
NEARBY = 1e-6
"""Excess of depth, as a share of the size, up to which points are taken from a distance."""


def refine(p: Program, first: Convex, second: Convex, deepest: dict[str, SX]) -> None:
    """Improve the nearest or deepest points of two cores, which are variables; outside blocks.

    Args:
        p: the program.
        first: the first shape.
        second: the second shape.
        deepest: variables of the `separation.Nearest` to improve, by name.
    """
    normal, distance = deepest["normal"], deepest["distance"]
    with p.block("size"):
        size = p.let("size", size_of(first, second))
        change = p.let("change", where(single_precision(first), SETTLED_SINGLE, SETTLED) * size)
        balls = where(single_precision(first), first.radius + second.radius, 0)
        need = p.let("need", distance < CLOSE * size + balls)
    with guarded(p, "refine", need):
        with p.block("start"):
            p.assign(distance, extent(first, normal)[0] - extent(second, normal)[1])
            last = p.variable("last", zeros(3))
        with repeated(p, "refine", ROUNDS) as loop:
            with p.block("move"):
                move = p.let("move", (APART * size - distance) * normal)
                aside = moved(p, first, move)
                direction = p.let("direction", normal)
            near = separation(p, aside, second, direction)
            with p.block("refine"):
                own = p.let("distance", near.distance - ca.dot(move, near.normal))
                better = ca.logic_and(own >= distance - 10 * change, ca.logic_not(near.overlap))
                better = p.let("better", better)
                loop.until(ca.logic_or(own <= distance + change, near.overlap))
                step = p.let("step", near.normal - normal)
                rate = ca.dot(step, last) / ca.fmax(ca.dot(last, last), TINY)
                rate = ca.fmin(ca.fmax(rate, 0), FASTEST)
                ahead = p.let("ahead", unit(near.normal + rate / (1 - rate) * step))
                low, high = extent(first, ahead)[0], extent(second, ahead)[1]
                further = p.let("further", ca.logic_and(low - high > own, better))
                p.assign(last, step)
                p.assign(distance, where(further, low - high, where(better, own, distance)))
                p.assign(normal, where(further, ahead, where(better, near.normal, normal)))
                close = ca.logic_and(own >= distance - NEARBY * size, ca.logic_not(near.overlap))
                close = p.let("close", close)
                p.assign(deepest["first"], where(close, near.first - move, deepest["first"]))
                p.assign(deepest["second"], where(close, near.second, deepest["second"]))
