"""Box 4 of [Sugihara2006], Fig. 4: explicit elastic forces.

    f = f_n nu + f_t       [Sugihara2006] (9)

The law of each pair returns the force that is known at once, and its target in the coupled problem
if it couples. A body that carries a surface receives the opposite force. The forces of a
body's points are summed in world axes and turned into its frame once.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.contact.surface_law import PointState
from heelstrike.spatial.motion import ForceVector
from heelstrike.spatial.vector import SX, cross
from heelstrike.step.contact_velocity import ContactVelocity, tangent_position
from heelstrike.step.detect import Detection
from heelstrike.step.state import IMPULSE_MEMORY, Contacts, Load, Loads, PairState, StepState


def elastic_force(
    state: StepState, k: int, found: Detection, velocity: ContactVelocity
) -> PairState:
    """Return pair k with the force of its law; to be called inside a block."""
    p, pair = state.program, state.scene.pairs[k]
    law = state.inputs.surfaces.laws[pair.law]
    memory = state.inputs.law_memories[k]
    own, kept = memory[: law.memory_size, :], memory[law.memory_size :, :]
    slip, travel = velocity.slip, state.surfaces[pair.surface].travel
    slid, slides = state.since_memory * slip, state.dt * slip
    along, kept = tangent_position(
        found.point - travel, found.own_axes[:2, :], kept, slid, slides, found.depth > 0
    )
    pull = ca.sqrt(ca.dot(state.gravity, state.gravity))
    loaded = _was_loaded(state, k) if law.couples else 0.0
    point = PointState(found.depth, velocity.depth_rate, slip, along, state.dt, pull, own, loaded)
    force = law.force(point)
    return PairState(
        position=p.let("position", found.position),
        depth=found.depth,
        depth_rate=velocity.depth_rate,
        slip=slip,
        normal=p.let("normal", force.normal),
        tangent=p.let("tangent", force.tangent),
        memory=p.let("memory", ca.vertcat(force.memory, kept)),
        axes=p.let("axes", found.axes),
        sides=found.sides,
        flow=p.let("flow", velocity.flow),
        target=law.target(point).completed(point) if law.couples else None,
    )


def _was_loaded(state: StepState, k: int) -> SX:
    """Return whether the impulse of the last step pushed the point of a coupled pair."""
    assert state.inputs.impulses is not None
    start = IMPULSE_MEMORY * state.plan.coupled_pairs.index(k)
    return state.inputs.impulses[start + 2] > 0


def add_loads(state: StepState, loads: Loads, pair: PairState) -> None:
    """Add the loads of a pair, as symbols, to those of the bodies; to be called inside a block."""
    alone: Loads = {}
    add_force(state, alone, pair, pair.normal, pair.tangent)
    for body, (normal, tangent) in alone.items():
        _add(loads, body, (normal.let(state.program), tangent.let(state.program)))


def add_force(state: StepState, loads: Loads, pair: PairState, normal: SX, tangent: SX) -> None:
    """Add the effect of a normal force and a friction force [N] on the bodies of a contact."""
    axes = pair.axes
    for side in pair.sides:
        velocity = state.motions[side.body].at(side.lever)
        forces = side.sign * axes[2, :].T * normal, side.sign * axes[:2, :].T @ tangent
        one, other = (
            Load(ForceVector(force, cross(side.lever, force)), ca.dot(force, velocity))
            for force in forces
        )
        _add(loads, side.body, (one, other))


def total_forces(state: StepState, pairs: Sequence[PairState], loads: Loads) -> Contacts:
    """Return all pairs, with the sum of their forces on each body in the body's frame."""
    p, sums, forces = state.program, {}, {}
    for body, (normal, tangent) in loads.items():
        with p.block("contact force", limb=state.inputs.limb_of[body]):
            sums[body] = normal, tangent = normal.let(p), tangent.let(p)
            total = normal.force + tangent.force
            forces[body] = ForceVector(
                p.let("force", state.poses[body].unrotate(total.linear)),
                p.let("force", state.poses[body].unrotate(total.angular)),
            )
    return Contacts(list(pairs), forces, sums)


def _add(loads: Loads, body: int, new: tuple[Load, Load]) -> None:
    if body in loads:
        normal, tangent = loads[body]
        new = normal + new[0], tangent + new[1]
    loads[body] = new
