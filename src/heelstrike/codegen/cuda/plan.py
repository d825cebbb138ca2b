"""A schedule of a GPU's warps: which group works on which blocks in which phase.

A team of warps has 32 worlds. Its groups are the crews, each a warp a limb; the hub, which the
first warp of one crew works on; and the swarms, whose members all warps share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heelstrike.codegen.cuda.crews import Places
from heelstrike.ir.code import Advance, PackedCode, Place, Repeat


@dataclass(frozen=True)
class Segment:
    """Blocks that follow one another, phase by phase; a barrier ends a phase."""

    phases: list[list[list[PackedCode]]]
    """[phase][group] -> blocks; the groups are the crews, the hub, then the swarms."""


@dataclass(frozen=True)
class Rounds:
    """A loop, and what it does in each round."""

    loop: Repeat
    carried: list[list[tuple[Places, Places]]]
    """By group: what it carries from round to round, and its next values."""
    parts: list[Part]

    @property
    def end(self) -> Advance:
        """Of a round."""
        end = self.loop.body[-1]
        assert isinstance(end, Advance)
        return end


Part = Segment | Rounds


@dataclass(frozen=True)
class Schedule:
    """Each group's work."""

    sizes: list[int]
    """Warps of each crew."""
    members: list[int]
    """Of the groups that have no warps of their own: the hub's one, and each swarm's."""
    host: int
    """The crew whose first warp works on the hub."""
    parts: list[Part]
    slots: dict[Place, int]
    """Values that another warp reads, and their number in shared memory."""
    own: list[dict[Places, int]]
    """By group: values that only its members themselves read, and their number in the thread's
    memory."""
    soon: set[Places]
    """Next values of what is carried that are taken as soon as they are made."""
    memory: list[list[tuple[Places, Places]]]
    """By group: memory, and its next values."""
    inputs: list[list[Places]]
    """By group: inputs of which a launch keeps a copy in shared memory."""

    @property
    def warps(self) -> int:
        """Of a team."""
        return sum(self.sizes)

    def rows(self, group: int) -> int:
        """Members of a swarm that a warp works on, at most."""
        return -(-self.members[group - len(self.sizes)] // self.warps)

    def width(self, group: int) -> int:
        """Numbers of a member in the thread's memory."""
        return max(self.own[group].values(), default=-1) + 1

    @property
    def size(self) -> int:
        """Operations in the code: each crew has a copy of the swarms'."""
        rows = [row for segment in segments(self.parts) for row in segment.phases]
        own = len(self.sizes) + 1
        return sum(
            unit.size * (1 if group < own else len(self.sizes))
            for row in rows
            for group, units in enumerate(row)
            for unit in units
        )

    @property
    def loops(self) -> bool:
        """Whether the number of rounds may differ from world to world."""
        return any(isinstance(part, Rounds) for part in self.parts)

    @property
    def sound(self) -> int:
        """The first of the slots in which warps say whether their next values are sound."""
        return max(self.slots.values(), default=-1) + 1

    @property
    def values(self) -> int:
        """Of a world, in shared memory."""
        return self.sound + self.warps


def segments(parts: Sequence[Part]) -> Iterator[Segment]:
    """All of them, in the order of their work."""
    for part in parts:
        if isinstance(part, Segment):
            yield part
        else:
            yield from segments(part.parts)


def work(parts: Sequence[Part]) -> Iterator[tuple[int, int, PackedCode]]:
    """Each block, with the number of its phase and its group."""
    phase = 0
    for segment in segments(parts):
        for row in segment.phases:
            for group, units in enumerate(row):
                for unit in units:
                    yield phase, group, unit
            phase += 1


def loops(parts: Sequence[Part], first: int = 0) -> Iterator[tuple[Rounds, int, int]]:
    """Each loop, with the numbers of its first and of its last phase."""
    for part in parts:
        count = sum(len(segment.phases) for segment in segments([part]))
        if isinstance(part, Rounds):
            yield part, first, first + count - 1
            yield from loops(part.parts, first)
        first += count
