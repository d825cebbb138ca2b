"""Shared memory of a block slice: which values it holds, how long, and where.

Values that another group reads go through shared memory, and so do those that the root block or a
strided group needs in a later phase or changes in a branch, for these have no registers of their
own, and variables that several groups write. Values that only the root block, or only the members
of a strided group themselves, read may stay in the thread's local memory: a member is always
computed by the same warp.

A value has a slot from the phase in which it is written to the last one in which it is read; then
another value may have it. Values of a group's members lie side by side, so that a member finds its
own by its number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heelstrike.codegen.cuda.called import CalledCode
from heelstrike.codegen.cuda.groups import Groups
from heelstrike.codegen.cuda.schedule import Part, loops, work
from heelstrike.codegen.cuda.units import Places, Unit
from heelstrike.ir.code import Code, Place, TracedProgram, flatten


@dataclass(frozen=True)
class Lifetime:
    """Phases in which a value is needed, first and last."""

    first: int
    last: int

    def overlaps(self, other: Lifetime) -> bool:
        return self.first <= other.last and other.first <= self.last

    def union(self, other: Lifetime) -> Lifetime:
        return Lifetime(min(self.first, other.first), max(self.last, other.last))


ALWAYS = Lifetime(0, 2**31)
Private = dict[Places, Lifetime]
"""Values that only the members of a group read, and the phases in which they are needed."""


def assign_slots(
    lifetimes: Mapping[Place, Lifetime], rows: Sequence[Places], aligned: int = 1
) -> dict[Place, int]:
    """Return the slot of each value.

    `rows` are values that lie side by side where possible; earlier rows come before later ones. A
    row of at least `aligned` values starts at a multiple of that.
    """
    found: dict[Place, int] = {}
    placed = _Placed()
    left = dict.fromkeys(lifetimes)
    chosen = []
    for row in (*rows, *((place,) for place in lifetimes)):
        if row and all(place in left for place in row) and len(set(row)) == len(row):
            chosen.append(row)
            for place in row:
                del left[place]
    for row in sorted(chosen, key=lambda row: -len(row)):
        life = lifetimes[row[0]]
        for place in row[1:]:
            life = life.union(lifetimes[place])
        start = placed.add(life, len(row), aligned if len(row) >= aligned else 1)
        found |= {place: start + k for k, place in enumerate(row)}
    return found


class _Placed:
    """Rows that have slots, in the order of their slots."""

    def __init__(self) -> None:
        self._rows = np.zeros((0, 4), int)  # slots from, to, and phases from, to

    def add(self, life: Lifetime, size: int, unit: int) -> int:
        """Return the first slot, a multiple of `unit`, from which `size` are free for that long."""
        begins, ends, first, last = self._rows.T
        taken = (first <= life.last) & (life.first <= last)
        reached = -(-ends[taken] // unit) * unit
        starts = np.maximum.accumulate(np.concatenate([[0], reached]))
        fits = starts[:-1] + size <= begins[taken]
        start = int(starts[np.argmax(fits) if fits.any() else -1])
        row = start, start + size, life.first, life.last
        at = int(np.searchsorted(begins, start))
        self._rows = np.insert(self._rows, at, row, axis=0)
        return start


def lifetimes(
    groups: Groups,
    parts: Sequence[Part],
    early: set[Places],
    changing: Sequence[Collection[Places]],
) -> dict[Place, Lifetime]:
    """Return when each value in memory is needed.

    `early` next values are taken at once; `changing` are those of each group that branches change.
    """
    done = list(work(parts))
    made, _ = _times(done)
    crossing = _crossing(groups, done, made) | _of_several(groups)
    crossing.update(place for own in changing[groups.root :] for places in own for place in places)
    for rounds, _, _ in loops(parts):
        for pairs in rounds.carried[groups.root :]:
            for old, new in pairs:
                crossing.update(old, () if new in early else new)
    found: dict[Place, Lifetime] = {}
    for places, life in lives(groups, parts, _whole(groups, crossing)).items():
        for place in places:
            found[place] = life.union(found.get(place, life))
    return found


def lives(groups: Groups, parts: Sequence[Part], values: Iterable[Places]) -> Private:
    """Return the phases in which values are needed; those before a loop, in all of its rounds."""
    made, used = _times(list(work(parts)))
    over = max(phase for times in made.values() for phase in times) + 1
    at_end = {place for own in groups.memory for _, following in own for place in following}
    for place in at_end | _read_at_end(groups):
        used.setdefault(place, set()).add(over)
    spans = []
    for rounds, first, last in loops(parts):
        spans.append(Lifetime(first, last))
        end = rounds.end
        for place in (*(end.done or ()), *(p for pair in end.carried for p in pair)):
            used.setdefault(place, set()).add(last)
    found: Private = {}
    for places in values:
        times = set().union(*(made[p] | used.get(p, set()) for p in places))
        life = Lifetime(min(times), max(times))
        for span in spans:
            if life.first < span.first <= life.last:
                life = life.union(span)
        found[places] = life
    return found


def taken_early(groups: Groups, parts: Sequence[Part]) -> set[Places]:
    """Return next values of carried values that can be taken in the phase that computes them.

    They are those of the root block and of strided groups whose old value no other group reads in
    that phase or later in the round, and their own group not later.
    """
    done = list(work(parts))
    found = set()
    for rounds, first, last in loops(parts):
        readers: dict[Place, list[tuple[int, int, Places]]] = {}
        for phase, group, unit in done:
            for places in unit.read if first <= phase <= last else ():
                for place in places:
                    readers.setdefault(place, []).append((phase, group, places))
        made = {w: phase for phase, _, unit in done for w in unit.written}
        inner = [Lifetime(a, b) for _, a, b in loops(rounds.parts, first)]
        for group, pairs in enumerate(rounds.carried):
            for old, new in pairs if group >= groups.root else ():
                reads = [read for place in old for read in readers.get(place, ())]
                when = Lifetime(made[new], made[new])
                if not any(span.overlaps(when) for span in inner) and all(
                    phase < made[new] or (phase, reader, places) == (made[new], group, old)
                    for phase, reader, places in reads
                ):
                    found.add(new)
    return found


def private_values(
    groups: Groups, parts: Sequence[Part], needed: Mapping[Place, Lifetime], first: int
) -> list[Private]:
    """Return for each group the values that only its own members read, and their lifetimes.

    Groups before the first one have none.
    """
    foreign = {place for end in groups.ends for place in end.done or ()} | recorded(
        groups.program, groups.late
    )
    foreign |= _of_several(groups)
    for _, group, unit in work(parts):
        for places in unit.read:
            if places not in groups.written[group]:
                foreign.update(places)
    return [
        {
            w: needed[w[0]]
            for w in written
            if group >= first and needed.keys() >= set(w) and foreign.isdisjoint(w)
        }
        for group, written in enumerate(groups.written)
    ]


Work = Sequence[tuple[int, int, Unit]]
"""Blocks with the numbers of their phases and groups."""


def _times(done: Work) -> tuple[dict[Place, set[int]], dict[Place, set[int]]]:
    """Return the phases in which each value is computed, and in which it is read."""
    made: dict[Place, set[int]] = {}
    used: dict[Place, set[int]] = {}
    for phase, _, unit in done:
        for place in unit.writes:
            made.setdefault(place, set()).add(phase)
        for place in unit.reads:
            used.setdefault(place, set()).add(phase)
    return made, used


def _crossing(groups: Groups, done: Work, made: dict[Place, set[int]]) -> set[Place]:
    """Return values that do not stay in registers."""
    found = _read_at_end(groups)
    found |= {end.done[1] for end in groups.ends if end.done is not None}
    for phase, group, unit in done:
        for places in unit.read:
            near = places in groups.written[group]
            for place in made.keys() & places:
                if not near or (group >= groups.root and phase not in made[place]):
                    found.add(place)
    return found


def _of_several(groups: Groups) -> set[Place]:
    """Return variables that several groups write, or one group in several tuples."""
    writers: dict[Place, set[tuple[int, Places]]] = {place: set() for place in groups.variables}
    for group, written in enumerate(groups.written):
        for places in written:
            for place in groups.variables.intersection(places):
                writers[place].add((group, places))
    return {place for place, own in writers.items() if len(own) > 1}


def _whole(groups: Groups, crossing: set[Place]) -> list[Places]:
    """Return the tuples that hold crossing values, and all tuples that share places with them."""
    tuples = dict.fromkeys(places for written in groups.written for places in written)
    found: dict[Places, None] = {}
    reached = set(crossing)
    while more := [w for w in tuples if w not in found and not reached.isdisjoint(w)]:
        found |= dict.fromkeys(more)
        reached.update(place for places in more for place in places)
    return list(found)


def _read_at_end(groups: Groups) -> set[Place]:
    """Return values that are read after the last phase, such as next values of memory."""
    kept = recorded(groups.program, groups.late)
    for own in groups.memory[groups.root :]:
        kept |= {place for _, following in own for place in following}
    return kept


def recorded(program: TracedProgram, late: CalledCode | None) -> set[Place]:
    """Return values that the root block reads in the end: the record's, the failure, and those of
    what is called after the commit.
    """
    items = [x for item in program.record for x in flatten(item)]
    found = {place for code in items if isinstance(code, Code) for place in code.reads}
    assert program.commit is not None
    failure = program.commit.failure
    found |= set() if late is None else set(late.reads)
    return found if failure is None else found | {failure}
