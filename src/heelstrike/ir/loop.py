"""Loops, arrays and tables of a program.

A loop's body is traced once. A finished lane keeps what it carries by select, so its bits do not
depend on how long its neighbours go on. What is let in a round can be read after the loop, too, if
one round more would not change it: a finished lane makes it again while others go on.

    with counted(p, "points", 8) as loop:                       # eight contact points, one body
        lever = loop.constants(levers)                          # row of a constant table, (8, 3)
        total = loop.carry("total", SX.zeros(3))
        with p.block("force"):
            f = p.let("f", force(lever))
            loop.put(forces, f)                                 # row of an array of the frame
            loop.next(total, total + f)
    # here `total` is the sum

    with repeated(p, "newton", limit=20) as loop:
        x = loop.carry("x", guess)
        with p.block("newton"):
            new = p.let("x", x - f(x) / df(x))
            loop.next(x, new)
            loop.until(ca.fabs(new - x) < 1e-12)
    # `x` is each lane's own result; loop.rounds and loop.unfinished tell how it ended
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.errors import ProgramError
from heelstrike.ir.code import Advance, BlockTag, Lookup, Output, Place, Port, next_of
from heelstrike.ir.number import is_number
from heelstrike.ir.program import SX, Block, Program


@dataclass
class LoopBlock:
    """A traced loop: its items, and what its round ends with."""

    name: str
    limit: int
    items: list[object]
    advance: Advance


class Loop:
    """A loop under construction."""

    def __init__(self, p: Program, name: str, limit: int) -> None:
        if limit < 1:
            raise ProgramError(f"loop '{name}' needs at least one round, not {limit}")
        self.p = p
        self.name = name
        self.limit = limit
        self.start = Block(BlockTag(f"start of {name}"))
        self.carried: dict[Place, Place] = {}
        self.done: tuple[Place, Place] | None = None
        self._ends: tuple[Place, Place] | None = None  # of done and rounds
        self.rounds: SX | None = None
        """Rounds that each lane made itself."""
        self.unfinished: SX | None = None
        """1 in lanes that reached the limit before they were done."""

    def carry(self, name: str, start: SX) -> SX:
        """Values that go from round to round; after the loop the same symbols hold the result."""
        columns = ca.densify(SX(start))
        symbols = SX.zeros(*columns.shape)
        for i, entry in enumerate(columns.nonzeros()):
            symbol, place = self.p._slot(f"{name}_{i}")
            self.start.results.append((place, entry))
            symbols[i] = symbol
        return symbols

    def next(self, carried: SX, value: SX) -> None:
        """What the carried values will be in the next round; inside a block of the loop."""
        self._check_innermost()
        block = self.p._current(self.name)
        for symbol, entry in zip(carried.nonzeros(), ca.densify(SX(value)).nonzeros(), strict=True):
            place = self._own_place(entry)
            if place is None:
                _, place = self.p._slot("next")
                block.results.append((place, entry))
            self.carried[self.p.place_of(symbol, self.name)] = place

    def _own_place(self, entry: SX) -> Place | None:
        """Where a value already is, if it is a let."""
        if not entry.is_symbolic() or is_number(entry):
            return None
        place = self.p.place_of(entry, self.name)
        return place if place.array is None else None

    def until(self, condition: SX) -> None:
        """A lane is done after the round in which the condition holds; inside a block."""
        self._check_innermost()
        block = self.p._current(self.name)
        if self._ends is None or self.done is not None:
            raise ProgramError(f"loop '{self.name}' takes one `until`, and only if not counted")
        _, place = self.p._slot("until")
        block.results.append((place, SX(condition)))
        self.done = (self._ends[0], place)

    def row(self, array: Array) -> SX:
        """The row of an array whose number is the counter's."""
        self._check_rows(array.name, array.rows)
        return self._copied(array.name, array.columns)

    def put(self, array: Array, value: SX) -> None:
        """Writes the row of an array whose number is the counter's; inside a block."""
        self._check_innermost()
        block = self.p._current(self.name)
        self._check_rows(array.name, array.rows)
        entries = ca.densify(ca.vec(SX(value))).nonzeros()
        if len(entries) != array.columns:
            raise ProgramError(
                f"array '{array.name}' has {array.columns} columns, not {len(entries)}"
            )
        block.results += [
            (Place(array.name, i, array.columns), entry) for i, entry in enumerate(entries)
        ]

    def constants(self, table: np.ndarray) -> SX:
        """The row of a constant table whose number is the counter's."""
        table = np.atleast_2d(np.asarray(table, dtype=float))
        self._check_rows("constants", len(table))
        name = f"constants {len(self.p.constants)}"
        self.p.constants[name] = table
        return self._copied(name, table.shape[1])

    def _copied(self, array: str, columns: int) -> SX:
        """A row as values of this round, which loops inside this one may read as well."""
        self._check_innermost()
        source = self.p._symbols(array, columns, stride=columns)
        symbols, places = zip(*(self.p._slot(array) for _ in range(columns)), strict=True)
        results = list(zip(places, source.nonzeros(), strict=True))
        self.p.items.append(Block(BlockTag(f"row of {self.name}"), results))
        return ca.vertcat(*symbols)

    def _check_innermost(self) -> None:
        if not self.p.loops or self.p.loops[-1] is not self:
            raise ProgramError(f"loop '{self.name}' is not the innermost open loop here")

    def _check_rows(self, name: str, rows: int) -> None:
        if rows != self.limit:
            raise ProgramError(
                f"loop '{self.name}' makes {self.limit} rounds, but '{name}' has {rows} rows"
            )


