"""Box 4 of [Sugihara2006], Fig. 4: impacts at the instant at which points entered.

A point that hits a surface is found inside at the start of a step, a time s after it entered
(`PointState.since_entry`). Velocities of the symplectic step belong to the middle between two
steps, so that an impact in the middle of a step is of second order as it is. One that was s before
the step is, with two terms:

    positions    have had the new velocity for s already (dynamics/integrate.py)
    forces       of contacts that held before act dt/2 - s longer; where the impact lifts such a
                 contact, as a rimless wheel its last spoke, that is what it does less or more

A contact that goes on holding is not affected: what it receives here, the coupled problem takes
from it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import casadi as ca

from heelstrike.dynamics.tree import supports
from heelstrike.spatial.vector import SX
from heelstrike.step.elastic import add_load, forces_on
from heelstrike.step.evaluation import Group, Loads
from heelstrike.step.pair import PairState
from heelstrike.step.state import StepState
from heelstrike.step.surfaces import IMPULSE_MEMORY


def late_times(state: StepState, pairs: Sequence[PairState]) -> dict[int, SX]:
    """Return the time since the first impact on a tree [s], by its first joint.

    Trees are left out whose contacts are not timed.
    """
    times: dict[int, list[SX]] = {}
    for k in state.plan.coupled_pairs:
        point, law = pairs[k].point, state.inputs.surfaces.laws[state.scene.pairs[k].law]
        if point is not None and law.timed:
            for root in _roots(state, pairs[k]):
                times.setdefault(root, []).append(point.since_entry)
    late = {}
    for root, each in times.items():
        with state.program.block("late", limb=state.inputs.limb_of[root]):
            late[root] = state.program.let("late", ca.mmax(ca.vertcat(*each)))
    return late


def _roots(state: StepState, pair: PairState) -> list[int]:
    """Return the first joints of the trees that a pair touches."""
    return sorted({supports(state.robot, side.body)[0] for side in pair.sides})


def add_lasting(
    state: StepState, pairs: Sequence[PairState], loads: Mapping[Group, Loads]
) -> list[PairState]:
    """Return the pairs, with forces that outlast the step before an impact added to the loads."""
    late, result, p = late_times(state, pairs), list(pairs), state.program
    if not late:
        return result
    memory = state.inputs.impulses
    assert memory is not None
    for n, k in enumerate(state.plan.coupled_pairs):
        pair = pairs[k]
        times = [late[root] for root in _roots(state, pair) if root in late]
        if not times:
            continue
        with p.block("lasting", limb="coupled", member=n):
            since = ca.mmax(ca.vertcat(*times))
            share = ca.if_else(since > 0, 0.5 - since / state.dt, 0)
            force = p.let("force", share * memory[IMPULSE_MEMORY * n : IMPULSE_MEMORY * n + 3])
            normal, tangent = pair.normal + force[2], pair.tangent + force[:2]
            result[k] = replace(
                pair, normal=p.let("normal", normal), tangent=p.let("tangent", tangent)
            )
            for side, load in zip(pair.sides, forces_on(pair, force[2], force[:2]), strict=True):
                own = loads[state.scene.group_of(k)]
                add_load(own, side.body, (load[0].let(p), load[1].let(p)))
    return result
