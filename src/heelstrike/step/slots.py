"""Box 2 of [Sugihara2006], Fig. 4: contacts of shapes with shapes and ground, each pair in a slot.

The pairs of shapes that may touch (shapes_near.py) are compared one after another by one code
(contact/geometry/), then those of a shape and a solid's edges (edges_near.py, edges.py), then those
of a shape and the ridges of a surface (ridge_lines.py); shapes are read from tables. Those that
touch take the next free slot. Which bodies a slot joins is known at run time only: what a slot
reads of them is selected, and its loads are spread over all bodies by selection. Fixed shapes and
the ground do not move; where bodies are numbered, its solids begin at `first_solid`, and surfaces
with ridges follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import casadi as ca

from heelstrike.contact.geometry import ContactPoint, contact_points
from heelstrike.contact.law import where
from heelstrike.contact.solver.links import selected
from heelstrike.ir.arguments import LABEL
from heelstrike.ir.guard import OpenGuard, guarded
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.clearance import Clearance, clearance
from heelstrike.step.edges import APART, on_edges
from heelstrike.step.edges_near import PlacedSolid, near_edges, placed_solids
from heelstrike.step.inputs import StepInputs
from heelstrike.step.parted import PartedPairs
from heelstrike.step.placed_shapes import placed_shape, solid_shape
from heelstrike.step.ridge_lines import PlacedRidges, near_ridges, placed_box, ridge_points
from heelstrike.step.shape_tables import ShapeTables
from heelstrike.step.shapes_near import NearPairs, near_pairs
from heelstrike.step.state import StepState
from heelstrike.step.surfaces import SLOT_HEAD

SAME = 1e-6
"""Distance below which two contact points of a pair are one [m]."""
OWNERS = "key", "first", "second"
"""Numbers of a slot that exist outside the guard in which slots are filled."""
FRAME = 12
"""Numbers of a body's frame: its rotation matrix by columns, and its origin."""
GROUND_FRAME = SX(ca.vertcat(ca.vec(ca.DM.eye(3)), ca.DM.zeros(3)))
"""Frame of fixed shapes and solids."""


@dataclass(frozen=True)
class Slot:
    """Place for two shapes that touch, as variables."""

    number: int = field(metadata=LABEL)
    key: SX
    """Number of its pair, plus one; 0: it is free."""
    first: SX
    """Body of the first shape, by number."""
    second: SX
    """Body of the second shape; WORLD of a fixed one, a solid of the ground from `first_solid`."""
    law: SX
    """Index of its law in `ShapeContact.laws`."""
    lever: SX
    """Radius at which its shapes roll on one another [m]; 0: both are flat."""
    halfway: SX
    """Depth from which on its shapes may leave one another by the other side [m]."""
    points: list[ContactPoint]
    """Contacts; positions are from the origin of the first body."""


@dataclass(frozen=True)
class Slots:
    """Slots of a step, and the guard in which they are filled."""

    guard: OpenGuard
    slots: list[Slot]
    lost: SX
    """Pairs that found no slot; outside the guard."""
    frames: dict[int, SX]
    """Frames of the bodies that have shapes, by number, see FRAME."""
    clearance: Clearance
    gap: SX
    """Least distance of shapes, where they were compared [m]."""
    parted: PartedPairs
    """Pairs that may overlap where a run starts."""


@dataclass(frozen=True)
class Filling:
    """What is needed to compare pairs and to fill slots with them."""

    state: StepState
    tables: ShapeTables
    frames: dict[int, SX]
    used: SX
    """Number of pairs that touch so far."""
    slots: list[Slot]
    gap: SX
    """Least distance of shapes so far [m]."""
    clearance: Clearance


def first_solid(state: StepState) -> int:
    """Return the number of the first solid where bodies are numbered."""
    return len(state.robot.joints)


def fill_slots(state: StepState, tables: ShapeTables) -> Slots:
    """Return the slots with the shapes that touch in this step."""
    p, contact = state.program, tables.contact
    clear = clearance(state, contact)
    near = near_pairs(state, contact, clear)
    edges, solids = None, []
    if contact.edges:
        with p.block("solids"):
            solids = placed_solids(state, contact)
        edges = near_edges(state, contact, solids, near.gap, clear)
    ridges = [near_ridges(state, contact, k, near.gap, clear) for k in range(len(contact.fields))]
    with p.block("slots"):
        owners = [[p.variable(name, SX(0)) for name in OWNERS] for _ in range(contact.slots)]
    listed = [near, *ridges] if edges is None else [near, edges, *ridges]
    some = reduce(ca.logic_or, (x.pairs.some for x in listed))
    with guarded(p, "shapes", some) as guard:
        frames = {}
        for body in contact.bodies:
            with p.block("frame", limb=state.inputs.limb_of[body], member=body):
                pose = state.poses[body]
                frames[body] = p.let("frame", ca.vertcat(ca.vec(pose.matrix), pose.origin))
        with p.block("slots"):
            used = p.variable("used", SX(0))
            slots = [_new_slot(p, n, own, contact.points) for n, own in enumerate(owners)]
        filling = Filling(state, tables, frames, used, slots, near.gap, clear)
        if contact.pairs:
            _compare(filling, near)
        if edges is not None:
            _compare_edges(filling, edges, solids)
        for k, own in enumerate(ridges):
            _compare_ridges(filling, own, k)
        with p.block("lost"):
            left_out = ca.fmax(used - contact.slots, 0)
            lost = guard.leave("lost", where(near.parted.unknown, 0, left_out))
            p.assign(near.gap, where(left_out > 0, 0, near.gap))
    return Slots(guard, slots, lost, frames, clear, near.gap, near.parted)


