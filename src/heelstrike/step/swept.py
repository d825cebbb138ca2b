"""Boxes 5 to 7 of [Sugihara2006], Fig. 4: contacts and rows of joints in one problem.

The first sweep is the step's own acceleration, with each contact and each limited torque as the
last step left it. contact/solver/swept.py then goes on until all of them hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import casadi as ca

from heelstrike.contact.law import where
from heelstrike.contact.solver.criteria import EXACT, USUAL
from heelstrike.contact.solver.joint_rows import DryFriction, Piecewise, joint_row
from heelstrike.contact.solver.links import Link, SlotLink, added, any_of, selected
from heelstrike.contact.solver.rows import Row
from heelstrike.contact.solver.start import Motion, Start
from heelstrike.contact.solver.state import Body, full
from heelstrike.contact.solver.swept import SweptProblem
from heelstrike.dynamics.aba import forward_dynamics
from heelstrike.dynamics.kinematics import accelerations
from heelstrike.dynamics.loop_sweep import ClosedLoop
from heelstrike.dynamics.sweep import BodyLoad, Sweep, body_load, set_force, set_stiffness
from heelstrike.ir.guard import OpenGuard, guarded, left, reopened
from heelstrike.spatial.inertia import Inertia
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.vector import SX, cross, zeros
from heelstrike.step.coupled import Coupling
from heelstrike.step.joints import HOLD, STUCK
from heelstrike.step.slot_contacts import SLOTS, SlotState
from heelstrike.step.state import (
    FIELD_MEMORY,
    UNSHARED_MEMORY,
    Contacts,
    CoupledSolution,
    StepState,
)
from heelstrike.step.torque import LimitedSolution, Torque, by_joint


def accelerate_swept(
    state: StepState,
    contacts: Contacts,
    external: list[ForceVector | None],
    torques: Sequence[Torque],
    memory: SX,
    loops: Sequence[ClosedLoop],
) -> tuple[LimitedSolution, CoupledSolution]:
    """Return the accelerations, and the solution of the problem."""
    p, robot, inputs = state.program, state.robot, state.inputs
    coupling = Coupling(state, contacts, memory)
    accuracy = EXACT if coupling.rule.exact else USUAL
    options = accuracy, inputs.unshared, inputs.thorough
    problem = SweptProblem(p, state.dt, inputs.tolerance, *options)
    loads = _add_bodies(state, coupling, problem, external)
    tau, diagonal = _add_joints(state, problem, torques)
    inertias: dict[int, Inertia] = {
        body: load.inertia for body, load in loads.items() if load.inertia is not None
    }
    motion = robot, state.kinematics, state.v, tau, state.gravity, diagonal
    first = forward_dynamics(p, *motion, external, inertias, loops)
    limited = list(problem.joints)
    tree = Sweep(p, robot, state.kinematics, state.poses, first, loads, limited, loops)
    moved = _moved(state, problem, first.bodies, loads)
    solved = problem.solve(tree, inputs.limbs, first.a, moved, diagonal)
    a, specific = tree.end(solved.a)
    _remember_fields(state, problem.grounded)
    if solved.unshared is not None:
        with p.block("unshared"):
            p.update(UNSHARED_MEMORY, solved.unshared)
    guards = {
        group: body.touch
        for group, body in zip(state.plan.coupled_groups, problem.bodies, strict=False)
    }
    merged, kept = coupling.merged(solved.impulses, solved.slides, guards)
    touches = [body.touch for body in problem.bodies[len(guards) :]]
    merged = coupling.with_slots(merged, solved.impulses, solved.slides, touches)
    ended = solved.rounds, solved.ended, solved.residual
    coupled = CoupledSolution(a, specific, merged, kept, *ended, tree.multipliers)
    applied, states = zip(*(_applied(t, problem, state, a) for t in torques), strict=True)
    sliding = ca.vertcat(SX(0, 1), *(x for own in states for x in own))
    return LimitedSolution(a, list(applied), sliding, SX(0, 1)), coupled


def _add_bodies(
    state: StepState,
    coupling: Coupling,
    problem: SweptProblem,
    external: list[ForceVector | None],
) -> dict[int, BodyLoad]:
    """Add the contacting bodies with their rows; add their guessed forces to the external ones."""
    p, scene, guards = state.program, state.scene, coupling.contacts.guards
    coasts = _coasts(state, coupling)
    start, first = Start(p, state.inputs.tolerance), 0
    rows: dict[int, Row] = {}
    for n, bodies in enumerate(state.plan.coupled_groups):
        own = state.inputs.compliances[first : first + len(bodies)]
        first += len(bodies)
        with reopened(p, guards[bodies]):
            numbers = [j for j, k in enumerate(coupling.pairs) if scene.group_of(k) == bodies]
            limbs = [state.inputs.limb_of[coupling.moving_body(coupling.pairs[j])] for j in numbers]
            found = {j: coupling.row(j, limb) for j, limb in zip(numbers, limbs, strict=True)}
        rows |= found
        make = _body if len(bodies) == 1 else _linked
        problem.add_body(make(state, start, n, bodies, found, own, coasts, guards[bodies]))
    for slot in coupling.slots:
        rows |= _add_slot(state, coupling, problem, start, slot, coasts, first)
    coupling.rows = [rows[j] for j in range(len(rows))]
    return _loads(state, problem, external)


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
        with p.block("offset", limb=SLOTS, member=own.number):
            offset = left(p, touch, "offset", one.pose.origin - other.pose.origin)
        grounded = bool(contact.edges)
        link = SlotLink(own.first, own.second, offset, contact.bodies, grounded)
        with p.block("slot motion", limb=SLOTS, member=own.number):
            parts = dict(
                zip(contact.bodies, ca.vertsplit(state.inputs.compliances[first:]), strict=True)
            )
            more = selected(own.second, parts, SX(0) if grounded else None)
            whole = selected(own.first, parts) + more
            whole = p.let("compliance", whole)
            now = Link(0, 1, offset).relative({0: one.motion.column, 1: other.motion.column})
            coast = link.relative({body: coasts[body] for body in contact.bodies})
            motion = Motion(p.let("coast", coast), p.let("now", now))
    problem.add_body(start.body(number, SLOTS, rows, whole, motion, link=link, near=slot.touch))
    return rows


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
    levers = [row.arms[0].lever for row in rows.values()]
    if len(levers) == 1:
        with reopened(p, near) as guard, p.block("lever", limb=limb, member=number):
            levers = [left(p, guard, "lever", levers[0])]
    link = _link(state, first, second, levers)
    varied = {robot.body(name) for name in state.plan.varied}
    with p.block("compliance", limb=limb, member=number):
        whole = SX(0)
        for part, body in zip(ca.vertsplit(own), bodies, strict=True):
            grown = robot.bodies[body].mass / state.inputs.inertias[body].mass
            whole = whole + (part * grown if body in varied else part)
        whole = p.let("compliance", whole)
    now = {body: state.motions[body].column for body in bodies}
    motion = Motion(link.relative(coasts), link.relative(now))
    return start.body(number, limb, rows, whole, motion, link=link, near=near)


def _moved(
    state: StepState, problem: SweptProblem, bodies: Sequence[MotionVector], loaded: Iterable[int]
) -> dict[int, SX]:
    """Return accelerations of loaded bodies in world axes; of those in links as symbols."""
    p, found = state.program, {}
    links = [body.link for body in problem.bodies if body.link is not None]
    linked = {number for link in links for number in link.bodies}
    for number in loaded:
        pose, own = state.poses[number], bodies[number]
        found[number] = ca.vertcat(pose.rotate(own.linear), pose.rotate(own.angular))
        if number in linked:
            with p.block("first", limb=state.inputs.limb_of[number], member=number):
                found[number] = p.let("moved", found[number])
    return found


def _in_world(state: StepState, body: int, field: SX) -> SX:
    """Return y of the last step, which is kept in the frame of the body as a force [N s, N m s]."""
    pose = state.poses[body]
    return state.dt * ca.vertcat(pose.rotate(field[:3]), pose.rotate(field[3:]))


def _remember_fields(state: StepState, bodies: Sequence[Body]) -> None:
    """Update the memory of y, which is 0 where a body touches nothing."""
    p = state.program
    for n, body in enumerate(bodies):
        limb, number, pose = body.limb, body.number, state.poses[body.number]
        with reopened(p, body.touch) as touch, p.block("field", limb=limb, member=number):
            own = body.y / state.dt
            turned = ca.vertcat(pose.unrotate(own[:3]), pose.unrotate(own[3:]))
            kept = left(p, touch, "field", turned)
        with p.block("kept field", limb=limb, member=number):
            p.update_part(FIELD_MEMORY, 6 * n, kept)


def _link(state: StepState, first: int, second: int, levers: Sequence[SX]) -> Link:
    """Return the link between two bodies; levers are from the first one's origin to contacts."""
    p, poses = state.program, state.poses
    with p.block("offset", limb=state.inputs.limb_of[first]):
        offset = p.let("offset", poses[first].origin - poses[second].origin)
    return Link(first, second, offset, levers[0] if len(levers) == 1 else None)


