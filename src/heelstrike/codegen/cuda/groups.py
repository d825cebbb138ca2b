"""The groups of a program on a GPU: crews of limbs, the hub, swarms; what each makes and keeps."""

from __future__ import annotations

from collections.abc import Sequence

from heelstrike.codegen.cuda.crews import Places
from heelstrike.ir.code import Advance, PackedCode, Place, TracedProgram, next_of


class Groups:
    """Blocks by group. The hub is a guest of the crew that has least to do."""

    def __init__(
        self,
        program: TracedProgram,
        crews: Sequence[Sequence[PackedCode]],
        swarms: Sequence[Sequence[PackedCode]],
        ends: Sequence[Advance],
    ) -> None:
        """The last of the crews is the hub; `ends` are those of the program's loops."""
        self.program, self.ends = program, ends
        self.units = [*crews, *swarms]
        self.crews = self.hub = len(crews) - 1
        loads = [sum(unit.size for unit in crew) for crew in crews[:-1]]
        self.host = loads.index(min(loads))
        self.sizes = [group[0].width for group in self.units]
        self.group = {id(unit): k for k, group in enumerate(self.units) for unit in group}
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
                    if k > self.hub and w[0].array in ports
                }
            ]
            for k, group in enumerate(self.units)
        ]
        nexts = {next_of(port.name): port.name for port in program.memory}
        self.memory = [
            [
                (tuple(Place(nexts[str(p.array)], p.index) for p in w), w)
                for unit in group
                for w in unit.written
                if w[0].array in nexts
            ]
            for group in self.units
        ]

    def carried(self, end: Advance) -> list[list[tuple[Places, Places]]]:
        """By group: what it carries through a loop, and its next values."""
        before = {new: old for old, new in end.carried}
        return [
            [
                (tuple(before[place] for place in w), w)
                for unit in group
                for w in unit.written
                if before.keys() >= set(w)
            ]
            for group in self.units
        ]

    def add(self, unit: PackedCode, group: int) -> None:
        """A block more."""
        self.group[id(unit)] = group
        self.written[group] |= dict.fromkeys(unit.written)
