"""Points of contact of two convex shapes, chosen by what the shapes are made of.

spheres and capsules       closed form, segments.py
a sphere and a box         closed form, ball_in_box.py
all others                 nearest points of the cores, separation.py; where these overlap,
                           penetration.py; from one point to several, manifold.py
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from heelstrike.contact.geometry.ball_in_box import point_and_box
from heelstrike.contact.geometry.convex import ContactPoint, Convex, with_known_axes
from heelstrike.contact.geometry.manifold import manifold
from heelstrike.contact.geometry.penetration import with_penetration
from heelstrike.contact.geometry.segments import ball_contacts
from heelstrike.contact.geometry.separation import Nearest, separation
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX


def contact_points(
    p: Program, first: Convex, second: Convex, count: int, last_normal: SX | None = None
) -> list[ContactPoint]:
    """Return `count` points of contact of two shapes, at most 4; outside blocks.

    One of them is the deepest, exactly. Where the shapes touch at fewer points than asked, points
    are repeated.

    Args:
        p: the program.
        first: shape that normals point to.
        second: shape that normals point out of.
        count: number of points, part of the compiled code: 1 for a sphere and an ellipsoid, 2 for a
            capsule, 4 for faces and caps.
        last_normal: normal of the pair in the last step (3), symbols; 0 where there is none. Shapes
            whose cores overlap a little are then followed from there, which is faster and keeps the
            normal from changing over to another side.
    """
    first, second = _named(p, first), _named(p, second)
    if all(shape.count <= 2 and not shape.round for shape in (first, second)):
        return ball_contacts(p, first, second, count)
    points = [shape.count == 1 and not shape.round for shape in (first, second)]
    if any(points) and (first.box or second.box):
        near = point_and_box(p, first, second)
    else:
        near = with_penetration(p, first, second, separation(p, first, second), last_normal)
    if count == 1 or any(points):
        return [_deepest(p, first, second, near)] * count
    return manifold(p, first, second, near, count)


def _named(p: Program, shape: Convex) -> Convex:
    """Return a shape whose entries are symbols, with the normals and edges that are known."""
    shape = with_known_axes(shape)
    entries = {"vertices": "vertices", "half_axes": "half axes", "radius": "radius"}
    entries |= {"normals": "normals", "edges": "edges"}
    with p.block("shape"):
        values = {
            key: p.let(name, ca.densify(SX(getattr(shape, key))))
            for key, name in entries.items()
            if getattr(shape, key) is not None
        }
    return replace(shape, **values)


def _deepest(p: Program, first: Convex, second: Convex, near: Nearest) -> ContactPoint:
    with p.block("deepest"):
        low = near.first - first.radius * near.normal
        high = near.second + second.radius * near.normal
        depth = p.let("depth", first.radius + second.radius - near.distance)
        return ContactPoint(depth, near.normal, p.let("position", (low + high) / 2))
