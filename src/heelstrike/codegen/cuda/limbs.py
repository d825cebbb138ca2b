"""Limbs of a robot in a program, and groups of limbs that do the same.

A block's tag names its limb. A limb that exchanges values with only one other, or with several that
exchange values among themselves, gets a warp; a hand and its fingers share one. The blocks between
the limbs form the root block. A block without a limb joins the limb whose guard it decides on, or
the limb that it exchanges values with, if there is exactly one, else the root block; what is called
(called.py) always joins the root block. Limbs whose
blocks can be packed, such as a left and a right arm, form a warp group: its warps run the same
code, so that the GPU fetches half the instructions. Where constants and places differ, each warp
has its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from heelstrike.codegen.cuda.units import Unit, are_independent, called_code, needs_of, pack_unit
from heelstrike.ir.code import Code, Place, next_of

ROOT = -1
"""Number in place of a limb's for blocks of the root block."""


def limbs(codes: Sequence[Code], carried: Mapping[Place, Place], nexts: set[str]) -> dict[int, int]:
    """Return the number of each block's limb, by the block's identity.

    Args:
        codes: All blocks.
        carried: Values that loops carry, and their next values.
        nexts: Names of the arrays of the memory's next values.
    """
    known = _number_of_limbs(codes)
    limb_of = {id(code): known[code.limb] for code in codes if code.limb}
    limb_of |= {id(code): ROOT for code in codes if called_code(code) is not None}
    limb_of |= _limbs_of_needs(codes, limb_of)
    made = {place for code in codes for place in code.writes}

    def touched(code: Code) -> set[Place]:
        """Return values that some block computes; memory and carried values as their next ones."""
        found = set()
        for place in (*code.reads, *code.writes):
            name = place.array
            if name is not None and next_of(name) in nexts:
                place = Place(next_of(name), place.index)
            found.add(carried.get(place, place))
        return found & made

    touches = {id(code): touched(code) for code in codes}
    loose = [code for code in codes if id(code) not in limb_of]
    while loose:
        near: dict[Place, set[int]] = {}
        for code in codes:
            if limb_of.get(id(code), ROOT) != ROOT:
                for place in touches[id(code)]:
                    near.setdefault(place, set()).add(limb_of[id(code)])
        neighbours = {
            id(code): set().union(*(near.get(place, set()) for place in touches[id(code)]))
            for code in loose
        }
        found = {k: own.pop() if len(own) == 1 else ROOT for k, own in neighbours.items() if own}
        limb_of |= found
        loose = [code for code in loose if id(code) not in found]
        if not found:
            break
    return {id(code): limb_of.get(id(code), ROOT) for code in codes}


def _limbs_of_needs(codes: Sequence[Code], limb_of: Mapping[int, int]) -> dict[int, int]:
    """Return the limb of each block without one that computes the need of one limb's guards.

    Inside a guard stand the blocks that compute the needs of inner ones, which come first.
    """
    found: dict[int, int] = {}
    while True:
        known = {**limb_of, **found}
        guarded: dict[Place, set[int | None]] = {}
        for code in codes:
            for need in needs_of(code):
                guarded.setdefault(need, set()).add(known.get(id(code)))
        more = {}
        for code in codes:
            own = set().union(*(guarded.get(place, {None}) for place in code.writes))
            if id(code) not in known and len(own) == 1 and (limb := own.pop()) is not None:
                more[id(code)] = limb
        if not more:
            return found
        found |= more


def warp_groups(blocks: Mapping[int, Sequence[Code]]) -> list[list[Unit]]:
    """Return the units of each warp group, from the blocks of each limb.

    The root block comes last.
    """
    found: list[list[int]] = []
    made: list[list[Unit]] = []
    for limb in sorted(set(blocks) - {ROOT}):
        for k, group in enumerate(found):
            if (packed := _pack_limbs([blocks[x] for x in (*group, limb)])) is not None:
                found[k], made[k] = [*group, limb], packed
                break
        else:
            alone = _pack_limbs([blocks[limb]])
            assert alone is not None
            found.append([limb])
            made.append(alone)
    root = _pack_limbs([blocks.get(ROOT, ())])
    assert root is not None
    return [*made, root]


def _pack_limbs(limbs: Sequence[Sequence[Code]]) -> list[Unit] | None:
    """Return the limbs' blocks packed one by one; None if they differ."""
    if len({len(own) for own in limbs}) > 1:
        return None
    units = []
    for codes in zip(*limbs, strict=True):
        if not are_independent(codes) or (unit := pack_unit(codes)) is None:
            return None
        units.append(unit)
    own = {places for unit in units for places in unit.written}
    members = [{place for code in codes for place in code.writes} for codes in limbs]
    for places in {places for unit in units for places in unit.read}.difference(own):
        homes = {places[k] in member for k, member in enumerate(members)}
        if homes != {False} or len({place.array is None for place in places}) > 1:
            return None
    return units


def _number_of_limbs(codes: Sequence[Code]) -> dict[str, int]:
    """Return the number of each named limb; ROOT for those between others.

    A value that a joint does not change, such as the direction of its axis, is read by the next
    limb from the one before.
    """
    named = [(code.limb, code) for code in codes if code.limb]
    writers: dict[Place, set[str]] = {}
    for limb, code in named:
        for place in code.writes:
            writers.setdefault(place, set()).add(limb)
    neighbours: dict[str, set[str]] = {limb: set() for limb, _ in named}
    for limb, code in named:
        for place in (*code.reads, *code.writes):
            for other in writers.get(place, set()) - {limb}:
                neighbours[limb].add(other)
                neighbours[other].add(limb)
    sizes = Counter[str]()
    for limb, code in named:
        sizes[limb] += code.size
    home = _merged(neighbours, sizes)
    ends = _ends(neighbours)
    return {limb: ends.index(home[limb]) if home[limb] in ends else ROOT for limb in home}


def _merged(neighbours: dict[str, set[str]], sizes: Mapping[str, int]) -> dict[str, str]:
    """Merge limbs with smaller ones that hang on them alone, such as a hand with its fingers.

    Return for each limb the one it was merged into, which takes over its neighbours. Something is
    left between the limbs.
    """
    home = {limb: limb for limb in neighbours}
    while True:
        ends = _ends(neighbours)
        between = [limb for limb in neighbours if limb not in ends]
        for limb in between if len(between) > 1 else ():
            own = [end for end in ends if end in neighbours[limb]]
            rest = neighbours[limb].difference(own)
            if own and _is_end(rest, neighbours) and sizes[limb] > max(sizes[x] for x in own):
                break
        else:
            return home
        for end in own:
            for other in neighbours.pop(end):
                neighbours[other].discard(end)
                if other != limb:
                    neighbours[other].add(limb)
                    neighbours[limb].add(other)
        home = {x: limb if at in own else at for x, at in home.items()}


def _ends(neighbours: Mapping[str, set[str]]) -> list[str]:
    return [limb for limb, others in neighbours.items() if _is_end(others, neighbours)]


def _is_end(others: set[str], neighbours: Mapping[str, set[str]]) -> bool:
    """Return whether all neighbours of a limb exchange values among themselves."""
    return bool(others) and all(b in neighbours[a] for a, b in combinations(others, 2))
