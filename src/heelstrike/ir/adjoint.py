"""Reverse sweep of a program's step: gradients of one number with respect to all that it reads.

    a = Adjoint(program, "gradient")
    a.trace({"x": p.input("cotangent of x", n)})     # gradients with respect to memories after it
    a.of("x"), a.of("k")                             # those of a memory before it, of an input

The step is computed forward, then its blocks in the reverse order: each computes its values again
from what it reads, and with the adjoints of its results those of what it reads. Guards are opened:
all lanes compute all blocks, and results are selected as before. Each value that a variable had
keeps a place of its own. A choice by a comparison has the derivative of the branch taken. Programs
with loops have no reverse sweep here; values that a loop would find may be inputs (`Implicit`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from heelstrike.errors import ProgramError
from heelstrike.ir.block import SX, Block, BlockCopy, BlockTag, GuardBlock, Statement
from heelstrike.ir.code import CLOCK, FAILED, Lookup, Place, next_of
from heelstrike.ir.number import split_numbers
from heelstrike.ir.program import Program


@dataclass(frozen=True)
class Entry:
    """A block of the forward sweep."""

    tag: BlockTag
    read: list[Place]
    symbols: list[SX]
    """Symbols of what it reads."""
    written: list[Place]
    values: SX


@dataclass(frozen=True)
class Implicit:
    """Inputs y of a program that solve equations R(x, y) = 0 with what it reads besides.

    x_bar = -(dR/dx)^T l,    (dR/dy)^T l = y_bar          by the implicit function theorem
    """

    position: int
    """Number of statements of the program that compute R; later ones take y as it is."""
    unknowns: SX
    """y, a column of symbols."""
    residuals: SX
    """R, a column of as many symbols."""
    transposed: Callable[[Program, SX], SX]
    """Adds the solution l to the program of the reverse sweep, for y_bar; outside blocks."""


class Adjoint:
    """A program under construction that computes a step of `source` and its adjoint."""

    def __init__(self, source: Program, name: str) -> None:
        self.source, self.program = source, source.derived(name)
        self._tape: list[Entry | Lookup] = []
        self._adjoints: dict[Place, SX] = {}
        self._present: dict[Place, SX] = {}
        """Symbols of the present values of places that are written more than once."""

    def trace(self, cotangents: Mapping[str, SX], implicit: Implicit | None = None) -> None:
        """Trace both sweeps, for cotangents of memories after the step."""
        position = 0 if implicit is None else implicit.position
        upstream, later = (
            list(_opened(self.source, part))
            for part in (self.source.statements[:position], self.source.statements[position:])
        )
        written = Counter(place for x in (*upstream, *later) for place in _written(x))
        changing = {place for place, count in written.items() if count > 1}
        for statement in upstream:
            self._forward(statement, changing)
        end = len(self._tape)
        for statement in later:
            self._forward(statement, changing)
        for memory, column in cotangents.items():
            for i, entry in enumerate(ca.vec(column).nonzeros()):
                self._adjoints[Place(next_of(memory), i)] = entry
        self._reverse_all(self._tape[end:])
        if implicit is not None:
            self._reverse_implicit(implicit)
        self._reverse_all(self._tape[:end])

    def of(self, name: str) -> SX:
        """Return the gradient with respect to a memory before the step, or an input."""
        size = self.program.inputs[name].size
        return ca.vertcat(*(self._adjoints.get(Place(name, i), SX(0)) for i in range(size)))

    def _forward(self, statement: Block | Lookup, changing: set[Place]) -> None:
        """Add a statement, with places of its own for values that change later."""
        p = self.program
        if isinstance(statement, Lookup):
            reads = tuple(self._place(place) for place in statement.reads)
            statement = Lookup(statement.table, reads, statement.writes)
            p.statements.append(statement)
            self._tape.append(statement)
            return
        outputs = {port.array for port in self.source.outputs.values()}
        kept = [(place, e) for place, e in statement.results if place.array not in outputs]
        if not kept:
            return
        values = statement.resolve(ca.vertcat(*(e for _, e in kept)))
        symbols, _ = split_numbers(ca.symvar(values))
        read = [self.source.place_of(symbol, statement.tag) for symbol in symbols]
        moved = [k for k, place in enumerate(read) if place in self._present]
        if moved:
            new = [self._present[read[k]] for k in moved]
            old = ca.vertcat(*(symbols[k] for k in moved))
            values = ca.substitute(values, old, ca.vertcat(*new))
            symbols, _ = split_numbers(ca.symvar(values))
            read = [p.place_of(symbol, statement.tag) for symbol in symbols]
        written = []
        for place, _ in kept:
            if place in changing:
                self._present[place], place = p.new_value("version")
            written.append(place)
        results = [(place, values[i]) for i, place in enumerate(written)]
        nexts = [(a, e) for a, e in results if a.array is None]
        if nexts:
            p.statements.append(Block(statement.tag, nexts))
        self._tape.append(Entry(statement.tag, read, symbols, written, values))

    def _reverse_all(self, tape: Sequence[Entry | Lookup]) -> None:
        for entry in reversed(tape):
            if isinstance(entry, Lookup):
                self._reverse_lookup(entry)
            else:
                self._reverse(entry)

    def _reverse_implicit(self, implicit: Implicit) -> None:
        """Set the adjoints of the residuals by those that the unknowns have so far."""
        p = self.program
        places = [p.place_of(symbol, "unknowns") for symbol in implicit.unknowns.nonzeros()]
        rates = ca.vertcat(*(self._adjoints.pop(place, SX(0)) for place in places))
        solution = implicit.transposed(p, rates)
        for symbol, own in zip(implicit.residuals.nonzeros(), solution.nonzeros(), strict=True):
            self._adjoints[self._place(p.place_of(symbol, "residuals"))] = -own

    def _place(self, place: Place) -> Place:
        found = self._present.get(place)
        return place if found is None else self.program.place_of(found, "adjoint")

    def _reverse(self, entry: Entry) -> None:
        """Add the adjoints of what a block reads."""
        known = [(k, place) for k, place in enumerate(entry.written) if place in self._adjoints]
        if not known or not entry.symbols:
            return
        values = ca.vertcat(*(entry.values[k] for k, _ in known))
        rates = ca.vertcat(*(self._adjoints.pop(place) for _, place in known))
        back = ca.densify(ca.jtimes(values, ca.vertcat(*entry.symbols), rates, True))
        tag = entry.tag
        with self.program.block(f"adjoint of {tag.kind}", limb=tag.limb, member=tag.member):
            for place, own in zip(entry.read, back.nonzeros(), strict=True):
                self._add(place, own)

    def _reverse_lookup(self, item: Lookup) -> None:
        """Add the adjoints of a look-up's arguments: of values by slopes, of slopes by twist."""
        rates = [self._adjoints.pop(place, SX(0)) for place in item.writes]
        read = [self.program.symbol_at(place, "looked up") for place in item.writes]
        if len(item.reads) == 1:
            n = item.table.shape[1]
            own = [sum((read[n + k] * rates[k] for k in range(n)), SX(0))]
        else:
            _, along, across, twist = read
            own = [along * rates[0] + twist * rates[2], across * rates[0] + twist * rates[1]]
        with self.program.block(f"adjoint of {item.table.name}"):
            for place, value in zip(item.reads, own, strict=True):
                self._add(place, value)

    def _add(self, place: Place, own: SX) -> None:
        if own.is_zero():
            return
        total = own if place not in self._adjoints else self._adjoints[place] + own
        self._adjoints[place] = self.program.let("adjoint", total)


def memories_of(source: Program) -> dict[str, int]:
    """Return the sizes of the memories that a step changes, by name."""
    return {name: x.size for name, x in source.memories.items() if name not in (CLOCK, FAILED)}


def _opened(p: Program, statements: Sequence[Statement]) -> Iterator[Block | Lookup]:
    """Yield blocks and look-ups without guards around them."""
    for statement in statements:
        if isinstance(statement, BlockCopy):
            yield statement.expanded(p)
        elif isinstance(statement, Block | Lookup):
            yield statement
        elif isinstance(statement, GuardBlock):
            yield from _opened(p, statement.statements)
        else:
            name = statement.name
            raise ProgramError(f"loop '{name}' has no reverse sweep", value=name)


def _written(statement: Block | Lookup) -> tuple[Place, ...]:
    if isinstance(statement, Lookup):
        return statement.writes
    return tuple(place for place, _ in statement.results)
