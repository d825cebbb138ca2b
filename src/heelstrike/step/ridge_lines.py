"""Box 2 of [Sugihara2006], Fig. 4: contact points of a shape on ridges of the ground.

Ridges are lines (scene/ridge_lines.py). Those in the box around a shape are compared with it, one
after another, as segments; the search for their depth begins at the ridge's own normal. Contact
points whose normal leads out of the ground are kept, but for corners of the shape, which are points
of the body. As seen from above each quarter of the box keeps the deepest one; of those that are
equally deep the outer one, so that a face that lies on a long ridge is held far out. A quarter
that does not touch lends its place to another one (ridge_quarters.py). A ridge whose part in the
box is less deep than all that is kept is not compared; while a quarter does not touch, all those
that touch are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.contact.geometry import ContactPoint, Convex, capsule, contact_points
from heelstrike.contact.geometry.convex import farthest_vertex
from heelstrike.contact.law import where
from heelstrike.ir.guard import guarded
from heelstrike.ir.loop import repeated
from heelstrike.ir.number import number
from heelstrike.ir.program import Program
from heelstrike.ir.table import Table
from heelstrike.scene.ridge_lines import RidgeLine, Ridges
from heelstrike.scene.shape_contact import ShapeContact
from heelstrike.scene.surfaces import Surface
from heelstrike.spatial.vector import SX
from heelstrike.step.clearance import Clearance
from heelstrike.step.near import MARGIN
from heelstrike.step.pair_set import new_set
from heelstrike.step.ridge_quarters import Kept, Quarter, keep, lend_places, new_quarter
from heelstrike.step.shapes_near import NearPairs
from heelstrike.step.state import StepState

QUARTERS = 4
LEANS = 1e-2
"""Component of a normal along the ground, about radians, up to which it leads out of it."""
LEANS_ONWARD = 1e-4
"""The same along lines that go on: a line whose neighbour goes straight on has no end there."""
OUTER = 1e-3
"""Depth that a place may lack for each metre that it is farther from the middle of a shape [-]."""
LEVEL = 1e-9
"""Length along an axis of a box below which a line is level [m]."""
BESIDE = 0.1
"""Distance of two contacts of a quarter, in halves of the shape's shortest edge, within which the
less deep one is left out [-]."""
AT_CORNER = 1e-3
"""Distance from a corner of a shape within which a contact is one of the corner [m]."""


@dataclass(frozen=True)
class PlacedRidges:
    """Ridges of a surface in the program of a step."""

    ridges: Ridges
    surface: Surface
    """With symbols as parameters."""
    tables: dict[str, Table]

    def span(self, box: PlacedBox, margin: SX) -> SX:
        """Return the lines that may be in a box, larger by a margin [m]; inside a block."""
        reach = ca.fabs(box.axes.T) @ (box.half + margin)
        return self.ridges.span(self.surface, self.tables, box.centre, reach)

    def line(self, span: SX, n: SX) -> RidgeLine:
        """Return the n-th of these lines; inside a block."""
        return self.ridges.line(self.surface, self.tables, span, n)


@dataclass(frozen=True)
class PlacedBox:
    """The box around a shape, in the world."""

    centre: SX
    """(3,) [m]"""
    axes: SX
    """Unit vectors along its edges as rows, (3, 3)."""
    half: SX
    """Half lengths of its edges, (3,) [m]."""
    level: SX
    """1 for the axis that is nearest to the vertical, (3,)."""

    def across(self, place: SX) -> tuple[SX, SX]:
        """Return the two level coordinates of a place in the axes of the box [m]."""
        first = where(self.level[0], place[1], place[0])
        return first, where(self.level[2], place[1], place[2])

    def quarter(self, place: SX) -> SX:
        """Return the quarter of a place in the axes of the box, 0 to 3."""
        first, second = self.across(place)
        return 2 * (first > 0) + (second > 0)

    def outer(self, place: SX) -> SX:
        """Return what a place gains by its distance from the middle [m]."""
        return OUTER * ca.sqrt(ca.sumsqr(ca.vertcat(*self.across(place))))

    def part(self, line: RidgeLine, margin: SX) -> tuple[SX, SX, SX]:
        """Return from which share to which of a line it is in the box, larger by a margin [m], and
        how deep it is at most there [m].
        """
        start = self.axes @ (line.start - self.centre)
        way = self.axes @ (line.end - line.start)
        low, high, deep = SX(0), SX(1), SX(np.inf)
        for k in range(3):
            level = ca.fabs(way[k]) < LEVEL
            along, reach = where(level, 1, way[k]), self.half[k] + margin
            one, other = (-reach - start[k]) / along, (reach - start[k]) / along
            out = ca.logic_and(level, ca.fabs(start[k]) > reach)
            low = ca.fmax(low, where(level, 2 * out, ca.fmin(one, other)))
            high = where(level, high, ca.fmin(high, ca.fmax(one, other)))
        for k in range(3):
            one, other = start[k] + low * way[k], start[k] + high * way[k]
            least = ca.fmax(ca.fmax(ca.fmin(one, other), -ca.fmax(one, other)), 0)
            deep = ca.fmin(deep, self.half[k] - least)
        return low, high, deep


def placed_box(p: Program, numbers: SX, frame: SX) -> PlacedBox:
    """Return a box by its centre, axes and half lengths, and its body's frame; inside a block."""
    turn, (centre, own, half) = ca.reshape(frame[:9], 3, 3), ca.vertsplit(numbers, [0, 3, 12, 15])
    axes = p.let("axes", (turn @ ca.reshape(own, 3, 3)).T)
    steep = ca.fabs(axes[:, 2])
    third = ca.logic_and(steep[2] >= steep[0], steep[2] >= steep[1])
    first = ca.logic_and(ca.logic_not(third), steep[0] >= steep[1])
    rest = ca.logic_not(ca.logic_or(first, third))
    level = p.let("level", ca.vertcat(first, rest, third))
    return PlacedBox(p.let("centre", turn @ centre + frame[9:]), axes, half, level)


