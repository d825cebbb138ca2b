"""Programs: named inputs, blocks of expressions, named outputs, and memory that lasts from step to
step.

A block is a piece of straight-line code. `let` ends a value's life as an expression and starts it
as a symbol, which later blocks read. So each operation belongs to one block, blocks stay small
enough to compile fast, and they may be spread over a GPU's warps. Loops are in loop.py, tables in
table.py.

    p = Program("fall")
    z, v = p.memory("z", 1), p.memory("v", 1)
    g, dt = p.input("g", 1), p.input("dt", 1)
    with p.block("step"):
        new_v = p.let("v", v - g * dt)
        p.update("v", new_v)
        p.update("z", z + new_v * dt)
    with p.block("record"):
        p.output("energy", g * z + v**2 / 2)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from heelstrike.errors import ProgramError
from heelstrike.ir.block import SX, Block, BlockTag, Statement
from heelstrike.ir.code import (
    CLOCK,
    FAILED,
    Code,
    Output,
    Place,
    Port,
    TracedProgram,
    flatten,
    next_of,
)
from heelstrike.ir.dead_code import without_dead_code
from heelstrike.ir.operations import Counts, count

if TYPE_CHECKING:
    from heelstrike.ir.loop import Loop


class Program:
    """Expressions over named inputs and memory, cut into blocks."""

    def __init__(self, name: str) -> None:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise ProgramError(
                f"a program cannot be named '{name}'", value=name, allowed="letters, digits and _"
            )
        self.name = name
        self.inputs: dict[str, Port] = {}
        self.outputs: dict[str, Output] = {}
        self.memories: dict[str, Port] = {}
        self.initial: dict[str, np.ndarray] = {}
        """Initial values of the memory, by name."""
        self.tables: dict[str, Port] = {}
        self.arrays: dict[str, Port] = {}
        """Arrays of the scratch frame: values within one step."""
        self.constants: dict[str, np.ndarray] = {}
        """Constant tables that loops read row by row."""
        self.statements: list[Statement] = []
        """Blocks, loops and look-ups in the order of their execution."""
        self.open_loops: list[Loop] = []
        self.failure: Place | None = None
        """Condition of `fail_when`."""
        self._places: dict[int, tuple[Place, SX]] = {}  # symbol's hash -> place, and the symbol
        self._values = 0  # number of slots
        self._open: Block | None = None

    # inputs and memory

    def input(self, name: str, size: int) -> SX:
        """Return a column of symbols for values of the caller's, the same for all worlds or not."""
        if name in ("threads", "self"):
            raise ProgramError(
                f"an input cannot be called '{name}', a keyword of calls",
                value=name,
                remedy="choose another name",
            )
        self.check_new(name)
        self.inputs[name] = Port(name, (size,))
        return self.symbols_of(name, size)

    def memory(self, name: str, size: int, initial: float | np.ndarray = 0.0) -> SX:
        """Return a column of symbols for values that the last step left, `initial` at first."""
        if not self.memories and name not in (CLOCK, FAILED):
            self.memory(CLOCK, 1)
            self.memory(FAILED, 1, -1.0)
        self.check_new(name)
        self.memories[name] = Port(name, (size,))
        self.initial[name] = np.broadcast_to(np.asarray(initial, dtype=float), (size,)).copy()
        return self.symbols_of(name, size)

    @property
    def clock(self) -> SX:
        """Number of steps that this world has made; times dt, its time."""
        if CLOCK not in self.memories:
            raise ProgramError(
                f"program '{self.name}' has no clock before its first memory",
                remedy="declare a memory first",
            )
        return self.symbols_of(CLOCK, 1)

    # blocks

    @contextmanager
    def block(
        self, kind: str, *, limb: str | None = None, member: int | None = None
    ) -> Iterator[None]:
        """Collect the lets, updates and outputs that are made inside the `with` statement.

        Args:
            kind: What is computed, such as "torque".
            limb: The limb that the work belongs to, or another unit whose blocks belong together,
                such as a solver. On a GPU the blocks of a limb run on one warp.
            member: Number of the entry, where a column has a block of this kind for every entry,
                such as one for each joint. Blocks that do the same work are packed.
        """
        tag = BlockTag(kind, limb, member)
        if self._open is not None:
            raise ProgramError(
                f"block '{tag}' opened inside block '{self._open.tag}'", remedy="close that first"
            )
        self._open = Block(tag)
        outputs = dict(self.outputs)
        try:
            yield
            self.statements.append(self._open)
        except BaseException:
            self.outputs = outputs  # drop the outputs of a block that failed
            raise
        finally:
            self._open = None

    def let(self, name: str, value: SX) -> SX:
        """Return the matrix with a new symbol for each entry that this block computes.

        Constants and symbols stay as they are.
        """
        block = self.open_block(name)
        value = SX(value)
        entries = []
        for i, entry in enumerate(value.nonzeros()):
            if not (entry.is_constant() or entry.is_symbolic()):
                symbol, place = self.new_value(f"{name}_{i}")
                block.results.append((place, entry))
                block.lets.append((symbol, entry))
                entry = symbol
            entries.append(entry)
        return SX(value.sparsity(), ca.vertcat(*entries)) if entries else value

    def let_symmetric(self, name: str, value: SX) -> SX:
        """Apply `let` to a symmetric matrix, of which only the upper triangle is computed."""
        return ca.densify(ca.triu2symm(self.let(name, ca.triu(value))))

    def output(self, name: str, value: SX) -> None:
        """Add a column or a matrix of expressions to the results of the program.

        Outputs have a name space of their own: a memory `q` and an output `q` are two arrays.
        """
        block = self.open_block(name)
        if name in self.outputs:
            raise ProgramError(
                f"program '{self.name}' already has an output named '{name}'", value=name
            )
        value = ca.densify(SX(value))
        rows, columns = value.shape
        port = self.outputs[name] = Output(name, (rows,) if columns == 1 else (rows, columns))
        entries = ca.vec(value.T).nonzeros()  # row by row
        block.results += [(Place(port.array, i), entry) for i, entry in enumerate(entries)]

    def update(self, name: str, value: SX) -> None:
        """Set the values of a memory after this step."""
        block = self.open_block(name)
        if name not in self.memories or name in (CLOCK, FAILED):
            own = [m for m in self.memories if m not in (CLOCK, FAILED)]
            raise ProgramError(
                f"no memory '{name}' to update", value=name, remedy=f"memories: {', '.join(own)}"
            )
        entries = ca.densify(ca.vec(SX(value))).nonzeros()
        if len(entries) != self.memories[name].size:
            raise ProgramError(
                f"memory '{name}' is updated with {len(entries)} values",
                path=name,
                value=len(entries),
                allowed=f"{self.memories[name].size} values",
            )
        block.results += [(Place(next_of(name), i), entry) for i, entry in enumerate(entries)]

    def update_part(self, name: str, start: int, value: SX) -> None:
        """Set the values after this step of some entries of a memory, from `start` on."""
        entries = ca.densify(ca.vec(SX(value))).nonzeros()
        if name not in self.memories or start + len(entries) > self.memories[name].size:
            raise ProgramError(
                f"no memory '{name}' with entries {start} to {start + len(entries)}", path=name
            )
        self.open_block(name).results += [
            (Place(next_of(name), start + i), entry) for i, entry in enumerate(entries)
        ]

    def update_max(self, name: str, value: SX) -> SX:
        """Declare a memory of the largest value so far; return its values before this step."""
        return self._accumulate(name, value, -np.inf, ca.fmax)

    def update_sum(self, name: str, value: SX) -> SX:
        """Declare a memory of the sum over all steps; return its values before this step."""
        return self._accumulate(name, value, 0.0, lambda old, new: old + new)

    def update_first(self, name: str, condition: SX) -> SX:
        """Declare a memory of the first step in which the condition held, or -1; return it."""
        clock = self.clock
        return self._accumulate(
            name,
            condition,
            -1.0,
            lambda old, new: ca.if_else(ca.logic_and(old < 0, new != 0), clock, old),
        )

    def fail_when(self, condition: SX) -> None:
        """Let a world fail, and stay as it is, in the step in which the condition holds."""
        block = self.open_block("fail_when")
        if self.failure is not None:
            raise ProgramError(
                "fail_when was called before", remedy="combine the conditions with logic_or"
            )
        _, self.failure = self.new_value("failure")
        block.results.append((self.failure, SX(condition)))

    # the finished program

    def trace(self, outputs: Sequence[str] | None = None) -> TracedProgram:
        """Return the program for the named outputs (default: all), without dead code."""
        return without_dead_code(self, outputs)

    def counts(self, outputs: Sequence[str] | None = None) -> Counts:
        """Count the operations behind the named outputs exactly; a loop's body counts once."""
        program = self.trace(outputs)
        items = [x for item in (*program.step, *program.record) for x in flatten(item)]
        codes = [item for item in items if isinstance(item, Code)]
        return sum((count(code.graph.operations) for code in codes), Counts())

    # for loops, tables, derivatives and exports

    def new_value(self, name: str) -> tuple[SX, Place]:
        """Return a new symbol and the slot in which its value will be."""
        place = Place(None, self._values)
        self._values += 1
        return self.symbol_at(place, name), place

    def symbol_at(self, place: Place, name: str) -> SX:
        """Return a new symbol for the value at a place."""
        symbol = SX.sym(name)
        self._places[symbol.element_hash()] = place, symbol
        return symbol

    def symbols_of(self, array: str, size: int, stride: int = 0) -> SX:
        """Return new symbols for the elements of an array.

        With a stride they move with a loop's counter.
        """
        symbols = SX.sym(array, size)
        for i, symbol in enumerate(symbols.nonzeros()):
            self._places[symbol.element_hash()] = Place(array, i, stride), symbol
        return symbols

    def place_of(self, symbol: SX, reader: object) -> Place:
        """Return the place of a symbol's value; an error names its reader."""
        found = self._places.get(symbol.element_hash())
        if found is None:
            raise ProgramError(
                f"block '{reader}' of program '{self.name}' uses symbol '{symbol}'",
                value=str(symbol),
                allowed="inputs, memory and lets of this program",
            )
        return found[0]

    def input_symbols(self, name: str) -> SX:
        """Return the column of symbols through which expressions read an input."""
        symbols = dict(self._places.values())
        return ca.vertcat(*(symbols[Place(name, i)] for i in range(self.inputs[name].size)))

    def open_block(self, user: str) -> Block:
        """Return the block that is open; an error names its user."""
        if self._open is None:
            raise ProgramError(
                f"'{user}' is outside a block", remedy="write it under `with program.block(...):`"
            )
        return self._open

    def check_new(self, name: str) -> None:
        """Raise an error if there is already a port or an array of this name."""
        if any(name in names for names in (self.inputs, self.memories, self.tables, self.arrays)):
            raise ProgramError(
                f"program '{self.name}' already has a port named '{name}'", value=name
            )

    def derived(self, name: str) -> Program:
        """Return a program without statements that knows this program's symbols.

        This program's inputs and memory are its inputs.
        """
        other = Program(name)
        other.inputs = self.inputs | self.memories
        other.tables = dict(self.tables)
        other.constants = dict(self.constants)
        other._places, other._values = dict(self._places), self._values
        return other

    def _accumulate(
        self, name: str, value: SX, initial: float, combine: Callable[[SX, SX], SX]
    ) -> SX:
        value = ca.densify(ca.vec(SX(value)))
        old = self.memory(name, value.numel(), initial)
        self.update(name, combine(old, value))
        return old
