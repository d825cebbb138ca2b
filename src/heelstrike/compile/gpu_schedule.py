"""Which warp does what, where a block of a GPU holds 32 worlds and each warp works on one limb.

Blocks are named "PART: what". Parts that exchange values with only one other are limbs and get a
warp each; the part between them, the hub, is worked on by the first warp. Blocks of no part, or
numbered ones ("torque: 006"), go to the limb that they exchange values with, if it is one alone,
else to the hub. A loop's rounds are made by all warps together: each starts it by itself, and who
computes a carried value's next one also carries it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heelstrike.compile.code import Advance, Code, Place, Repeat, Traced, next_of
from heelstrike.compile.cuda import WARP

HUB, EVERY = -1, -2
"""The limb of what belongs to none; the warp of what each does by itself."""
SHARED = 48 * 1024
"""Bytes that a block may declare."""
CARRIED = 128
"""Values that a loop may carry: with more, or with several loops, registers overflow and a thread a
world is faster. Measured: benchmarks/gpu.md.
"""


@dataclass(frozen=True)
class Segment:
    """Blocks that follow one another, phase by phase; a barrier ends a phase."""

    phases: list[list[list[Code]]]
    """[phase][warp] -> blocks"""
    loop: Repeat | None = None
    """Whose round this is."""

    @property
    def advance(self) -> Advance:
        """What ends a round."""
        assert self.loop is not None
        last = self.loop.body[-1]
        assert isinstance(last, Advance)
        return last


@dataclass(frozen=True)
class Schedule:
    """Each warp's work."""

    warps: int
    segments: list[Segment]
    crossing: dict[Place, int]
    """Values that another warp reads, and their number in shared memory."""
    owner: dict[Place, int]
    """The warp that computes a value."""


def schedule(program: Traced, size: int = 4) -> Schedule | None:
    """Which warp does what; None for programs with tables, arrays or loops within loops, for those
    without limbs, and where what a loop carries, or numbers of `size` bytes, would be too much.
    """
    runs = _runs(program)
    records = [item for item in program.record if isinstance(item, Code)]
    nexts = {next_of(port.name) for port in program.memory}
    if runs is None or len(records) < len(program.record) or program.constants:
        return None
    if program.commit is None or any(array.name not in nexts for array in program.arrays):
        return None
    codes = [code for run, _ in runs for code in run]
    ends = [advance for _, loop in runs if loop and isinstance(advance := loop.body[-1], Advance)]
    if len(ends) > 1 or any(len(end.carried) > CARRIED for end in ends):
        return None
    begun = {place for end in ends for place in end.writes}
    starts = {id(code): code for code in codes if begun.intersection(code.writes)}
    carried = {old: new for end in ends for old, new in end.carried}
    warp_of = _warps(codes, carried, nexts)
    warps = 1 + max(warp_of.values())
    warp_of |= dict.fromkeys(starts, EVERY)
    if warps < 2:
        return None
    owner = {place: warp_of[id(code)] for code in codes for place in code.writes}
    moving = {old: owner.get(new, 0) for old, new in carried.items()}
    moving |= {end.rounds: 0 for end in ends if end.rounds}
    owner |= moving
    everywhere = {place for code in starts.values() for place in code.writes}.difference(moving)
    crossing: dict[Place, int] = {end.done[1]: k for k, end in enumerate(ends) if end.done}
    for code in (*codes, *records):
        warp = warp_of.get(id(code), 0)
        for place in code.reads:
            if place not in everywhere and owner.get(place, warp) != warp:
                crossing.setdefault(place, len(crossing))
    if (len(crossing) + warps) * WARP * size > SHARED:
        return None
    segments = [Segment(_phases(run, warp_of, warps), loop) for run, loop in runs if run]
    return Schedule(warps, segments, crossing, owner)


def _runs(program: Traced) -> list[tuple[list[Code], Repeat | None]] | None:
    """Blocks between loops, and those of each loop; None if there is anything else."""
    runs: list[tuple[list[Code], Repeat | None]] = [([], None)]
    for item in program.step:
        if isinstance(item, Code):
            runs[-1][0].append(item)
            continue
        if not isinstance(item, Repeat) or not item.until:
            return None
        body = [part for part in item.body if isinstance(part, Code)]
        if len(body) != len(item.body) - 1:
            return None
        runs += [(body, item), ([], None)]
    return runs


