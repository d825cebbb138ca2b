"""Values that branches change: variables, and what a guard's blocks leave to later ones.

Such a value is in memory between branches, never in a register that another branch would not know.
A warp group's own values are in cells of the thread's memory, which LLVM turns into registers again
unless they are too many; a cell takes another value when its own is no longer needed. Other values
are in shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from heelstrike.codegen.cuda.groups import Groups
from heelstrike.codegen.cuda.schedule import Part, segments
from heelstrike.codegen.cuda.units import Places, Unit
from heelstrike.ir.code import Place

Branch = tuple[int, int, int]
"""Numbers of the phase, the group and the run of units under the same guards."""


def changing_values(groups: Groups, parts: Sequence[Part]) -> list[dict[Places, None]]:
    """Return for each group the values of its own that branches change."""
    made: dict[Place, set[Branch]] = {}
    used: dict[Place, set[Branch]] = {}
    guarded: set[Place] = set()
    for branch, unit in _branches(parts):
        for place in unit.writes:
            made.setdefault(place, set()).add(branch)
        for place in unit.reads:
            used.setdefault(place, set()).add(branch)
        guarded.update(unit.writes if unit.needs else ())
    at_end = {place for own in groups.memory for _, new in own for place in new}
    escaping = {
        place for place in guarded if place in at_end or not used.get(place, set()) <= made[place]
    }
    found = groups.variables | escaping
    return [
        {places: None for places in written if not found.isdisjoint(places)}
        for written in groups.written
    ]


def _branches(parts: Sequence[Part]) -> Iterator[tuple[Branch, Unit]]:
    """Yield each unit with its branch; units without guards are in branches as well."""
    rows = (row for segment in segments(parts) for row in segment.phases)
    for phase, row in enumerate(rows):
        for group, units in enumerate(row):
            for run, (_, own) in enumerate(groupby(units, key=lambda unit: unit.needs)):
                for unit in own:
                    yield (phase, group, run), unit
