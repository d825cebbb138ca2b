"""The classical Runge-Kutta method over a tuple of states, as in [Tsujita2009], section III."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from heelstrike.spatial.vector import SX

State: TypeAlias = tuple[SX, ...]
Found: TypeAlias = tuple[State, SX, SX]
"""Rates of a state, the contact force and the law's next memory."""

SHARES = ((1 / 6, 0.5), (1 / 3, 0.5), (1 / 3, 1.0), (1 / 6, 0.0))
"""Of the stages: their share, and how far the next one looks ahead."""


def runge_kutta(
    start: State, first: Found, derivative: Callable[[State], Found], dt: SX
) -> tuple[State, SX]:
    """The state after dt and the law's memory, its first stage given; the memory is that of the
    last stage. Plain expressions: one block holds a step, so its values stay in registers.
    """
    (rates, _, memory), at = first, start
    totals = tuple(SX(0) for _ in start)
    for stage, (share, ahead) in enumerate(SHARES):
        if stage:
            rates, _, memory = derivative(at)
        totals = tuple(total + share * rate for total, rate in zip(totals, rates, strict=True))
        at = tuple(x + ahead * dt * rate for x, rate in zip(start, rates, strict=True))
    return tuple(x + dt * total for x, total in zip(start, totals, strict=True)), memory
