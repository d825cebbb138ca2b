"""Box 2 of [Sugihara2006], Fig. 4: which shapes of moving bodies may touch others.

Two bodies, or a body and a fixed shape, whose bounding spheres are far apart skip their shapes (a
guard, ir/guard.py). Of the others, each pair of shapes has a lower bound of its distance: that of
the segments of two capsules, else that of boxes around the shapes (contact/geometry/box_gap.py).
Pairs that may touch, or pass through one another within the step, are put into a set (pair_set.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.contact.geometry.box_gap import PlacedBox, box_gap
from heelstrike.contact.geometry.convex import capsule
from heelstrike.contact.geometry.segments import nearest_points
from heelstrike.ir.guard import guarded
from heelstrike.ir.number import number
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.robot.convex import Capsule
from heelstrike.robot.robot import WORLD
from heelstrike.scene.shape_contact import ShapeContact
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.clearance import LOOK_AHEAD, Clearance
from heelstrike.step.pair_set import PairSet, new_set
from heelstrike.step.parted import NO_PAIRS, PartedPair, PartedPairs, parted_pairs
from heelstrike.step.state import StepState


@dataclass(frozen=True)
class NearPairs:
    """Pairs of shapes that may touch in this step, as variables."""

    pairs: PairSet
    gap: SX
    """Least distance of the shapes that are not listed [m], at most LOOK_AHEAD."""
    clearance: Clearance
    parted: PartedPairs = NO_PAIRS
    """Pairs that may overlap where a run starts."""

    def entry(self, k: int, halfway: float) -> NearEntry:
        """Return the entry of pair k; `halfway` [m] is that of Slot."""
        own = *self.pairs.place(k), number(halfway), self.parted.pairs.get(k)
        return NearEntry(self.gap, self.clearance, *own)


@dataclass(frozen=True)
class NearEntry:
    """A pair of shapes that may be listed."""

    gap: SX
    """Least distance of the shapes that are not listed, a variable [m]."""
    clearance: Clearance
    word: SX
    """Word of the pair in the set, a variable."""
    bit: SX
    halfway: SX
    parted: PartedPair | None

    def add(self, p: Program, gap: SX) -> None:
        """List the pair, whose shapes are a `gap` apart, where it is near; inside a block.

        One that has not parted is left out.
        """
        near = listed = gap < self.clearance.margin(self.halfway)
        if self.parted is not None:
            listed = ca.logic_and(near, ca.logic_not(self.parted.leave_alone(p, near)))
        p.assign(self.word, ca.if_else(listed, self.word + self.bit, self.word))
        p.assign(self.gap, ca.fmin(self.gap, ca.if_else(near, self.gap, gap)))


def near_pairs(state: StepState, contact: ShapeContact, clear: Clearance) -> NearPairs:
    """Return the pairs of shapes that may touch, none in lanes that do not need them."""
    p = state.program
    with p.block("near shapes"):
        found = NearPairs(
            new_set(p, len(contact.pairs)),
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
    groups = {group for meeting in contact.meetings for group in meeting}
    centres, radii = group_spheres(state, contact, groups)
    bounds = _bounds(state, contact)
    for n, ((one, other), numbers) in enumerate(contact.meetings.items()):
        reach = number(radii[one] + radii[other] + LOOK_AHEAD)
        arguments = centres[one], centres[other], reach, found.clearance.far
        need = call(p, "near bodies", _are_near, p, *arguments, member=n)
        with guarded(p, "near shapes", need):
            for k in numbers:
                _list_pair(state, contact, bounds, found, k)


def group_spheres(
    state: StepState, contact: ShapeContact, groups: Iterable[int]
) -> tuple[dict[int, SX], dict[int, float]]:
    """Return centre in the world and radius of a sphere about the shapes of each group."""
    p, centres, radii = state.program, {}, {}
    for group in sorted(groups):
        own = contact.groups[group]
        centre, radii[group] = _sphere([contact.capsules[i] for i in own])
        body = contact.shapes[own[0]].body
        with p.block("sphere", member=group):
            centres[group] = p.let("centre", _pose(state, body).point(SX(centre)))
    return centres, radii


def _pose(state: StepState, body: int) -> Transform:
    """Return the placement of a body; WORLD is where it is."""
    return Transform((), zeros()) if body == WORLD else state.poses[body]


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


@dataclass(frozen=True)
class _Bounds:
    """Segments of capsules, and boxes around shapes, in the world, by shape: those in use."""

    ends: dict[int, SX]
    boxes: dict[int, PlacedBox]


def _bounds(state: StepState, contact: ShapeContact) -> _Bounds:
    """Return what bounds the distances of the pairs."""
    p, found = state.program, _Bounds({}, {})
    segments = {i for pair in contact.pairs if _are_capsules(contact, pair) for i in pair}
    others = {i for pair in contact.pairs if not _are_capsules(contact, pair) for i in pair}
    for i in sorted(segments | others):
        body = contact.shapes[i].body
        with p.block("bounds", member=i):
            pose, box = _pose(state, body), contact.boxes[i]
            if i in segments:
                places = ca.horzsplit(SX(contact.capsules[i].ends.T))
                found.ends[i] = p.let("ends", ca.horzcat(*(pose.point(x) for x in places)))
            if i in others:
                centre = p.let("centre", pose.point(SX(box.centre)))
                axes = p.let("axes", pose.matrix @ ca.sparsify(SX(box.axes)))
                half = ca.vertcat(*(number(x) for x in box.half))
                found.boxes[i] = PlacedBox(centre, axes, half)
    return found


def _are_capsules(contact: ShapeContact, pair: tuple[int, int]) -> bool:
    return all(contact.shapes[i].is_capsule for i in pair)


def _list_pair(
    state: StepState, contact: ShapeContact, bounds: _Bounds, found: NearPairs, k: int
) -> None:
    """List pair k if its shapes may touch; inside the guard of their bodies."""
    p, pair = state.program, contact.pairs[k]
    radius = number(sum(contact.shapes[i].radius for i in pair))
    rest = radius, found.entry(k, contact.pair_halfway(k))
    if _are_capsules(contact, pair):
        ends = (bounds.ends[i] for i in pair)
        call(p, "near capsules", _list_capsules, p, *ends, *rest, member=k)
    else:
        boxes = (bounds.boxes[i] for i in pair)
        call(p, "near boxes", _list_boxes, p, *boxes, *rest, member=k)


def _list_capsules(p: Program, one: SX, other: SX, radius: SX, entry: NearEntry) -> None:
    """List a pair of capsules, whose radii add up to `radius` [m]; inside a block."""
    ends = (capsule(x[:, 0], x[:, 1], 0.0) for x in (one, other))
    at, place = nearest_points(*ends)
    offset = at - place
    entry.add(p, ca.sqrt(ca.dot(offset, offset)) - radius)


def _list_boxes(p: Program, one: PlacedBox, other: PlacedBox, radius: SX, entry: NearEntry) -> None:
    """List a pair of boxes with balls, whose radii add up to `radius` [m]; inside a block."""
    entry.add(p, box_gap(one, other) - radius)