def near_ridges(
    state: StepState, contact: ShapeContact, part: int, gap: SX, clear: Clearance
) -> NearPairs:
    """Return the pairs of shape and field `part` that may touch; see `near_edges`."""
    p = state.program
    with p.block("near ridges"):
        found = NearPairs(new_set(p, len(contact.ridges)), gap, clear)
    surface = state.surfaces[contact.fields[part].surface].surface
    with guarded(p, "near ridges", clear.need):
        for k, pair in enumerate(contact.ridges):
            if pair.part != part:
                continue
            shape = contact.shapes[pair.shape]
            box = contact.boxes[pair.shape]
            with p.block("near ridge", member=k):
                place = surface.gap(state.poses[shape.body].point(SX(box.centre)))
                assert place is not None
                entry = found.entry(k, contact.widths[pair.shape] / 4)
                entry.add(p, p.let("gap", place - number(float(np.linalg.norm(box.half)))))
    return found


def ridge_points(
    p: Program, shape: Convex, box: PlacedBox, ground: PlacedRidges, origin: SX, far: SX
) -> tuple[list[ContactPoint], SX]:
    """Return the contact points of a shape on ridges, as many as quarters, and 1 where any ridge is
    in its box, larger by `far`, how far shapes move in a step [m]; outside blocks.

    Places are from `origin`, those of the box and of ridges are in the world.
    """
    with p.block("box"):
        margin = p.let("margin", far + MARGIN)
        span = p.let("span", ground.span(box, margin))
        quarters = [new_quarter(p) for _ in range(QUARTERS)]
        some = p.variable("some", SX(0))
    with repeated(p, "ridges", limit=ground.ridges.most) as loop:
        n = loop.carry("n", SX(0))
        scores = ca.vertcat(*(quarter.best.score for quarter in quarters))
        near = _next_near(p, n, box, ground, span, margin, scores)
        with p.block("ridge"):
            found = p.let("found", near < span[-1])
        with guarded(p, "ridge", found):
            with p.block("ridge"):
                line = _kept(p, ground.line(span, near))
                low, high, _ = box.part(line, margin + AT_CORNER)
                start, way = line.start - origin, line.end - line.start
                one, other = (p.let("end", start + x * way) for x in (low, high))
                p.assign(some, SX(1))
            touched = contact_points(p, shape, capsule(one, other, 0.0), 2, line.up)
            for point in touched:
                with p.block("ridge"):
                    _keep(p, point, shape, box, line, origin, quarters)
        with p.block("next ridge"):
            loop.next(n, near + 1)
            loop.until(near + 1 >= span[-1])
    with p.block("ridges"):
        lend_places(p, quarters)
    return [quarter.best.point for quarter in quarters], some


