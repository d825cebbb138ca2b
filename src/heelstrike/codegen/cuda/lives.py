"""How long values are in memory: those that another group reads, and those that the hub or a swarm
needs in a later phase, for these have no registers of their own. Memory is shared, but for what
only the members of a swarm themselves read: a member is always the same warp's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heelstrike.codegen.cuda.crews import Places
from heelstrike.codegen.cuda.groups import Groups
from heelstrike.codegen.cuda.plan import Part, loops, work
from heelstrike.codegen.cuda.slots import Life
from heelstrike.ir.code import Code, PackedCode, Place


def lives(groups: Groups, parts: Sequence[Part], soon: set[Places]) -> dict[Place, Life]:
    """When each of them is needed; `soon` are those that are taken as soon as they are made."""
    done = list(work(parts))
    over = max(phase for phase, _, _ in done) + 1
    owner = {place: w for own in groups.written for w in own for place in w}
    made, used = _times(done)
    crossing = _crossing(groups, done, made)
    for place in _kept(groups):
        used.setdefault(place, set()).add(over)
    spans = []
    for rounds, first, last in loops(parts):
        spans.append(Life(first, last))
        end = rounds.end
        for place in (*(end.done or ()), *(p for pair in end.carried for p in pair)):
            used.setdefault(place, set()).add(last)
        for pairs in rounds.carried[groups.crews :]:
            for old, new in pairs:
                crossing.update(old, () if new in soon else new)
    found: dict[Place, Life] = {}
    for places in dict.fromkeys(w for place, w in owner.items() if place in crossing):
        times = set().union(*(made[p] | used.get(p, set()) for p in places))
        life = Life(min(times), max(times))
        for span in spans:
            if life.first < span.first <= life.last:
                life = life.with_(span)
        found |= dict.fromkeys(places, life)
    return found


def taken_soon(groups: Groups, parts: Sequence[Part]) -> set[Places]:
    """Next values of what hub and swarms carry through a loop that can be taken in the phase that
    makes them: no other group reads the old one there or later in the round, its own not later.
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
        inner = [Life(a, b) for _, a, b in loops(rounds.parts, first)]
        for group, pairs in enumerate(rounds.carried):
            for old, new in pairs if group >= groups.crews else ():
                reads = [read for place in old for read in readers.get(place, ())]
                when = Life(made[new], made[new])
                if not any(span.meets(when) for span in inner) and all(
                    phase < made[new] or (phase, reader, places) == (made[new], group, old)
                    for phase, reader, places in reads
                ):
                    found.add(new)
    return found


def private(groups: Groups, parts: Sequence[Part], needed: Mapping[Place, Life]) -> list[Own]:
    """Of each group the values that only its own members read, and how long."""
    foreign = {place for end in groups.ends for place in end.done or ()} | _recorded(groups)
    for _, group, unit in work(parts):
        for places in unit.read:
            if places not in groups.written[group]:
                foreign.update(places)
    return [
        {
            w: needed[w[0]]
            for w in written
            if group > groups.hub and needed.keys() >= set(w) and foreign.isdisjoint(w)
        }
        for group, written in enumerate(groups.written)
    ]


Own = dict[Places, Life]
"""Values of a group's members, one place a member."""
Work = Sequence[tuple[int, int, PackedCode]]
"""Each block, with the number of its phase and its group."""


def _times(done: Work) -> tuple[dict[Place, set[int]], dict[Place, set[int]]]:
    """Phases in which a value is made, and in which it is read."""
    made: dict[Place, set[int]] = {}
    used: dict[Place, set[int]] = {}
    for phase, _, unit in done:
        for place in unit.writes:
            made.setdefault(place, set()).add(phase)
        for place in unit.reads:
            used.setdefault(place, set()).add(phase)
    return made, used


def _crossing(groups: Groups, done: Work, made: dict[Place, set[int]]) -> set[Place]:
    """What does not stay in registers."""
    found = _kept(groups)
    found |= {end.done[1] for end in groups.ends if end.done is not None}
    for phase, group, unit in done:
        for places in unit.read:
            near = places in groups.written[group]
            for place in made.keys() & places:
                if not near or (group >= groups.crews and phase not in made[place]):
                    found.add(place)
    return found


def _kept(groups: Groups) -> set[Place]:
    """What is read after the last phase: also what groups without warps will remember."""
    kept = _recorded(groups)
    for own in groups.memory[groups.crews :]:
        kept |= {place for _, following in own for place in following}
    return kept


def _recorded(groups: Groups) -> set[Place]:
    """What the hub reads in the end: for the record, and whether the world fails."""
    codes = [item for item in groups.program.record if isinstance(item, Code)]
    found = {place for code in codes for place in code.reads}
    assert groups.program.commit is not None
    failure = groups.program.commit.failure
    return found if failure is None else found | {failure}