def _warps(
    codes: Sequence[Code], carried: Mapping[Place, Place], nexts: set[str]
) -> dict[int, int]:
    """The warp of each block, by its identity."""
    limbs = _limbs([code for code in codes if _part(code)])
    limb_of = {id(code): limbs[part] for code in codes if (part := _part(code))}
    made = {place for code in codes for place in code.writes}

    def touched(code: Code) -> set[Place]:
        """Values that some block makes; a memory's and a carried one's is its next."""
        found = set()
        for place in (*code.reads, *code.writes):
            name = place.array
            if name is not None and next_of(name) in nexts:
                place = Place(next_of(name), place.index)
            found.add(carried.get(place, place))
        return found & made

    touches = {id(code): touched(code) for code in codes}
    loose = [code for code in codes if id(code) not in limb_of]
    while loose:
        near: dict[Place, set[int]] = {}
        for code in codes:
            if limb_of.get(id(code), HUB) != HUB:
                for place in touches[id(code)]:
                    near.setdefault(place, set()).add(limb_of[id(code)])
        seen = {
            id(code): set().union(*(near.get(place, set()) for place in touches[id(code)]))
            for code in loose
        }
        found = {k: limbs.pop() if len(limbs) == 1 else HUB for k, limbs in seen.items() if limbs}
        limb_of |= found
        loose = [code for code in loose if id(code) not in found]
        if not found:
            break
    return {id(code): max(limb_of.get(id(code), HUB), 0) for code in codes}


def _part(code: Code) -> str:
    """Of a block "PART: what"; none of one that is only numbered, or has no colon."""
    part, _, what = code.name.partition(": ")
    return "" if not what or what.isdigit() or what == "start" else part


def _limbs(codes: Sequence[Code]) -> dict[str, int]:
    """The number of each part that exchanges values with only one other; HUB for the rest."""
    writer = {place: _part(code) for code in codes for place in code.writes}
    neighbours: dict[str, set[str]] = {_part(code): set() for code in codes}
    for code in codes:
        for place in code.reads:
            other = writer.get(place, _part(code))
            if other != _part(code):
                neighbours[_part(code)].add(other)
                neighbours[other].add(_part(code))
    limbs = [part for part, others in neighbours.items() if len(others) == 1]
    return {part: limbs.index(part) if part in limbs else HUB for part in neighbours}


def _phases(
    codes: Sequence[Code], warp_of: Mapping[int, int], warps: int
) -> list[list[list[Code]]]:
    """Each block in a phase between the earliest and the latest it may have, where it lengthens the
    phase least. The limbs are placed first, so that the first warp does its own limb while they do
    theirs, and the hub alone.
    """
    own = [warp_of[id(code)] for code in codes]
    writer = {place: k for k, code in enumerate(codes) for place in code.writes}
    before = [
        [(i, int(own[i] != own[k])) for i in {writer[p] for p in code.reads if p in writer}]
        for k, code in enumerate(codes)
    ]
    early = [0] * len(codes)
    for k in range(len(codes)):
        early[k] = max((early[i] + gap for i, gap in before[k]), default=0)
    load = [[0] * warps for _ in range(max(early) + 1)]
    late = [len(load) - 1] * len(codes)
    for k in sorted(range(len(codes)), key=lambda k: (own[k] == 0, k)):
        _narrow(before, early, late)
        warp, size = max(own[k], 0), codes[k].size
        early[k] = late[k] = min(
            range(early[k], late[k] + 1),
            key=lambda p: max(load[p][warp] + size - max(load[p]), 0),
        )
        load[early[k]][warp] += size
    phases: list[list[list[Code]]] = [[[] for _ in range(warps)] for _ in load]
    for k, code in enumerate(codes):
        for warp in range(warps) if own[k] == EVERY else (own[k],):
            phases[early[k]][warp].append(code)
    return phases


def _narrow(before: Sequence[Sequence[tuple[int, int]]], early: list[int], late: list[int]) -> None:
    """Earliest and latest phases after some were chosen: no block before what it reads."""
    for k, reads in enumerate(before):
        early[k] = max([early[k], *(early[i] + gap for i, gap in reads)])
    for k in reversed(range(len(before))):
        for i, gap in before[k]:
            late[i] = min(late[i], late[k] - gap)
