"""Timing on a noisy machine: contenders take turns, and the best turn of each counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

Clock = Callable[[], float]
Times = dict[str, dict[str, float]]
"""For each contender `us` per unit of work, and `spread`, the median turn over the best; for those
judged by wall time also `cpu_us`, the CPU time of all threads in the best turn."""
SECONDS = 0.02
"""Shortest turn [s]."""
PATIENCE = 1.5
"""Total time of a contender whose single call lasts longer than a turn [s]."""
MIN_TURNS = 3
"""Fewest turns of a slow contender."""


@dataclass(frozen=True)
class Contender:
    """A call, the work it does, and the clock that it is judged by."""

    call: Callable[[], object]
    work: float
    """World-steps of a call, or what else is counted."""
    clock: Clock = time.thread_time
    """CPU time of this thread by default, which other processes disturb least; `time.perf_counter`
    for a call that works on several threads, `time.process_time` for CPU time of all of them."""


def timed(contenders: Mapping[str, Contender], turns: int, shortest: float = SECONDS) -> Times:
    """Time all contenders in one run, turn by turn.

    A turn lasts `shortest` [s] at least; slow contenders sit out the last turns.
    """
    calls = {name: (each.call, each.clock) for name, each in contenders.items()}
    found: Times = {}
    for name, both in _turns(calls, turns, shortest).items():
        seconds, cpu = [turn[0] for turn in both], [turn[1] for turn in both]
        each = contenders[name]
        found[name] = {
            "us": 1e6 * min(seconds) / each.work,
            "spread": median(seconds) / min(seconds),
        }
        if each.clock is time.perf_counter:
            found[name]["cpu_us"] = 1e6 * min(cpu) / each.work
    return found


def seconds_of(call: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    """Return the seconds that one call takes, by wall time unless another clock is named."""
    started = clock()
    call()
    return clock() - started


def _turns(
    calls: Mapping[str, tuple[Callable[[], object], Clock]], turns: int, seconds: float
) -> dict[str, list[tuple[float, float]]]:
    """Return the seconds per call in each turn, by its clock and by CPU time of all threads."""
    repeats, most = {}, {}
    for name, (call, clock) in calls.items():
        call()
        started = clock()
        call()
        once = max(clock() - started, 1e-7)
        repeats[name] = max(1, round(seconds / once))
        most[name] = turns if once < seconds else min(turns, max(MIN_TURNS, round(PATIENCE / once)))
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for turn in range(turns):
        for name, (call, clock) in calls.items():
            if turn >= most[name]:
                continue
            started, cpu = clock(), time.process_time()
            for _ in range(repeats[name]):
                call()
            own, all_threads = clock() - started, time.process_time() - cpu
            spent[name].append((own / repeats[name], all_threads / repeats[name]))
    return spent
