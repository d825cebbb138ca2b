"""Timing that survives a noisy machine: contenders take turns, and each one's best turn counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from heelstrike.machine import machine

__all__ = ["best_of", "machine"]


def best_of(
    contenders: Mapping[str, Callable[[], object]],
    rounds: int = 15,
    seconds: float = 0.01,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Seconds per call of each contender, all in one run, round by round."""
    repeats = {}
    for name, call in contenders.items():
        call()
        started = clock()
        call()
        once = clock() - started
        repeats[name] = max(1, round(seconds / max(once, 1e-7)))
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, call in contenders.items():
            started = clock()
            for _ in range(repeats[name]):
                call()
            best[name] = min(best[name], (clock() - started) / repeats[name])
    return best
