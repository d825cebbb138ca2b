"""Box 2 of [Sugihara2006], Fig. 4: contact points of a shape on edges and on round ground.

Of the contact points of a shape and a solid, those within a face of the solid belong to the body's
own points, which find them by themselves (detect.py). Kept of a box are those

    on an edge               at two faces or more that can be touched
    between the round ends   of a capsule or cylinder, whose ends are points of the body
    off open faces           the normal leans from a face that cannot be touched

so that no contact counts twice. Kept of a ball, a capsule or a cylinder are those that are not at a
corner, a round end or a rim of the shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import casadi as ca

from heelstrike.contact.geometry import ContactPoint, Convex
from heelstrike.contact.geometry.convex import farthest_vertex
from heelstrike.contact.law import where
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX
from heelstrike.step.edges_near import PlacedSolid

APART = 1.0
"""Distance of a contact point that does not count [m]."""
AT_FACE = 1e-4
"""Distance from a face within which a contact point is at it, as a share of the solid's size."""
LEANS = 0.7071
"""Component of a normal along that of an open face from which on it pushes out of that face."""


def on_edges(
    p: Program, points: Sequence[ContactPoint], shape: Convex, solid: PlacedSolid, closed: SX
) -> list[ContactPoint]:
    """Return contact points; those that the body's own points find are apart; inside a block.

    Args:
        p: the program.
        points: contact points of the shape and the solid.
        shape: the shape.
        solid: the solid, from the same origin as the shape.
        closed: 1 for faces that can be touched, by axis and side, (6,).
    """
    near = p.let("near", AT_FACE * ca.sum1(solid.reach))
    found = []
    for point in points:
        place = solid.axes @ (point.position + 0.5 * point.depth * point.normal - solid.centre)
        faces, open_faces = SX(0), SX(0)
        lean = solid.axes @ point.normal
        for k in range(3):
            sides, limit = ((closed[2 * k], -1.0), (closed[2 * k + 1], 1.0)), solid.half[k] - near
            at = [ca.logic_and(x, sign * place[k] > limit) for x, sign in sides]
            out = [ca.logic_and(ca.logic_not(x), sign * lean[k] > LEANS) for x, sign in sides]
            faces = faces + ca.logic_or(*at)
            open_faces = open_faces + ca.logic_or(*out)
        kept = ca.logic_and(faces > 1, open_faces == 0)
        kept = ca.logic_and(kept, ca.logic_not(_at_round_end(point, shape, near)))
        if solid.is_round:
            other = ca.logic_not(_at_own_point(point, shape, near))
            kept = where(solid.disc + solid.ball > 0, other, kept)
        found.append(replace(point, depth=p.let("depth", where(kept, point.depth, -APART))))
    return found


def _at_own_point(point: ContactPoint, shape: Convex, near: SX) -> SX:
    """Return 1 where a contact point is at a corner, a round end or a rim of the shape.

    On the surface of a box, a capsule and a cylinder these are as far from a vertex as the shape is
    round there, and nothing else is.
    """
    place = point.position - 0.5 * point.depth * point.normal
    size = SX(shape.radius)
    if shape.half_axes is not None:
        size = size + ca.sqrt(ca.sumsqr(shape.half_axes) / 2)
    corners = ca.horzsplit(shape.vertices)
    if shape.corners is not None:
        corners = [*corners, farthest_vertex(shape, -point.normal)]
    far = [ca.sqrt(ca.sumsqr(place - corner)) for corner in corners]
    return reduce(ca.logic_or, (ca.fabs(x - size) < near for x in far))


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
