"""Programs: named inputs, blocks of expressions, named outputs, and memory that lasts from step to
step.

A block is a piece of straight-line code. `let` ends a value's life as an expression and starts it
as a symbol, which later blocks read. So each operation belongs to one block, blocks stay small
enough to compile fast, and they may be spread over a GPU's warps. A variable is a value that later
blocks may change. Loops are in loop.py, guards in guard.py, tables in table.py.

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
from heelstrike.ir.block import SX, Block, BlockTag, GuardBlock, Statement, dense
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
from heelstrike.ir.collector import collector_paused
from heelstrike.ir.dead_code import without_dead_code
from heelstrike.ir.operations import Counts, count
from heelstrike.ir.values import Values

if TYPE_CHECKING:
    from heelstrike.ir.arguments import Parts
    from heelstrike.ir.routine import Routine


class Program(Values):
    """Expressions over named inputs and memory, cut into blocks."""

    def __init__(self, name: str) -> None:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise ProgramError(
                f"a program cannot be named '{name}'", value=name, allowed="letters, digits and _"
            )
        super().__init__(name)
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
        """Blocks, loops, guards and look-ups in the order of their execution."""
        self.kept: dict[str, list[Statement]] = {}
        """Memories that guards update, and the statements that do so after the step."""
        self.routines: dict[object, Routine | None] = {}
        """Routines by function and form of the arguments; None: traced in each call."""
        self.forms: dict[int, tuple[object, object, Parts]] = {}
        """Frozen dataclasses among arguments of routines by id, their forms and parts."""
        self.failure: Place | None = None
        """Condition of `fail_when`."""
        self._open: Block | None = None
        self._outputs: list[tuple[Place, SX]] = []  # copies of values of the open block

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
        self.check_no_block(f"block '{tag}'")
        self._open, self._outputs = Block(tag), []
        outputs = dict(self.outputs)
        try:
            yield
            self.add(self._open)
            if self._outputs:
                self.add(Block(tag, self._outputs))
        except BaseException:
            self.outputs = outputs  # drop the outputs of a block that failed
            raise
        finally:
            self._open = None

    def let(self, name: str, value: SX) -> SX:
        """Return the matrix with a new symbol for each entry that this block computes.

        Constants and symbols stay as they are, except that a variable's value is copied.
        """
        block = self.open_block(name)
        value = value if isinstance(value, ca.SX) else SX(value)
        entries = value.nonzeros()
        new = [i for i, entry in enumerate(entries) if self._is_computed(entry)]
        if len(new) == len(entries) > 0:
            symbols = self._defined(block, name, entries)[0]
            is_column = value.is_column() and value.is_dense()
            return symbols if is_column else SX(value.sparsity(), symbols)
        if new:
            value = SX(value)  # a copy
            value.nz[new] = self._defined(block, name, [entries[i] for i in new])[0]
        return value

    def let_symmetric(self, name: str, value: SX) -> SX:
        """Apply `let` to a symmetric matrix, of which only the upper triangle is computed."""
        return ca.densify(ca.triu2symm(self.let(name, ca.triu(value))))

    def variable(self, name: str, value: SX) -> SX:
        """Return a dense matrix of new symbols that hold `value` until `assign` changes them.

        A variable that is declared in a loop or a guard does not exist outside it.
        """
        block = self.open_block(name)
        value = dense(value)
        symbols, places = self._defined(block, name, value.nonzeros())
        self.declare(places)
        return symbols if value.is_column() else ca.reshape(symbols, value.shape)

    def unset(self, name: str, count: int, limb: str | None = None, member: int = 0) -> SX:
        """Return a column of variables that each lane assigns before it needs them; outside blocks.

        So does what a guard in a loop hands on from round to round. They cost a CPU nothing.
        """
        self.check_no_block(f"variable '{name}'")
        block = Block(BlockTag(name, limb, member, unset=True))
        symbols, places = self._defined(block, name, [SX(0)] * count)
        self.declare(places)
        self.add(block)
        return symbols

    def as_variable(self, name: str, value: SX) -> SX:
        """Return a variable with this value: the value itself where all its entries are ones."""
        entries = SX(value).nonzeros()
        whole = SX(value).is_dense() and all(map(self.is_variable, entries))
        return value if whole else self.variable(name, value)

    def assign(self, variable: SX, value: SX) -> None:
        """Change the values of a variable, or of some of its entries.

        Later blocks read the new values; all expressions of this block read the old ones. Inside a
        guard, lanes that do not need it keep the old values, and so do lanes that are done with a
        loop.
        """
        block = self.open_block("assign")
        value = dense(value)
        if variable.shape != value.shape:
            raise ProgramError(
                f"block '{block.tag}' assigns a value of shape {value.shape} to a variable of "
                f"shape {variable.shape}",
                value=value.shape,
                allowed=str(variable.shape),
            )
        variable = dense(variable)
        active = self.scopes[-1].active() if self.scopes else None
        new = value if active is None else ca.if_else(active, value, variable)
        assigned: dict[Place, SX] = {}
        for symbol, entry in zip(variable.nonzeros(), dense(new).nonzeros(), strict=True):
            if not self.is_variable(symbol):
                raise ProgramError(
                    f"block '{block.tag}' assigns to '{symbol}', which is not a variable",
                    value=str(symbol),
                    remedy="declare it by p.variable(name, value)",
                )
            place = self.place_of(symbol, block.tag)
            self.check_exist([(place, symbol)], block.tag)
            assigned[place] = entry
        block.results = [result for result in block.results if result[0] not in assigned]
        block.results += assigned.items()

    def output(self, name: str, value: SX) -> None:
        """Add a column or a matrix of expressions to the results of the program.

        Outputs have a name space of their own: a memory `q` and an output `q` are two arrays.
        """
        block = self._block_outside_guards(name)
        if name in self.outputs:
            raise ProgramError(
                f"program '{self.name}' already has an output named '{name}'", value=name
            )
        value = dense(value)
        rows, columns = value.shape
        port = self.outputs[name] = Output(name, (rows,) if columns == 1 else (rows, columns))
        for i, entry in enumerate(ca.vec(value.T).nonzeros()):  # row by row
            if self._reads_variable(block, entry):
                # the output is written after the step, when variables may have other values
                symbol, place = self.new_value(name)
                block.results.append((place, entry))
                self._outputs.append((Place(port.array, i), symbol))
            else:
                block.results.append((Place(port.array, i), entry))

    def update(self, name: str, value: SX) -> None:
        """Set the values of a memory after this step."""
        block = self._block_outside_guards(name)
        if name not in self.memories or name in (CLOCK, FAILED):
            own = [m for m in self.memories if m not in (CLOCK, FAILED)]
            raise ProgramError(
                f"no memory '{name}' to update", value=name, remedy=f"memories: {', '.join(own)}"
            )
        entries = dense(value).nonzeros()
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
        entries = dense(value).nonzeros()
        self._check_part(name, start, len(entries))
        self._block_outside_guards(name).results += [
            (Place(next_of(name), start + i), entry) for i, entry in enumerate(entries)
        ]

    def update_within(self, name: str, start: int, value: SX) -> None:
        """Set the values after this step of some entries of a memory, inside a guard.

        Lanes that do not need the guard keep the values, which then cost nothing. A world does not
        fail for values that are not finite. No other guard may stand around this one.
        """
        block, scope = self.open_block(name), self.scopes[-1] if self.scopes else None
        if scope is None or scope.need is None or scope.outer is not None:
            raise ProgramError(
                f"'{name}' is updated within no guard, or within several scopes",
                value=name,
                remedy="use update_part outside guards",
            )
        entries = dense(value).nonzeros()
        self._check_part(name, start, len(entries))
        results = []
        alive = ca.logic_and(scope.active(), self.symbols_of(FAILED, 1) < 0)
        for i, entry in enumerate(entries, start):
            following = Place(next_of(name), i)
            block.results.append((following, entry))
            old, new = (self.symbol_at(place, name) for place in (Place(name, i), following))
            results.append((Place(name, i), ca.if_else(alive, new, old)))
        late = GuardBlock(scope.name, scope.need, [Block(block.tag, results)])
        self.kept.setdefault(name, []).append(late)

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
        block = self._block_outside_guards("fail_when")
        if self.failure is not None:
            raise ProgramError(
                "fail_when was called before", remedy="combine the conditions with logic_or"
            )
        _, self.failure = self.new_value("failure")
        block.results.append((self.failure, SX(condition)))

    # the finished program

    @collector_paused()
    def trace(self, outputs: Sequence[str] | None = None) -> TracedProgram:
        """Return the program for the named outputs (default: all), without dead code."""
        return without_dead_code(self, outputs)

    def counts(self, outputs: Sequence[str] | None = None) -> Counts:
        """Count the operations behind the named outputs exactly; a loop's body counts once."""
        program = self.trace(outputs)
        items = [x for item in (*program.step, *program.record) for x in flatten(item)]
        codes = [item for item in items if isinstance(item, Code)]
        return sum((count(code.graph.operations) for code in codes), Counts())

    # for loops, guards, routines, tables, derivatives and exports

    @contextmanager
    def trace_into(self, block: Block) -> Iterator[None]:
        """Collect lets, variables and assignments in a block that is no statement."""
        self._open = block
        try:
            yield
        finally:
            self._open = None

    def close_block(self) -> BlockTag | None:
        """Add what the open block has collected, and close it; return its tag, if one is open."""
        block, self._open = self._open, None
        if block is None:
            return None
        self.add(block)
        return block.tag

    def open_again(self, tag: BlockTag | None) -> None:
        """Go on with a block that `close_block` closed."""
        self._open = None if tag is None else Block(tag)

    def add(self, block: Block) -> None:
        """Add a block to the statements, if all that it reads exists where it stands."""
        if self.scoped and block.results:
            expressions = ca.vertcat(*(entry for _, entry in block.results))
            symbols = ca.symvar(expressions)
            block.whole = expressions, symbols
            self.check_exist(self.places_of(symbols, block.tag)[0], block.tag)
        self.statements.append(block)

    def input_symbols(self, name: str) -> SX:
        """Return the column of symbols through which expressions read an input."""
        symbols = self.all_symbols()
        return ca.vertcat(*(symbols[Place(name, i)] for i in range(self.inputs[name].size)))

    def open_block(self, user: str) -> Block:
        """Return the block that is open; an error names its user."""
        if self._open is None:
            raise ProgramError(
                f"'{user}' is outside a block", remedy="write it under `with program.block(...):`"
            )
        return self._open

    def check_no_block(self, what: str) -> None:
        """Raise an error if a block is open."""
        if self._open is not None:
            raise ProgramError(
                f"{what} opened inside block '{self._open.tag}'", remedy="close that first"
            )

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
        other.copy_values(self)
        return other

    def _check_part(self, name: str, start: int, count: int) -> None:
        """Raise an error if a memory lacks some of `count` entries from `start` on."""
        if name not in self.memories or start + count > self.memories[name].size:
            raise ProgramError(
                f"no memory '{name}' with entries {start} to {start + count}", path=name
            )

    def _block_outside_guards(self, user: str) -> Block:
        """Return the block that is open; raise an error if it stands in a guard."""
        block = self.open_block(user)
        if self.scopes and (guard := self.scopes[-1].guard()) is not None:
            raise ProgramError(
                f"'{user}' is set inside guard '{guard.name}', which may be skipped",
                value=user,
                remedy="assign to a variable there, and set it after the guard",
            )
        return block

    def _defined(
        self, block: Block, name: str, entries: Sequence[SX]
    ) -> tuple[SX, Sequence[Place]]:
        """Return a column of new symbols that a block defines, and their places."""
        count = len(entries)
        symbols, places = self.new_values(name if count > 1 else f"{name}_0", count)
        block.results += zip(places, entries, strict=True)
        block.lets += zip(symbols.nonzeros(), entries, strict=True)
        return symbols, places

    def _is_computed(self, entry: SX) -> bool:
        """Return whether a block must compute an entry, or copy it: a variable may change."""
        if entry.is_symbolic():
            return bool(self.variables) and self.is_variable(entry)
        return not entry.is_constant()

    def _reads_variable(self, block: Block, entry: SX) -> bool:
        if not self.variables:
            return False
        return any(self.is_variable(symbol) for symbol in ca.symvar(block.resolve(entry)))

    def _accumulate(
        self, name: str, value: SX, initial: float, combine: Callable[[SX, SX], SX]
    ) -> SX:
        value = ca.vec(dense(value))
        old = self.memory(name, value.numel(), initial)
        self.update(name, combine(old, value))
        return old