def _new_slot(p: Program, number: int, owners: Sequence[SX], count: int) -> Slot:
    """Return a free slot, which exists in the guard but for its owners; inside a block."""
    law, lever, halfway = (p.variable(name, SX(0)) for name in ("law", "lever", "halfway"))
    points = [
        ContactPoint(
            depth=p.variable("depth", SX(0)),
            normal=p.variable("normal", SX([0, 0, 1])),
            position=p.variable("position", zeros()),
        )
        for _ in range(count)
    ]
    key, first, second = owners
    return Slot(number, key, first, second, law, lever, halfway, points)


def _compare(filling: Filling, near: NearPairs) -> None:
    """Compare the pairs of bodies' shapes that may touch, and fill slots with those that do."""
    state, tables, frames = filling.state, filling.tables, filling.frames
    p, contact, cells = state.program, tables.contact, state.inputs.hulls.cells
    assert tables.pairs is not None
    with repeated(p, "near pairs", limit=len(contact.pairs)) as loop:
        with p.block("pair"):
            pair = near.pairs.take_first(p)
        numbers = tables.pairs.row(pair)
        rows = [tables.shapes.row(numbers[k]) for k in range(2)]
        with p.block("frames"):
            bodies = p.let("bodies", ca.vertcat(rows[0][0], rows[1][0]))
            others = None, GROUND_FRAME if contact.has_fixed else None
            own = [p.let("frame", selected(bodies[k], frames, others[k])) for k in range(2)]
        with p.block("shapes"):
            placed = [
                placed_shape(p, contact, cells, row, frame, own[0][9:])
                for row, frame in zip(rows, own, strict=True)
            ]
        with p.block("last normal"):
            turn = ca.reshape(own[1][:9], 3, 3)
            last = p.let("last", turn @ _last_normal(state.inputs, pair + 1))
        points = contact_points(p, placed[0], placed[1], contact.points, last)
        with p.block("distinct"):
            points = _distinct(p, points)
        with p.block("fill"):
            ends = pair + 1, bodies[0], bodies[1], SX(0), numbers[3], numbers[2]
            deepest = _deepest(points)
            _fill(filling, ends, points, deepest, near.parted.compared(p, pair, deepest))
            loop.until(ca.logic_not(near.pairs.some))


def _compare_edges(filling: Filling, near: NearPairs, solids: Sequence[PlacedSolid]) -> None:
    """Compare the pairs of shape and solid that may touch, and fill slots with those that do."""
    state, tables = filling.state, filling.tables
    p, contact, cells = state.program, tables.contact, state.inputs.hulls.cells
    assert tables.edges is not None
    assert tables.closed is not None
    places = {k: solid.numbers for k, solid in enumerate(solids)}
    with repeated(p, "near edges", limit=len(contact.edges)) as loop:
        with p.block("pair"):
            pair = near.pairs.take_first(p)
        numbers = tables.edges.row(pair)
        row, closed = tables.shapes.row(numbers[0]), tables.closed.row(numbers[1])
        with p.block("frames"):
            frame = p.let("frame", selected(row[0], filling.frames))
            own = selected(numbers[1], places)
            own = p.let("solid", ca.vertcat(own[:3] - frame[9:], own[3:]))
            solid = PlacedSolid.of(own, contact.meets_round)
            key = p.let("key", pair + 1 + len(contact.pairs))
        with p.block("shapes"):
            shape = placed_shape(p, contact, cells, row, frame, frame[9:])
            other = solid_shape(contact, solid)
        with p.block("last normal"):
            last = p.let("last", _last_normal(state.inputs, key))
        points = contact_points(p, shape, other, contact.points, last)
        with p.block("distinct"):
            deepest = p.let("deepest", _deepest(points))
            points = on_edges(p, _distinct(p, points), shape, solid, closed)
        with p.block("fill"):
            halfway = numbers[3] + ca.mmin(solid.reach) / 2
            lever = _common_lever(numbers[4], solid.disc + solid.ball)
            ends = key, row[0], numbers[1] + first_solid(state), numbers[2], lever, halfway
            _fill(filling, ends, points, deepest)
            loop.until(ca.logic_not(near.pairs.some))


