"""The classical Runge-Kutta method over a tuple of states, as in [Tsujita2009], section III.

Two forms of the same sums: unrolled where a stage is small and its values stay in registers, a loop
where it is large and four copies of its code would not fit into the instruction cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from heelstrike.ir.loop import counted
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX

State: TypeAlias = tuple[SX, ...]
Found: TypeAlias = tuple[State, SX, SX]
"""Rates of a state, the contact force and the law's next memory."""

SHARES = ((1 / 6, 0.5), (1 / 3, 0.5), (1 / 3, 1.0), (1 / 6, 0.0))
"""Share of each stage, and how far the next one looks ahead."""


def runge_kutta(
    start: State, first: Found, derivative: Callable[[State], Found], dt: SX
) -> tuple[State, SX]:
    """Return the state after dt and the law's memory after the last stage, from the first stage.
    Plain expressions: one block holds a step, so its values stay in registers.
    """
    (rates, _, memory), at = first, start
    totals = tuple(SX(0) for _ in start)
    for stage, (share, ahead) in enumerate(SHARES):
        if stage:
            rates, _, memory = derivative(at)
        totals = tuple(total + share * rate for total, rate in zip(totals, rates, strict=True))
        at = tuple(x + ahead * dt * rate for x, rate in zip(start, rates, strict=True))
    return tuple(x + dt * total for x, total in zip(start, totals, strict=True)), memory


def symplectic(state: State, rates: State, hand_speed: Callable[[SX, SX], SX], dt: SX) -> State:
    """Return the state after a symplectic step: velocities first, then positions; order 1. The
    state is that of a hit: velocities, their sums (or none), hand, target, its rate, impulse; the
    hand's speed is a function of the velocities and the impulse.
    """
    velocity, total, hand, moved, rate, impulse = state
    new, new_rate, pushed = (x + dt * rates[k] for k, x in ((0, velocity), (4, rate), (5, impulse)))
    summed = total + dt * new if total.numel() else total
    v_h = hand_speed(new, pushed)
    return new, summed, hand + dt * v_h, moved + dt * new_rate, new_rate, pushed


def looped(
    p: Program, start: State, memory: SX, derivative: Callable[[State], Found], dt: SX, rk4: bool
) -> tuple[State, SX]:
    """Return the state after dt by a loop over the stages (one stage: explicit Euler), outside
    blocks; `derivative` may open blocks of its own. Empty states stay empty.
    """
    stages = SHARES if rk4 else ((1.0, 0.0),)
    with counted(p, "stages", len(stages)) as loop:
        step = loop.constants(np.array(stages))
        at = tuple(loop.carry("at", x) if x.numel() else x for x in start)
        totals = tuple(loop.carry("total", 0 * x) if x.numel() else x for x in start)
        kept = loop.carry("memory", memory) if memory.numel() else memory
        rates, _, new = derivative(at)
        with p.block("stage"):
            for x, begun, total, rate in zip(at, start, totals, rates, strict=True):
                if x.numel():
                    loop.next(total, total + step[0] * rate)
                    loop.next(x, begun + step[1] * dt * rate)
            if memory.numel():
                loop.next(kept, new)
    return tuple(x + dt * total for x, total in zip(start, totals, strict=True)), kept
