"""How long values are in shared memory: those that another group reads, and those that the hub or a
swarm needs in a later phase, for these have no registers of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from heelstrike.compile.code import Code, Place, Twins
from heelstrike.compile.gpu_crews import Places
from heelstrike.compile.gpu_groups import Groups
from heelstrike.compile.gpu_plan import Segment, work
from heelstrike.compile.gpu_slots import Life


def lives(groups: Groups, segments: list[Segment]) -> dict[Place, Life] | None:
    """When each of them is needed; None where the hub or a swarm cannot carry what it should."""
    done = list(work(segments))
    rounds = [phase for phase, loop, _, _ in done if loop]
    over = max(phase for phase, _, _, _ in done) + 1
    owner = {place: w for own in groups.written for w in own for place in w}
    made, used = _times(done)
    for place in _kept(groups):
        used.setdefault(place, set()).add(over)
    if groups.end is not None and groups.end.done is not None:
        for place in (*groups.end.done, *(p for pair in groups.end.carried for p in pair)):
            used.setdefault(place, set()).add(max(rounds))
    crossing = _crossing(groups, done, made)
    for group, pairs in enumerate(groups.carried[groups.crews :], start=groups.crews):
        for old, new in pairs:
            crossing |= set(old)
            if not _carries(done, group, old, max(made[new[0]])):
                return None
    found: dict[Place, Life] = {}
    for places in {owner[place] for place in crossing & owner.keys()}:
        times = set().union(*(made[p] | used.get(p, set()) for p in places))
        life = Life(min(times), max(times))
        if rounds and life.first < min(rounds) <= life.last:
            life = Life(life.first, max(life.last, max(rounds)))
        found |= dict.fromkeys(places, life)
    for places in (places for own in groups.inputs for places in own):
        found |= dict.fromkeys(places, Life(0, over))
    return found


Work = Sequence[tuple[int, bool, int, Twins]]
"""Each block, with the number of its phase, whether that is in a loop, and its group."""


def _times(done: Work) -> tuple[dict[Place, set[int]], dict[Place, set[int]]]:
    """Phases in which a value is made, and in which it is read."""
    made: dict[Place, set[int]] = {}
    used: dict[Place, set[int]] = {}
    for phase, _, _, unit in done:
        for place in unit.writes:
            made.setdefault(place, set()).add(phase)
        for place in unit.reads:
            used.setdefault(place, set()).add(phase)
    return made, used


def _crossing(groups: Groups, done: Work, made: dict[Place, set[int]]) -> set[Place]:
    """What does not stay in registers."""
    found = _kept(groups)
    if groups.end is not None and groups.end.done is not None:
        found.add(groups.end.done[1])
    for phase, _, group, unit in done:
        for places in unit.read:
            near = places in groups.written[group]
            for place in made.keys() & places:
                if not near or (group >= groups.crews and phase not in made[place]):
                    found.add(place)
    return found


def _kept(groups: Groups) -> set[Place]:
    """What is read after the last phase: by the record, for what groups without warps will
    remember, and whether the world fails.
    """
    codes = [item for item in groups.program.record if isinstance(item, Code)]
    kept = {place for code in codes for place in code.reads}
    for own in groups.memory[groups.crews :]:
        kept |= {place for _, following in own for place in following}
    assert groups.program.commit is not None
    failure = groups.program.commit.failure
    return kept if failure is None else kept | {failure}


def _carries(done: Work, group: int, old: Places, phase: int) -> bool:
    """Whether a carried value can take its next one in this phase: no other group reads it there
    or later in the round, and its own not later.
    """
    for when, loop, reader, unit in done:
        for places in unit.read if loop else ():
            if set(places) & set(old):
                own = reader == group and places == old
                if when > phase or (when == phase and not own):
                    return False
    return True
