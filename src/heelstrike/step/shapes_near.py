"""Box 2 of [Sugihara2006], Fig. 4: which shapes of moving bodies may touch one another.

Two bodies whose bounding spheres are far apart skip their shapes (a guard, ir/guard.py). Of the
others, each pair of shapes compares the capsules around them,

    |p - q| - r_p - r_q < MARGIN        p, q: nearest places of the capsules' segments

and pairs that may touch, or pass through one another within the step, are listed by number. A pair
for which the list has no place is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.contact.geometry.convex import capsule
from heelstrike.contact.geometry.segments import nearest_points
from heelstrike.ir.guard import guarded
from heelstrike.ir.number import number
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.robot.convex import Capsule
from heelstrike.scene.shape_contact import ShapeContact
from heelstrike.spatial.vector import SX
from heelstrike.step.clearance import LOOK_AHEAD, Clearance
from heelstrike.step.parted import NO_PAIRS, PartedPair, PartedPairs, parted_pairs
from heelstrike.step.state import StepState


@dataclass(frozen=True)
class NearPairs:
    """Pairs of shapes that may touch in this step, as variables."""

    count: SX
    """Number of pairs, those without a place included."""
    pairs: SX
    """Their numbers, a column; entries from `count` on mean nothing."""
    gap: SX
    """Least distance of the shapes that are not listed [m], at most LOOK_AHEAD."""
    clearance: Clearance
    parted: PartedPairs = NO_PAIRS
    """Pairs that may overlap where a run starts."""

    def add(
        self, p: Program, k: SX, gap: SX, halfway: SX, parted: PartedPair | None = None
    ) -> None:
        """List pair k, whose shapes are a `gap` apart, where it is near; inside a block.

        `halfway` is that of the pair [m], see Slot.halfway; one that has not `parted` is left out.
        """
        near = listed = gap < self.clearance.margin(halfway)
        if parted is not None:
            listed = ca.logic_and(near, ca.logic_not(parted.leave_alone(p, near)))
        for n, entry in enumerate(ca.vertsplit(self.pairs)):
            here = ca.logic_and(listed, self.count == n)
            p.assign(entry, ca.if_else(here, k, entry))
        p.assign(self.count, self.count + listed)
        p.assign(self.gap, ca.fmin(self.gap, ca.if_else(near, self.gap, gap)))


def near_pairs(state: StepState, contact: ShapeContact, clear: Clearance) -> NearPairs:
    """Return the pairs of shapes that may touch, none in lanes that do not need them."""
    p = state.program
    with p.block("near shapes"):
        found = NearPairs(
            p.variable("count", SX(0)),
            p.variable("pairs", SX(ca.DM.zeros(contact.near))),
            p.variable("gap", SX(LOOK_AHEAD)),
            clear,
            parted_pairs(state.inputs, contact, clear.need),
        )
    if contact.pairs:
        with guarded(p, "near shapes", clear.need):
            _list_near(state, contact, found)
    return found


def _list_near(state: StepState, contact: ShapeContact, found: NearPairs) -> None:
    """List the pairs of shapes that may touch."""
    p = state.program
    bodies = {body for meeting in contact.meetings for body in meeting}
    centres, radii = body_spheres(state, contact, bodies)
    for n, ((one, other), numbers) in enumerate(contact.meetings.items()):
        limb = state.inputs.limb_of[one]
        reach = number(radii[one] + radii[other] + LOOK_AHEAD)
        arguments = centres[one], centres[other], reach, found.clearance.far
        need = call(p, "near bodies", _are_near, p, *arguments, limb=limb, member=n)
        with guarded(p, "near shapes", need):
            _list_shapes(state, contact, numbers, found)


def body_spheres(
    state: StepState, contact: ShapeContact, bodies: Iterable[int]
) -> tuple[dict[int, SX], dict[int, float]]:
    """Return the centre in the world, and the radius, of a sphere about the shapes of each body."""
    p, centres, radii = state.program, {}, {}
    for body in sorted(bodies):
        own = [
            capsule
            for shape, capsule in zip(contact.shapes, contact.capsules, strict=True)
            if shape.body == body
        ]
        centre, radii[body] = _sphere(own)
        with p.block("sphere", limb=state.inputs.limb_of[body], member=body):
            centres[body] = p.let("centre", state.poses[body].point(SX(centre)))
    return centres, radii


def _sphere(capsules: list[Capsule]) -> tuple[np.ndarray, float]:
    """Return centre and radius of a sphere about capsules [m]."""
    ends = np.concatenate([capsule.ends for capsule in capsules])
    radii = np.repeat([capsule.radius for capsule in capsules], 2)
    lower, upper = (ends - radii[:, None]).min(axis=0), (ends + radii[:, None]).max(axis=0)
    centre = (lower + upper) / 2
    return centre, float((np.linalg.norm(ends - centre, axis=1) + radii).max())


def _are_near(p: Program, one: SX, other: SX, reach: SX, far: SX) -> SX:
    """Return 1 where two centres are nearer than `reach` and a step [m]; inside a block."""
    offset, reach = one - other, reach + far
    return p.let("near", ca.dot(offset, offset) < reach * reach)


def _list_shapes(
    state: StepState, contact: ShapeContact, numbers: list[int], found: NearPairs
) -> None:
    """List those pairs of shapes of two bodies that may touch; inside their guard."""
    p, ends = state.program, {}
    for shape in sorted({i for k in numbers for i in contact.pairs[k]}):
        body = contact.shapes[shape].body
        with p.block("ends", limb=state.inputs.limb_of[body], member=shape):
            places = SX(contact.capsules[shape].ends.T)
            pose = state.poses[body]
            columns = [pose.point(place) for place in ca.horzsplit(places)]
            ends[shape] = p.let("ends", ca.horzcat(*columns))
    for k in numbers:
        one, other = contact.pairs[k]
        reach = number(sum(contact.capsules[i].radius for i in (one, other)))
        limb = state.inputs.limb_of[contact.shapes[one].body]
        halfway = number(contact.pair_halfway(k))
        parted = found.parted.pairs.get(k)
        name = "near pair" if parted is None else "near pair that may overlap at the start"
        arguments = ends[one], ends[other], reach, number(k), halfway, found, parted
        call(p, name, _list_pair, p, *arguments, limb=limb, member=k)


def _list_pair(
    p: Program,
    one: SX,
    other: SX,
    reach: SX,
    k: SX,
    halfway: SX,
    found: NearPairs,
    parted: PartedPair | None,
) -> None:
    """List pair k if its capsules, whose radii add up to `reach` [m], are near; inside a block."""
    ends = (capsule(x[:, 0], x[:, 1], 0.0) for x in (one, other))
    at, place = nearest_points(*ends)
    offset = at - place
    gap = ca.sqrt(ca.dot(offset, offset)) - reach
    found.add(p, k, gap, halfway, parted)
