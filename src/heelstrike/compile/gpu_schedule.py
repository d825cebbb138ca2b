"""Which warp does what and when, where a block of a GPU holds 32 worlds and each limb has a warp.

Work is done in phases with a barrier after each. A loop's rounds are made by all warps together:
each starts it by itself, and who computes a carried value's next one also carries it. What comes
before the loop is done anew in each round: then nothing but the carried values is kept from round
to round, and few steps make a second one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from heelstrike.compile.code import Advance, Code, Place, Repeat, Traced, Twins, next_of
from heelstrike.compile.cuda import WARP
from heelstrike.compile.gpu_crews import HUB, Places, crews, limbs
from heelstrike.compile.graph import Graph
from heelstrike.compile.twins import joined

SHARED = 48 * 1024
"""Bytes that a block may declare."""


@dataclass(frozen=True)
class Segment:
    """Blocks that follow one another, phase by phase; a barrier ends a phase."""

    phases: list[list[list[Twins]]]
    """[phase][crew] -> blocks"""
    loop: Repeat | None = None
    """Whose round this is."""


@dataclass(frozen=True)
class Schedule:
    """Each crew's work."""

    sizes: list[int]
    """Warps of each crew; the one that works on the hub is the last."""
    segments: list[Segment]
    slots: dict[Place, int]
    """Values that another warp reads, and their number in shared memory."""
    carried: list[list[tuple[Places, Places]]]
    """By crew: what it carries through the loop, and its next values."""
    memory: list[list[tuple[Places, Places]]]
    """By crew: memory, and its next values."""

    @property
    def warps(self) -> int:
        return sum(self.sizes)

    @property
    def values(self) -> int:
        """Of a world, in shared memory."""
        return len(self.slots) + self.warps


def schedule(program: Traced, size: int = 4) -> Schedule | None:
    """Which warp does what; None for programs with tables, arrays, several loops or loops within
    loops, for those without limbs, and where numbers of `size` bytes would be too much.
    """
    runs = _runs(program)
    nexts = {next_of(port.name) for port in program.memory}
    simple = all(isinstance(item, Code) for item in program.record) and not program.constants
    if runs is None or not simple or program.commit is None:
        return None
    if any(array.name not in nexts for array in program.arrays):
        return None
    (before, _), *rest = runs
    loop = rest[0][1] if rest else None
    end = loop.body[-1] if loop else None
    assert end is None or isinstance(end, Advance)
    start = next((code for code in before if end and set(end.writes) & set(code.writes)), None)
    before = [code for code in before if code is not start]
    codes = [*before, *(code for run, _ in rest for code in run)]
    carried = dict(end.carried) if end else {}
    limb_of = limbs(codes, carried, nexts)
    if HUB not in limb_of.values() or len(set(limb_of.values())) < 3:
        return None
    blocks = {limb: [c for c in codes if limb_of[id(c)] == limb] for limb in limb_of.values()}
    return _Planner(program, crews(blocks), end, start, size).plan(
        [(before, None), *rest] if loop else [(before, None)]
    )


def _runs(program: Traced) -> list[tuple[list[Code], Repeat | None]] | None:
    """Blocks before the loop, those of its rounds, and those after it; None if there is anything
    else.
    """
    runs: list[tuple[list[Code], Repeat | None]] = [([], None)]
    for item in program.step:
        if isinstance(item, Code):
            runs[-1][0].append(item)
            continue
        if not isinstance(item, Repeat) or not item.until or len(runs) > 1:
            return None
        body = [part for part in item.body if isinstance(part, Code)]
        if len(body) != len(item.body) - 1:
            return None
        runs += [(body, item), ([], None)]
    return runs