def _loads(
    state: StepState, problem: SweptProblem, external: list[ForceVector | None]
) -> dict[int, BodyLoad]:
    """Return the loads of bodies, set to their guesses, whose forces join the external ones."""
    p, limb_of, dt = state.program, state.inputs.limb_of, state.dt
    grounded = {body.number: body for body in problem.bodies if body.link is None}
    linked = [(body, body.link) for body in problem.bodies if body.link is not None]
    numbers = {*grounded, *(n for _, link in linked for n in link.bodies)}
    loads = {}
    for number in sorted(numbers):
        with p.block("load", limb=limb_of[number], member=number):
            loads[number] = body_load(p, number in grounded)
    for number, body in grounded.items():
        pose, load = state.poses[number], loads[number]
        with reopened(p, body.touch), p.block("load guess", limb=body.limb, member=number):
            set_force(p, load, pose, body.wrench / dt)
            set_stiffness(p, load, pose, full(body.stiffness))
    if linked:
        wrenches = [body.wrench for body, _ in linked]
        ground = {number: body.wrench for number, body in grounded.items()}
        pulls = added([link for _, link in linked], wrenches, ground)
        with p.block("links touch"):
            touching = p.let("touching", any_of(body.active for body, _ in linked))
        with guarded(p, "links", touching):
            for number, force in pulls.items():
                with p.block("pull of links", limb=limb_of[number], member=number):
                    set_force(p, loads[number], state.poses[number], force / dt)
    for number, load in loads.items():
        old = external[number]
        with p.block("external", limb=limb_of[number], member=number):
            force = load.force if old is None else load.force + old
            linear, angular = p.let("push", force.linear), p.let("push", force.angular)
            external[number] = ForceVector(linear, angular)
    return loads


