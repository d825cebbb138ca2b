"""Box 8 of [Sugihara2006], Fig. 4: joint torques that depend on the acceleration they cause.

    tau = clamp(now - slope a, -limit, limit)

A servo, joint damping, a stop and dry friction all have this form. The slope joins the diagonal of
H, so that stiff servos and light joints stay stable at any step. The clamp is an active set: the
first solve takes no entry at its limit, or a guess; an entry that exceeds its limit then gets the
limit and no slope, one that does not reach its limit leaves it, and the solve repeats, `ROUNDS`
times at most and only while a lane needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import casadi as ca

from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX, zeros

ROUNDS = 10
"""Largest number of solves in a step; an entry that exceeds its limit only in the last one keeps
that torque for this step."""
SETTLED = 5
"""Number of solves after which an entry at its limit stays there, so that the rounds end."""

BOTH = ("now", "slope")
"""Both terms of a torque, where both are cheap (see `Torque.cheap`)."""
Limbs = Sequence[tuple[str, Sequence[int]]]
"""Names of limbs, and the velocity indices of each."""
Solve = Callable[[SX, SX], tuple[SX, SX]]
"""(torque, addition to the diagonal of H) -> joint accelerations, and numbers to be summed."""


@dataclass(frozen=True)
class Torque:
    """A torque by velocity index [N m or N], as symbols."""

    now: SX
    """Torque at zero acceleration."""
    slope: SX
    """Decrease of the torque with the acceleration, >= 0 [kg m^2 or kg]."""
    limit: SX | None = None
    """Largest magnitude of the entries in `limited`."""
    limited: Sequence[int] = ()
    """Entries that have a limit."""
    start: SX | None = None
    """First guess for the limited entries: -1 or 1 at a limit, 0 between; a wrong one is undone."""
    slack: float = 0.0
    """Relative excess over its limit that an entry between its limits may have [-]."""
    least: SX | None = None
    """Torque that an entry must reach to stay at its limit; the limit by default."""
    cheap: Sequence[str] = ()
    """Names of the terms that are recomputed wherever they are needed instead of stored."""


@dataclass(frozen=True)
class LimitedSolution:
    """Accelerations and the torques that cause them."""

    a: SX
    """Joint accelerations."""
    applied: list[Torque]
    """Torques in the order of the arguments, with their limits in place of what reached them."""
    states: list[SX]
    """State of the limited entries of each: -1 or 1 at a limit, 0 between."""
    counted: SX
    """Sum of what the solves counted, over all rounds."""


def solve_within_limits(
    p: Program, limbs: Limbs, torques: Sequence[Torque], solve: Solve, counts: int = 0
) -> LimitedSolution:
    """Return accelerations and applied torques.

    Each joint has blocks of its own, all alike, which may be packed. `counts` is the number of
    numbers that `solve` counts.
    """
    if not any(torque.limited for torque in torques):
        a, counted = solve(*_sum(torques))
        return LimitedSolution(a, list(torques), [], counted)
    torques = _let(p, limbs, torques)
    with repeated(p, "joint limits", limit=ROUNDS) as loop:
        states = [loop.carry("state", _start(torque)) for torque in torques]
        a = loop.carry("a", zeros(torques[0].now.numel()))
        left = loop.carry("left", SX(ROUNDS))
        total = loop.carry("counted", zeros(counts))
        now, slope = _sum([_limited(t, s) for t, s in zip(torques, states, strict=True)])
        for limb, i in by_joint(limbs):
            with p.block("torque", limb=limb, member=i):
                now[i], slope[i] = p.let("now", now[i]), p.let("slope", slope[i])
        solved, counted = solve(now, slope)
        loose, last = left > ROUNDS - SETTLED, left == 1
        following = [_following(t, s, solved, loose) for t, s in zip(torques, states, strict=True)]
        changes = []
        for limb, i in by_joint(limbs):
            with p.block("joint limits", limb=limb, member=i):
                changed = SX(0)
                loop.next(a[i], solved[i])
                for t, state, new in zip(torques, states, following, strict=True):
                    if i in t.limited:
                        k = t.limited.index(i)
                        loop.next(state[k], ca.if_else(last, state[k], new[k]))
                        changed = ca.logic_or(changed, new[k] != state[k])
                changes.append(p.let("changed", changed))
        with p.block("joint limits"):
            loop.next(left, left - 1)
            loop.next(total, total + counted)
            loop.until(sum(changes, SX(0)) == 0)
    applied = [_limited(torque, state) for torque, state in zip(torques, states, strict=True)]
    return LimitedSolution(a, applied, states, total)


def by_joint(limbs: Limbs) -> list[tuple[str, int]]:
    """Return each velocity index with the name of its limb."""
    return [(limb, i) for limb, indices in limbs for i in indices]


def clamped(tau: SX, limit: SX, limited: Sequence[int]) -> SX:
    """Return the torque with its limited entries within +-limit."""
    result = SX(tau)
    for i in limited:
        result[i] = ca.fmax(-limit[i], ca.fmin(limit[i], tau[i]))
    return result


def _let(p: Program, limbs: Limbs, torques: Sequence[Torque]) -> list[Torque]:
    """Return the torques as symbols that are computed once for all rounds."""
    own = [
        replace(t, now=SX(t.now), slope=SX(t.slope), start=None if t.start is None else SX(t.start))
        for t in torques
    ]
    for limb, i in by_joint(limbs):
        with p.block("torques", limb=limb, member=i):
            for torque in own:
                if "now" not in torque.cheap:
                    torque.now[i] = p.let("now", torque.now[i])
                if "slope" not in torque.cheap:
                    torque.slope[i] = p.let("slope", torque.slope[i])
                if torque.start is not None and i in torque.limited:
                    k = torque.limited.index(i)
                    torque.start[k] = p.let("start", torque.start[k])
    return own


def _sum(torques: Sequence[Torque]) -> tuple[SX, SX]:
    now = sum((torque.now for torque in torques), SX(0))
    return now, sum((torque.slope for torque in torques), SX(0))


def _start(torque: Torque) -> SX:
    return zeros(len(torque.limited)) if torque.start is None else ca.densify(torque.start)


def _limited(torque: Torque, state: SX) -> Torque:
    """Return the torque with the limit in place of entries that are at it."""
    now, slope = SX(torque.now), SX(torque.slope)
    for k, i in enumerate(torque.limited):
        assert torque.limit is not None
        between = state[k] == 0
        now[i] = ca.if_else(between, now[i], state[k] * torque.limit[i])
        slope[i] = ca.if_else(between, slope[i], 0)
    return Torque(now, slope)


def _following(torque: Torque, state: SX, a: SX, loose: SX) -> SX:
    """Return the state of the limited entries in the next round.

    An entry between its limits goes to the limit that it exceeds; one at a limit that it does not
    reach leaves it while it is loose.
    """
    new = zeros(len(torque.limited))
    for k, i in enumerate(torque.limited):
        assert torque.limit is not None
        found, limit = torque.now[i] - torque.slope[i] * a[i], torque.limit[i]
        most = limit * (1 + torque.slack)
        beyond = ca.if_else(found > most, 1, ca.if_else(found < -most, -1, 0))
        least = limit if torque.least is None else torque.least[i]
        stays = ca.if_else(ca.logic_and(loose, state[k] * found < least), 0, state[k])
        new[k] = ca.if_else(state[k] == 0, beyond, stays)
    return new
