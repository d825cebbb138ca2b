"""Timing that survives a noisy machine: contenders take turns, and each one's best turn counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

Clock = Callable[[], float]
Times = dict[str, dict[str, float]]
"""By contender: us per work, and spread, the median turn over the best one."""
SECONDS = 0.02
"""That a turn lasts at least."""
PATIENCE = 1.5
"""That a contender whose one call lasts longer than a turn may take in all [s]."""
LEAST = 3
"""Turns of one that takes longer."""


@dataclass(frozen=True)
class Contender:
    """Something to call, what it makes, and the clock that it is judged by."""

    call: Callable[[], object]
    work: float
    """World-steps, or what else is counted."""
    clock: Clock = time.thread_time
    """CPU time of this thread: what others do on a shared machine counts as little as it can.
    `time.perf_counter` for what works on several threads."""


def timed(contenders: Mapping[str, Contender], turns: int) -> Times:
    """All in one run, turn by turn."""
    calls = {name: (each.call, each.clock) for name, each in contenders.items()}
    spent = _turns(calls, turns, SECONDS)
    return {
        name: {
            "us": 1e6 * min(seconds) / contenders[name].work,
            "spread": median(seconds) / min(seconds),
        }
        for name, seconds in spent.items()
    }


def best_of(
    contenders: Mapping[str, Callable[[], object]],
    rounds: int = 15,
    seconds: float = 0.01,
    clock: Clock = time.perf_counter,
) -> dict[str, float]:
    """Seconds per call of each contender, all in one run, turn by turn."""
    calls = {name: (call, clock) for name, call in contenders.items()}
    return {name: min(spent) for name, spent in _turns(calls, rounds, seconds).items()}


def _turns(
    calls: Mapping[str, tuple[Callable[[], object], Clock]], turns: int, seconds: float
) -> dict[str, list[float]]:
    """Seconds per call in each turn; slow contenders sit out the last ones."""
    repeats, most = {}, {}
    for name, (call, clock) in calls.items():
        call()
        started = clock()
        call()
        once = max(clock() - started, 1e-7)
        repeats[name] = max(1, round(seconds / once))
        most[name] = turns if once < seconds else min(turns, max(LEAST, round(PATIENCE / once)))
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(turns):
        for name, (call, clock) in calls.items():
            if turn >= most[name]:
                continue
            started = clock()
            for _ in range(repeats[name]):
                call()
            spent[name].append((clock() - started) / repeats[name])
    return spent
