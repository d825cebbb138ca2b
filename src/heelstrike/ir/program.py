"""A program: named inputs, blocks of expressions, named outputs; memory that lives on from step to
step, loops and tables.

A block is a piece of straight-line code. `let` ends a value's life as an expression and starts it
as a symbol, which later blocks read: so each operation belongs to one block, blocks stay small
enough to compile fast, and they may be spread over a GPU's warps.

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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

import casadi as ca
import numpy as np

from heelstrike.errors import ProgramError
from heelstrike.ir.code import (
    CLOCK,
    FAILED,
    BlockTag,
    Code,
    Output,
    Place,
    Port,
    Traced,
    inner,
    next_of,
)
from heelstrike.ir.operations import Counts, count

SX: TypeAlias = ca.SX


@dataclass
class Block:
    """Expressions that are computed together, and where their values go."""

    tag: BlockTag
    results: list[tuple[Place, SX]] = field(default_factory=list)
    lets: list[tuple[SX, SX]] = field(default_factory=list)
    """Symbols that this block defines, and their expressions."""


class Program:
    """Expressions over named inputs and memory, cut into blocks."""

    def __init__(self, name: str) -> None:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise ProgramError(f"a program is named by letters, digits and _, not '{name}'")
        self.name = name
        self.inputs: dict[str, Port] = {}
        self.outputs: dict[str, Output] = {}
        self.memories: dict[str, Port] = {}
        self.initial: dict[str, np.ndarray] = {}
        self.tables: dict[str, Port] = {}
        self.arrays: dict[str, Port] = {}
        self.constants: dict[str, np.ndarray] = {}
        self.items: list[object] = []
        self.loops: list[object] = []  # those that are open
        self.failure: Place | None = None
        self._places: dict[int, tuple[Place, SX]] = {}  # symbol's hash -> place, and the symbol
        self._lets = 0
        self._open: Block | None = None

    # values that come from outside

    def input(self, name: str, size: int) -> SX:
        """A column of symbols: values given by the caller, for all worlds alike or one by one."""
        if name in ("threads", "self"):
            raise ProgramError(f"an input cannot be called '{name}': calls use that word")
        self._check_new(name)
        self.inputs[name] = Port(name, (size,))
        return self._symbols(name, size)

    def memory(self, name: str, size: int, initial: float | np.ndarray = 0.0) -> SX:
        """A column of symbols: values of a world that the last step left, at first `initial`."""
        if not self.memories and name not in (CLOCK, FAILED):
            self.memory(CLOCK, 1)
            self.memory(FAILED, 1, -1.0)
        self._check_new(name)
        self.memories[name] = Port(name, (size,))
        self.initial[name] = np.broadcast_to(np.asarray(initial, dtype=float), (size,)).copy()
        return self._symbols(name, size)

    @property
    def clock(self) -> SX:
        """Steps that this world has made; times dt, its time."""
        if CLOCK not in self.memories:
            raise ProgramError(f"program '{self.name}' has no clock before its first memory")
        return self._symbols(CLOCK, 1)

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
                f"block '{tag}' opened inside block '{self._open.tag}'; close that first"
            )
        self._open = Block(tag)
        outputs = dict(self.outputs)
        try:
            yield
            self.items.append(self._open)
        except BaseException:
            self.outputs = outputs  # what was named in a block that failed was not named
            raise
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
                symbol, place = self._slot(f"{name}_{i}")
                block.results.append((place, entry))
                block.lets.append((symbol, entry))
                entry = symbol
            entries.append(entry)
        return SX(value.sparsity(), ca.vertcat(*entries)) if entries else value

    def let_symmetric(self, name: str, value: SX) -> SX:
        """`let` for a symmetric matrix, of which only the upper triangle is computed and handed
        over.
        """
        return ca.densify(ca.triu2symm(self.let(name, ca.triu(value))))

    def output(self, name: str, value: SX) -> None:
        """Add a column or a matrix of expressions to the results of the program.

        Outputs have a name space of their own: a memory `q` and an output `q` are two arrays.
        """
        block = self._current(name)
        if name in self.outputs:
            raise ProgramError(f"program '{self.name}' already has an output named '{name}'")
        value = ca.densify(SX(value))
        rows, columns = value.shape
        port = self.outputs[name] = Output(name, (rows,) if columns == 1 else (rows, columns))
        entries = ca.vec(value.T).nonzeros()  # row by row
        block.results += [(Place(port.array, i), entry) for i, entry in enumerate(entries)]

    def update(self, name: str, value: SX) -> None:
        """Sets what a memory will hold after this step."""
        block = self._current(name)
        if name not in self.memories or name in (CLOCK, FAILED):
            own = [m for m in self.memories if m not in (CLOCK, FAILED)]
            raise ProgramError(f"no memory '{name}' to update; memories: {', '.join(own)}")
        entries = ca.densify(ca.vec(SX(value))).nonzeros()
        if len(entries) != self.memories[name].size:
            raise ProgramError(
                f"memory '{name}' holds {self.memories[name].size} values, not {len(entries)}"
            )
        block.results += [(Place(next_of(name), i), entry) for i, entry in enumerate(entries)]

    def update_part(self, name: str, start: int, value: SX) -> None:
        """Sets what some entries of a memory, from `start` on, will hold after this step."""
        entries = ca.densify(ca.vec(SX(value))).nonzeros()
        if name not in self.memories or start + len(entries) > self.memories[name].size:
            raise ProgramError(f"no memory '{name}' with entries {start} to {start + len(entries)}")
        self._current(name).results += [
            (Place(next_of(name), start + i), entry) for i, entry in enumerate(entries)
        ]

    def update_max(self, name: str, value: SX) -> SX:
        """A memory that keeps the largest value so far; returns it as it was."""
        return self._accumulate(name, value, -np.inf, ca.fmax)

    def update_min(self, name: str, value: SX) -> SX:
        """A memory that keeps the smallest value so far; returns it as it was."""
        return self._accumulate(name, value, np.inf, ca.fmin)

    def update_sum(self, name: str, value: SX) -> SX:
        """A memory that sums the values of all steps; returns it as it was."""
        return self._accumulate(name, value, 0.0, lambda old, new: old + new)

    def update_first(self, name: str, condition: SX) -> SX:
        """A memory of the first step in which the condition held, -1 before; returns it."""
        clock = self.clock
        return self._accumulate(
            name,
            condition,
            -1.0,
            lambda old, new: ca.if_else(ca.logic_and(old < 0, new != 0), clock, old),
        )

    def fail_when(self, condition: SX) -> None:
        """A world fails, and is frozen, in the step in which the condition holds."""
        block = self._current("fail_when")
        if self.failure is not None:
            raise ProgramError("fail_when was called before; join the conditions with logic_or")
        _, self.failure = self._slot("failure")
        block.results.append((self.failure, SX(condition)))

    # what the emitter takes

    def trace(self, outputs: Sequence[str] | None = None) -> Traced:
        """The program for the named outputs (default: all), without what they do not need."""
        from heelstrike.ir.dead_code import traced

        return traced(self, outputs)

    def counts(self, outputs: Sequence[str] | None = None) -> Counts:
        """Exact number of operations behind the named outputs; a loop's body counts once."""
        program = self.trace(outputs)
        items = [x for item in (*program.step, *program.record) for x in inner(item)]
        codes = [item for item in items if isinstance(item, Code)]
        return sum((count(code.graph.operations) for code in codes), Counts())

    def place_of(self, symbol: SX, block: object) -> Place:
        """Return where the value of a symbol is; `block` names its reader in an error."""
        found = self._places.get(symbol.element_hash())
        if found is None:
            raise ProgramError(
                f"block '{block}' of program '{self.name}' uses symbol '{symbol}', which is "
                "neither an input nor a let of this program"
            )
        return found[0]

    def _symbols(self, array: str, size: int, stride: int = 0) -> SX:
        """Fresh symbols for the elements of an array, moving with a loop's counter by stride."""
        symbols = SX.sym(array, size)
        for i, symbol in enumerate(symbols.nonzeros()):
            self._places[symbol.element_hash()] = Place(array, i, stride), symbol
        return symbols

    def _slot(self, name: str) -> tuple[SX, Place]:
        symbol, place = SX.sym(name), Place(None, self._lets)
        self._lets += 1
        self._places[symbol.element_hash()] = place, symbol
        return symbol, place

    def _accumulate(self, name: str, value: SX, initial: float, combine: object) -> SX:
        value = ca.densify(ca.vec(SX(value)))
        old = self.memory(name, value.numel(), initial)
        self.update(name, combine(old, value))  # type: ignore[operator]
        return old

    def _current(self, name: str) -> Block:
        if self._open is None:
            raise ProgramError(f"'{name}' must be made inside a block: with program.block(...):")
        return self._open

    def _check_new(self, name: str) -> None:
        if any(name in names for names in (self.inputs, self.memories, self.tables, self.arrays)):
            raise ProgramError(f"program '{self.name}' already has a port named '{name}'")
