"""A schedule of a GPU's warps: which group works on which blocks in which phase.

A block slice, the warps that work on 32 worlds, has a warp for each limb. Its groups are the warp
groups; the root block, which the first warp of one warp group computes; and the strided groups,
whose members all warps share. A barrier ends each phase.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heelstrike.codegen.cuda.apart import allows_apart
from heelstrike.codegen.cuda.called import CalledCode
from heelstrike.codegen.cuda.groups import Groups
from heelstrike.codegen.cuda.order import before_each, by_guard, in_order
from heelstrike.codegen.cuda.units import Places, Unit
from heelstrike.ir.code import Advance, Place, Repeat

ADDRESSES = 16
"""Addresses in a slot, the values of 32 worlds in shared memory."""

TOGETHER = 4
"""Neighbours in local memory that a thread may load or store at once."""


@dataclass(frozen=True)
class Segment:
    """Blocks that follow one another, phase by phase."""

    phases: list[list[list[Unit]]]
    """[phase][group] -> blocks; warp groups, the root block, then strided groups."""


@dataclass(frozen=True)
class Rounds:
    """A loop, and the work of each of its rounds."""

    loop: Repeat
    carried: list[list[tuple[Places, Places]]]
    """For each group, the values it carries from round to round and their next values."""
    parts: list[Part]

    @property
    def end(self) -> Advance:
        """End of a round."""
        end = self.loop.body[-1]
        assert isinstance(end, Advance)
        return end


Part = Segment | Rounds


@dataclass(frozen=True)
class Schedule:
    """Work of each group, and where values are kept."""

    sizes: list[int]
    """Number of warps of each warp group."""
    members: list[int]
    """Number of members of the groups without warps of their own: 1 for the root block, then those
    of each strided group."""
    host: int
    """Index of the warp group whose first warp computes the root block."""
    parts: list[Part]
    slots: dict[Place, int]
    """Slot in shared memory of each value that another warp reads."""
    private: list[dict[Places, int]]
    """For each group, values that only its own members read, and their index in the thread's local
    memory."""
    cells: list[dict[Places, int]]
    """For each warp group, values of its own that branches may change, and their cells."""
    early: set[Places]
    """Next values of carried values that are taken in the phase that computes them."""
    memory: list[list[tuple[Places, Places]]]
    """For each group, memory and its next values."""
    inputs: list[list[Places]]
    """For each group, inputs of which a launch keeps a copy in shared memory."""
    late: CalledCode | None
    """What is called after the commit."""
    ports: int
    """Number of ports whose addresses are in shared memory; 0 if they are in registers."""

    @property
    def warps(self) -> int:
        """Number of warps of a block slice."""
        return sum(self.sizes)

    def rows(self, group: int) -> int:
        """Return the largest number of members of a strided group that one warp computes."""
        return -(-self.members[group - len(self.sizes)] // self.warps)

    def width(self, group: int) -> int:
        """Return the number of values that a member keeps in local memory."""
        count = max(self.private[group].values(), default=-1) + 1
        return -(-count // TOGETHER) * TOGETHER

    def cell_count(self, group: int) -> int:
        """Return the number of cells of a warp group."""
        return max(self.cells[group].values(), default=-1) + 1

    @property
    def most_cells(self) -> int:
        """Largest number of cells of a warp group."""
        return max(self.cell_count(group) for group in range(len(self.sizes)))

    @property
    def size(self) -> int:
        """Number of operations that a step may execute in all worlds, of one member of each group.

        Where the work under guards stands apart (apart.py), it does not count.
        """
        rows = [row for segment in segments(self.parts) for row in segment.phases]
        units = [unit for row in rows for own in row for unit in own]
        apart = allows_apart(self.most_cells)
        return sum(unit.size for unit in units if not (apart and unit.needs))

    @property
    def loops(self) -> bool:
        """True if the number of rounds may differ from world to world."""
        return any(isinstance(part, Rounds) for part in self.parts)

    @property
    def finite_slot(self) -> int:
        """First of the slots in which warps store whether their next values are finite."""
        return max(self.slots.values(), default=-1) + 1

    @property
    def address_slot(self) -> int:
        """First of the slots that hold the addresses of ports, 16 in each or more."""
        return self.finite_slot + self.warps

    @property
    def values(self) -> int:
        """Number of values of a world in shared memory."""
        return self.address_slot + -(-self.ports // ADDRESSES)


def segments(parts: Sequence[Part]) -> Iterator[Segment]:
    """Yield all segments in the order of their execution."""
    for part in parts:
        if isinstance(part, Segment):
            yield part
        else:
            yield from segments(part.parts)


def work(parts: Sequence[Part]) -> Iterator[tuple[int, int, Unit]]:
    """Yield each block with the numbers of its phase and its group."""
    phase = 0
    for segment in segments(parts):
        for row in segment.phases:
            for group, units in enumerate(row):
                for unit in units:
                    yield phase, group, unit
            phase += 1


def loops(parts: Sequence[Part], first: int = 0) -> Iterator[tuple[Rounds, int, int]]:
    """Yield each loop with the numbers of its first and its last phase."""
    for part in parts:
        count = sum(len(segment.phases) for segment in segments([part]))
        if isinstance(part, Rounds):
            yield part, first, first + count - 1
            yield from loops(part.parts, first)
        first += count


def assign_phases(groups: Groups, units: Sequence[Unit]) -> list[list[list[Unit]]]:
    """Return blocks by phase and group: after what they read, behind a barrier where groups differ.

    Each block goes to the phase between its earliest and its latest which it lengthens least. Limbs
    are placed first, those with the least choice before others, then the root block; strided
    groups, which all warps share, as early as possible.
    """
    units = in_order(groups, units)
    own = [groups.group[id(unit)] for unit in units]
    before = [list(found.items()) for found in before_each(groups, units)]
    early = [0] * len(units)
    for k in range(len(units)):
        early[k] = max((early[i] + gap for i, gap in before[k]), default=0)
    load = [[0] * groups.root for _ in range(max(early) + 1)]
    late = [len(load) - 1] * len(units)
    _narrow(before, early, late)
    choice = [b - a for a, b in zip(early, late, strict=True)]
    for k in sorted(range(len(units)), key=lambda k: (own[k] == groups.root, choice[k])):
        _narrow(before, early, late)
        group, size = own[k], units[k].size
        if group > groups.root:
            late[k] = early[k]
            continue
        group = groups.host if group == groups.root else group
        early[k] = late[k] = min(
            range(early[k], late[k] + 1),
            key=lambda p: max(load[p][group] + size - max(load[p]), 0),
        )
        load[early[k]][group] += size
    found: list[list[list[int]]] = [[[] for _ in groups.units] for _ in load]
    for k in range(len(units)):
        found[early[k]][own[k]].append(k)
    return [[by_guard(units, before, chosen) for chosen in row] for row in found]


def _narrow(before: Sequence[Sequence[tuple[int, int]]], early: list[int], late: list[int]) -> None:
    """Update the earliest and latest phases after some were chosen."""
    for k, reads in enumerate(before):
        early[k] = max([early[k], *(early[i] + gap for i, gap in reads)])
    for k in reversed(range(len(before))):
        for i, gap in before[k]:
            late[i] = min(late[i], late[k] - gap)
