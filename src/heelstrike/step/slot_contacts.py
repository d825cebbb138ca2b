"""Box 4 of [Sugihara2006], Fig. 4: velocities and explicit forces of contacts between bodies.

The law of self-contact returns the force of each contact, as elsewhere (elastic.py). A law's memory
follows its pair of shapes: where a pair takes another slot than in the last step, its memory is
found by the number of the pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import casadi as ca

from heelstrike.contact.geometry import ContactPoint
from heelstrike.contact.law import where
from heelstrike.contact.solver.links import selected
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.ir.arguments import LABEL
from heelstrike.ir.guard import OpenGuard, guarded, reopened
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.parameters import parameters, with_values
from heelstrike.scene.shape_contact import ShapeContact
from heelstrike.scene.surfaces.sphere import radial_axes
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.rotation import MatrixRotation
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, cross, zeros
from heelstrike.step.clearance import Clearance
from heelstrike.step.contact_velocity import contact_velocity
from heelstrike.step.detect import Detection
from heelstrike.step.edges import APART
from heelstrike.step.elastic import elastic_force, loads_of, total_forces
from heelstrike.step.evaluation import NO_LOAD, Load, Loads
from heelstrike.step.pair import MovingBody, PairInputs, PairState, Side
from heelstrike.step.parted import PartedPairs
from heelstrike.step.slots import FRAME, GROUND_FRAME, Slot, Slots, fill_slots, first_solid
from heelstrike.step.state import StepState
from heelstrike.step.surfaces import (
    IMPULSE_MEMORY,
    SLOT_HEAD,
    patch_of,
    slots_turn,
    tangent_memory_size,
)
from heelstrike.step.turning import turning_loads

FIRST, SECOND = 0, 1
"""Numbers of the two bodies of a slot among its own."""
LOAD = 14
"""Numbers of the loads of a body: of normal forces and of friction force, moment and power."""


@dataclass(frozen=True)
class SlotState:
    """A slot in this step; all but its memory exists inside the guard `touch` alone."""

    slot: Slot
    touch: OpenGuard = field(metadata=LABEL)
    law: SurfaceLaw
    pairs: list[PairState]
    """Its contacts, with their explicit forces."""
    bodies: list[MovingBody]
    """Stand-ins of the two bodies that it joins."""
    load: SX
    """Sum of the explicit normal forces [N]; outside the guard."""
    memory: SX
    """Normal and memory of its contacts for the next step; a variable inside the guard of all
    slots."""
    impulses: SX
    """What its coupled contacts, then its rows against turning, remember of the last step,
    IMPULSE_MEMORY each."""
    rolls: SX
    """1 where round shapes touch at two points at most: a face does not turn by its points."""
    lever: SX
    """Radius at which they roll [m], above 0."""
    passes: SX | None
    """1 where its shapes pass one another in this step; outside the guard. None: the law keeps them
    from that."""
    coupled: list[SX] = field(default_factory=list)
    """Coupled force of each contact in its axes [N]; outside the guard."""


@dataclass(frozen=True)
class ShapeContacts:
    """Contacts between shapes of moving bodies, and their explicit loads on the bodies."""

    guard: OpenGuard
    slots: list[SlotState]
    loads: Loads
    """By body; inside the guard. None of laws that have no explicit forces."""
    forces: dict[int, ForceVector]
    """Sum of the loads on each body, in its frame; outside the guard."""
    lost: SX
    """Pairs that found no place."""
    clearance: Clearance
    gap: SX
    """Least distance of shapes, where they were compared [m]."""
    parted: PartedPairs
    """Pairs that may overlap where a run starts."""


def shape_contacts(state: StepState) -> ShapeContacts | None:
    """Return the contacts between shapes of moving bodies; None if no shapes may touch."""
    tables = state.inputs.shapes
    if tables is None:
        return None
    p, filled = state.program, fill_slots(state, tables)
    motions = {b: ca.vertcat(filled.frames[b], state.motions[b].column) for b in filled.frames}
    with reopened(p, filled.guard), p.block("slot loads"):
        spread = new_loads(p, motions)
        sizes = [memory.numel() for memory in state.inputs.slot_memories]
        memories = [p.variable("memory", zeros(size)) for size in sizes]
    found = [
        _slot_state(state, filled, slot, memory, motions, spread)
        for slot, memory in zip(filled.slots, memories, strict=True)
    ]
    loads: Loads = {}
    forces: dict[int, ForceVector] = {}
    if any(_is_explicit(pair) for slot in found for pair in slot.pairs):
        with reopened(p, filled.guard) as guard:
            loads, forces = total_forces(state, guard, loads_by_body(spread))
    rest = filled.lost, filled.clearance, filled.gap, filled.parted
    return ShapeContacts(filled.guard, found, loads, forces, *rest)


def _slot_state(
    state: StepState,
    filled: Slots,
    slot: Slot,
    memory: SX,
    motions: Mapping[int, SX],
    spread: Mapping[int, SX],
) -> SlotState:
    """Return a slot with the explicit forces of its contacts, which it adds to the loads."""
    p, n, contact = state.program, slot.number, state.scene.shape_contact
    assert contact is not None
    with guarded(p, "slot", slot.key > 0, within=filled.guard) as touch:
        law, flow = _law(state, contact, slot), _flow(state, contact, slot)
        ground = ca.vertcat(GROUND_FRAME, zeros(6)) if contact.meets_ground else None
        arguments = slot.first, slot.second, list(motions), list(motions.values()), ground
        places = call(p, "slot bodies", _stand_ins, p, *arguments, member=n)
        bodies = [_moving(k, place) for k, place in enumerate(places)]
        known = state.inputs.slot_keys, state.inputs.slot_memories
        past = call(p, "past", _past, p, slot.key, *known)
        size, pairs, loads = tangent_memory_size(law), [], []
        impulses = past[size * len(slot.points) :]
        rolls, lever = _rolling(p, slot)
        for k, point in enumerate(slot.points):
            own = past[k * size : (k + 1) * size]
            last = None
            if law.couples:  # a point that does not count is not followed
                last = where(point.depth > -APART, impulses[IMPULSE_MEMORY * k + 2], 0)
            inputs = _inputs(state, law, bodies, own, last, flow)
            inputs = replace(inputs, halfway=slot.halfway)
            pair, load = call(p, "slot contact", _contact, p, point, inputs, member=n)
            pairs.append(pair)
            loads.append(load)
        angle = SX(0, 1)
        if slots_turn(state.scene) and not law.couples:
            angle = past[size * len(slot.points) :]
            with p.block("slot moment", member=n):
                turned, angle = _turned(state, law, pairs, rolls, lever, angle)
                loads.append([(NO_LOAD, load.let(p)) for load in turned])
        if any(map(_is_explicit, pairs)):
            spread_loads(p, slot, loads, spread)
        with p.block("slot memory", member=n):
            normal = bodies[SECOND].pose.unrotate(slot.points[0].normal)
            new = ca.vertcat(normal, *(pair.memory for pair in pairs), angle)
            p.assign(memory[: new.numel()], new)
            load = touch.leave("load", sum((pair.normal for pair in pairs), SX(0)))
            flags = [pair.passes for pair in pairs if pair.passes is not None]
            passes = touch.leave("passes", reduce(ca.logic_or, flags)) if flags else None
    rest = impulses, rolls, lever, passes
    return SlotState(slot, touch, law, pairs, bodies, load, memory, *rest)


def _rolling(p: Program, slot: Slot) -> tuple[SX, SX]:
    """Return `rolls` and `lever` of a slot."""
    with p.block("rolls", member=slot.number):
        count = sum((point.depth > -APART for point in slot.points), SX(0))
        rolls = p.let("rolls", ca.logic_and(slot.lever > 0, count <= 2))
        return rolls, p.let("lever", where(rolls, slot.lever, 1))


def _turned(
    state: StepState, law: SurfaceLaw, pairs: Sequence[PairState], rolls: SX, lever: SX, angle: SX
) -> tuple[list[Load], SX]:
    """Return the loads of an explicit law against rolling and spinning, and its next memory; in a
    block. One moment serves all contacts of a slot.
    """
    patch, first = patch_of(law, extent=True), pairs[0]
    assert patch is not None
    normal = sum((pair.normal for pair in pairs), SX(0))
    spin = first.axes @ sum((side.sign * side.motion.angular for side in first.sides), zeros())
    since, rest = state.since_memory, state.dt - state.since_memory
    moment, angle = patch.moment(angle + since * spin, spin, normal, lever)
    acts = ca.logic_and(rolls, normal > 0)
    return turning_loads(first, where(acts, moment, 0)), where(acts, angle + rest * spin, 0)


def _is_explicit(pair: PairState) -> bool:
    """Return whether the law of a contact has explicit forces."""
    return not (pair.normal.is_zero() and pair.tangent.is_zero())


def _law(state: StepState, contact: ShapeContact, slot: Slot) -> SurfaceLaw:
    """Return the law of a slot, with parameters that are selected where laws differ."""
    p, surfaces, names = state.program, state.inputs.surfaces, contact.laws
    if len(names) == 1:
        return surfaces.laws[names[0]]
    law, chosen = state.scene.laws[names[0]], {}
    with p.block("slot law", member=slot.number):
        for path in parameters(law):
            known = {k: surfaces.values[f"{name}.{path}"] for k, name in enumerate(names)}
            chosen[path] = p.let("parameter", selected(slot.law, known))
    return with_values(law, chosen)


def _flow(state: StepState, contact: ShapeContact, slot: Slot) -> SX:
    """Return the velocity of the ground's material at a slot, in world axes [m/s]."""
    p, first = state.program, first_solid(state)
    if not contact.edges and not contact.ridges:
        return zeros()
    with p.block("slot flow", member=slot.number):
        surfaces = [x.surface for x in contact.solids] + [x.surface for x in contact.fields]
        flows = {
            first + k: state.surfaces[n].surface.material_velocity for k, n in enumerate(surfaces)
        }
        return p.let("flow", selected(slot.second, flows, zeros()))


