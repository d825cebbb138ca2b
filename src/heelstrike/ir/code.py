"""The traced program, which codegen reads: a list of items in the order of their execution.

A value lives in a place: an element of a port (an array of the caller's), of an array of the
scratch frame, of a constant table, or a slot of the frame that the emitter chooses. The index of a
constant table's element may move with the counter of a loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from heelstrike.ir.block import BlockTag
    from heelstrike.ir.graph import Graph

CLOCK = "clock"
"""Memory of every program that has memory: number of steps that this world has made."""
FAILED = "failed"
"""Memory of every program that has memory: the step in which this world failed, or -1."""


@dataclass(frozen=True)
class Port:
    """A named array of a world: an input or a memory."""

    name: str
    shape: tuple[int, ...]

    @property
    def array(self) -> str:
        """Name that places use for the array, unique in a program."""
        return self.name

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class Output(Port):
    """An output, whose name may also be that of an input or a memory."""

    @property
    def array(self) -> str:
        return output_of(self.name)


class Place(NamedTuple):
    """Location of a scalar: element index + counter * stride of `array`; None: a slot of its own.

    Only constant tables have a stride.
    """

    array: str | None
    index: int  # type: ignore[assignment]  # in place of tuple.index
    stride: int = 0


@dataclass(frozen=True)
class Code:
    """Straight-line operations, the places they read and the places they write."""

    tag: BlockTag
    graph: Graph
    reads: tuple[Place, ...]
    writes: tuple[Place, ...]

    @property
    def size(self) -> int:
        return len(self.graph.operations)

    @property
    def limb(self) -> str | None:
        return self.tag.limb


@dataclass(frozen=True)
class PackedCode:
    """Straight-line operations on vectors: several blocks that do the same, packed into one.

    Input and output i of the graph are the places `read[i]` and `written[i]`, one for each block. A
    constant that differs from block to block has a tuple for its value.
    """

    graph: Graph
    read: tuple[tuple[Place, ...], ...]
    written: tuple[tuple[Place, ...], ...]

    @property
    def width(self) -> int:
        """Number of blocks."""
        return len(self.written[0])

    @property
    def reads(self) -> tuple[Place, ...]:
        return tuple(place for places in self.read for place in places)

    @property
    def writes(self) -> tuple[Place, ...]:
        return tuple(place for places in self.written for place in places)

    @property
    def size(self) -> int:
        return len(self.graph.operations)


@dataclass(frozen=True, eq=False)
class Template:
    """Blocks with the same operations, which share a function; they differ in places and constants.

    Their places correspond in order, and so do their operations.
    """

    blocks: tuple[Code | PackedCode, ...]


@dataclass(frozen=True)
class SharedCode:
    """A block that is computed by the function of its template."""

    template: Template
    row: int
    """Number of the block among those of the template."""
    ports: tuple[str, ...]
    """Names of the ports that it reads and writes, in the order of the template's."""

    @property
    def block(self) -> Code | PackedCode:
        return self.template.blocks[self.row]

    @property
    def reads(self) -> tuple[Place, ...]:
        return self.block.reads

    @property
    def writes(self) -> tuple[Place, ...]:
        return self.block.writes

    @property
    def size(self) -> int:
        """Number of operations that it adds to the code."""
        return 0 if self.row else self.block.size


@dataclass(frozen=True)
class Lookup:
    """Linear interpolation in a table of the caller's; beyond the ends the value is held.

    1-D: reads u (in rows from 0), writes a value and a slope d/du for each column. 2-D: reads u, v
    (in rows and columns), writes one value, its slopes d/du, d/dv, and its twist d2/du dv. A row:
    reads its number, writes a value for each column, without interpolation.
    """

    table: Port
    reads: tuple[Place, ...]
    writes: tuple[Place, ...]

    @property
    def is_row(self) -> bool:
        """Whether a whole row is read, without interpolation."""
        return len(self.reads) == 1 and len(self.writes) == self.table.shape[1]

    @property
    def size(self) -> int:
        return 20 + (2 if self.is_row else 5) * len(self.writes)


