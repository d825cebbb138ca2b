"""Boxes 5 to 7 of [Sugihara2006], Fig. 4: contacts, torque limits and dry friction in one problem.

The first sweep is the step's own acceleration, with each contact and each limited torque as the
last step left it. contact/solver/swept.py then goes on until all of them hold.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.contact.law import where
from heelstrike.contact.solver.criteria import EXACT, USUAL
from heelstrike.contact.solver.rows import Clamp, joint_row
from heelstrike.contact.solver.state import Body
from heelstrike.contact.solver.swept import SweptProblem, full
from heelstrike.dynamics.aba import forward_dynamics
from heelstrike.dynamics.kinematics import accelerations
from heelstrike.dynamics.sweep import BodyLoad, Sweep, body_load, set_force, set_stiffness
from heelstrike.ir.guard import guarded
from heelstrike.spatial.inertia import Inertia
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.vector import SX, cross, zeros
from heelstrike.step.coupled import Coupling
from heelstrike.step.joints import HOLD, STUCK
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
) -> tuple[LimitedSolution, CoupledSolution]:
    """Return the accelerations, and the solution of the problem."""
    p, robot, inputs = state.program, state.robot, state.inputs
    coupling = Coupling(state, contacts, memory)
    accuracy = EXACT if coupling.rule.exact else USUAL
    options = accuracy, inputs.unshared, inputs.thorough
    problem = SweptProblem(p, state.dt, inputs.tolerance, *options)
    loads = _add_bodies(state, coupling, problem, external)
    tau, diagonal = _add_joints(state, problem, torques)
    added: dict[int, Inertia] = {body: load.inertia for body, load in loads.items()}
    first = forward_dynamics(
        p, robot, state.kinematics, state.v, tau, state.gravity, diagonal, external, added
    )
    tree = Sweep(p, robot, state.kinematics, state.poses, first, loads, list(problem.joints))
    moved = {}
    for body in problem.bodies:
        with p.block("first", limb=body.limb, member=body.number):
            pose, own = state.poses[body.number], first.bodies[body.number]
            turned = ca.vertcat(pose.rotate(own.linear), pose.rotate(own.angular))
            moved[body.number] = p.let("moved", turned)
    solved = problem.solve(tree, inputs.limbs, first.a, moved, diagonal)
    a, specific = tree.end(solved.a)
    _remember_fields(state, problem.bodies, solved.fields)
    if solved.unshared is not None:
        with p.block("unshared"):
            p.update(UNSHARED_MEMORY, solved.unshared)
    merged, kept = coupling.merged(solved.impulses, solved.slides)
    ended = solved.rounds, solved.unfinished, solved.residual
    coupled = CoupledSolution(a, specific, merged, kept, *ended)
    applied, states = zip(*(_applied(t, problem, state, a) for t in torques), strict=True)
    return LimitedSolution(a, list(applied), list(states), SX(0, 1)), coupled


def _add_bodies(
    state: StepState,
    coupling: Coupling,
    problem: SweptProblem,
    external: list[ForceVector | None],
) -> dict[int, BodyLoad]:
    """Add the contacting bodies with their rows; add their guessed forces to the external ones."""
    loads = {}
    for n, k in enumerate(coupling.pairs):
        limb = state.inputs.limb_of[coupling.moving_body(k)]
        coupling.rows.append(coupling.row(n, limb))
    coasts = _coasts(state, coupling)
    for n, number in enumerate(coupling.bodies):
        rows = {j: row for j, row in enumerate(coupling.rows) if row.arms[0].body == n}
        own = state.inputs.compliances[n]
        limb, motion = state.inputs.limb_of[number], state.motions[number]
        y = _in_world(state, number, state.inputs.fields[6 * n : 6 * n + 6])
        body = problem.add_body(number, limb, rows, own, coasts[number], motion.column, y)
        loads[number] = _loaded(state, body, external)
    return loads


def _in_world(state: StepState, body: int, field: SX) -> SX:
    """Return y of the last step, which is kept in the frame of the body as a force [N s, N m s]."""
    pose = state.poses[body]
    return state.dt * ca.vertcat(pose.rotate(field[:3]), pose.rotate(field[3:]))


def _remember_fields(state: StepState, bodies: Sequence[Body], fields: SX) -> None:
    """Update the memory of y."""
    p = state.program
    for n, body in enumerate(bodies):
        pose, own = state.poses[body.number], fields[6 * n : 6 * n + 6] / state.dt
        with p.block("field", limb=body.limb, member=body.number):
            kept = ca.vertcat(pose.unrotate(own[:3]), pose.unrotate(own[3:]))
            p.update_part(FIELD_MEMORY, 6 * n, kept)


def _loaded(state: StepState, body: Body, external: list[ForceVector | None]) -> BodyLoad:
    """Return the load of a body, set to its guess, whose force joins the external one."""
    p, number, pose = state.program, body.number, state.poses[body.number]
    with p.block("load", limb=body.limb, member=number):
        load = body_load(p)
    with guarded(p, "load", body.active), p.block("load guess", limb=body.limb, member=number):
        set_force(p, load, pose, body.wrench / state.dt)
        set_stiffness(p, load, pose, full(body.stiffness))
    old = external[number]
    with p.block("external", limb=body.limb, member=number):
        force = load.force if old is None else load.force + old
        external[number] = ForceVector(p.let("push", force.linear), p.let("push", force.angular))
    return load


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
    """Add the limited torques; return torque and diagonal of H for the first sweep."""
    p, robot, inputs = state.program, state.robot, state.inputs
    now, diagonal = zeros(robot.nv), zeros(robot.nv)
    for limb, i in by_joint(inputs.limbs):
        with p.block("torque", limb=limb, member=i):
            straight, fixed = SX(0), SX(float(robot.armature[i]))
            line, slope, anchor = SX(0), SX(0), SX(0)
            clamps: list[Clamp] = []
            friction: Clamp | None = None
            for torque in torques:
                if i not in torque.limited:
                    straight, fixed = straight + torque.now[i], fixed + torque.slope[i]
                    continue
                assert torque.limit is not None
                limit = torque.limit[i]
                if torque.start is None:
                    clamp = _clamp(state, torque.now[i], torque.slope[i], limit)
                    clamps.append(clamp)
                    line, slope = line + clamp.now, slope + clamp.slope
                else:
                    k = torque.limited.index(i)
                    share = HOLD / (STUCK * state.dt)
                    friction = _clamp(state, share * torque.now[i], share * torque.slope[i], limit)
                    guess = p.let("guess", torque.start[k])
                    sticks = guess == 0
                    last = inputs.friction[1][k]
                    anchor = p.let("anchor", where(sticks, last, guess) * limit)
                    line = line + where(sticks, anchor + friction.now, anchor)
                    slope = slope + where(sticks, friction.slope, 0)
            line, fixed = p.let("line", line), p.let("fixed", fixed)
            now[i] = p.let("now", straight + line)
            diagonal[i] = p.variable("diagonal", fixed + slope)
            if clamps or friction:
                row = joint_row(p, tuple(clamps), friction, fixed, anchor, slope, line)
                problem.add_joint(i, limb, row)
    return now, diagonal


def _clamp(state: StepState, now: SX, slope: SX, limit: SX) -> Clamp:
    p = state.program
    return Clamp(p.let("now", now), p.let("slope", slope), -limit, limit)


def _applied(torque: Torque, problem: SweptProblem, state: StepState, a: SX) -> tuple[Torque, SX]:
    """Return a torque as it acted, and which of its limited entries are at their limits.

    Dry friction at its limit counts as sliding only where the joint moves.
    """
    now, slope, states = SX(torque.now), SX(torque.slope), zeros(len(torque.limited))
    for k, i in enumerate(torque.limited):
        assert torque.limit is not None
        limit = torque.limit[i]
        high, low = SX(1), SX(1)
        if torque.start is None:
            free = torque.now[i] - torque.slope[i] * a[i]
        else:
            free = problem.joints[i][1].rubs
            after = state.v[i] + state.dt * a[i]
            high, low = after < -USUAL.creeps, after > USUAL.creeps
        now[i], slope[i] = ca.fmax(-limit, ca.fmin(limit, free)), 0
        high, low = ca.logic_and(free >= limit, high), ca.logic_and(free <= -limit, low)
        states[k] = where(high, 1, where(low, -1, 0))
    return Torque(now, slope), states
