"""Groups of a program's blocks on a GPU: warp groups, the root block and strided groups.

A warp group has a warp for each of its limbs (limbs.py). Long work that is the same for each joint,
or for each contact point, forms a strided group: blocks of one kind and different members that can
be packed. It belongs to no limb: all warps share its members, each computing every n-th one with
the same few instructions. So the search for the torques of joints takes the code of one joint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from heelstrike.codegen.cuda.called import CalledCode
from heelstrike.codegen.cuda.units import Places, Unit, are_independent, pack_unit
from heelstrike.ir.block import BlockTag
from heelstrike.ir.code import Advance, Code, Place, TracedProgram, next_of

MIN_MEMBERS = 12
"""Members of a strided group, at least; fewer are left to their limbs, unless"""
FEW_MEMBERS, MUCH_WORK = 8, 500
"""there are at least so many, and each has so many operations in all."""
MIN_SIZE = 20
"""Operations of a member from which on two members of one limb suffice: one warp would have to
compute them all."""
LITTLE_WORK = 860
"""Operations of all members up to which blocks without guards are left to their limbs: a member of
a strided group spends more instructions on places than on so little work (benchmarks/gpu.md)."""


class Groups:
    """Blocks by group: warp groups, the root block, then strided groups.

    The root block is hosted by the warp group that has least to do.
    """

    def __init__(
        self,
        program: TracedProgram,
        warp_groups: Sequence[Sequence[Unit]],
        strided: Sequence[Sequence[Unit]],
        ends: Sequence[Advance],
        position: Mapping[int, int],
        late: CalledCode | None,
    ) -> None:
        """Group blocks; the last warp group is the root block, `ends` are those of the loops.

        `late` is called after the commit.
        """
        self.program, self.ends, self.late = program, ends, late
        self.position = dict(position)
        """Number of each block in the order of the program, by the block's identity."""
        self.units = [*warp_groups, *strided]
        self.root = len(warp_groups) - 1
        """Number of warp groups, and index of the root block."""
        loads = [sum(unit.size for unit in group) for group in warp_groups[:-1]]
        self.host = loads.index(min(loads))
        """Index of the warp group that hosts the root block."""
        self.sizes = [group[0].width for group in self.units]
        self.group = {id(unit): k for k, group in enumerate(self.units) for unit in group}
        written = Counter(p for group in self.units for unit in group for p in unit.writes)
        self.variables = {place for place, count in written.items() if count > 1}
        """Places that several blocks write."""
        self.written: list[dict[Places, None]] = [  # ordered: the same PTX text in every process
            {w: None for unit in group for w in unit.written} for group in self.units
        ]
        ports = {port.name for port in program.inputs}
        self.inputs = [
            [
                *{
                    w: None
                    for unit in group
                    for w in unit.read
                    if k > self.root and w[0].array in ports
                }
            ]
            for k, group in enumerate(self.units)
        ]
        """Inputs that each strided group reads."""
        assert program.commit is not None
        nexts = {next_of(port.name): port.name for port in program.commit.memory}
        self.memory = [
            [
                (tuple(Place(nexts[str(p.array)], p.index) for p in w), w)
                for w in written
                if w[0].array in nexts
            ]
            for written in self.written
        ]
        """Memory that each group updates, and its next values."""

    def carried(self, end: Advance) -> list[list[tuple[Places, Places]]]:
        """Return what each group carries through a loop, and its next values."""
        before = {new: old for old, new in end.carried}
        return [
            [
                (tuple(before[place] for place in w), w)
                for w in dict.fromkeys(w for unit in group for w in unit.written)
                if before.keys() >= set(w)
            ]
            for group in self.units
        ]

    def add(self, unit: Unit, group: int, position: int) -> None:
        """Add a unit to a group; `position` is that of its blocks in the program."""
        self.group[id(unit)] = group
        self.written[group] |= dict.fromkeys(unit.written)
        self.position |= {id(code): position for code in unit.codes}


def strided_groups(codes: Sequence[Code], long: bool) -> list[list[Unit]]:
    """Return the packed blocks of each strided group; where `long`, little work is left out.

    Blocks of the same members are in one group, whatever their kinds.
    """
    kinds: dict[tuple[str, int], list[Code]] = {}
    seen: Counter[BlockTag] = Counter()
    for code in codes:
        if code.tag.member is not None:
            kinds.setdefault((code.tag.kind, seen[code.tag]), []).append(code)
            seen[code.tag] += 1
    made: dict[tuple[int | None, ...], list[Unit]] = {}
    for own in kinds.values():
        for alike, unit in _packed(own):
            members = tuple(code.tag.member for code in alike)
            made.setdefault(members, []).append(unit)
    left = ([x for x in units if not (long and _is_little(x))] for units in made.values())
    worth = (_worthwhile(units) for units in left if units)
    return [units for units in worth if units]


def _worthwhile(units: Sequence[Unit]) -> list[Unit]:
    """Return those units of the same members whose work all warps should share."""
    much = len(units[0].codes) >= FEW_MEMBERS and sum(unit.size for unit in units) >= MUCH_WORK
    return [unit for unit in units if much or len(unit.codes) >= _least_members(unit.codes)]


def _is_little(unit: Unit) -> bool:
    """Return whether limbs compute the blocks of a unit in fewer instructions."""
    little = unit.size * len(unit.codes) <= LITTLE_WORK and not unit.needs
    return little and all(code.limb and not code.tag.unset for code in unit.codes)


def _packed(codes: Sequence[Code]) -> Iterator[tuple[list[Code], Unit]]:
    """Yield blocks of one kind that can share their instructions, and the same packed."""
    left = list(codes)
    while left:
        own = [code for code in left if _can_be_packed(left[0], code)]
        taken = {id(code) for code in own}
        left = [code for code in left if id(code) not in taken]
        least = min(FEW_MEMBERS, _least_members(own))
        if len(own) >= least and (unit := pack_unit(own)) is not None and _can_be_strided(unit):
            yield own, unit


def _least_members(codes: Sequence[Code]) -> int:
    """Return how many blocks of one kind are shared, whatever else their members do."""
    of_one_limb = len({code.limb for code in codes}) == 1 and codes[0].limb
    return 2 if of_one_limb and codes[0].size >= MIN_SIZE else MIN_MEMBERS


def _can_be_packed(a: Code, b: Code) -> bool:
    return pack_unit([a, b]) is not None


def _can_be_strided(unit: Unit) -> bool:
    """Return whether members are independent, and read and write one array at a time."""
    tuples = (*unit.read, *unit.written)
    one_array = all(len({place.array for place in places}) == 1 for places in tuples)
    return one_array and are_independent(unit.codes)
