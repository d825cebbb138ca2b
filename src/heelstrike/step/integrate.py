"""Box 9 of [Sugihara2006], Fig. 4: integrate.

The methods are those of dynamics/integrate.py: symplectic Euler, as in [Sugihara2006], explicit
Euler, and the classical Runge-Kutta method, as in [Tsujita2009]. Under the first one, free bases
that no contact holds keep their momentum (dynamics/flight.py): bodies by themselves unless a
coupled contact pushes them, which sets their velocity after the step; robots unless any does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import casadi as ca

from heelstrike.dynamics.flight import Flight, bodies_of, floating_robots, lone_bodies
from heelstrike.dynamics.integrate import euler, rk4
from heelstrike.spatial.motion import ForceVector
from heelstrike.spatial.vector import SX
from heelstrike.step.body_forces import about_base
from heelstrike.step.evaluation import Evaluation
from heelstrike.step.half_step import remember_half_step
from heelstrike.step.impact_time import late_times
from heelstrike.step.inputs import StepInputs
from heelstrike.step.pair import PairState
from heelstrike.step.surfaces import IMPULSE_MEMORY

STAGES = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))
"""Stages of rk4: time since the start of the step, as a fraction of dt, and weight."""

Evaluate = Callable[[SX, SX, float], Evaluation]
"""(q, v, time since the start of the step as a fraction of dt) -> evaluation"""


def integrate(inputs: StepInputs, evaluate: Evaluate) -> tuple[list[Evaluation], list[float], SX]:
    """Update the memories q and v; return the step's evaluations, their weights and the new q."""
    p, robot = inputs.program, inputs.plan.robot
    if inputs.plan.integrator != "rk4":
        found = evaluate(inputs.q, inputs.v, 0.0)
        flight = _flight(found) if inputs.plan.integrator == "symplectic" else None
        q = euler(p, robot, inputs.q, inputs.v, found.a, inputs.dt, flight)
        ended = None if found.coupled is None else found.coupled.ended
        remember_half_step(inputs, found.a, ended)
        return [found], [1.0], q
    evaluations: list[Evaluation] = []

    def acceleration(q: SX, v: SX) -> SX:
        evaluations.append(evaluate(q, v, STAGES[len(evaluations)][0]))
        return evaluations[-1].a

    q, v = rk4(p, robot, inputs.q, inputs.v, inputs.dt, acceleration)
    with p.block("end"):
        p.update("q", q)
        p.update("v", v)
    return evaluations, [weight for _, weight in STAGES], q


def _flight(found: Evaluation) -> Flight:
    """Return which free bases contacts hold, and what else pushes robots."""
    state = found.state
    p, robot, held, pushes = state.program, state.robot, {}, {}
    pairs, impulses = found.contacts.pairs, _coupled_normals(found)
    for root in (*lone_bodies(robot), *floating_robots(robot)):
        bodies = set(bodies_of(robot, root))
        reaching = [k for k, pair in enumerate(pairs) if _reaches(pair, bodies)]
        if len(bodies) == 1:
            loads = [impulses[k] for k in reaching if k in impulses]
        else:
            loads = [pairs[k].normal for k in reaching]
        loads += _slot_loads(found, bodies)
        if loads:
            with p.block("held", limb=state.inputs.limb_of[root]):
                held[root] = p.let("held", ca.mmax(ca.fabs(ca.vertcat(*loads))) > 0)
        if own_forces := [own for own in found.body_forces if own.body in bodies]:
            with p.block("pushed", limb=state.inputs.limb_of[root]):
                total = about_base(state, own_forces, root)
                own = p.let("pushed", total.linear), p.let("pushed", total.angular)
                pushes[root] = ForceVector(*own)
    return Flight(state.kinematics, state.gravity, held, pushes, late_times(state, pairs))


def _coupled_normals(found: Evaluation) -> dict[int, SX]:
    """Return the normal forces of coupled contacts [N], by number of the pair."""
    if found.coupled is None:
        return {}
    memory, pairs = found.coupled.memory, found.state.plan.coupled_pairs
    return {k: memory[IMPULSE_MEMORY * n + 2] for n, k in enumerate(pairs)}


def _slot_loads(found: Evaluation, bodies: set[int]) -> list[SX]:
    """Return the loads of slots that join some of these bodies to others [N].

    Those of a single body count where they are coupled.
    """
    slots, contact = found.contacts.slots, found.state.scene.shape_contact
    if slots is None or contact is None:
        return []
    if not contact.meets_ground and bodies.issuperset(contact.bodies):
        return []
    inside = bodies.intersection(contact.bodies)
    loads = []
    for slot in slots.slots if inside else ():
        joins = [
            reduce(ca.logic_or, (end == body for body in sorted(inside)))
            for end in (slot.slot.first, slot.slot.second)
        ]
        load = SX(0) if len(bodies) == 1 else slot.load
        load = load + sum((force[2] for force in slot.coupled), SX(0))
        loads.append(ca.if_else(joins[0] != joins[1], load, 0))
    return loads


def _reaches(pair: PairState, bodies: set[int]) -> bool:
    """Return whether a contact joins some of these bodies to others or to the ground."""
    inside = [side.body in bodies for side in pair.sides]
    return any(inside) and not (all(inside) and len(inside) == 2)
