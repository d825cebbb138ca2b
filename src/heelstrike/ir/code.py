"""What the emitter reads: a traced program as a list of items, in the order of their work.

A value lives in a place: an element of a port (an array of the caller's), of an array of the frame,
of a constant table, or a slot of the frame that the emitter chooses. In a loop an index may move
with the counter.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from heelstrike.ir.graph import Graph


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


@dataclass(frozen=True)
class Place:
    """Where a scalar lives: element index + counter * stride of `array`; None: an own slot."""

    array: str | None
    index: int
    stride: int = 0


@dataclass(frozen=True)
class BlockTag:
    """What a block computes and for which part of the robot; decides how code is grouped."""

    kind: str
    """What is computed, such as "torque"."""
    limb: str | None = None
    """The limb, or another unit whose blocks belong together, such as a solver."""
    member: int | None = None
    """Number of the entry of a column, where every entry has a block that does the same."""

    def __str__(self) -> str:
        """Label for messages; no code reads it."""
        number = None if self.member is None else str(self.member)
        return ": ".join(part for part in (self.limb, self.kind, number) if part)


@dataclass(frozen=True)
class Code:
    """Straight-line operations: where their inputs come from and where their outputs go."""

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
class Twins:
    """Straight-line operations on vectors: input and output i of the graph are the places
    `read[i]` and `written[i]`, one an element. A constant that differs has a tuple for its value.
    """

    graph: Graph
    read: tuple[tuple[Place, ...], ...]
    written: tuple[tuple[Place, ...], ...]

    @property
    def width(self) -> int:
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


@dataclass(frozen=True)
class Lookup:
    """Linear interpolation in a table of the caller's, ends held.

    1-D: reads u (in rows from 0), writes a value and a slope d/du for each column. 2-D: reads u, v
    (in rows and columns), writes one value, its slopes d/du, d/dv, and its twist d2/du dv.
    """

    table: Port
    reads: tuple[Place, ...]
    writes: tuple[Place, ...]

    @property
    def size(self) -> int:
        return 20 + 5 * len(self.writes)


@dataclass(frozen=True)
class Advance:
    """The end of a loop's round: carried values take their next values in lanes that go on.

    `done` (next) tells which lanes have finished; None in a counted loop. `rounds` counts each
    lane's own rounds.
    """

    carried: tuple[tuple[Place, Place], ...]
    done: tuple[Place, Place] | None
    rounds: Place | None

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
    """A loop: `limit` rounds, or fewer if every lane is done."""

    name: str
    body: tuple[Item, ...]
    limit: int
    until: bool


@dataclass(frozen=True)
class Commit:
    """The end of a step: memory takes its next values, in worlds that have not failed.

    A world fails in the step whose next values are not all finite, or in which `failure` is not 0:
    its memory stays as it was, and the step is written down.
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


Straight = Code | Twins | Lookup | Advance | Commit
"""Items of straight-line code."""
Item = Straight | Repeat

CLOCK = "clock"
"""Memory of every program that has memory: steps that this world has made."""
FAILED = "failed"
"""Memory of every program that has memory: the step in which this world failed, or -1."""


def output_of(name: str) -> str:
    """Return the name of the array of an output."""
    return f"output {name}"


def next_of(memory: str) -> str:
    """The frame's array that holds a memory's next values."""
    return f"next {memory}"


@dataclass(frozen=True)
class Traced:
    """A whole program, ready to be emitted."""

    name: str
    step: tuple[Item, ...]
    """What every step does, but for the commit."""
    record: tuple[Item, ...]
    """What only the outputs need: done in the steps that are recorded."""
    commit: Commit | None
    inputs: tuple[Port, ...]
    tables: tuple[Port, ...]
    memory: tuple[Port, ...]
    outputs: tuple[Output, ...]
    arrays: tuple[Port, ...]
    """Scratch arrays of the frame."""
    constants: dict[str, np.ndarray]
    """Tables that are part of the code."""
    initial: dict[str, np.ndarray]
    """Of the memory."""


def inner(item: Item) -> tuple[Straight, ...]:
    """The straight-line items of an item."""
    return (
        tuple(x for part in item.body for x in inner(part)) if isinstance(item, Repeat) else (item,)
    )
