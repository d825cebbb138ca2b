"""Joining of guards: similar guards become one, whose blocks can be packed.

A packed block costs about as much as one of its blocks, so a single world that needs one limb of
several similar ones may as well do the work of all. An assignment selects by its own guard's need,
so the bits stay the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from heelstrike.codegen.passes.packing import (
    MAX_DISTANCE,
    MAX_WIDTH,
    KnownPlaces,
    LimbSets,
    Touched,
    can_be_packed,
    limb_sets,
    similar,
)
from heelstrike.ir.block import BlockTag
from heelstrike.ir.code import Code, Guard, Item, Place, Repeat
from heelstrike.ir.graph import Graph
from heelstrike.ir.operations import INPUT, Operation


def join_guards(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the items with similar guards joined; a joined guard stands at the first one's place.

    Blocks between the guards, such as those that compute their needs, move before it.
    """
    return _join(items, limb_sets(items), {})


def _join(items: Sequence[Item], sets: LimbSets, known: KnownPlaces) -> tuple[Item, ...]:
    left = list(items)
    result: list[Item] = []
    while left:
        item = left.pop(0)
        if isinstance(item, Repeat):
            item = Repeat(item.name, _join(item.body, sets, known), item.limit, item.until)
        elif isinstance(item, Guard):
            guards, before, taken = _with_later(item, left, sets, known)
            if len(guards) == 1:
                item = Guard(item.name, item.need, _join(item.body, sets, known))
            else:
                left = [other for k, other in enumerate(left) if k not in taken]
                need = _either(guards)
                result += [*before, need]
                body = tuple(code for guard in guards for code in guard.body)
                item = Guard(need.tag.kind, need.writes[0], body)
        result.append(item)
    return tuple(result)


def _with_later(
    guard: Guard, others: Sequence[Item], sets: LimbSets, known: KnownPlaces
) -> tuple[list[Guard], list[Code], set[int]]:
    """Return the guard with similar ones that follow, blocks that move before it, and indices."""
    found: list[tuple[int, Guard]] = []
    moving: dict[int, Code] = {}
    staying = Touched(known)
    staying.add(guard)
    for k, other in enumerate(others[:MAX_DISTANCE]):
        movable = not staying.conflicts(other)
        if movable and isinstance(other, Guard) and _alike(guard, other, sets):
            found.append((k, other))
        elif movable and isinstance(other, Code):
            moving[k] = other
            continue
        staying.add(other)
    count = min(MAX_WIDTH, 1 << ((1 + len(found)).bit_length() - 1)) - 1
    if not count:
        return [guard], [], set()
    found, last = found[:count], found[count - 1][0]
    moved = {k: code for k, code in moving.items() if k < last}
    taken = {*moved, *(k for k, _ in found)}
    return [guard, *(other for _, other in found)], list(moved.values()), taken


def _alike(a: Guard, b: Guard, sets: LimbSets) -> bool:
    """Return whether each block of one guard can be packed with its counterpart in the other."""
    if len(a.body) != len(b.body):
        return False
    for x, y in zip(a.body, b.body, strict=True):
        if not isinstance(x, Code) or not isinstance(y, Code) or not similar(x, y):
            return False
        own_set = sets.get(x.limb)
        if own_set != sets.get(y.limb) or (own_set is not None and x.limb == y.limb):
            return False
        if not can_be_packed(x, y):
            return False
    return True


def _either(guards: Sequence[Guard]) -> Code:
    """Return the block that computes whether any of the guards is needed."""
    needs = tuple(guard.need for guard in guards)
    operations = [Operation(INPUT, (i,)) for i in range(len(needs))]
    last = 0
    for i in range(1, len(needs)):
        operations.append(Operation("OR", (last, i)))
        last = len(operations) - 1
    place = Place(None, -1 - needs[0].index)  # places of the program count from 0
    tag = BlockTag(", ".join(guard.name for guard in guards))
    return Code(tag, Graph(tuple(operations), (last,)), needs, (place,))