def _coasts(state: StepState, coupling: Coupling) -> dict[int, SX]:
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


def _add_joints(
    state: StepState, problem: SweptProblem, torques: Sequence[Torque]
) -> tuple[SX, SX]:
    """Add the rows of joints; return torque and diagonal of H for the first sweep.

    `torques` get their rows as symbols.
    """
    p, robot = state.program, state.robot
    tau, diagonal = zeros(robot.nv), zeros(robot.nv)
    for limb, i in by_joint(state.inputs.limbs):
        with p.block("torque", limb=limb, member=i):
            straight, fixed = SX(0), SX(float(robot.armature[i]))
            line, slope, anchor = SX(0), SX(0), SX(0)
            rows: list[Piecewise] = []
            friction: DryFriction | None = None
            for torque in torques:
                straight, fixed = straight + torque.now[i], fixed + torque.slope[i]
                kept: list[Piecewise] = []
                for row in torque.rows.get(i, ()):
                    if isinstance(row, DryFriction):
                        kept.append(row)
                        friction = _softer(state, row)
                        sticks = row.guess == 0
                        anchor = p.let("anchor", where(sticks, row.anchor, row.guess * row.limit))
                        line = line + where(sticks, anchor + friction.now, anchor)
                        slope = slope + where(sticks, friction.slope, 0)
                    else:
                        kept.append(row.kept(p))
                        rows.append(kept[-1])
                        now, fall = kept[-1].line(SX(row.guess))
                        line, slope = line + now, slope + fall
                if kept:
                    torque.rows[i] = tuple(kept)
            line, fixed = p.let("line", line), p.let("fixed", fixed)
            tau[i] = p.let("now", straight + line)
            diagonal[i] = p.variable("diagonal", fixed + slope)
            if rows or friction:
                parts = tuple(rows), friction
                problem.add_joint(i, limb, joint_row(p, *parts, fixed, anchor, slope, line))
    return tau, diagonal


def _softer(state: StepState, row: DryFriction) -> DryFriction:
    """Return dry friction as a pass has it; inside a block."""
    p, share = state.program, HOLD / (STUCK * state.dt)
    return replace(
        row, now=p.let("now", share * row.now), slope=p.let("slope", share * row.slope), anchor=0.0
    )


def _applied(torque: Torque, problem: SweptProblem, state: StepState, a: SX) -> tuple[SX, list[SX]]:
    """Return a torque as it acted, and the states of its dry friction.

    Dry friction at its limit counts as sliding only where the joint moves.
    """
    applied, states = torque.now - torque.slope * a, []
    for i, rows in torque.rows.items():
        for row in rows:
            if not isinstance(row, DryFriction):
                applied[i] += row.at(a[i])[0]
                continue
            rubs, after = problem.joints[i][1].rubs, state.v[i] + state.dt * a[i]
            applied[i] += rubs
            high = ca.logic_and(rubs >= row.limit, after < -USUAL.creeps)
            low = ca.logic_and(rubs <= -row.limit, after > USUAL.creeps)
            states.append(where(high, 1, where(low, -1, 0)))
    return applied, states
