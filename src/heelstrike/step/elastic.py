"""Box 4 of [Sugihara2006], Fig. 4: explicit elastic forces.

    f = f_n nu + f_t       [Sugihara2006] (9)

The law of each pair returns the force that is known at once, and its target in the coupled problem
if it couples. A body that carries a surface receives the opposite force. The forces of a
body's points are summed in world axes and turned into its frame once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca

from heelstrike.contact.laws.patch import MEMORY, Patch
from heelstrike.contact.surface_law import ContactForce, PointState
from heelstrike.ir.guard import OpenGuard, left, reopened
from heelstrike.ir.program import Program
from heelstrike.spatial.motion import ForceVector
from heelstrike.spatial.vector import SX, cross, zeros
from heelstrike.step.contact_velocity import ContactVelocity, tangent_position
from heelstrike.step.detect import Detection
from heelstrike.step.evaluation import Group, Load, Loads
from heelstrike.step.pair import PairInputs, PairState
from heelstrike.step.state import StepState
from heelstrike.step.surfaces import patch_of


def elastic_force(
    p: Program, pair: PairInputs, found: Detection, velocity: ContactVelocity
) -> PairState:
    """Return the pair with the force of its law; to be called inside a block."""
    law, memory, gravity, slip = pair.law, pair.memory, pair.gravity, velocity.slip
    patch = None if law.couples else patch_of(law, pair.extent)  # coupled: turning.py
    held = memory.numel() - (0 if patch is None else MEMORY)
    own, kept, angle = ca.vertsplit(memory, [0, law.memory_size, held, memory.numel()])
    slid, slides = pair.since_memory * slip, pair.dt * slip
    along, kept = tangent_position(
        found.point - pair.travel,
        found.own_axes[:2, :],
        kept,
        slid,
        slides,
        found.depth > 0,
    )
    pull = ca.sqrt(ca.dot(gravity, gravity))
    loaded = 0.0 if pair.last is None else pair.last > 0
    fall = -ca.dot(found.axes[2, :].T, gravity)
    passing = _passing(pair, found.depth, velocity.depth_rate)
    point = PointState(
        found.depth, velocity.depth_rate, slip, along, pair.dt, pull, own, loaded, fall, passing
    )
    force = law.force(point)
    moment, angle = _turning(pair, found, patch, angle, force)
    return PairState(
        position=p.let("position", found.position),
        depth=found.depth,
        depth_rate=velocity.depth_rate,
        slip=slip,
        normal=p.let("normal", force.normal),
        tangent=p.let("tangent", force.tangent),
        memory=p.let("memory", ca.vertcat(force.memory, kept, angle)),
        axes=p.let("axes", found.axes),
        sides=found.sides,
        flow=p.let("flow", velocity.flow),
        moment=None if moment is None else p.let("moment", moment),
        point=point.let(p) if law.couples else None,
        passes=_passes(p, pair, found.depth, velocity.depth_rate),
    )


def _passing(pair: PairInputs, depth: SX, rate: SX) -> SX | float:
    """Return 1 where a contact that is apart would be past `halfway` after the step."""
    if pair.halfway is None or not pair.law.couples:
        return 0.0
    return ca.logic_and(depth <= 0, depth + pair.dt * rate > pair.halfway)


def _passes(p: Program, pair: PairInputs, depth: SX, rate: SX) -> SX | None:
    """Return 1 where an elastic law does not keep a point from the other half of a box, or a shape
    from that of another one.
    """
    if pair.halfway is None or pair.law.couples:
        return None
    passes = depth + pair.dt * rate > 2 * pair.halfway
    if pair.surface is None:  # two shapes may rest deeper than that: they pass once
        passes = ca.logic_and(passes, depth <= 2 * pair.halfway)
    return p.let("passes", passes)


def _turning(
    pair: PairInputs, found: Detection, patch: Patch | None, angle: SX, force: ContactForce
) -> tuple[SX | None, SX]:
    """Return the moment of a law against rolling and spinning [N m], and its next memory."""
    if patch is None:
        return None, angle
    spin = found.axes @ sum((side.sign * side.motion.angular for side in found.sides), zeros())
    since, rest = pair.since_memory, pair.dt - pair.since_memory
    moment, angle = patch.moment(angle + since * spin, spin, force.normal, pair.rolling_lever)
    touching = force.touching
    return ca.if_else(touching, moment, 0), ca.if_else(touching, angle + rest * spin, 0)


def loads_of(p: Program, pair: PairState) -> list[tuple[Load, Load]]:
    """Return the loads of a pair on its bodies, as symbols; to be called inside a block."""
    loads = forces_on(pair, pair.normal, pair.tangent)
    if pair.moment is not None:
        about = pair.axes.T @ pair.moment
        for k, side in enumerate(pair.sides):
            moment = side.sign * about
            turned = Load(ForceVector(zeros(), moment), ca.dot(moment, side.motion.angular))
            loads[k] = loads[k][0], loads[k][1] + turned
    return [(normal.let(p), tangent.let(p)) for normal, tangent in loads]


def forces_on(pair: PairState, normal: SX, tangent: SX) -> list[tuple[Load, Load]]:
    """Return the effect of a normal force and a friction force [N] on each side of a contact."""
    axes, found = pair.axes, []
    for side in pair.sides:
        velocity = side.motion.at(side.lever)
        forces = side.sign * axes[2, :].T * normal, side.sign * axes[:2, :].T @ tangent
        one, other = (
            Load(ForceVector(force, cross(side.lever, force)), ca.dot(force, velocity))
            for force in forces
        )
        found.append((one, other))
    return found


def total_forces(
    state: StepState, guard: OpenGuard | None, loads: Loads
) -> tuple[Loads, dict[int, ForceVector]]:
    """Return loads as symbols, and their sum on each body in the body's frame, which leaves the
    guard.
    """
    p, sums, forces = state.program, {}, {}
    for body, (normal, tangent) in loads.items():
        with p.block("contact force", limb=state.inputs.limb_of[body]):
            sums[body] = normal, tangent = normal.let(p), tangent.let(p)
            total = normal.force + tangent.force
            forces[body] = ForceVector(
                left(p, guard, "force", state.poses[body].unrotate(total.linear)),
                left(p, guard, "force", state.poses[body].unrotate(total.angular)),
            )
    return sums, forces


def sum_forces(
    state: StepState, forces: Mapping[Group, Mapping[int, ForceVector]]
) -> dict[int, ForceVector]:
    """Return the forces on each body, in its frame, from those of each group."""
    p = state.program
    parts: dict[int, list[ForceVector]] = {}
    for own in forces.values():
        for body, force in own.items():
            parts.setdefault(body, []).append(force)
    found = {}
    for body, (first, *others) in parts.items():
        found[body] = first
        if others:
            with p.block("contact force", limb=state.inputs.limb_of[body]):
                total = sum(others, first)
                linear, angular = p.let("force", total.linear), p.let("force", total.angular)
                found[body] = ForceVector(linear, angular)
    return found


def add_forces(
    state: StepState,
    guard: OpenGuard,
    loads: Loads,
    total: dict[int, ForceVector],
) -> None:
    """Add loads that exist in a guard to the forces on each body, in its frame."""
    p = state.program
    known = {body: force for body, force in total.items() if body in loads}
    for body, force in known.items():
        with p.block("contact force", limb=state.inputs.limb_of[body]):
            parts = (p.as_variable("force", x) for x in (force.linear, force.angular))
            total[body] = ForceVector(*parts)
    with reopened(p, guard) as again:
        assert again is not None
        for body, (normal, tangent) in loads.items():
            whole, pose = normal.force + tangent.force, state.poses[body]
            with p.block("contact force", limb=state.inputs.limb_of[body]):
                own = ForceVector(pose.unrotate(whole.linear), pose.unrotate(whole.angular))
                if body in known:
                    p.assign(total[body].linear, total[body].linear + own.linear)
                    p.assign(total[body].angular, total[body].angular + own.angular)
                else:
                    parts = (again.leave("force", x) for x in (own.linear, own.angular))
                    total[body] = ForceVector(*parts)


def left_pairs(
    state: StepState, guard: OpenGuard, pairs: Mapping[int, PairState]
) -> dict[int, PairState]:
    """Return the pairs of a guard, whose depth, forces and memory can be read outside it."""
    found = {}
    for k, pair in pairs.items():
        limb = state.inputs.limb_of[state.scene.pairs[k].point.body]
        with state.program.block("left", limb=limb, member=k):
            found[k] = replace(
                pair,
                depth=guard.leave("depth", pair.depth),
                normal=guard.leave("normal", pair.normal),
                tangent=guard.leave("tangent", pair.tangent),
                memory=guard.leave("memory", pair.memory),
                moment=None if pair.moment is None else guard.leave("moment", pair.moment),
                passes=None if pair.passes is None else guard.leave("passes", pair.passes),
            )
    return found


def add_load(loads: Loads, body: int, new: tuple[Load, Load]) -> None:
    """Add loads of normal forces and of friction to those of a body."""
    if body in loads:
        normal, tangent = loads[body]
        new = normal + new[0], tangent + new[1]
    loads[body] = new
