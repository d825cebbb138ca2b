"""Joint torques that depend on the acceleration they cause, and their limits.

    tau = clamp(now - slope a, -limit, limit)

A servo, joint damping, a stop and dry friction all have this form; the slope joins the diagonal of
H, so that stiff servos and light joints stay stable at any step. The clamp is an active set: solve
with none at its limit, or with a guess; a joint that exceeds it gets the limit and no slope, one
that does not reach it leaves it, and the solve repeats, `ROUNDS` times at most and only if a lane
needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import casadi as ca

from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX, zeros

ROUNDS, SETTLED = 10, 5
"""Solves in a step, and those after which what reached its limit stays there, so that all come to
an end; a joint that exceeds its limit only in the last one does so for this step."""

BOTH = ("now", "slope")
Parts = Sequence[tuple[str, Sequence[int]]]
"""Names of limbs, and the velocity indices of each."""
Solve = Callable[[SX, SX], tuple[SX, SX]]
"""(torque, what joins the diagonal of H) -> joint accelerations, and numbers to be counted"""


@dataclass(frozen=True)
class Torque:
    """A torque by velocity index [N m or N], as symbols."""

    now: SX
    """At zero acceleration."""
    slope: SX
    """How it falls with the acceleration, >= 0 [kg m^2 or kg]."""
    limit: SX | None = None
    limited: Sequence[int] = ()
    """Entries that have a limit."""
    start: SX | None = None
    """First guess for the limited entries: -1 or 1 at a limit, 0 between; a wrong one is undone."""
    slack: float = 0.0
    """Share of its limit by which an entry between its limits may exceed it."""
    least: SX | None = None
    """What an entry that is at its limit must come to, lest it leave it; the limit by default."""
    plain: Sequence[str] = ()
    """What is so simple that it is computed anew wherever it is needed."""


@dataclass(frozen=True)
class Driven:
    """What came of it."""

    a: SX
    held: list[Torque]
    """As they acted, in the order given: with their limits in place of what reached them."""
    states: list[SX]
    """Of the limited entries of each: -1 or 1 at a limit, 0 between."""
    counted: SX
    """What solving counted, over all rounds."""


def drive(
    p: Program, parts: Parts, torques: Sequence[Torque], solve: Solve, counts: int = 0
) -> Driven:
    """Accelerations and applied torques. Each joint has blocks of its own, all alike; `counts` is
    how many numbers solving counts.
    """
    if not any(torque.limited for torque in torques):
        a, counted = solve(*_sum(torques))
        return Driven(a, list(torques), [], counted)
    torques = _let(p, parts, torques)
    with repeated(p, "joint limits", limit=ROUNDS) as loop:
        states = [loop.carry("held", _start(torque)) for torque in torques]
        a = loop.carry("a", zeros(torques[0].now.numel()))
        left = loop.carry("left", SX(ROUNDS))
        total = loop.carry("counted", zeros(counts))
        now, slope = _sum([_held(t, s) for t, s in zip(torques, states, strict=True)])
        for name, i in each(parts):
            with p.block("torque", limb=name, member=i):
                now[i], slope[i] = p.let("now", now[i]), p.let("slope", slope[i])
        solved, counted = solve(now, slope)
        loose, last = left > ROUNDS - SETTLED, left == 1
        following = [_following(t, s, solved, loose) for t, s in zip(torques, states, strict=True)]
        changes = []
        for name, i in each(parts):
            with p.block("joint limits", limb=name, member=i):
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
    held = [_held(torque, state) for torque, state in zip(torques, states, strict=True)]
    return Driven(a, held, states, total)


def _let(p: Program, parts: Parts, torques: Sequence[Torque]) -> list[Torque]:
    """The same as symbols, computed once for all rounds."""
    own = [
        replace(t, now=SX(t.now), slope=SX(t.slope), start=None if t.start is None else SX(t.start))
        for t in torques
    ]
    for name, i in each(parts):
        with p.block("torques", limb=name, member=i):
            for torque in own:
                if "now" not in torque.plain:
                    torque.now[i] = p.let("now", torque.now[i])
                if "slope" not in torque.plain:
                    torque.slope[i] = p.let("slope", torque.slope[i])
                if torque.start is not None and i in torque.limited:
                    k = torque.limited.index(i)
                    torque.start[k] = p.let("start", torque.start[k])
    return own


def each(parts: Parts) -> list[tuple[str, int]]:
    """Each velocity index with the name of its limb."""
    return [(name, i) for name, own in parts for i in own]


def _sum(torques: Sequence[Torque]) -> tuple[SX, SX]:
    now = sum((torque.now for torque in torques), SX(0))
    return now, sum((torque.slope for torque in torques), SX(0))


def _start(torque: Torque) -> SX:
    return zeros(len(torque.limited)) if torque.start is None else ca.densify(torque.start)


def _held(torque: Torque, state: SX) -> Torque:
    """The torque with its limit in place of entries that are at it."""
    now, slope = SX(torque.now), SX(torque.slope)
    for k, i in enumerate(torque.limited):
        assert torque.limit is not None
        between = state[k] == 0
        now[i] = ca.if_else(between, now[i], state[k] * torque.limit[i])
        slope[i] = ca.if_else(between, slope[i], 0)
    return Torque(now, slope)


def _following(torque: Torque, state: SX, a: SX, loose: SX) -> SX:
    """The state of the limited entries in the next round. One between its limits goes to the limit
    that it is beyond; one at a limit that it does not reach leaves it while it is loose.
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
