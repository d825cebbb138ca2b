"""Where a program's values live in the frame, a thread's scratch memory for one tile.

A value that stays inside one LLVM function is never written down. One that crosses to another gets
a slot, free again after the last part of the program that reads it; neighbours in time become
neighbours in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heelstrike.compile.code import Advance, Code, Commit, Lookup, Place, Port

Straight = Code | Lookup | Advance | Commit
"""Items of straight-line code."""
Group = tuple[Straight, ...]
"""Items that share an LLVM function."""


@dataclass(frozen=True)
class Frame:
    """Offsets in values of W lanes."""

    slots: dict[Place, int]
    arrays: dict[str, int]
    size: int


def layout(parts: Sequence[Sequence[Group]], arrays: Sequence[Port]) -> Frame:
    """The frame of a program whose parts (a function, or all functions of a loop) follow one
    another.
    """
    crossing = _crossing(parts)
    slots: dict[Place, int] = {}
    free: list[int] = []
    size = 0
    for k in range(len(parts)):
        for place, (birth, _) in crossing.items():
            if birth == k:
                if free:
                    slots[place] = free.pop()
                else:
                    slots[place] = size
                    size += 1
        free += [slots[place] for place, (_, death) in crossing.items() if death == k]
        free.sort(reverse=True)  # the lowest first
    offsets = {}
    for port in arrays:
        offsets[port.name] = size
        size += port.size
    return Frame(slots, offsets, size)


def _crossing(parts: Sequence[Sequence[Group]]) -> dict[Place, tuple[int, int]]:
    """First and last part of each place that more than one function touches, or that a function
    reads before it writes it: the round before wrote it.
    """
    functions: dict[Place, set[int]] = {}
    lifetimes: dict[Place, tuple[int, int]] = {}
    kept: set[Place] = set()
    number = 0
    for k, part in enumerate(parts):
        for group in part:
            number += 1
            written: set[Place] = set()
            for item in group:
                for place in item.reads:
                    if place.array is None and place not in written:
                        kept.add(place)
                written.update(item.writes)
                for place in (*item.reads, *item.writes):
                    if place.array is None:
                        functions.setdefault(place, set()).add(number)
                        first, _ = lifetimes.get(place, (k, k))
                        lifetimes[place] = first, k
    order = lifetimes.items()
    return {place: life for place, life in order if len(functions[place]) > 1 or place in kept}
