"""Work that is the same for each joint, or for each contact point: a swarm.

Blocks of one kind and different members that are twins of one another form a swarm. It belongs to
no limb: all warps share its members, each making every n-th one with the same few instructions. So
a robot's servo takes the code of one joint, not of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from heelstrike.codegen.passes.packing import joined
from heelstrike.ir.block import BlockTag
from heelstrike.ir.code import Code, PackedCode

LEAST = 12
"""Members of a swarm; fewer are left to their limbs."""
WORTH = 20
"""Operations of a member from which on two members are enough, of what is all in one part: one warp
would have it all."""


def swarms(codes: Sequence[Code]) -> list[list[PackedCode]]:
    """The blocks of each swarm. Blocks of the same members are in one swarm, whatever they do."""
    groups: dict[tuple[str, int], list[Code]] = {}
    seen: Counter[BlockTag] = Counter()
    for code in codes:
        if code.tag.member is not None:
            groups.setdefault((code.tag.kind, seen[code.tag]), []).append(code)
            seen[code.tag] += 1
    made: dict[tuple[int | None, ...], list[PackedCode]] = {}
    for group in groups.values():
        for alike, unit in _alike(group):
            members = tuple(code.tag.member for code in alike)
            made.setdefault(members, []).append(unit)
    return list(made.values())


def _alike(codes: Sequence[Code]) -> Iterator[tuple[list[Code], PackedCode]]:
    left = list(codes)
    while left:
        own = [code for code in left if _are_twins(left[0], code)]
        taken = {id(code) for code in own}
        left = [code for code in left if id(code) not in taken]
        of_one = len({code.limb for code in own}) == 1 and own[0].limb
        least = 2 if of_one and own[0].size >= WORTH else LEAST
        if len(own) >= least and (unit := joined(own)) is not None and _is_swarm(unit):
            yield own, unit


def _are_twins(a: Code, b: Code) -> bool:
    return len(a.writes) == len(b.writes) and joined([a, b]) is not None


def _is_swarm(unit: PackedCode) -> bool:
    """No member reads what another writes; what all read, or write, is in one array."""
    tuples = (*unit.read, *unit.written)
    own = all(len({place.array for place in places}) == 1 for places in tuples)
    return own and set(unit.writes).isdisjoint(unit.reads)
