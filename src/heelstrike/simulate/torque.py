"""Joint torques that depend on the acceleration they cause, and their limits.

    tau = clamp(now - slope a, -limit, limit)

A servo, joint damping, a stop and dry friction all have this form; the slope joins the diagonal of
H, so that stiff servos and light joints stay stable at any step. The clamp is an active set: solve
with none at its limit; a joint that exceeds it gets the limit and no slope, and the solve repeats,
`ROUNDS` times at most and only if a lane needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import casadi as ca

from heelstrike.compile.loop import repeated
from heelstrike.compile.program import Program
from heelstrike.spatial.vector import SX, zeros

ROUNDS = 3
"""Solves in a step; a joint that exceeds its limit only in the last one does so for this step."""

Solve = Callable[[SX, SX], SX]
"""(torque, what joins the diagonal of H) -> joint accelerations"""


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
    start: SX = field(default_factory=lambda: SX(0))
    """First guess for the limited entries: -1 or 1 at a limit, 0 between."""


@dataclass(frozen=True)
class Driven:
    """What came of it."""

    a: SX
    torques: list[SX]
    """Applied, in the order given."""
    unfinished: SX
    """1 where the last round still found a joint beyond its limit."""


def drive(p: Program, torques: Sequence[Torque], solve: Solve) -> Driven:
    """Accelerations and applied torques."""
    if not any(torque.limited for torque in torques):
        now = sum((torque.now for torque in torques), SX(0))
        slope = sum((torque.slope for torque in torques), SX(0))
        a = solve(now, slope)
        return Driven(a, [torque.now - torque.slope * a for torque in torques], SX(0))
    size = torques[0].now.numel()
    with repeated(p, "joint limits", limit=ROUNDS) as loop:
        held = [loop.carry("held", _start(torque)) for torque in torques]
        a = loop.carry("a", zeros(size))
        applied = [loop.carry("applied", zeros(size)) for _ in torques]
        parts = [_clamped(torque, state) for torque, state in zip(torques, held, strict=True)]
        now = sum((part.now for part in parts), SX(0))
        slope = sum((part.slope for part in parts), SX(0))
        solved = solve(now, slope)
        with p.block("joint limits"):
            loop.next(a, solved)
            news = SX(0)
            for torque, part, state, kept in zip(torques, parts, held, applied, strict=True):
                found = part.now - part.slope * solved
                loop.next(kept, found)
                following = _states(torque, state, found)
                loop.next(state, following)
                news = news + ca.sum1(ca.fabs(following - state)) if torque.limited else news
            loop.until(news == 0)
    assert loop.unfinished is not None
    return Driven(a, applied, loop.unfinished)


def _start(torque: Torque) -> SX:
    guess = ca.densify(SX(torque.start))
    return guess if guess.numel() == len(torque.limited) else zeros(len(torque.limited))


def _clamped(torque: Torque, state: SX) -> Torque:
    """The torque with its limit in place of entries that are at it."""
    now, slope = SX(torque.now), SX(torque.slope)
    for k, i in enumerate(torque.limited):
        assert torque.limit is not None
        at_limit = state[k] != 0
        now[i] = ca.if_else(at_limit, state[k] * torque.limit[i], now[i])
        slope[i] = ca.if_else(at_limit, 0, slope[i])
    return Torque(now, slope)


def _states(torque: Torque, state: SX, found: SX) -> SX:
    following = SX(state)
    for k, i in enumerate(torque.limited):
        assert torque.limit is not None
        beyond = ca.logic_and(state[k] == 0, ca.fabs(found[i]) > torque.limit[i])
        following[k] = ca.if_else(beyond, ca.sign(found[i]), state[k])
    return following
