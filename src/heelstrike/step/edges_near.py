"""Box 2 of [Sugihara2006], Fig. 4: which shapes may touch edges and round parts of the ground.

A solid of the ground is a box or round (scene/surfaces/solid.py). In its axes a shape reaches from
`low` to `high`, the bounds of a capsule around it. It is not compared with the solid while it is

    apart                  on one axis: low > h or high < -h
    over a single face     within the solid on two axes: -h < low, high < h

of a box, since contact points of the shape are all that a face needs. Bodies as a whole are asked
first, by the spheres about them.
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
    axes: SX
    """Unit vectors along its axes, as rows, (3, 3)."""
    half: SX
    """Half lengths of its box, (3,) [m]."""
    disc: SX
    """Radius of its disc across the third axis [m]; 0: there is none."""
    ball: SX
    """Radius of its ball [m]; 0: there is none."""
    is_round: bool
    """Whether it has a disc or a ball; where it is known at run time only, whether any has."""

    @property
    def reach(self) -> SX:
        """How far it reaches from its centre along its axes, (3,) [m]."""
        if not self.is_round:
            return self.half
        return self.half + self.ball + ca.vertcat(self.disc, self.disc, 0)

    @property
    def numbers(self) -> SX:
        """All that it is made of, (17,)."""
        return ca.vertcat(self.centre, ca.vec(self.axes), self.half, self.disc, self.ball)

    @classmethod
    def of(cls, numbers: SX, is_round: bool) -> PlacedSolid:
        """Return a solid by its numbers."""
        centre, axes, half, disc, ball = ca.vertsplit(numbers, [0, 3, 12, 15, 16, 17])
        return cls(centre, ca.reshape(axes, 3, 3), half, disc, ball, is_round)


def placed_solids(state: StepState, contact: ShapeContact) -> list[PlacedSolid]:
    """Return the solids of the ground, by their numbers; inside a block."""
    p, found = state.program, []
    for part in contact.solids:
        solid = state.surfaces[part.surface].surface.solids()[part.number]
        sizes = (SX(0) if x is None else x for x in (solid.disc, solid.ball))
        values = solid.centre, ca.densify(SX(solid.axes)), ca.densify(solid.half), *sizes
        centre, axes, half, disc, ball = (p.let("solid", x) for x in values)
        found.append(PlacedSolid(centre, axes, half, disc, ball, solid.is_round))
    return found


def near_edges(
    state: StepState, contact: ShapeContact, solids: list[PlacedSolid], gap: SX, clear: Clearance
) -> NearPairs:
    """Return the pairs of shape and solid that may touch between points of the shape.

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
    """Return 1 where a sphere may touch a solid soon; inside a block."""
    return p.let("near", _gap(ca.horzcat(centre), radius, solid) < LOOK_AHEAD + far)


def _list_pair(p: Program, ends: SX, radius: SX, solid: PlacedSolid, entry: NearEntry) -> None:
    """List a pair if its capsule may touch; inside a block."""
    entry.add(p, p.let("gap", _gap(ends, radius, solid)))


def _gap(places: SX, radius: SX, solid: PlacedSolid) -> SX:
    """Return how far balls about places and what is between them must move to touch [m]."""
    own = [solid.axes @ (place - solid.centre) for place in ca.horzsplit(places)]
    low, high = own[0] - radius, own[0] + radius
    for place in own[1:]:
        low, high = ca.fmin(low, place - radius), ca.fmax(high, place + radius)
    apart = ca.mmax(ca.fmax(low - solid.reach, -solid.reach - high))
    if solid.is_round:
        return apart
    x, y, z = ca.vertsplit(ca.fmin(solid.half - high, low + solid.half))
    second = ca.fmax(ca.fmin(x, y), ca.fmin(ca.fmax(x, y), z))  # of three, by size
    return ca.fmax(apart, second)