@dataclass(frozen=True)
class Array:
    """Rows that loops read and write by their counter."""

    name: str
    rows: int
    columns: int


def array(p: Program, name: str, rows: int, columns: int) -> Array:
    """An array of the frame: values of a world within one step."""
    p._check_new(name)
    p.arrays[name] = Port(name, (rows, columns))
    return Array(name, rows, columns)


def memory_rows(p: Program, name: str, rows: int, columns: int, initial: float = 0.0) -> Array:
    """A memory whose rows a loop reads with `row` and updates with `put(next_rows(...), ...)`."""
    p.memory(name, rows * columns, initial)
    return Array(name, rows, columns)


def next_rows(memory: Array) -> Array:
    """Where a loop puts what a memory's rows will hold after this step."""
    return Array(next_of(memory.name), memory.rows, memory.columns)


def output_rows(p: Program, name: str, rows: int, columns: int) -> Array:
    """An output whose rows a loop writes."""
    port = p.outputs[name] = Output(name, (rows, columns))
    return Array(port.array, rows, columns)


def rows_of(p: Program, source: Array) -> SX:
    """All values of an array, (rows, columns), outside its loop."""
    symbols = p._symbols(source.name, source.rows * source.columns)
    return ca.reshape(symbols, source.columns, source.rows).T


@contextmanager
def counted(p: Program, name: str, count: int) -> Iterator[Loop]:
    """A loop of `count` rounds."""
    loop = Loop(p, name, count)
    yield from _trace(p, loop)


@contextmanager
def repeated(p: Program, name: str, limit: int) -> Iterator[Loop]:
    """A loop that goes on until every lane is done, `limit` rounds at most."""
    loop = Loop(p, name, limit)
    done = loop.carry("done", SX(0))
    rounds = loop.carry("rounds", SX(0))
    loop._ends = p.place_of(done, name), p.place_of(rounds, name)
    loop.rounds, loop.unfinished = rounds, 1 - done
    yield from _trace(p, loop)
    if loop.done is None:
        raise ProgramError(f"loop '{name}' never ends: call loop.until(condition) in a block of it")


def _trace(p: Program, loop: Loop) -> Iterator[Loop]:
    outer, p.items = p.items, []
    p.loops.append(loop)
    try:
        yield loop
    finally:
        body, p.items = p.items, outer
        p.loops.pop()
    rounds = loop._ends[1] if loop._ends else None
    carried = sorted(loop.carried.items(), key=lambda pair: pair[0].index)
    advance = Advance(tuple(carried), loop.done, rounds)
    p.items += [loop.start, LoopBlock(loop.name, loop.limit, body, advance)]


@dataclass(frozen=True)
class Table:
    """An array that the caller gives once for all worlds, looked up by linear interpolation."""

    p: Program
    port: Port

    def at(self, u: SX) -> tuple[SX, SX]:
        """Value and slope d/du of each column at row number u, counted from 0; ends held."""
        columns = self.port.shape[1]
        return self._look_up([u], columns, 1)

    def at2(self, u: SX, v: SX) -> tuple[SX, SX]:
        """Value, and slopes (d/du, d/dv), at row u and column v, by bilinear interpolation."""
        value, slopes = self._look_up([u, v], 1, 3)  # the third is the twist, for derivatives
        return value, slopes[:2]

    def _look_up(self, arguments: list[SX], columns: int, slopes: int) -> tuple[SX, SX]:
        p = self.p
        reads = []
        results = []
        for x in arguments:
            _, place = p._slot("argument")
            results.append((place, SX(x)))
            reads.append(place)
        p.items.append(Block(BlockTag(f"argument of {self.port.name}"), results))
        values, places = zip(*(p._slot(self.port.name) for _ in range(columns)), strict=True)
        rates, rate_places = zip(
            *(p._slot(f"{self.port.name} slope") for _ in range(columns * slopes)), strict=True
        )
        p.items.append(Lookup(self.port, tuple(reads), (*places, *rate_places)))
        return ca.vertcat(*values), ca.vertcat(*rates)


def table(p: Program, name: str, rows: int, columns: int = 1) -> Table:
    """A table of the caller's, of at least two rows (and two columns, for `at2`)."""
    if rows < 2:
        raise ProgramError(f"table '{name}' needs at least two rows to interpolate, not {rows}")
    p._check_new(name)
    p.tables[name] = Port(name, (rows, columns))
    return Table(p, p.tables[name])
