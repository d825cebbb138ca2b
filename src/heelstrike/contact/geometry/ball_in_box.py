"""Nearest point of a box to the centre of a sphere, in closed form.

With q the centre in the axes of a box of half lengths h:

    outside    nearest point clamp(q, -h, h)
    inside     the face with the least h_i - |q_i|
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from heelstrike.contact.geometry.convex import Convex, length, unit
from heelstrike.contact.geometry.separation import Nearest
from heelstrike.contact.law import where
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX


def point_and_box(p: Program, first: Convex, second: Convex) -> Nearest:
    """Return the nearest points of a single vertex and a box, in either order; outside blocks."""
    if first.box:
        near = point_and_box(p, second, first)
        with p.block("swap"):
            normal = p.let("normal", -near.normal)
        return replace(near, normal=normal, first=near.second, second=near.first)
    with p.block("point and box"):
        point, centre = first.vertex(0), (second.vertex(0) + second.vertex(7)) / 2
        edges = [second.vertex(i) - second.vertex(0) for i in (4, 2, 1)]
        axes = ca.horzcat(*(unit(edge) for edge in edges))
        half = ca.vertcat(*(length(edge) / 2 for edge in edges))
        q = p.let("q", axes.T @ (point - centre))
        clamped = ca.fmin(ca.fmax(q, -half), half)
        apart = p.let("apart", q - clamped)
        square = p.let("square", ca.dot(apart, apart))
        room = p.let("room", half - ca.fabs(q))
        inside = square <= 0
        face, depth = _nearest_face(q, room)
        distance = p.let("distance", where(inside, -depth, ca.sqrt(square)))
        outward = p.let("outward", axes @ where(inside, face, apart / length(apart)))
        at = p.let("at", point - distance * outward)
    return Nearest(outward, distance, point, at, SX(0))


def _nearest_face(q: SX, room: SX) -> tuple[SX, SX]:
    """Return the outward normal of the nearest face in the box's axes (3), and its distance."""
    depth, face = room[0], ca.vertcat(_sign(q[0]), 0, 0)
    for i in (1, 2):
        own = ca.vertcat(*(_sign(q[i]) if k == i else 0 for k in range(3)))
        face = where(room[i] < depth, own, face)
        depth = ca.fmin(room[i], depth)
    return face, depth


def _sign(x: SX) -> SX:
    return where(x < 0, -1, 1)
