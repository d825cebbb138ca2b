"""In which phase a block is done: after what it reads, and behind a barrier if another group makes
that.
"""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import TopologicalSorter

from heelstrike.codegen.cuda.groups import Groups
from heelstrike.ir.code import PackedCode


def phases(groups: Groups, units: Sequence[PackedCode]) -> list[list[list[PackedCode]]]:
    """Each block in a phase between the earliest and the latest it may have, where it lengthens
    the phase least. The limbs are placed first, those before that have the least choice, then
    the hub; swarms, which all warps share, as early as may be.
    """
    units = ordered(units)
    own = [groups.group[id(unit)] for unit in units]
    writer = {place: k for k, unit in enumerate(units) for place in unit.writes}
    before = [
        [
            (i, int(places not in groups.written[own[k]]))
            for places in unit.read
            for i in {writer[p] for p in places if p in writer}
        ]
        for k, unit in enumerate(units)
    ]
    early = [0] * len(units)
    for k in range(len(units)):
        early[k] = max((early[i] + gap for i, gap in before[k]), default=0)
    load = [[0] * groups.crews for _ in range(max(early) + 1)]
    late = [len(load) - 1] * len(units)
    _narrow(before, early, late)
    choice = [b - a for a, b in zip(early, late, strict=True)]
    for k in sorted(range(len(units)), key=lambda k: (own[k] == groups.hub, choice[k])):
        _narrow(before, early, late)
        crew, size = own[k], units[k].size
        if crew > groups.hub:
            late[k] = early[k]
            continue
        crew = groups.host if crew == groups.hub else crew
        early[k] = late[k] = min(
            range(early[k], late[k] + 1),
            key=lambda p: max(load[p][crew] + size - max(load[p]), 0),
        )
        load[early[k]][crew] += size
    found: list[list[list[PackedCode]]] = [[[] for _ in groups.units] for _ in load]
    for k, unit in enumerate(units):
        found[early[k]][own[k]].append(unit)
    return found


def ordered(units: Sequence[PackedCode]) -> list[PackedCode]:
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