def _compare_ridges(filling: Filling, near: NearPairs, part: int) -> None:
    """Compare the pairs of shape and field `part` that may touch, and fill slots."""
    state, tables, clear = filling.state, filling.tables, filling.clearance
    p, contact, cells = state.program, tables.contact, state.inputs.hulls.cells
    assert tables.ridges is not None
    field = contact.fields[part]
    surface = state.surfaces[field.surface].surface
    ground = PlacedRidges(field.ridges, surface, tables.fields[part])
    first = len(contact.pairs) + len(contact.edges)
    with repeated(p, "near ridges", limit=len(contact.ridges)) as loop:
        with p.block("pair"):
            pair = near.pairs.take_first(p)
        numbers = tables.ridges.row(pair)
        row = tables.shapes.row(numbers[0])
        with p.block("frames"):
            frame = p.let("frame", selected(row[0], filling.frames))
        with p.block("shapes"):
            shape = placed_shape(p, contact, cells, row, frame, frame[9:])
            box = placed_box(p, numbers[4:], frame)
        points, some = ridge_points(p, shape, box, ground, frame[9:], clear.far)
        with p.block("fill"):
            known = where(some, 0, -clear.margin(numbers[2]))  # beyond, no ridge was looked at
            second = first_solid(state) + len(contact.solids) + part
            ends = pair + 1 + first, row[0], SX(second), numbers[1], numbers[3], numbers[2]
            _fill(filling, ends, _distinct(p, points), known)
            loop.until(ca.logic_not(near.pairs.some))


def _common_lever(one: SX, other: SX) -> SX:
    """Return the smaller of two radii that are not 0 [m]."""
    return where(ca.logic_or(one == 0, ca.logic_and(other > 0, other < one)), other, one)


def _deepest(points: Sequence[ContactPoint]) -> SX:
    return ca.mmax(ca.vertcat(*(point.depth for point in points)))


def _fill(
    filling: Filling,
    ends: Sequence[SX],
    points: Sequence[ContactPoint],
    depth: SX,
    overlapping: SX | None = None,
) -> None:
    """Fill the next slot where a pair touches; inside a block.

    Where none is left, the pair takes that of the pair which is least deep, if it is deeper: pairs
    that are apart, but may meet within the step, give way to those that touch.

    `ends` are key, bodies, law, lever and `halfway` of the slot, `depth` is the largest of the pair
    [m]; where it is `overlapping` since the start it does not touch.
    """
    p, used = filling.state.program, filling.used
    touches = _deepest(points) > -filling.clearance.margin(ends[-1])
    if overlapping is not None:
        touches = ca.logic_and(touches, ca.logic_not(overlapping))
    p.assign(filling.gap, ca.fmin(filling.gap, -depth))
    for slot, place in zip(filling.slots, _places(p, filling, _deepest(points)), strict=True):
        here = p.let("here", ca.logic_and(touches, place))
        own = slot.key, slot.first, slot.second, slot.law, slot.lever, slot.halfway
        for old, value in zip(own, ends, strict=True):
            p.assign(old, where(here, value, old))
        for old, point in zip(slot.points, points, strict=True):
            p.assign(old.depth, where(here, point.depth, old.depth))
            p.assign(old.normal, where(here, point.normal, old.normal))
            p.assign(old.position, where(here, point.position, old.position))
    p.assign(used, used + touches)


def _places(p: Program, filling: Filling, depth: SX) -> list[SX]:
    """Return 1 for the slot that a pair of this depth [m] may take, by slot; inside a block."""
    depths = [_deepest(slot.points) for slot in filling.slots]
    least = p.let("least", ca.mmin(ca.vertcat(*depths)))
    full = filling.used >= len(filling.slots)
    found, left = [], p.let("left", ca.logic_and(full, depth > least))
    for slot, own in zip(filling.slots, depths, strict=True):
        shallow = ca.logic_and(left, own == least)
        found.append(ca.logic_or(filling.used == slot.number, shallow))
        left = ca.logic_and(left, ca.logic_not(shallow))
    return found


def _last_normal(inputs: StepInputs, key: SX) -> SX:
    """Return the normal of a pair in the last step, in the frame of its second body; 0: none."""
    normal = zeros()
    for own, memory in zip(inputs.slot_keys, inputs.slot_memories, strict=True):
        normal = where(own == key, memory[:SLOT_HEAD], normal)
    return normal


def _distinct(p: Program, points: Sequence[ContactPoint]) -> list[ContactPoint]:
    """Return contact points; those that repeat another one do not touch; inside a block."""
    found: list[ContactPoint] = []
    for point in points:
        away = [ca.sumsqr(point.position - other.position) for other in found]
        again = reduce(ca.logic_or, (x < SAME**2 for x in away), SX(0))
        found.append(replace(point, depth=p.let("depth", where(again, -APART, point.depth))))
    return found