@dataclass(frozen=True)
class Advance:
    """End of a loop's round: carried values take their next values in lanes that go on."""

    carried: tuple[tuple[Place, Place], ...]
    """Each carried value, and its next value."""
    done: tuple[Place, Place] | None
    """Whether a lane has finished, now and next; None in a counted loop."""
    rounds: Place | None
    """Number of rounds that each lane has made."""

    @property
    def reads(self) -> tuple[Place, ...]:
        pairs = (*self.carried, *((self.done,) if self.done else ()))
        return (*(p for pair in pairs for p in pair), *((self.rounds,) if self.rounds else ()))

    @property
    def writes(self) -> tuple[Place, ...]:
        ends = (*self.carried, *((self.done,) if self.done else ()))
        return (*(pair[0] for pair in ends), *((self.rounds,) if self.rounds else ()))

    @property
    def size(self) -> int:
        return 3 * len(self.carried)


@dataclass(frozen=True)
class Repeat:
    """A loop of `limit` rounds; with `until`, of fewer where every lane is done."""

    name: str
    body: tuple[Item, ...]
    limit: int
    until: bool


@dataclass(frozen=True)
class Guard:
    """Items that are executed only if a lane has need != 0.

    What they write is read inside the guard only, but for variables, to which each lane with
    need == 0 writes the values that they have.
    """

    name: str
    need: Place
    body: tuple[Item, ...]


@dataclass(frozen=True)
class Commit:
    """End of a step: memory takes its next values in worlds that have not failed.

    A world fails in the step whose next values are not all finite, or in which `failure` is not 0:
    its memory stays as it was, and the number of the step is stored.
    """

    memory: tuple[Port, ...]
    failure: Place | None

    @property
    def reads(self) -> tuple[Place, ...]:
        arrays = [(a, m.size) for m in self.memory for a in (m.name, next_of(m.name))]
        places = [Place(array, i) for array, size in arrays for i in range(size)]
        return (*places, *((self.failure,) if self.failure else ()))

    @property
    def writes(self) -> tuple[Place, ...]:
        return tuple(Place(m.name, i) for m in self.memory for i in range(m.size))

    @property
    def size(self) -> int:
        return 3 * sum(m.size for m in self.memory)


Straight = Code | PackedCode | SharedCode | Lookup | Advance | Commit
"""Items of straight-line code."""
Item = Straight | Repeat | Guard


@dataclass(frozen=True)
class TracedProgram:
    """A whole program, ready to be emitted."""

    name: str
    step: tuple[Item, ...]
    """Work of every step, except the commit."""
    record: tuple[Item, ...]
    """Work that only the outputs need: done in the steps that are recorded."""
    commit: Commit | None
    late: tuple[Item, ...]
    """Work after the commit: memory that guards update."""
    inputs: tuple[Port, ...]
    tables: tuple[Port, ...]
    memory: tuple[Port, ...]
    outputs: tuple[Output, ...]
    arrays: tuple[Port, ...]
    """Arrays of the scratch frame."""
    constants: dict[str, np.ndarray]
    """Tables that are part of the code."""
    initial: dict[str, np.ndarray]
    """Initial values of the memory."""


def output_of(name: str) -> str:
    """Return the name of the array of an output."""
    return f"output {name}"


def next_of(memory: str) -> str:
    """Return the name of the frame's array that holds a memory's next values."""
    return f"next {memory}"


def flatten(item: Item) -> tuple[Straight, ...]:
    """Return the straight-line items of an item: itself, or those of a loop's or guard's body."""
    if isinstance(item, Repeat | Guard):
        return tuple(x for part in item.body for x in flatten(part))
    return (item,)


def reads_of(item: Item) -> set[Place]:
    """Return the places that an item reads, with those of a loop's or a guard's body."""
    if isinstance(item, Repeat | Guard):
        inner = {place for part in item.body for place in reads_of(part)}
        return inner | {item.need} if isinstance(item, Guard) else inner
    return set(item.reads)


def writes_of(item: Item) -> set[Place]:
    """Return the places that an item writes, with those of a loop's or a guard's body."""
    return {place for part in flatten(item) for place in part.writes}