def _stand_ins(
    p: Program,
    first: SX,
    second: SX,
    numbers: Sequence[int],
    motions: Sequence[SX],
    ground: SX | None,
) -> list[SX]:
    """Return frames and velocities of the two bodies of a slot; inside a block.

    `ground` is that of the world; None: a slot has bodies only.
    """
    known = dict(zip(numbers, motions, strict=True))
    one, other = selected(first, known), selected(second, known, ground)
    return [p.let("body", one), p.let("body", other)]


def _moving(number: int, place: SX) -> MovingBody:
    turn, origin = ca.reshape(place[:9], 3, 3), place[9:FRAME]
    motion = MotionVector(place[FRAME : FRAME + 3], place[FRAME + 3 :])
    return MovingBody(number, Transform((MatrixRotation(turn),), origin), motion)


def _past(p: Program, key: SX, keys: Sequence[SX], memories: Sequence[SX]) -> SX:
    """Return the memory that a pair had in the last step, 0 if it is new; inside a block."""
    past = zeros(memories[0].numel() - SLOT_HEAD)
    for own, memory in zip(keys, memories, strict=True):
        past = where(own == key, memory[SLOT_HEAD:], past)
    return p.let("past", past) if past.numel() else past


def _inputs(
    state: StepState,
    law: SurfaceLaw,
    bodies: Sequence[MovingBody],
    memory: SX,
    last: SX | None,
    flow: SX,
) -> PairInputs:
    """Return what a contact of a slot reads besides its place."""
    return PairInputs(
        position=zeros(),
        radius=0.0,
        half_axes=None,
        extent=0.0,
        rolling_lever=0.0,
        body=bodies[FIRST],
        carrier=bodies[SECOND],
        surface=None,
        part=0,
        law=law,
        memory=memory,
        last=last,
        gravity=state.gravity,
        dt=state.dt,
        since_memory=state.since_memory,
        behind=state.behind,
        flow=flow,
    )


