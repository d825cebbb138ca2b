"""A program: named inputs, blocks of expressions, named outputs.

A block is a piece of straight-line code. `let` ends a value's life as an expression and starts it
as a symbol, which later blocks read: so each operation belongs to one block, blocks stay small
enough to compile fast, and they may be spread over a GPU's warps.

    p = Program("energy")
    q, v = p.input("q", 1), p.input("v", 1)
    with p.block("speed"):
        speed = p.let("speed", ca.fabs(v))
    with p.block("energy"):
        p.output("kinetic", 0.5 * speed**2)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

import casadi as ca

from heelstrike.compile.graph import Counts, Graph, count, graph
from heelstrike.errors import ProgramError

SX: TypeAlias = ca.SX


@dataclass(frozen=True)
class Port:
    """A named array of a world: an input or an output."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class Place:
    """Where a scalar lives: an element of a port, or (port None) a value handed from block to
    block.
    """

    port: str | None
    index: int


@dataclass
class Block:
    """Expressions that are computed together, and where their values go."""

    name: str
    results: list[tuple[Place, SX]] = field(default_factory=list)


@dataclass(frozen=True)
class Code:
    """A block ready to be emitted: its operations, where the inputs come from and where the outputs
    go.
    """

    name: str
    graph: Graph
    reads: tuple[Place, ...]
    writes: tuple[Place, ...]


class Program:
    """Expressions over named inputs, cut into blocks."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: dict[str, Port] = {}
        self.outputs: dict[str, Port] = {}
        self.blocks: list[Block] = []
        self._places: dict[int, Place] = {}  # symbol -> where its value is
        self._lets = 0
        self._open: Block | None = None

    def input(self, name: str, size: int) -> SX:
        """A column of symbols: values of each world that are given when the program is called."""
        self._check_new(name)
        self.inputs[name] = Port(name, (size,))
        symbols = SX.sym(name, size)
        for i, symbol in enumerate(symbols.nonzeros()):
            self._places[symbol.element_hash()] = Place(name, i)
        return symbols

    @contextmanager
    def block(self, name: str) -> Iterator[None]:
        """Collects the lets and outputs made inside it."""
        if self._open is not None:
            raise ProgramError(
                f"block '{name}' opened inside block '{self._open.name}'; close that first"
            )
        self._open = Block(name)
        try:
            yield
            self.blocks.append(self._open)
        finally:
            self._open = None

    def let(self, name: str, value: SX) -> SX:
        """The same matrix with a fresh symbol for each entry that this block computes; constants
        and symbols stay as they are.
        """
        block = self._current(name)
        value = SX(value)
        entries = []
        for i, entry in enumerate(value.nonzeros()):
            if not (entry.is_constant() or entry.is_symbolic()):
                symbol = SX.sym(f"{name}_{i}")
                place = Place(None, self._lets)
                self._lets += 1
                self._places[symbol.element_hash()] = place
                block.results.append((place, entry))
                entry = symbol
            entries.append(entry)
        return SX(value.sparsity(), ca.vertcat(*entries)) if entries else value

    def let_symmetric(self, name: str, value: SX) -> SX:
        """`let` for a symmetric matrix, of which only the upper triangle is computed and handed
        over.
        """
        return ca.densify(ca.triu2symm(self.let(name, ca.triu(value))))

    def output(self, name: str, value: SX) -> None:
        """Names a column or a matrix of expressions as a result of the program."""
        block = self._current(name)
        self._check_new(name)
        value = ca.densify(SX(value))
        rows, columns = value.shape
        self.outputs[name] = Port(name, (rows,) if columns == 1 else (rows, columns))
        entries = ca.vec(value.T).nonzeros()  # row by row
        block.results += [(Place(name, i), entry) for i, entry in enumerate(entries)]

    def code(self, outputs: Sequence[str] | None = None) -> list[Code]:
        """The blocks that the named outputs (default: all) need, without what they do not."""
        wanted = set(self.outputs if outputs is None else outputs)
        if unknown := wanted - set(self.outputs):
            raise ProgramError(
                f"program '{self.name}' has no output {', '.join(sorted(unknown))}; "
                f"outputs: {', '.join(self.outputs)}"
            )
        needed: set[Place] = set()
        codes: list[Code] = []
        for block in reversed(self.blocks):
            kept = [(p, e) for p, e in block.results if p in needed or p.port in wanted]
            if not kept:
                continue
            expressions = ca.vertcat(*(e for _, e in kept))
            symbols = ca.symvar(expressions)
            reads = tuple(self._place_of(symbol, block) for symbol in symbols)
            needed.update(reads)
            operations = graph(ca.vertcat(*symbols) if symbols else SX(0, 1), expressions)
            codes.append(Code(block.name, operations, reads, tuple(p for p, _ in kept)))
        return codes[::-1]

    def counts(self, outputs: Sequence[str] | None = None) -> Counts:
        """Exact number of operations behind the named outputs."""
        return sum((count(code.graph.operations) for code in self.code(outputs)), Counts())

    def _place_of(self, symbol: SX, block: Block) -> Place:
        place = self._places.get(symbol.element_hash())
        if place is None:
            raise ProgramError(
                f"block '{block.name}' of program '{self.name}' uses symbol '{symbol}', which is "
                "neither an input nor a let of this program"
            )
        return place

    def _current(self, name: str) -> Block:
        if self._open is None:
            raise ProgramError(f"'{name}' must be made inside a block: with program.block(...):")
        return self._open

    def _check_new(self, name: str) -> None:
        if name in self.inputs or name in self.outputs:
            raise ProgramError(f"program '{self.name}' already has a port named '{name}'")