class _Planner:
    """A schedule under construction. The lightest limb that is no twin has the hub with it."""

    def __init__(
        self,
        program: Traced,
        made: list[list[Twins]],
        end: Advance | None,
        start: Code | None,
        size: int,
    ) -> None:
        self.program, self.end, self.start, self.size = program, end, start, size
        *made, hub = made
        self.hub = {id(unit) for unit in hub}
        alone = [crew for crew in made if len(crew[0].written[0]) == 1]
        if alone:
            host = min(alone, key=lambda crew: sum(unit.size for unit in crew))
            made.remove(host)
            hub = [*host, *hub]
        self.made = made = [*made, hub]
        self.sizes = [len(crew[0].written[0]) for crew in made]
        self.crew = {id(unit): k for k, crew in enumerate(made) for unit in crew}
        self.written = [{w for unit in crew for w in unit.written} for crew in made]
        before = {new: old for old, new in end.carried} if end else {}
        self.carried = [
            [
                (tuple(before[place] for place in w), w)
                for unit in crew
                for w in unit.written
                if before.keys() >= set(w)
            ]
            for crew in made
        ]

    def plan(self, runs: Sequence[tuple[list[Code], Repeat | None]]) -> Schedule | None:
        unit_of = {place: unit for crew in self.made for unit in crew for place in unit.writes}
        parts: list[tuple[list[Twins], Repeat | None]] = []
        for run, loop in runs:
            units = {id(unit): unit for code in run if (unit := unit_of[code.writes[0]])}
            parts.append((list(units.values()), loop))
        if self.end is not None:
            starts = self._starts()
            if starts is None:
                return None
            parts = self._anew(parts, starts)
        try:
            segments = [Segment(self._phases(units), loop) for units, loop in parts if units]
        except CycleError:
            return None
        nexts = {next_of(port.name): port.name for port in self.program.memory}
        memory = [
            [
                (tuple(Place(nexts[str(p.array)], p.index) for p in w), w)
                for unit in crew
                for w in unit.written
                if w[0].array in nexts
            ]
            for crew in self.made
        ]
        crossing = self._crossing([unit for units, _ in parts for unit in units])
        made = Schedule(self.sizes, segments, self._slots(crossing), self.carried, memory)
        return made if made.values * WARP * self.size <= SHARED else None

    def _starts(self) -> list[Twins] | None:
        """The loop's start, for each crew what it carries and whether a world is done."""
        assert self.end is not None
        assert self.end.done is not None
        assert self.start is not None
        made = sum(size * len(own) for size, own in zip(self.sizes, self.carried, strict=True))
        if made != len(self.end.carried):
            return None
        where = {place: k for k, place in enumerate(self.start.writes)}
        found = []
        for crew, pairs in enumerate(self.carried):
            own = [old for old, _ in pairs] + [(self.end.done[0],) * self.sizes[crew]]
            if crew == len(self.carried) - 1 and self.end.rounds is not None:
                own.append((self.end.rounds,))
            codes = []
            for member in range(self.sizes[crew]):
                writes = tuple(old[member] for old in own)
                outputs = tuple(self.start.graph.outputs[where[place]] for place in writes)
                graph = Graph(self.start.graph.operations, outputs)
                codes.append(Code(self.start.name, graph, self.start.reads, writes))
            if (unit := joined(codes)) is None:
                return None
            found.append(unit)
            self.crew[id(unit)] = crew
            self.written[crew] |= set(unit.written)
        return found

    def _anew(
        self, parts: list[tuple[list[Twins], Repeat | None]], starts: list[Twins]
    ) -> list[tuple[list[Twins], Repeat | None]]:
        """What comes before the loop becomes part of its rounds; what its start needs is done
        before it, too.
        """
        (before, _), (body, loop), *after = parts
        writer = {place: unit for unit in before for place in unit.writes}
        wanted, needed = list(starts), set()
        while wanted:
            for place in wanted.pop().reads:
                unit = writer.get(place)
                if unit is not None and id(unit) not in needed:
                    needed.add(id(unit))
                    wanted.append(unit)
        first = [unit for unit in before if id(unit) in needed]
        return [([*first, *starts], None), ([*before, *body], loop), *after]

    def _crossing(self, units: Sequence[Twins]) -> dict[Places, int]:
        """Values that another warp reads, and their crew."""
        owner = {p: (k, w) for k, own in enumerate(self.written) for w in own for p in w}
        crossing: dict[Places, int] = {}

        def cross(place: Place) -> None:
            if place in owner:
                crew, places = owner[place]
                crossing.setdefault(places, crew)

        for unit in units:
            own = self.written[self.crew[id(unit)]]
            for places in unit.read:
                if places not in own:
                    for place in places:
                        cross(place)
        hub = len(self.made) - 1
        for item in self.program.record:
            for place in item.reads if isinstance(item, Code) else ():
                if (place,) not in self.written[hub]:
                    cross(place)
        if self.end is not None and self.end.done is not None:
            cross(self.end.done[1])
        return crossing

    def _slots(self, crossing: dict[Places, int]) -> dict[Place, int]:
        """Those of a crew's value follow one another by the same distance."""
        slots: dict[Place, int] = {}
        for crew, size in enumerate(self.sizes):
            own = [places for places, k in crossing.items() if k == crew]
            for member in range(size):
                for places in own:
                    slots[places[member]] = len(slots)
        return slots

    def _phases(self, units: Sequence[Twins]) -> list[list[list[Twins]]]:
        """Each block in a phase between the earliest and the latest it may have, where it lengthens
        the phase least. The limbs are placed first, then the hub.
        """
        units = _ordered(units)
        own = [self.crew[id(unit)] for unit in units]
        writer = {place: k for k, unit in enumerate(units) for place in unit.writes}
        before = [
            [
                (i, int(places not in self.written[own[k]]))
                for places in unit.read
                for i in {writer[p] for p in places if p in writer}
            ]
            for k, unit in enumerate(units)
        ]
        early = [0] * len(units)
        for k in range(len(units)):
            early[k] = max((early[i] + gap for i, gap in before[k]), default=0)
        load = [[0] * len(self.made) for _ in range(max(early) + 1)]
        late = [len(load) - 1] * len(units)
        for k in sorted(range(len(units)), key=lambda k: (id(units[k]) in self.hub, k)):
            _narrow(before, early, late)
            crew, size = own[k], units[k].size
            early[k] = late[k] = min(
                range(early[k], late[k] + 1),
                key=lambda p: max(load[p][crew] + size - max(load[p]), 0),
            )
            load[early[k]][crew] += size
        phases: list[list[list[Twins]]] = [[[] for _ in self.made] for _ in load]
        for k, unit in enumerate(units):
            phases[early[k]][own[k]].append(unit)
        return phases


def _ordered(units: Sequence[Twins]) -> list[Twins]:
    """No block before one that makes what it reads."""
    writer = {place: k for k, unit in enumerate(units) for place in unit.writes}
    reads = {
        k: {writer[p] for p in unit.reads if p in writer} - {k} for k, unit in enumerate(units)
    }
    return [units[k] for k in TopologicalSorter(reads).static_order()]


def _narrow(before: Sequence[Sequence[tuple[int, int]]], early: list[int], late: list[int]) -> None:
    """Earliest and latest phases after some were chosen: no block before what it reads."""
    for k, reads in enumerate(before):
        early[k] = max([early[k], *(early[i] + gap for i, gap in reads)])
    for k in reversed(range(len(before))):
        for i, gap in before[k]:
            late[i] = min(late[i], late[k] - gap)