def _contact(
    p: Program, point: ContactPoint, pair: PairInputs
) -> tuple[PairState, list[tuple[Load, Load]]]:
    """Return a contact with its explicit force and its loads; inside a block."""
    found = _detected(p, point, pair)
    velocity = contact_velocity(p, pair, found)
    state = elastic_force(p, pair, found, velocity)
    return state, loads_of(p, state)


def _detected(p: Program, point: ContactPoint, pair: PairInputs) -> Detection:
    """Return the geometry of a contact; inside a block."""
    body, carrier = pair.body, pair.carrier
    assert body is not None
    assert carrier is not None
    frame = carrier.pose
    _, own_axes = radial_axes(frame.unrotate(point.normal))
    axes = frame.rotate(own_axes.T).T
    levers = point.position, point.position + (body.pose.origin - frame.origin)
    sides = []
    for each, lever, sign in zip((body, carrier), levers, (1.0, -1.0), strict=True):
        kept = p.let("lever", lever)
        rate = p.let("rate", cross(each.motion.angular, kept))
        sides.append(Side(each.number, kept, sign, rate, 1.0, each.motion))
    position, depth = body.pose.origin + point.position, p.let("depth", point.depth)
    return Detection(depth, position, axes, tuple(sides), levers, frame, zeros(), own_axes)


def spread_loads(
    p: Program, slot: Slot, loads: Sequence[Sequence[tuple[Load, Load]]], spread: Mapping[int, SX]
) -> None:
    """Add the loads of a slot's contacts, on each side, to those of the bodies that it joins."""
    arguments = slot.first, slot.second, loads, dict(spread)
    call(p, "spread", _spread, p, *arguments, member=slot.number)


def new_loads(p: Program, bodies: Iterable[int]) -> dict[int, SX]:
    """Return variables of the loads of bodies, 0 at first; inside a block."""
    return {body: p.variable("load", zeros(LOAD)) for body in bodies}


def _spread(
    p: Program,
    first: SX,
    second: SX,
    loads: Sequence[Sequence[tuple[Load, Load]]],
    spread: Mapping[int, SX],
) -> None:
    """Add the loads of a slot to those of the bodies that it joins; inside a block."""
    own = [sum((_column(load[side]) for load in loads), zeros(LOAD)) for side in (FIRST, SECOND)]
    for body, total in spread.items():
        more = where(first == body, own[FIRST], where(second == body, own[SECOND], 0))
        p.assign(total, total + more)


def _column(loads: tuple[Load, Load]) -> SX:
    return ca.vertcat(*(ca.vertcat(load.force.column, load.power) for load in loads))


def loads_by_body(spread: Mapping[int, SX]) -> Loads:
    """Return loads of normal forces and of friction from their numbers."""
    found, half = {}, LOAD // 2
    for body, column in spread.items():
        one, other = (
            Load(ForceVector(x[:3], x[3:6]), x[6]) for x in (column[:half], column[half:])
        )
        found[body] = one, other
    return found
