"""Boxes 5 to 7 of [Sugihara2006], Fig. 4: bodies of the swept problem, links and slots.

Each gets the rows of its contacts, the twist that it would have after the step without a force, and
the field of its anchors that the last step left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from heelstrike.contact.solver.links import Link, SlotLink, selected
from heelstrike.contact.solver.rows import Row, TurningRow
from heelstrike.contact.solver.start import Motion, Start
from heelstrike.contact.solver.state import Body
from heelstrike.contact.solver.swept import SweptProblem
from heelstrike.dynamics.kinematics import accelerations
from heelstrike.ir.guard import OpenGuard, left, reopened
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.motion import MotionVector
from heelstrike.spatial.vector import SX, cross, zeros
from heelstrike.step.coupled import Coupling
from heelstrike.step.slot_contacts import SlotState
from heelstrike.step.state import StepState


def add_bodies(
    state: StepState,
    coupling: Coupling,
    problem: SweptProblem,
) -> None:
    """Add the contacting bodies, links and slots with their rows."""
    p, scene, guards = state.program, state.scene, coupling.contacts.guards
    coasts = coasts_of(state, coupling)
    if coupling.slots and coupling.contacts.slots is not None:
        with reopened(p, coupling.contacts.slots.guard), p.block("coasts"):
            in_slots = {body: p.let("coast", coast) for body, coast in coasts.items()}
    start, first = Start(p, state.inputs.tolerance), 0
    rows: dict[int, Row] = {}
    for n, bodies in enumerate(state.plan.coupled_groups):
        own = state.inputs.compliances[first : first + len(bodies)]
        first += len(bodies)
        with reopened(p, guards[bodies]):
            numbers = [j for j, k in enumerate(coupling.pairs) if scene.group_of(k) == bodies]
            limbs = [state.inputs.limb_of[coupling.moving_body(coupling.pairs[j])] for j in numbers]
            found = {j: coupling.row(j, limb) for j, limb in zip(numbers, limbs, strict=True)}
            for j, limb in zip(numbers, limbs, strict=True):
                found |= coupling.turning_rows(j, found[j], limb)
        rows |= found
        make = _body if len(bodies) == 1 else _linked
        problem.add_body(make(state, start, n, bodies, found, own, coasts, guards[bodies]))
    for slot in coupling.slots:
        rows |= _add_slot(state, coupling, problem, start, slot, in_slots, first)
    coupling.rows = [rows[j] for j in range(len(rows))]


def _add_slot(
    state: StepState,
    coupling: Coupling,
    problem: SweptProblem,
    start: Start,
    slot: SlotState,
    coasts: dict[int, SX],
    first: int,
) -> dict[int, Row]:
    """Add a slot, whose bodies are known at run time; return its rows by number.

    The compliances of bodies in slots begin at number `first`.
    """
    p, own, contact = state.program, slot.slot, state.scene.shape_contact
    assert contact is not None
    number = len(state.robot.joints) + len(state.plan.coupled_groups) + own.number
    numbers = [coupling.slot_number(own.number, k) for k in range(len(own.points))]
    one, other = slot.bodies
    with reopened(p, slot.touch) as touch:
        rows = {j: coupling.slot_row(slot, k) for k, j in enumerate(numbers)}
        rows |= coupling.slot_turning_rows(slot, list(rows.values()))
        with p.block("offset", member=own.number):
            offset = left(p, touch, "offset", one.pose.origin - other.pose.origin)
        grounded = contact.meets_ground
        link = SlotLink(own.first, own.second, offset, contact.bodies, grounded)
        parts = ca.vertsplit(state.inputs.compliances[first:])
        known = {x: (coasts[x], part) for x, part in zip(contact.bodies, parts, strict=True)}
        arguments = p, link, (one.motion, other.motion), known
        motion, whole = call(p, "slot motion", _slot_motion, *arguments, member=own.number)
    problem.add_body(start.body(number, None, rows, whole, motion, link=link, near=slot.touch))
    return rows


def _slot_motion(
    p: Program,
    link: SlotLink,
    now: tuple[MotionVector, MotionVector],
    bodies: Mapping[int, tuple[SX, SX]],
) -> tuple[Motion, SX]:
    """Return the motion of a slot, and its compliance; inside a block.

    `now` are the motions of its two bodies, `bodies` have coast and compliance of all.
    """
    coasts = {body: coast for body, (coast, _) in bodies.items()}
    parts = {body: part for body, (_, part) in bodies.items()}
    more = selected(link.second, parts, SX(0) if link.grounded else None)
    whole = p.let("compliance", selected(link.first, parts) + more)
    moving = Link(0, 1, link.offset).relative({n: x.column for n, x in enumerate(now)})
    found = link.relative(coasts), moving, link.size(coasts)
    coast, own, size = (p.let("motion", x) for x in found)
    return Motion(coast, own, size), whole


def _body(
    state: StepState,
    start: Start,
    n: int,
    bodies: tuple[int, ...],
    rows: dict[int, Row],
    own: SX,
    coasts: dict[int, SX],
    near: OpenGuard | None,
) -> Body:
    """Return the n-th body, which may touch the ground."""
    (body,) = bodies
    y = _in_world(state, body, state.inputs.fields[6 * n : 6 * n + 6])
    motion = Motion(coasts[body], state.motions[body].column)
    return start.body(body, state.inputs.limb_of[body], rows, own, motion, y, near=near)


def _linked(
    state: StepState,
    start: Start,
    n: int,
    bodies: tuple[int, ...],
    rows: dict[int, Row],
    own: SX,
    coasts: dict[int, SX],
    near: OpenGuard | None,
) -> Body:
    """Return two bodies that may touch one another; `own` has the compliance of each.

    That of both together is the sum, which falls as masses grow.
    """
    p, robot, limb = state.program, state.robot, state.inputs.limb_of[bodies[0]]
    first, second = bodies
    number = len(robot.joints) + n
    levers = [row.arms[0].lever for row in rows.values() if not isinstance(row, TurningRow)]
    if len(levers) == 1:
        with reopened(p, near) as guard, p.block("lever", limb=limb, member=number):
            levers = [left(p, guard, "lever", levers[0])]
    link = _link(state, first, second, levers)
    varied = {robot.body(name) for name in state.plan.heavier}
    with p.block("compliance", limb=limb, member=number):
        whole = SX(0)
        for part, body in zip(ca.vertsplit(own), bodies, strict=True):
            grown = robot.bodies[body].mass / state.inputs.inertias[body].mass
            whole = whole + (part * grown if body in varied else part)
        whole = p.let("compliance", whole)
    now = {body: state.motions[body].column for body in bodies}
    motion = Motion(link.relative(coasts), link.relative(now), link.size(coasts))
    return start.body(number, limb, rows, whole, motion, link=link, near=near)


def _link(state: StepState, first: int, second: int, levers: Sequence[SX]) -> Link:
    """Return the link between two bodies; levers are from the first one's origin to contacts."""
    p, poses = state.program, state.poses
    with p.block("offset", limb=state.inputs.limb_of[first]):
        offset = p.let("offset", poses[first].origin - poses[second].origin)
    return Link(first, second, offset, levers[0] if len(levers) == 1 else None)


def _in_world(state: StepState, body: int, field: SX) -> SX:
    """Return y of the last step, which is kept in the frame of the body as a force [N s, N m s]."""
    pose = state.poses[body]
    return state.dt * ca.vertcat(pose.rotate(field[:3]), pose.rotate(field[3:]))


def coasts_of(state: StepState, coupling: Coupling) -> dict[int, SX]:
    """Return the twist that each body would have after the step without acceleration.

    It is in world axes; under bias="drop" it is less by what turning alone does, as in (19).
    """
    gravity, dt = state.gravity, state.dt
    biases: list[MotionVector] | None = None
    if coupling.rule.bias == "drop":
        biases = accelerations(
            state.program, state.robot, state.kinematics, state.v, None, base=-gravity
        )
    found = {}
    for b in coupling.bodies:
        motion, pose = state.motions[b], state.poses[b]
        if biases is None:
            own = state.kinematics.velocities[b]
            linear = pose.rotate(cross(own.angular, own.linear)) + gravity
            angular = zeros()
        else:
            linear, angular = -pose.rotate(biases[b].linear), -pose.rotate(biases[b].angular)
        found[b] = ca.vertcat(motion.linear + dt * linear, motion.angular + dt * angular)
    return found
