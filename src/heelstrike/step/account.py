"""Box 10, added to those of [Sugihara2006], Fig. 4: account for works, peaks, impulses and memory.

    work += dt P,   P = f . (v + ahead a)

where `ahead` is half a step, in whose middle the force of a step acts while the velocity changes;
under rk4 it is 0, and the powers of the four evaluations are weighted as the method does. a is
that of world axes: the components of a twist turn with the body, which adds w x v.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.ir.guard import left, reopened
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.motion import MotionVector
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, add_cross, cross, zeros
from heelstrike.step.acceleration import Acceleration
from heelstrike.step.body_forces import power_of
from heelstrike.step.clearance import remember_clearance
from heelstrike.step.evaluation import Contacts, Evaluation, Load
from heelstrike.step.inputs import (
    FRICTION_EXPECTED,
    FRICTION_LAST,
    IMPULSES,
    LAST_ACCELERATION,
    LOST_CONTACTS,
    PASSED_CONTACTS,
    SLOT_KEYS,
    SLOT_MEMORY,
    StepInputs,
)
from heelstrike.step.joints import expected_friction
from heelstrike.step.state import StepState
from heelstrike.step.surfaces import IMPULSE_MEMORY, TURNS
from heelstrike.step.torque import by_joint

MAX_SPEED = 1e4
"""Speed of a joint above which a world has diverged [rad/s or m/s]."""


def powers(state: StepState, found: Acceleration) -> tuple[SX, dict[int, SX], list[SX]]:
    """Return the powers in the order of WORKS [W], forces of contacts on bodies, and the torques.

    The torques are those of the control, damping with springs, dry friction and, where there are
    any, stops.
    """
    p, limbs, ahead = state.program, state.inputs.limbs, state.middle
    (normal, tangent), pushed = _contact_power(state, found.contacts, found.specific, ahead)
    middle = state.v + ahead * _rates(state, found.a)
    applied = [SX(torque) for torque in found.torques]
    own = []
    for limb, i in by_joint(limbs):
        with p.block("work", limb=limb, member=i):
            for torque in applied:
                if not torque[i].is_symbolic():  # else a variable that changes no more
                    torque[i] = p.let("torque", torque[i])
            control, damping, friction, *stops = (torque[i] for torque in applied)
            power = ca.vertcat(control, damping + friction, *stops) * middle[i]
            own.append(p.let("work", power))
    sums = []
    for limb, indices in limbs:
        with p.block("power", limb=limb):
            sums.append(p.let("work", sum((own[i] for i in indices), SX(0))))
    with p.block("power"):
        control, joints, *stops = ca.vertsplit(sum(sums, SX(0)))
        pushes, lifts, sites = (
            power_of(state, found.body_forces, work, found.specific, ahead)
            for work in ("work_push", "work_joints", "work_control")
        )
        joints, control = joints + lifts, control + sites
        power = ca.vertcat(normal, tangent, control, *(stops or [SX(0)]), joints, pushes)
        return p.let("power", power), pushed, applied


def _rates(state: StepState, a: SX) -> SX:
    """Return the accelerations, of free joints with springs in world axes."""
    robot, v, rates = state.robot, state.v, SX(a)
    for joint in (robot.joints[spring.joint] for spring in robot.springs):
        if joint.kind == "free":
            linear, angular = joint.v_slice.start, joint.v_slice.start + 3
            turned = cross(v[angular : angular + 3], v[linear:angular])
            rates[linear:angular] = a[linear:angular] + turned
    return rates


def _contact_power(
    state: StepState, contacts: Contacts, specific: Sequence[MotionVector], ahead: SX | float
) -> tuple[tuple[SX, SX], dict[int, SX]]:
    """Return the power of the normal forces and of friction [W], and the force on each body."""
    p, normal, tangent = state.program, SX(0), SX(0)
    pushed: dict[int, SX] = {}
    for within, own in contacts.loads:
        if not own:
            continue
        made = {}
        with reopened(p, within) as guard:
            for body, loads in own.items():
                limb = state.inputs.limb_of[body]
                motion = state.motions[body], state.poses[body], specific[body], state.gravity
                arguments = p, loads, *motion, SX(ahead)
                made[body] = call(p, "contact power", _power, *arguments, limb=limb, member=body)
            with p.block("contact power", limb=limb if len(own) == 1 else None):
                sums = [sum((x[k] for x in made.values()), SX(0)) for k in range(2)]
                normal = normal + left(p, guard, "power", sums[0])
                tangent = tangent + left(p, guard, "power", sums[1])
                for body, (*_, push) in made.items():
                    pushed[body] = pushed.get(body, zeros()) + left(p, guard, "push", push)
    return (normal, tangent), pushed


def _power(
    p: Program,
    loads: tuple[Load, Load],
    moving: MotionVector,
    pose: Transform,
    specific: MotionVector,
    gravity: SX,
    ahead: SX,
) -> tuple[SX, SX, SX]:
    """Return the powers of normal forces and friction on a body [W], and their force [N]."""
    turned = add_cross(gravity, moving.angular, moving.linear)
    linear = pose.rotate(specific.linear) + turned
    angular = pose.rotate(specific.angular)
    powers = []
    for load in loads:
        rise = ca.dot(load.force.linear, linear) + ca.dot(load.force.angular, angular)
        powers.append(p.let("power", load.power + ahead * rise))
    push = p.let("push", loads[0].force.linear + loads[1].force.linear)
    return powers[0], powers[1], push


def account(
    inputs: StepInputs, evaluations: Sequence[Evaluation], weights: Sequence[float], next_q: SX
) -> None:
    """Update works, impulses, peaks and all memories but q and v; a world that diverges fails."""
    p, plan, dt = inputs.program, inputs.plan, inputs.dt
    bodies, first = plan.scene.bodies, evaluations[0]
    weighted = list(zip(weights, evaluations, strict=True))
    speeds = []
    for limb, indices in inputs.limbs:
        with p.block("account", limb=limb):
            largest = SX(0)
            for speed in ca.vertsplit(inputs.v[indices]):
                largest = ca.fmax(largest, ca.fabs(speed))
            speeds.append(p.let("speed", largest))
    for limb, i in by_joint(inputs.limbs):
        if i in plan.friction_joints:
            with p.block("friction", limb=limb, member=i):
                _remember_friction(inputs, first, plan.friction_joints.index(i), i)
    for k, i in enumerate(plan.joined):
        with p.block("joined", member=i):
            p.update_part(LAST_ACCELERATION, k, first.a[i])
    with p.block("account"):
        power = sum((weight * found.power for weight, found in weighted), SX(0))
        p.update("work", inputs.work + dt * power)
        p.fail_when(ca.mmax(ca.vertcat(*speeds)) > MAX_SPEED)
        inputs.surfaces.advance(dt)
        if not bodies:
            return
    impulse = p.memory("impulse", 3 * len(bodies))
    for n, body in enumerate(bodies):
        with p.block("impulse", limb=inputs.limb_of[body], member=body):
            force = sum((weight * found.pushed[body] for weight, found in weighted), SX(0))
            p.update_part("impulse", 3 * n, impulse[3 * n : 3 * n + 3] + dt * force)
    if plan.scene.pairs:
        _account_pairs(inputs, evaluations)
        _account_passed(inputs, first)
    _account_slots(inputs, evaluations, next_q)


def _account_pairs(inputs: StepInputs, evaluations: Sequence[Evaluation]) -> None:
    """Update peaks and the laws' memory: under rk4 once, by its last evaluation."""
    p, count = inputs.program, len(inputs.plan.scene.pairs)
    forces, depths = p.memory("peak_force", count), p.memory("peak_depth", count)
    start, coupled = 0, evaluations[0].coupled
    number = {k: n for n, k in enumerate(inputs.plan.coupled_pairs)}
    for k, (first, last) in enumerate(
        zip(evaluations[0].contacts.pairs, evaluations[-1].contacts.pairs, strict=True)
    ):
        limb = inputs.limb_of[inputs.plan.scene.pairs[k].point.body]
        with p.block("peaks", limb=limb, member=k):
            p.update_part("peak_force", k, ca.fmax(forces[k], first.normal))
            p.update_part("peak_depth", k, ca.fmax(depths[k], first.depth))
            if coupled is not None and k in number:
                own = IMPULSE_MEMORY * number[k]
                p.update_part(IMPULSES, own, coupled.memory[own : own + IMPULSE_MEMORY])
                for j in range(TURNS * (k in inputs.plan.turning_pairs)):
                    turn = TURNS * inputs.plan.turning_pairs.index(k) + j
                    own = IMPULSE_MEMORY * (len(number) + turn)
                    p.update_part(IMPULSES, own, coupled.memory[own : own + IMPULSE_MEMORY])
            if size := inputs.law_memories[k].numel():
                p.update_part("contact memory", start, last.memory)
                start += size


