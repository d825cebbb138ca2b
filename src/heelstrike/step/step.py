"""One step of a scene: the flowchart of [Sugihara2006], Fig. 4.

    1 kinematics, inertia, bias   2 detect contacts   3 contact velocities, normals, slip
    4 explicit elastic forces     5-7 coupled problem: contacts, torque limits, dry friction
    8 acceleration                9 integrate         10 account

The package's docstring lists the file of each box. The integrator rk4 passes through boxes 1 to 8
four times.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from heelstrike.ir.adjoint import Implicit
from heelstrike.ir.collector import collector_paused
from heelstrike.ir.guard import OpenGuard
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.motion import ForceVector
from heelstrike.spatial.vector import SX
from heelstrike.step.acceleration import accelerate
from heelstrike.step.account import account, powers
from heelstrike.step.contact_velocity import contact_velocity
from heelstrike.step.detect import detect, searched
from heelstrike.step.elastic import (
    add_forces,
    add_load,
    elastic_force,
    left_pairs,
    loads_of,
    sum_forces,
    total_forces,
)
from heelstrike.step.evaluation import Contacts, Evaluation, Group, Load, Loads
from heelstrike.step.hull_table import Sides
from heelstrike.step.hulls import on_corner
from heelstrike.step.impact_time import add_lasting
from heelstrike.step.inputs import StepInputs
from heelstrike.step.integrate import integrate
from heelstrike.step.kinematics import kinematics
from heelstrike.step.near import near
from heelstrike.step.outputs import StepValues, add_outputs
from heelstrike.step.pair import PairInputs, PairState, pair_inputs
from heelstrike.step.plan import StepPlan
from heelstrike.step.ridges import on_ridge
from heelstrike.step.slot_contacts import shape_contacts
from heelstrike.step.state import StepState


def step_program(plan: StepPlan, outputs: Sequence[str] = (), thorough: bool = False) -> Program:
    """Return the program of a step, with memory q, v, work, peaks, impulses and the laws' own.

    `outputs` names what is recorded (outputs.py). `thorough` is for derivatives: coupled contacts
    are solved in full however well they began.
    """
    return _trace(StepInputs(plan, thorough), outputs)


def held_step_program(plan: StepPlan) -> tuple[Program, Implicit | None]:
    """Return the program of a step that was made, for reverse sweeps: it has no loop.

    The pieces of the joints' rows are those at accelerations that are an input; where contacts
    couple, so are accelerations and forces themselves, and the equations that they solve are
    returned as well. Shapes of moving bodies do not touch.
    """
    inputs = StepInputs(plan, held=True)
    return _trace(inputs), inputs.implicit


@collector_paused()
def _trace(inputs: StepInputs, outputs: Sequence[str] = ()) -> Program:
    evaluations, weights, q = integrate(inputs, partial(evaluate, inputs))  # 9, around 1 to 8
    account(inputs, evaluations, weights, q)  # 10
    inputs.control.update_memory(evaluations[0].torque)
    values = StepValues(evaluations[0])
    add_outputs(values, inputs.sensors.update(values), outputs)
    return inputs.program


def evaluate(inputs: StepInputs, q: SX, v: SX, stage: float) -> Evaluation:
    """Return forces and accelerations at a state, `stage` of a step after its start."""
    state = kinematics(inputs, q, v, stage)  # 1
    contacts = explicit_contacts(state)  # 2 to 4
    found = accelerate(state, contacts)  # 5 to 8
    power, pushed, (control, passive, friction, *_) = powers(state, found)  # 10
    return Evaluation(
        state,
        found.contacts,
        found.a,
        found.specific,
        torque=control,
        sliding=found.sliding,
        friction_torque=friction,
        passive_torque=passive,
        body_forces=found.body_forces,
        coupled=found.coupled,
        power=power,
        pushed=pushed,
        loops=found.loops,
        multipliers=found.multipliers,
    )


def explicit_contacts(state: StepState) -> Contacts:
    """Return all pairs of point and surface with their explicit forces: boxes 2 to 4."""
    pairs: dict[int, PairState] = {}
    loads: dict[Group, Loads] = {}
    guards: dict[Group, OpenGuard | None] = {}
    forces: dict[Group, dict[int, ForceVector]] = {}
    for group, numbers in state.scene.groups.items():
        with near(state, group, numbers) as guard:
            found, loads[group] = explicit_pairs(state, numbers)
            if guard is not None:
                loads[group], forces[group] = total_forces(state, guard, loads[group])
                found = left_pairs(state, guard, found)
        guards[group] = guard
        pairs |= found
    ordered = add_lasting(state, [pairs[k] for k in range(len(pairs))], loads)
    for group, guard in guards.items():
        if guard is None:
            loads[group], forces[group] = total_forces(state, None, loads[group])
    inside = [(guards[group], own) for group, own in loads.items()]
    total, slots = sum_forces(state, forces), shape_contacts(state)
    if slots is not None:
        inside.append((slots.guard, slots.loads))
        add_forces(state, slots.guard, slots.loads, total)
    return Contacts(ordered, total, inside, guards, slots)


def explicit_pairs(state: StepState, numbers: Sequence[int]) -> tuple[dict[int, PairState], Loads]:
    """Return some pairs, and their loads on bodies."""
    p, pairs = state.program, {}
    loads: Loads = {}
    corners: dict[tuple[int, int, int], Sides] = {}
    for k in numbers:
        limb = state.inputs.limb_of[state.scene.pairs[k].point.body]
        inputs = on_corner(state, k, pair_inputs(state, k), corners)
        inputs = searched(p, on_ridge(state, k, inputs))
        pairs[k], own = call(p, "contact", contact, p, inputs, limb=limb, member=k)
        for side, load in zip(pairs[k].sides, own, strict=True):
            add_load(loads, side.body, load)
    return pairs, loads


def contact(p: Program, pair: PairInputs) -> tuple[PairState, list[tuple[Load, Load]]]:
    """Return a pair with its explicit force and its loads; to be called inside a block."""
    found = detect(p, pair)  # 2
    velocity = contact_velocity(p, pair, found)  # 3
    state = elastic_force(p, pair, found, velocity)  # 4
    return state, loads_of(p, state)
