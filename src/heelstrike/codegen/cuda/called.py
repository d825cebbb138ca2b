"""Work that the root block's warp does by calls of functions, as a thread per world would.

The comparison of shapes, contacts between bodies and table look-ups belong to no limb, and most
steps do not need them. Loops and tables in them would divide the schedule, and their code is long.
So they are one unit each: its functions keep their values in a frame in the thread's local memory.
What other units computed is copied into the frame before a call, and what they read is copied out
after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from heelstrike.ir.block import BlockTag
from heelstrike.ir.code import (
    Advance,
    Code,
    Guard,
    Item,
    Lookup,
    Place,
    Repeat,
    TracedProgram,
    flatten,
    next_of,
    reads_of,
    writes_of,
)
from heelstrike.ir.graph import Graph

MIN_CALLED = 300
"""Operations under a guard without limbs, at least, that are called: so many would fill the
instruction cache."""
CALL = 20
"""Operations that take as long as a call, besides what is copied."""


@dataclass(frozen=True)
class CalledCode(Code):
    """Items that are called; `reads` are copied in, `writes` are copied out."""

    items: tuple[Item, ...]

    @property
    def size(self) -> int:
        return CALL + len(self.reads) + len(self.writes)


def is_called(item: Item) -> bool:
    """Return whether an item is called: look-ups, counted loops, and guards without limbs.

    Those guards have a loop or many operations.
    """
    if not isinstance(item, Guard):
        return isinstance(item, Lookup) or (isinstance(item, Repeat) and not item.until)
    inside = flatten(item)
    if any(isinstance(x, Code) and x.limb for x in inside):
        return False
    long = sum(x.size for x in inside) >= MIN_CALLED
    return long or any(isinstance(x, Lookup | Advance) for x in inside)


class CallBoundary:
    """What called items and others exchange."""

    def __init__(self, program: TracedProgram) -> None:
        ports = (*program.inputs, *program.tables, *program.memory, *program.outputs)
        self.far = {port.array for port in ports} | set(program.constants)
        """Arrays that functions read and write in place."""
        self.read: set[Place] = {place for item in program.record for place in reads_of(item)}
        """Places that others read."""
        self.written: set[Place] = set()
        """Places that others write."""
        for reads, writes in _others(program.step):
            self.read.update(reads)
            self.written.update(writes)
        if program.commit is not None:
            own = {next_of(port.name) for port in program.commit.memory}
            self.read |= {p for item in program.step for p in writes_of(item) if p.array in own}
            self.read |= {program.commit.failure} if program.commit.failure else set()

    def called(self, items: Sequence[Item]) -> CalledCode:
        """Return items as a block that is called."""
        used = dict.fromkeys(place for item in items for place in _places(item))
        near = [place for place in used if place.array not in self.far]
        made = {place for item in items for place in writes_of(item)}
        taken = tuple(p for p in near if p in self.written)
        left = tuple(p for p in near if p in made and (p in self.read or p in self.written))
        return CalledCode(BlockTag("called"), Graph((), ()), taken, left, tuple(items))


def _others(items: Iterable[Item]) -> Iterator[tuple[tuple[Place, ...], tuple[Place, ...]]]:
    """Yield what each item that is not called reads and writes; of guards, that they are tested."""
    for item in items:
        if isinstance(item, Guard):
            yield (item.need,), ()
        if is_called(item):
            continue
        if isinstance(item, Guard | Repeat):
            yield from _others(item.body)
        else:
            yield item.reads, item.writes


def _places(item: Item) -> Iterator[Place]:
    """Yield what an item reads and writes, in the order of the program."""
    if isinstance(item, Guard):
        yield item.need
    if isinstance(item, Guard | Repeat):
        for inner in item.body:
            yield from _places(inner)
    else:
        yield from item.reads
        yield from item.writes
