"""Which warp does what and when, where a team of warps holds 32 worlds and each limb has a warp.

Work is done in phases with a barrier after each. In each a warp works on its limb, and on its share
of the swarms' members. A loop's rounds are made by all warps together: each starts it by itself,
and who computes a carried value's next one also carries it. What comes before the loop is done anew
in each round: then nothing but the carried values is kept from round to round, and few steps make a
second one.
"""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError

from heelstrike.compile.code import Advance, Code, Repeat, Traced, Twins, next_of
from heelstrike.compile.cuda import WARP
from heelstrike.compile.gpu_crews import HUB, crews, limbs
from heelstrike.compile.gpu_groups import Groups
from heelstrike.compile.gpu_lives import lives
from heelstrike.compile.gpu_phases import ordered, phases
from heelstrike.compile.gpu_plan import Schedule, Segment
from heelstrike.compile.gpu_slots import slots
from heelstrike.compile.gpu_swarms import swarms
from heelstrike.compile.graph import Graph
from heelstrike.compile.twins import joined

SHARED = 113 * 1024
"""Bytes of shared memory for 32 worlds: a multiprocessor has room for twice as many."""


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
    parts = [(before, None), *rest] if loop else [(before, None)]
    for shared in (swarms(codes), []):
        taken = {place for swarm in shared for unit in swarm for place in unit.writes}
        own = [code for code in codes if taken.isdisjoint(code.writes)]
        limb_of = limbs(own, dict(end.carried) if end else {}, nexts)
        if HUB not in limb_of.values() or len(set(limb_of.values())) < 3:
            continue
        blocks = {limb: [c for c in own if limb_of[id(c)] == limb] for limb in limb_of.values()}
        groups = Groups(program, crews(blocks), shared, end)
        plan = _Planner(groups, start).plan(parts)
        if plan is not None and plan.values * WARP * size <= SHARED:
            return plan
    return None


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
    """A schedule under construction."""

    def __init__(self, groups: Groups, start: Code | None) -> None:
        self.groups, self.start = groups, start

    def plan(self, runs: Sequence[tuple[list[Code], Repeat | None]]) -> Schedule | None:
        groups = self.groups
        unit_of = {place: unit for own in groups.units for unit in own for place in unit.writes}
        parts: list[tuple[list[Twins], Repeat | None]] = []
        for run, loop in runs:
            units = {id(unit): unit for code in run if (unit := unit_of[code.writes[0]])}
            parts.append((list(units.values()), loop))
        if groups.end is not None:
            starts = self._starts()
            if starts is None:
                return None
            parts = self._anew(parts, starts)
        try:
            segments = [Segment(phases(groups, units), loop) for units, loop in parts if units]
        except CycleError:
            return None
        needed = lives(groups, segments)
        if needed is None:
            return None
        sides = [
            places
            for own in reversed(groups.units)
            for unit in own
            for places in (*unit.written, *unit.read)
        ]
        return Schedule(
            groups.sizes[: groups.crews],
            groups.sizes[groups.crews :],
            groups.host,
            segments,
            slots(needed, sides),
            groups.carried,
            groups.memory,
            groups.inputs,
        )

    def _starts(self) -> list[Twins] | None:
        """The loop's start, for each group what it carries, for crews also whether a world is
        done.
        """
        assert self.groups.end is not None
        assert self.groups.end.done is not None
        assert self.start is not None
        made = sum(
            size * len(own)
            for size, own in zip(self.groups.sizes, self.groups.carried, strict=True)
        )
        if made != len(self.groups.end.carried):
            return None
        where = {place: k for k, place in enumerate(self.start.writes)}
        found = []
        for group, pairs in enumerate(self.groups.carried):
            own = [old for old, _ in pairs]
            if group < self.groups.crews:
                own.append((self.groups.end.done[0],) * self.groups.sizes[group])
            if group == self.groups.host and self.groups.end.rounds is not None:
                own.append((self.groups.end.rounds,) * self.groups.sizes[group])
            if not own:
                continue
            codes = []
            for member in range(self.groups.sizes[group]):
                writes = tuple(old[member] for old in own)
                outputs = tuple(self.start.graph.outputs[where[place]] for place in writes)
                graph = Graph(self.start.graph.operations, outputs)
                codes.append(Code(self.start.name, graph, self.start.reads, writes))
            if (unit := joined(codes)) is None:
                return None
            found.append(unit)
            self.groups.add(unit, group)
        return found

    def _anew(
        self, parts: list[tuple[list[Twins], Repeat | None]], starts: list[Twins]
    ) -> list[tuple[list[Twins], Repeat | None]]:
        """What comes before the loop becomes part of its rounds, but for the swarms' work on what
        the last step left; what the loop's start needs is done before it, too.
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
        once: set[int] = set()
        for unit in ordered(before):
            own = {id(writer[place]) for place in unit.reads if place in writer}
            if self.groups.group[id(unit)] > self.groups.hub and own <= once:
                once.add(id(unit))
        first = [unit for unit in before if id(unit) in needed | once]
        anew = [unit for unit in before if id(unit) not in once]
        return [([*first, *starts], None), ([*anew, *body], loop), *after]
