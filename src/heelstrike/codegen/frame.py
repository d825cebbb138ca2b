"""Scratch frame: a thread's memory for values of one tile within a step.

A value that stays inside one LLVM function is never stored. A value that several functions use gets
a slot, which is free again after the last part of the program that reads it. Values that are
computed one after another become neighbours in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heelstrike.ir.code import PackedCode, Place, Port, SharedCode, Straight


@dataclass(frozen=True)
class GuardTest:
    """Test whether a lane needs a guard: the last work before its branch."""

    need: Place

    @property
    def reads(self) -> tuple[Place, ...]:
        return (self.need,)

    @property
    def writes(self) -> tuple[Place, ...]:
        return ()


Group = tuple[Straight | GuardTest, ...]
"""Items that share an LLVM function."""


@dataclass(frozen=True)
class ScratchFrame:
    """Offsets of values, in units of W lanes."""

    slots: dict[Place, int]
    arrays: dict[str, int]
    size: int

    def offset(self, place: Place) -> int:
        """Return where a place is in the frame, or in its port."""
        if place.array is None:
            return self.slots[place]
        return self.arrays.get(place.array, 0) + place.index


def scratch_frame(parts: Sequence[Sequence[Group]], arrays: Sequence[Port]) -> ScratchFrame:
    """Return the frame of a program; a part is a function, or all functions of a loop or guard."""
    runs = _runs(parts, _crossing(parts))
    slots: dict[Place, int] = {}
    free: dict[int, list[int]] = {len(run): [] for run in runs}  # by length
    births: list[list[tuple[Place, ...]]] = [[] for _ in parts]
    deaths: list[list[tuple[Place, ...]]] = [[] for _ in parts]
    for run, (birth, death) in runs.items():
        births[birth].append(run)
        deaths[death].append(run)
    size = 0
    for born, dead in zip(births, deaths, strict=True):
        for run in born:
            if free[len(run)]:
                start = free[len(run)].pop()
            else:
                start = -(-size // len(run)) * len(run)
                size = start + len(run)
            slots.update(zip(run, range(start, start + len(run)), strict=True))
        for run in dead:
            free[len(run)].append(slots[run[0]])
        for length in {len(run) for run in dead}:
            free[length].sort(reverse=True)  # the lowest first
    offsets = {}
    for port in arrays:
        offsets[port.name] = size
        size += port.size
    return ScratchFrame(slots, offsets, size)


Lives = dict[tuple[Place, ...], tuple[int, int]]


def _runs(parts: Sequence[Sequence[Group]], crossing: dict[Place, tuple[int, int]]) -> Lives:
    """Return places that lie side by side, and their first and last part.

    Places that a packed block writes as one vector form a run, and so do all that a shared block
    writes, which then lie at the same distances as those of the blocks with which it is shared. Any
    other place is alone. A variable, which several blocks may write, is in the first run.
    """
    vectors: dict[Place, tuple[Place, ...]] = {}
    inside: set[Place] = set()
    for item in (item for part in parts for group in part for item in group):
        for places in _written_together(item, inside):
            if crossing.keys() >= set(places) and inside.isdisjoint(places):
                vectors[places[0]] = places
                inside.update(places)
    runs = {}
    for place in crossing:
        if place in vectors or place not in inside:
            run = vectors.get(place, (place,))
            births, deaths = zip(*(crossing[x] for x in run), strict=True)
            runs[run] = min(births), max(deaths)
    return runs


def _written_together(
    item: Straight | GuardTest, known: set[Place]
) -> tuple[tuple[Place, ...], ...]:
    """Return the runs that an item asks for; a shared block asks for none of the known places."""
    if isinstance(item, PackedCode):
        return item.written
    if isinstance(item, SharedCode):
        own = tuple(p for p in item.writes if p.array is None and p not in known)
        return (own,) if own else ()
    return ()


def _crossing(parts: Sequence[Sequence[Group]]) -> dict[Place, tuple[int, int]]:
    """Return first and last part of each place that must be stored.

    It is used by more than one function, or read before it is written (by the next round), or
    written by a shared block.
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
                if isinstance(item, SharedCode):
                    kept.update(place for place in item.writes if place.array is None)
                for place in (*item.reads, *item.writes):
                    if place.array is None:
                        functions.setdefault(place, set()).add(number)
                        first, _ = lifetimes.get(place, (k, k))
                        lifetimes[place] = first, k
    order = lifetimes.items()
    return {place: life for place, life in order if len(functions[place]) > 1 or place in kept}
