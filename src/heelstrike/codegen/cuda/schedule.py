"""Which warp does what and when, where a team of warps holds 32 worlds and each limb has a warp.

Work is done in phases with a barrier after each. In each a warp works on its limb, and on its share
of the swarms' members. A loop's rounds are made by all warps together: each starts it by itself,
and who computes a carried value's next one also carries it. What comes before a loop that hardly
ever makes a second round is done anew in each: then nothing but the carried values is kept from
round to round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError

from heelstrike.codegen.cuda.crews import HUB, Places, crews, limbs
from heelstrike.codegen.cuda.groups import Groups
from heelstrike.codegen.cuda.lives import Own, lives, private, taken_soon
from heelstrike.codegen.cuda.module import WARP
from heelstrike.codegen.cuda.phases import ordered, phases
from heelstrike.codegen.cuda.plan import Part, Rounds, Schedule, Segment
from heelstrike.codegen.cuda.slots import ALWAYS, slots
from heelstrike.codegen.cuda.swarms import swarms
from heelstrike.codegen.passes.packing import joined
from heelstrike.ir.code import Advance, Code, Item, PackedCode, Repeat, TracedProgram, next_of
from heelstrike.ir.graph import Graph

FEW = 10
"""Rounds at most, of a loop that hardly ever makes a second one."""
SHARED, MOST, HOPPER = 113 * 1024, 227 * 1024, 90
"""Bytes of shared memory for 32 worlds, of which a multiprocessor has room for twice as many; and
all that it has, from Hopper's architecture on.
"""


def schedule(program: TracedProgram, size: int = 4, most: int = MOST) -> Schedule | None:
    """Which warp does what; None for programs with tables, arrays or counted loops, for those
    without limbs, and where numbers of `size` bytes would be too much for `most`.
    """
    level = _level(program.step)
    nexts = {next_of(port.name) for port in program.memory}
    simple = all(isinstance(item, Code) for item in program.record) and not program.constants
    if level is None or not simple or program.commit is None:
        return None
    if any(array.name not in nexts for array in program.arrays):
        return None
    codes = [code for run in _runs(level) for code in run]
    rings = list(_rings(level))
    carried = {old: new for ring in rings for old, new in ring.end.carried}
    found = swarms(codes)
    for shared, scarce, room in (
        (found, False, SHARED),
        (found, True, SHARED),
        ([], True, SHARED),
        (found, True, most),
    ):
        taken = {place for swarm in shared for unit in swarm for place in unit.writes}
        own = [code for code in codes if taken.isdisjoint(code.writes)]
        limb_of = limbs(own, carried, nexts)
        if HUB not in limb_of.values() or len(set(limb_of.values())) < 3:
            continue
        blocks = {limb: [c for c in own if limb_of[id(c)] == limb] for limb in limb_of.values()}
        groups = Groups(program, crews(blocks), shared, [ring.end for ring in rings])
        try:
            plan = _Planner(groups).plan(level, scarce)
        except (CycleError, _Unfit):
            continue
        if plan.values * WARP * size <= room:
            return plan
    return None


class _Unfit(Exception):
    """A loop that groups cannot carry."""


@dataclass(frozen=True)
class _Ring:
    """A loop of a program."""

    loop: Repeat
    start: Code
    level: _Level
    """What it does in a round."""

    @property
    def end(self) -> Advance:
        end = self.loop.body[-1]
        assert isinstance(end, Advance)
        return end


_Level = list[list[Code] | _Ring]
"""Blocks before a loop, the loop, those after it, and so on."""


def _level(items: Sequence[Item]) -> _Level | None:
    """None if there is anything but blocks and loops."""
    found: _Level = [[]]
    for item in items:
        run = found[-1]
        assert isinstance(run, list)
        if isinstance(item, Code):
            run.append(item)
            continue
        if not isinstance(item, Repeat) or not item.until:
            return None
        inner, start = _level(item.body[:-1]), run.pop()
        if inner is None:
            return None
        found += [_Ring(item, start, inner), []]
    return found


def _runs(level: _Level) -> Iterator[list[Code]]:
    for part in level:
        if isinstance(part, _Ring):
            yield from _runs(part.level)
        else:
            yield part


def _rings(level: _Level) -> Iterator[_Ring]:
    for part in level:
        if isinstance(part, _Ring):
            yield part
            yield from _rings(part.level)


class _Planner:
    """A schedule under construction."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self.unit_of = {
            place: unit for own in groups.units for unit in own for place in unit.writes
        }

    def plan(self, level: _Level, scarce: bool) -> Schedule:
        """Where shared memory is scarce, swarms leave what is theirs and inputs elsewhere."""
        groups, parts = self.groups, self._parts(level, [])
        soon = taken_soon(groups, parts)
        needed = lives(groups, parts, soon)
        own: list[Own] = [{} for _ in groups.units]
        inputs = groups.inputs
        if scarce:
            own, inputs = private(groups, parts, needed), [[] for _ in groups.units]
        for places in (places for values in own for places in values):
            for place in places:
                del needed[place]
        for places in (places for values in inputs for places in values):
            needed |= dict.fromkeys(places, ALWAYS)
        sides = [
            places
            for units in reversed(groups.units)
            for unit in units
            for places in (*unit.written, *unit.read)
        ]
        return Schedule(
            groups.sizes[: groups.crews],
            groups.sizes[groups.crews :],
            groups.host,
            parts,
            slots(needed, sides),
            [_rows(values) for values in own],
            soon,
            groups.memory,
            inputs,
        )

    def _parts(self, level: _Level, anew: list[PackedCode]) -> list[Part]:
        """`anew`: what is done before all else."""
        parts: list[Part] = []
        units = anew
        for part in level:
            if not isinstance(part, _Ring):
                found = {id(unit): unit for code in part if (unit := self.unit_of[code.writes[0]])}
                units = [*units, *found.values()]
                continue
            carried = self.groups.carried(part.end)
            starts = self._starts(part.end, carried, part.start)
            units, again = self._begun(units, part.loop, starts)
            parts += [
                self._segment(units),
                Rounds(part.loop, carried, self._parts(part.level, again)),
            ]
            units = []
        return [*parts, self._segment(units)] if units else parts

    def _segment(self, units: list[PackedCode]) -> Segment:
        return Segment(phases(self.groups, units))

    def _starts(
        self, end: Advance, carried: Sequence[Sequence[tuple[Places, Places]]], start: Code
    ) -> list[PackedCode]:
        """A loop's start, for each group what it carries, for crews also whether a world is
        done.
        """
        groups = self.groups
        assert end.done is not None
        made = sum(size * len(own) for size, own in zip(groups.sizes, carried, strict=True))
        if made != len(end.carried):
            raise _Unfit
        where = {place: k for k, place in enumerate(start.writes)}
        found = []
        for group, pairs in enumerate(carried):
            own = [old for old, _ in pairs]
            if group < groups.crews:
                own.append((end.done[0],) * groups.sizes[group])
            if group == groups.host and end.rounds is not None:
                own.append((end.rounds,) * groups.sizes[group])
            if not own:
                continue
            codes = []
            for member in range(groups.sizes[group]):
                writes = tuple(old[member] for old in own)
                outputs = tuple(start.graph.outputs[where[place]] for place in writes)
                graph = Graph(start.graph.operations, outputs)
                codes.append(Code(start.tag, graph, start.reads, writes))
            if (unit := joined(codes)) is None:
                raise _Unfit
            found.append(unit)
            groups.add(unit, group)
        return found

    def _begun(
        self, units: list[PackedCode], loop: Repeat, starts: list[PackedCode]
    ) -> tuple[list[PackedCode], list[PackedCode]]:
        """What is done before a loop, and anew in each round. If rounds are few, that is all that
        comes before it, but for the swarms' work on what the last step left; what the loop's start
        needs is done before it, too.
        """
        if loop.limit > FEW:
            return [*units, *starts], []
        writer = {place: unit for unit in units for place in unit.writes}
        wanted, needed = list(starts), set()
        while wanted:
            for place in wanted.pop().reads:
                unit = writer.get(place)
                if unit is not None and id(unit) not in needed:
                    needed.add(id(unit))
                    wanted.append(unit)
        once: set[int] = set()
        for unit in ordered(units):
            own = {id(writer[place]) for place in unit.reads if place in writer}
            if self.groups.group[id(unit)] > self.groups.hub and own <= once:
                once.add(id(unit))
        first = [unit for unit in units if id(unit) in needed | once]
        return [*first, *starts], [unit for unit in units if id(unit) not in once]


def _rows(own: Own) -> dict[Places, int]:
    """Where each value is in a member's row."""
    found = slots({places[0]: life for places, life in own.items()}, ())
    return {places: found[places[0]] for places in own}
