"""Boxes 5 to 7 of [Sugihara2006], Fig. 4: contacts and rows of joints in one problem.

The first sweep is the step's own acceleration, with each contact and each limited torque as the
last step left it. contact/solver/swept.py then goes on until all of them hold.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.contact.solver.criteria import EXACT, USUAL
from heelstrike.contact.solver.links import Link, Pull, any_of, pull_sum, pulls_by_body
from heelstrike.contact.solver.state import Body, full
from heelstrike.contact.solver.swept import SweptProblem
from heelstrike.dynamics.aba import forward_dynamics
from heelstrike.dynamics.loop_sweep import ClosedLoop
from heelstrike.dynamics.sweep import BodyLoad, Sweep, body_load, set_force, set_stiffness
from heelstrike.ir.guard import guarded, left, reopened
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.inertia import Inertia
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.vector import SX
from heelstrike.step.coupled import Coupling
from heelstrike.step.evaluation import Contacts, CoupledSolution
from heelstrike.step.half_step import Moving
from heelstrike.step.inputs import FIELD_MEMORY, UNSHARED_MEMORY
from heelstrike.step.state import StepState
from heelstrike.step.swept_bodies import add_bodies
from heelstrike.step.swept_joints import add_joints, applied_torque
from heelstrike.step.torque import LimitedSolution, Torque


def accelerate_swept(
    state: StepState,
    moving: Moving,
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
    add_bodies(state, coupling, problem)
    loads = _loads(state, problem, external)
    tau, diagonal = add_joints(state, problem, torques)
    inertias: dict[int, Inertia] = {
        body: load.inertia for body, load in loads.items() if load.inertia is not None
    }
    motion = robot, moving.kinematics, moving.v, tau, state.gravity, diagonal
    first = forward_dynamics(p, *motion, external, inertias, loops)
    limited = list(problem.rows)
    tree = Sweep(p, robot, state.kinematics, state.poses, first, loads, limited, loops)
    moved = _moved(state, coupling, problem, first.bodies)
    solved = problem.solve(tree, inputs.limbs, first.a, *moved, diagonal)
    a, specific = tree.end(solved.a)
    _remember_fields(state, [body for body in problem.bodies if body.link is None])
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
    applied, slides = zip(*(applied_torque(t, state, a) for t in torques), strict=True)
    sliding = ca.vertcat(SX(0, 1), *(x for own in slides for x in own))
    return LimitedSolution(a, list(applied), sliding, SX(0, 1)), coupled


def _moved(
    state: StepState, coupling: Coupling, problem: SweptProblem, bodies: Sequence[MotionVector]
) -> tuple[dict[int, SX], dict[int, SX]]:
    """Return accelerations of loaded bodies in world axes; of those in links as symbols.

    The second are those of bodies in slots, inside the guard in which slots are filled.
    """
    p, limb_of = state.program, state.inputs.limb_of
    linked = {x for body in problem.bodies if isinstance(body.link, Link) for x in body.link.bodies}
    found = {
        number: _turned(state, bodies, number)
        for number in linked.union(body.number for body in problem.bodies if body.link is None)
    }
    for number in sorted(linked):
        with p.block("first", limb=limb_of[number], member=number):
            found[number] = p.let("moved", found[number])
    slots, contact, in_slots = coupling.contacts.slots, state.scene.shape_contact, {}
    if coupling.slots and slots is not None and contact is not None:
        with reopened(p, slots.guard), p.block("first"):
            for number in contact.bodies:
                in_slots[number] = p.let("moved", _turned(state, bodies, number))
    return found, in_slots


def _turned(state: StepState, bodies: Sequence[MotionVector], number: int) -> SX:
    """Return the acceleration of a body in world axes (6)."""
    pose, own = state.poses[number], bodies[number]
    return ca.vertcat(pose.rotate(own.linear), pose.rotate(own.angular))


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
            loads[number] = body_load(p, state.poses[number], number in grounded)
    for number, body in grounded.items():
        own = p, loads[number], body.wrench, body.stiffness, dt
        with reopened(p, body.touch):
            call(p, "load guess", _guess_load, *own, limb=body.limb, member=number)
    if linked:
        wrenches = [body.wrench for body, _ in linked]
        ground = {number: body.wrench for number, body in grounded.items()}
        with p.block("links touch"):
            touching = p.let("touching", any_of(body.active for body, _ in linked))
        with guarded(p, "links", touching):
            pulls = pulls_by_body(p, [link for _, link in linked], wrenches)
            for number, parts in pulls.items():
                arguments = p, loads[number], SX(number), parts, ground.get(number), dt
                limb = limb_of[number]
                call(p, "pull of links", _pull, *arguments, limb=limb, member=number)
    for number, load in loads.items():
        old = external[number]
        with p.block("external", limb=limb_of[number], member=number):
            force = load.force if old is None else load.force + old
            linear, angular = p.let("push", force.linear), p.let("push", force.angular)
            external[number] = ForceVector(linear, angular)
    return loads


def _guess_load(p: Program, load: BodyLoad, wrench: SX, stiffness: SX, dt: SX) -> None:
    set_force(p, load, wrench / dt)
    set_stiffness(p, load, full(stiffness))


def _pull(
    p: Program, load: BodyLoad, number: SX, pulls: Sequence[Pull], ground: SX | None, dt: SX
) -> None:
    set_force(p, load, pull_sum(number, pulls, ground) / dt)
