"""Box 2 of [Sugihara2006], Fig. 4: which shapes may touch edges of the ground.

A solid of the ground is a box (scene/surfaces/solid.py). In its axes a shape reaches from `low` to
`high`, the bounds of a capsule around it. It needs no comparison with the solid while it is

    apart                  on one axis: low > h or high < -h
    over a single face     within the solid on two axes: -h < low, high < h

since contact points of the shape are all that a face needs. Bodies as a whole are asked first, by
the spheres about them.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.ir.guard import guarded
from heelstrike.ir.number import number
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.scene.shape_contact import ShapeContact
from heelstrike.spatial.vector import SX
from heelstrike.step.clearance import LOOK_AHEAD, Clearance
from heelstrike.step.pair_set import new_set
from heelstrike.step.shapes_near import NearEntry, NearPairs, group_spheres
from heelstrike.step.state import StepState


@dataclass(frozen=True)
class PlacedSolid:
    """A solid in the world."""

    centre: SX
    """(3,) [m]"""
    half_axes: SX
    """Columns, (3, 3) [m]."""
    axes: SX
    """Unit vectors along the half axes, as rows, (3, 3)."""
    half: SX
    """Lengths of the half axes, (3,) [m]."""

    @property
    def numbers(self) -> SX:
        """Half axes by columns, and centre, (12,)."""
        return ca.vertcat(ca.vec(self.half_axes), self.centre)


def placed_solids(state: StepState, contact: ShapeContact) -> list[PlacedSolid]:
    """Return the solids of the ground, by their numbers; inside a block."""
    p, found = state.program, []
    for part in contact.solids:
        solid = state.surfaces[part.surface].surface.solids()[part.number]
        columns = ca.horzsplit(solid.half_axes)
        half = ca.vertcat(*(ca.sqrt(ca.dot(x, x)) for x in columns))
        axes = ca.horzcat(*(x / half[k] for k, x in enumerate(columns))).T
        values = solid.centre, ca.densify(solid.half_axes), ca.densify(axes), half
        found.append(PlacedSolid(*(p.let("solid", value) for value in values)))
    return found


def near_edges(
    state: StepState, contact: ShapeContact, solids: list[PlacedSolid], gap: SX, clear: Clearance
) -> NearPairs:
    """Return the pairs of shape and solid that may touch at an edge.

    `gap` is the variable of the least distance of shapes that are not listed [m].
    """
    p = state.program
    with p.block("near edges"):
        found = NearPairs(new_set(p, len(contact.edges)), gap, clear)
    with guarded(p, "near edges", clear.need):
        _list_near(state, contact, solids, found)
    return found


def _list_near(
    state: StepState, contact: ShapeContact, solids: list[PlacedSolid], found: NearPairs
) -> None:
    """List the pairs that may touch."""
    p, meetings = state.program, contact.edge_meetings
    centres, radii = group_spheres(state, contact, {body for body, _ in meetings})
    for n, ((body, solid), numbers) in enumerate(meetings.items()):
        arguments = centres[body], number(radii[body]), solids[solid], found.clearance.far
        need = call(p, "near solid", _is_near, p, *arguments, member=n)
        with guarded(p, "near solid", need):
            for k in numbers:
                shape = contact.capsules[contact.edges[k].shape]
                pose, places = state.poses[body], SX(shape.ends.T)
                with p.block("ends", member=k):
                    columns = [pose.point(place) for place in ca.horzsplit(places)]
                    ends = p.let("ends", ca.horzcat(*columns))
                entry = found.entry(k, contact.widths[contact.edges[k].shape] / 4)
                own = ends, number(shape.radius), solids[solid], entry
                call(p, "near edge", _list_pair, p, *own, member=k)


def _is_near(p: Program, centre: SX, radius: SX, solid: PlacedSolid, far: SX) -> SX:
    """Return 1 where a sphere may touch an edge of a solid soon; inside a block."""
    return p.let("near", _gap(ca.horzcat(centre), radius, solid) < LOOK_AHEAD + far)


def _list_pair(p: Program, ends: SX, radius: SX, solid: PlacedSolid, entry: NearEntry) -> None:
    """List a pair if its capsule may touch an edge; inside a block."""
    entry.add(p, p.let("gap", _gap(ends, radius, solid)))


def _gap(places: SX, radius: SX, solid: PlacedSolid) -> SX:
    """Return how far balls about places and what is between them must move to meet an edge [m]."""
    own = [solid.axes @ (place - solid.centre) for place in ca.horzsplit(places)]
    low, high = own[0] - radius, own[0] + radius
    for place in own[1:]:
        low, high = ca.fmin(low, place - radius), ca.fmax(high, place + radius)
    apart = ca.mmax(ca.fmax(low - solid.half, -solid.half - high))
    x, y, z = ca.vertsplit(ca.fmin(solid.half - high, low + solid.half))
    second = ca.fmax(ca.fmin(x, y), ca.fmin(ca.fmax(x, y), z))  # of three, by size
    return ca.fmax(apart, second)