def _account_passed(inputs: StepInputs, found: Evaluation) -> None:
    """Count the points that pass the middle of a box in this step, and shapes that pass shapes."""
    flags = [pair.passes for pair in found.contacts.pairs if pair.passes is not None]
    slots = () if found.contacts.slots is None else found.contacts.slots.slots
    flags += [slot.passes for slot in slots if slot.passes is not None]
    if flags:
        with inputs.program.block("passed contacts"):
            inputs.program.update_sum(PASSED_CONTACTS, sum(flags, SX(0)))


def _account_slots(inputs: StepInputs, evaluations: Sequence[Evaluation], next_q: SX) -> None:
    """Update the memory of contacts between shapes: under rk4 once, by its last evaluation."""
    p, last = inputs.program, evaluations[-1].contacts.slots
    if last is None:
        return
    with reopened(p, last.guard):
        for n, slot in enumerate(last.slots):
            with p.block("slot memory", member=n):
                p.update_within(SLOT_MEMORY, n * slot.memory.numel(), slot.memory)
    with p.block("lost contacts"):
        p.update(SLOT_KEYS, ca.vertcat(*(slot.slot.key for slot in last.slots)))
        p.update_sum(LOST_CONTACTS, last.lost)
        remember_clearance(inputs, last.clearance, last.gap, next_q)
        last.parted.remember(inputs)


def _remember_friction(inputs: StepInputs, found: Evaluation, k: int, i: int) -> None:
    """Update the memories of dry friction of joint i, the k-th that has it."""
    p, memory, torque = inputs.program, inputs.friction, found.friction_torque[i]
    assert memory is not None
    own = found.sliding[k], torque, memory.last[k], inputs.dry[i]
    new = expected_friction(*own, inputs.v[i], found.a[i], inputs.dt)
    p.update_part(FRICTION_EXPECTED, k, new)
    p.update_part(FRICTION_LAST, k, torque)
