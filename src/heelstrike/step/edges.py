"""Box 2 of [Sugihara2006], Fig. 4: contact points of a shape on edges of the ground.

Of the contact points of a shape and a solid, those within a face of the solid belong to the body's
own points, which find them by themselves (detect.py). Kept are those

    on an edge               at two faces or more that can be touched
    between the round ends   of a capsule or cylinder, whose ends are points of the body
    off open faces           the normal leans from a face that cannot be touched

so that no contact counts twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import casadi as ca

from heelstrike.contact.geometry import ContactPoint, Convex
from heelstrike.contact.law import where
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX

APART = 1.0
"""Distance of a contact point that does not count [m]."""
AT_FACE = 1e-4
"""Distance from a face within which a contact point is at it, as a share of the solid's size."""
LEANS = 0.7071
"""Component of a normal along that of an open face from which on it pushes out of that face."""


def on_edges(
    p: Program, points: Sequence[ContactPoint], shape: Convex, solid: SX, closed: SX
) -> list[ContactPoint]:
    """Return contact points; those that are not on an edge of a solid are apart; inside a block.

    Args:
        p: the program.
        points: contact points of the shape and the solid.
        shape: the shape.
        solid: half axes by columns, and centre, (12,) [m], from the same origin as the shape.
        closed: 1 for faces that can be touched, by axis and side, (6,).
    """
    columns, centre = ca.horzsplit(ca.reshape(solid[:9], 3, 3)), solid[9:]
    half = [ca.sqrt(ca.dot(x, x)) for x in columns]
    axes = [x / size for x, size in zip(columns, half, strict=True)]
    near = AT_FACE * sum(half, SX(0))
    found = []
    for point in points:
        place = point.position + 0.5 * point.depth * point.normal - centre
        faces, open_faces = SX(0), SX(0)
        for k, axis in enumerate(axes):
            along, lean = ca.dot(axis, place), ca.dot(axis, point.normal)
            sides, limit = ((closed[2 * k], -1.0), (closed[2 * k + 1], 1.0)), half[k] - near
            at = [ca.logic_and(x, sign * along > limit) for x, sign in sides]
            out = [ca.logic_and(ca.logic_not(x), sign * lean > LEANS) for x, sign in sides]
            faces = faces + ca.logic_or(*at)
            open_faces = open_faces + ca.logic_or(*out)
        kept = ca.logic_and(faces > 1, open_faces == 0)
        kept = ca.logic_and(kept, ca.logic_not(_at_round_end(point, shape, near)))
        found.append(replace(point, depth=p.let("depth", where(kept, point.depth, -APART))))
    return found


def _at_round_end(point: ContactPoint, shape: Convex, near: SX) -> SX:
    """Return 1 where a contact point is that of a vertex of a rounded shape."""
    size = SX(shape.radius)
    if shape.half_axes is not None:
        size = size + ca.sqrt(ca.sumsqr(shape.half_axes))
    ends = []
    for vertex in ca.horzsplit(shape.vertices):
        offset = vertex - point.position
        along = ca.dot(offset, point.normal)
        across = ca.dot(offset, offset) - along * along
        close = ca.fabs(along) < size + ca.fabs(point.depth) + near
        ends.append(ca.logic_and(across < near * near, close))
    return ca.logic_and(size > 0, reduce(ca.logic_or, ends))
