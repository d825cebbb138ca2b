"""A schedule of a GPU's warps: which group works on which blocks in which phase.

A team of warps has 32 worlds. Its groups are the crews, each a warp a limb; the hub, which the
first warp of one crew works on; and the swarms, whose members all warps share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from heelstrike.compile.code import Place, Repeat, Twins
from heelstrike.compile.gpu_crews import Places


@dataclass(frozen=True)
class Segment:
    """Blocks that follow one another, phase by phase; a barrier ends a phase."""

    phases: list[list[list[Twins]]]
    """[phase][group] -> blocks; the groups are the crews, the hub, then the swarms."""
    loop: Repeat | None = None
    """Whose round this is."""


@dataclass(frozen=True)
class Schedule:
    """Each group's work."""

    sizes: list[int]
    """Warps of each crew."""
    members: list[int]
    """Of the groups that have no warps of their own: the hub's one, and each swarm's."""
    host: int
    """The crew whose first warp works on the hub."""
    segments: list[Segment]
    slots: dict[Place, int]
    """Values that another warp reads, and their number in shared memory."""
    carried: list[list[tuple[Places, Places]]]
    """By group: what it carries through the loop, and its next values."""
    memory: list[list[tuple[Places, Places]]]
    """By group: memory, and its next values."""
    inputs: list[list[Places]]
    """By group: inputs of which a launch keeps a copy in shared memory."""

    @property
    def warps(self) -> int:
        """Of a team."""
        return sum(self.sizes)

    @property
    def size(self) -> int:
        """Operations in the code: each crew has a copy of the swarms'."""
        rows = [row for segment in self.segments for row in segment.phases]
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
        return any(segment.loop for segment in self.segments)

    @property
    def sound(self) -> int:
        """The first of the slots in which warps say whether their next values are sound."""
        return max(self.slots.values(), default=-1) + 1

    @property
    def values(self) -> int:
        """Of a world, in shared memory."""
        return self.sound + self.warps


def work(segments: list[Segment]) -> Iterator[tuple[int, bool, int, Twins]]:
    """Each block, with the number of its phase, whether that is in a loop, and its group."""
    phase = 0
    for segment in segments:
        for row in segment.phases:
            for group, units in enumerate(row):
                for unit in units:
                    yield phase, segment.loop is not None, group, unit
            phase += 1