def _next_near(
    p: Program,
    first: SX,
    box: PlacedBox,
    ground: PlacedRidges,
    span: SX,
    margin: SX,
    scores: SX,
) -> SX:
    """Return the number of the next ridge, from `first` on, that is in the box and as deep there as
    something that is kept; no less than the number of all if there is none; outside blocks.
    """
    with repeated(p, "next ridge", limit=ground.ridges.most) as loop:
        n = loop.carry("n", first)
        with p.block("next ridge"):
            line = ground.line(span, n)
            low, high, deep = box.part(line, margin)
            deep = deep + OUTER * ca.sqrt(ca.sumsqr(box.half))
            near = ca.logic_and(ca.logic_and(low <= high, line.bulges), deep > ca.mmin(scores))
            ends = ca.logic_or(near, n >= span[-1])
            loop.next(n, where(ends, n, n + 1))
            loop.until(ends)
    return n


def _kept(p: Program, line: RidgeLine) -> RidgeLine:
    """Return a line whose entries are symbols; inside a block."""
    start, end, up = (p.let("line", x) for x in (line.start, line.end, line.up))
    from_start, from_end = (p.let("from", x) for x in (line.from_start, line.from_end))
    return RidgeLine(start, end, from_start, from_end, up, line.bulges)


def _keep(
    p: Program,
    point: ContactPoint,
    shape: Convex,
    box: PlacedBox,
    line: RidgeLine,
    origin: SX,
    quarters: Sequence[Quarter],
) -> None:
    """Let the quarter of a contact point keep it if it counts and is deeper; inside a block."""
    n, way = point.normal, line.end - line.start
    along = ca.dot(n, way) / ca.sqrt(ca.sumsqr(way))
    leans = where(along < 0, line.from_start, line.from_end).T @ n
    onward = ca.logic_or(ca.fabs(along) <= LEANS_ONWARD, leans[2] <= LEANS_ONWARD)
    kept = ca.logic_and(ca.logic_and(leans[0] <= LEANS, leans[1] <= LEANS), onward)
    kept = ca.logic_and(kept, ca.logic_not(_at_corner(point, shape)))
    place = box.axes @ (point.position + origin - box.centre)
    quarter, own = box.quarter(place), point.depth + box.outer(place)
    keep(p, quarters, quarter, kept, Kept(point, own), BESIDE * ca.mmin(box.half))


def _at_corner(point: ContactPoint, shape: Convex) -> SX:
    """Return 1 where a contact point is at a corner of a box or a hull."""
    place = point.position - 0.5 * point.depth * point.normal
    corners = ca.horzsplit(shape.vertices)
    if shape.corners is not None:
        corners = [*corners, farthest_vertex(shape, -point.normal)]
    near = SX(0)
    for corner in corners:
        near = ca.logic_or(near, ca.sumsqr(place - corner) < AT_CORNER**2)
    if shape.half_axes is None:
        return near
    return ca.logic_and(near, ca.sumsqr(shape.half_axes) == 0)
