"""Which limbs of a robot there are in a program, and which of them do the same.

A block's tag names its part. Parts that exchange values with only one other, or with some that
exchange values among themselves, are limbs and get a warp each, a hand with its fingers one; what
is between them is the hub. Blocks of no part, go to the limb
that they exchange values with, if it is one alone, else to the hub. Limbs whose blocks are twins,
such as a left and a right arm, form a crew: its warps run one code, so that the GPU fetches half
the instructions; where constants and places differ, each warp has its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from heelstrike.codegen.passes.packing import joined
from heelstrike.ir.code import Code, PackedCode, Place, next_of

HUB = -1
"""The limb of what belongs to none."""

Places = tuple[Place, ...]
"""Where a value of a crew lives, one place a warp."""


def limbs(codes: Sequence[Code], carried: Mapping[Place, Place], nexts: set[str]) -> dict[int, int]:
    """The limb of each block, by its identity."""
    known = _parts(codes)
    limb_of = {id(code): known[code.limb] for code in codes if code.limb}
    made = {place for code in codes for place in code.writes}

    def touched(code: Code) -> set[Place]:
        """Values that some block makes; a memory's and a carried one's is its next."""
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
            if limb_of.get(id(code), HUB) != HUB:
                for place in touches[id(code)]:
                    near.setdefault(place, set()).add(limb_of[id(code)])
        seen = {
            id(code): set().union(*(near.get(place, set()) for place in touches[id(code)]))
            for code in loose
        }
        found = {k: limbs.pop() if len(limbs) == 1 else HUB for k, limbs in seen.items() if limbs}
        limb_of |= found
        loose = [code for code in loose if id(code) not in found]
        if not found:
            break
    return {id(code): limb_of.get(id(code), HUB) for code in codes}


def crews(blocks: Mapping[int, Sequence[Code]]) -> list[list[PackedCode]]:
    """The blocks of each crew, of limbs' blocks by limb; the hub's come last, alone."""
    found: list[list[int]] = []
    made: list[list[PackedCode]] = []
    for limb in sorted(set(blocks) - {HUB}):
        for k, crew in enumerate(found):
            if (together := _together([blocks[x] for x in (*crew, limb)])) is not None:
                found[k], made[k] = [*crew, limb], together
                break
        else:
            alone = _together([blocks[limb]])
            assert alone is not None
            found.append([limb])
            made.append(alone)
    hub = _together([blocks.get(HUB, ())])
    assert hub is not None
    return [*made, hub]


def _together(limbs: Sequence[Sequence[Code]]) -> list[PackedCode] | None:
    """The limbs' blocks as twins; None where they are none."""
    if len({len(own) for own in limbs}) > 1:
        return None
    units = []
    for codes in zip(*limbs, strict=True):
        if len({len(code.writes) for code in codes}) > 1 or (unit := joined(codes)) is None:
            return None
        if len(codes) > 1 and not set(unit.reads).isdisjoint(unit.writes):
            return None
        units.append(unit)
    own = {places for unit in units for places in unit.written}
    members = [{place for code in codes for place in code.writes} for codes in limbs]
    for places in {places for unit in units for places in unit.read}.difference(own):
        homes = {places[k] in member for k, member in enumerate(members)}
        if homes != {False} or len({place.array is None for place in places}) > 1:
            return None
    return units


def _parts(codes: Iterable[Code]) -> dict[str, int]:
    """The number of each part that is a limb; HUB for the rest. What a joint leaves as it is, such
    as the direction of its axis, the next part reads from the one before.
    """
    of_parts = [(code.limb, code) for code in codes if code.limb]
    writer = {place: part for part, code in of_parts for place in code.writes}
    neighbours: dict[str, set[str]] = {part: set() for part, _ in of_parts}
    for part, code in of_parts:
        for place in code.reads:
            other = writer.get(place, part)
            if other != part:
                neighbours[part].add(other)
                neighbours[other].add(part)
    sizes = Counter[str]()
    for part, code in of_parts:
        sizes[part] += code.size
    home = _gathered(neighbours, sizes)
    limbs = _ends(neighbours)
    return {part: limbs.index(home[part]) if home[part] in limbs else HUB for part in home}


def _gathered(neighbours: dict[str, set[str]], sizes: Mapping[str, int]) -> dict[str, str]:
    """Parts with those that hang on them alone and are smaller, as a hand with its fingers: by part
    the one that stands for them, which has their neighbours. Something is left between limbs.
    """
    home = {part: part for part in neighbours}
    while True:
        ends = _ends(neighbours)
        between = [part for part in neighbours if part not in ends]
        for part in between if len(between) > 1 else ():
            own = [end for end in ends if end in neighbours[part]]
            rest = neighbours[part].difference(own)
            if own and _is_end(rest, neighbours) and sizes[part] > max(sizes[x] for x in own):
                break
        else:
            return home
        for end in own:
            for other in neighbours.pop(end):
                neighbours[other].discard(end)
                if other != part:
                    neighbours[other].add(part)
                    neighbours[part].add(other)
        home = {x: part if at in own else at for x, at in home.items()}


def _ends(neighbours: Mapping[str, set[str]]) -> list[str]:
    return [part for part, others in neighbours.items() if _is_end(others, neighbours)]


def _is_end(others: set[str], neighbours: Mapping[str, set[str]]) -> bool:
    """Whether all that a part exchanges values with exchange values among themselves."""
    return bool(others) and all(b in neighbours[a] for a, b in combinations(others, 2))
