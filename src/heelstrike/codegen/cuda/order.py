"""Order of units: what each must follow, and where a barrier must stand between.

A unit follows those that write what it reads. The units of a variable, which several blocks write,
keep their order in the program: a block that writes it follows those that read or wrote it before.
What is called keeps its order too, for its functions share a frame (called.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import TopologicalSorter

from heelstrike.codegen.cuda.groups import Groups
from heelstrike.codegen.cuda.units import Places, Unit
from heelstrike.ir.code import Place


def in_order(groups: Groups, units: Sequence[Unit]) -> list[Unit]:
    """Return the units sorted so that each stands after those that it must follow."""
    before = {k: set(own) for k, own in enumerate(before_each(groups, units))}
    return [units[k] for k in TopologicalSorter(before).static_order()]


def before_each(groups: Groups, units: Sequence[Unit]) -> list[dict[int, int]]:
    """Return for each unit the indices of those that it must follow.

    The value is 1 where a barrier must stand between, 0 where a member uses its own value.
    """
    found: list[dict[int, int]] = [{} for _ in units]
    tuples = [_tuples(unit) for unit in units]
    writer: dict[Place, int] = {}
    readers: dict[Place, set[int]] = {}
    called: list[int] = []

    def follow(k: int, i: int, place: Place) -> None:
        near = groups.group[id(units[k])] == groups.group[id(units[i])]
        gap = 0 if near and len(tuples[k][place] | tuples[i][place]) == 1 else 1
        if i != k:
            found[k][i] = max(gap, found[k].get(i, 0))

    for k, member in _in_program_order(groups, units):
        for place in dict.fromkeys(places[member] for places in units[k].read):
            if place in writer:
                follow(k, writer[place], place)
            if place in groups.variables:
                readers.setdefault(place, set()).add(k)
        for place in dict.fromkeys(places[member] for places in units[k].written):
            if place in groups.variables:
                earlier = readers.pop(place, set())
                for i in sorted(earlier | ({writer[place]} if place in writer else set())):
                    follow(k, i, place)
            writer[place] = k
        if units[k].called is not None:
            found[k] |= {i: found[k].get(i, 0) for i in called[-1:]}
            called.append(k)
    return found


def by_guard(
    units: Sequence[Unit], before: Sequence[Sequence[tuple[int, int]]], chosen: Sequence[int]
) -> list[Unit]:
    """Return the chosen units in an order in which those under the same guards stand together."""
    if not any(units[k].needs for k in chosen):
        return [units[k] for k in chosen]
    left, found = list(chosen), []
    needs: tuple[Places, ...] = ()
    while left:
        waiting = set(left)
        ready = [k for k in left if waiting.isdisjoint(i for i, _ in before[k])]
        nearest = [_common(units[k].needs, needs) for k in ready]
        k = ready[nearest.index(max(nearest))]
        left.remove(k)
        found.append(units[k])
        needs = units[k].needs
    return found


def _common(a: tuple[Places, ...], b: tuple[Places, ...]) -> int:
    """Return how many guards two units share; equal ones count most."""
    if a == b:
        return len(a) + 1
    differ = (k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    return next(differ, min(len(a), len(b)))


def _in_program_order(groups: Groups, units: Sequence[Unit]) -> list[tuple[int, int]]:
    """Return the index of the unit and the member of each block, in the order of the program."""
    found = [
        (groups.position[id(code)], k, member)
        for k, unit in enumerate(units)
        for member, code in enumerate(unit.codes)
    ]
    return [(k, member) for _, k, member in sorted(found)]


def _tuples(unit: Unit) -> dict[Place, set[Places]]:
    """Return the tuples in which a unit uses each place."""
    found: dict[Place, set[Places]] = {}
    for places in (*unit.read, *unit.written):
        for place in places:
            found.setdefault(place, set()).add(places)
    return found
