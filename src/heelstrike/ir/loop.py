"""Loops of a program.

A loop's body is traced once. A finished lane keeps its carried values by select, so its bits do not
depend on how long its neighbours go on. A let of a round can be read after the loop if one more
round would not change it: a finished lane computes it again while others go on.

    with repeated(p, "newton", limit=20) as loop:
        x = loop.carry("x", guess)
        with p.block("newton"):
            new = p.let("x", x - f(x) / df(x))
            loop.next(x, new)
            loop.until(ca.fabs(new - x) < 1e-12)
    # `x` is each lane's own result; loop.rounds and loop.unfinished say how it ended

    with counted(p, "points", 8) as loop:                       # eight contact points, one body
        lever = loop.constants(levers)                          # row of a constant table, (8, 3)
        total = loop.carry("total", SX.zeros(3))
        with p.block("force"):
            loop.next(total, total + force(lever))
    # here `total` is the sum
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import casadi as ca
import numpy as np

from heelstrike.errors import ProgramError
from heelstrike.ir.block import SX, Block, BlockTag, LoopBlock, dense
from heelstrike.ir.code import Advance, Place
from heelstrike.ir.number import is_number
from heelstrike.ir.program import Program
from heelstrike.ir.scope import Scope, both, first_block


class Loop(Scope):
    """A loop under construction."""

    def __init__(self, p: Program, name: str, limit: int) -> None:
        if limit < 1:
            raise ProgramError(
                f"loop '{name}' has a limit of {limit}", value=limit, allowed="at least one round"
            )
        super().__init__(p, name)
        self.limit = limit
        self.start = Block(BlockTag(f"start of {name}"))
        """Block before the loop that computes the first carried values."""
        self.carried: dict[Place, Place] = {}
        """Each carried value, and its next value."""
        self.done: tuple[Place, Place] | None = None
        """Whether a lane has finished, now and next."""
        self.rounds: SX | None = None
        """Number of rounds that each lane has made; None in a counted loop."""
        self.unfinished: SX | None = None
        """1 in lanes that reached the limit before they were done; None in a counted loop."""
        self._ends: tuple[Place, Place] | None = None  # of done and rounds
        self._active: SX | None = None

    def carry(self, name: str, start: SX) -> SX:
        """Return symbols of values that go from round to round, the first time `start`.

        After the loop the same symbols hold the result.
        """
        columns = dense(start)
        symbols = SX.zeros(*columns.shape)
        for i, entry in enumerate(columns.nonzeros()):
            symbol, place = self.p.new_value(f"{name}_{i}")
            self.start.results.append((place, entry))
            symbols[i] = symbol
        return symbols

    def next(self, carried: SX, value: SX) -> None:
        """Set what carried values will be in the next round; inside a block of the loop."""
        self._check_innermost()
        block = self.p.open_block(self.name)
        for symbol, entry in zip(carried.nonzeros(), dense(value).nonzeros(), strict=True):
            place = self._own_place(entry)
            if place is None:
                _, place = self.p.new_value("next")
                block.results.append((place, entry))
            self.carried[self.p.place_of(symbol, self.name)] = place

    def _own_place(self, entry: SX) -> Place | None:
        """Return where a value already is, if it is a let."""
        if not entry.is_symbolic() or is_number(entry):
            return None
        place = self.p.place_of(entry, self.name)
        self.p.check_exist([(place, entry)], self.name)
        return place if place.array is None and place not in self.p.variables else None

    def until(self, condition: SX) -> None:
        """End a lane's rounds after the one in which the condition holds; inside a block."""
        self._check_innermost()
        block = self.p.open_block(self.name)
        if self._ends is None or self.done is not None:
            raise ProgramError(
                f"loop '{self.name}' takes no further `until`",
                allowed="one `until` in a loop of `repeated`, none in a counted loop",
            )
        _, place = self.p.new_value("until")
        block.results.append((place, SX(condition)))
        self.done = (self._ends[0], place)

    def constants(self, table: np.ndarray) -> SX:
        """Return this round's row of a constant table with a row for each round; outside blocks."""
        table = np.atleast_2d(np.asarray(table, dtype=float))
        if len(table) != self.limit:
            raise ProgramError(
                f"loop '{self.name}' makes {self.limit} rounds, but its table of constants has "
                f"{len(table)} rows",
                value=len(table),
                allowed=f"{self.limit} rows",
            )
        self._check_innermost()
        name, columns = f"constants {len(self.p.constants)}", table.shape[1]
        self.p.constants[name] = table
        source = self.p.symbols_of(name, columns, stride=columns)
        symbols, places = zip(*(self.p.new_value(name) for _ in range(columns)), strict=True)
        results = list(zip(places, source.nonzeros(), strict=True))
        self.p.add(Block(BlockTag(f"row of {self.name}"), results))
        return ca.vertcat(*symbols)

    def end_when_done(self) -> None:
        """Carry each lane's number of rounds and whether it is done; before any other value.

        Lanes that do not need the guard around the loop are done before the first round.
        """
        guard = self.guard()
        needed = guard.active() if guard else None
        done = self.carry("done", SX(0) if needed is None else ca.logic_not(needed))
        self.rounds = self.carry("rounds", SX(0))
        self.unfinished = 1 - done
        self._ends = self.p.place_of(done, self.name), self.p.place_of(self.rounds, self.name)

    def active(self) -> SX | None:
        """Return which lanes go on; a block at the start of the round computes it."""
        outer = self.outer.active() if self.outer else None
        if self.unfinished is None:
            return outer
        if self._active is None:
            lanes = both(outer, self.unfinished)
            self._active, block = first_block(self.p, f"lanes of {self.name}", lanes)
            self.statements.insert(0, block)
        return self._active

    def trace(self) -> Iterator[Loop]:
        """Collect the body of the loop, and add it to the program."""
        with self.collect():
            yield self
        rounds = self._ends[1] if self._ends else None
        carried = sorted(self.carried.items(), key=lambda pair: pair[0].index)
        advance = Advance(tuple(carried), self.done, rounds)
        self.p.add(self.start)
        self.p.statements.append(LoopBlock(self.name, self.limit, self.statements, advance))

    def _check_innermost(self) -> None:
        innermost = self.p.scopes[-1] if self.p.scopes else None
        if innermost is not None and innermost.need is not None and self in self.p.scopes:
            raise ProgramError(
                f"loop '{self.name}' is used inside guard '{innermost.name}'",
                remedy="assign to a variable there, and read it after the guard",
            )
        if innermost is not self:
            raise ProgramError(
                f"loop '{self.name}' is not the innermost open loop",
                remedy="use it in its own `with` statement",
            )


@contextmanager
def counted(p: Program, name: str, count: int) -> Iterator[Loop]:
    """Trace a loop of `count` rounds."""
    yield from Loop(p, name, count).trace()


@contextmanager
def repeated(p: Program, name: str, limit: int) -> Iterator[Loop]:
    """Trace a loop that goes on until every lane is done, for `limit` rounds at most."""
    loop = Loop(p, name, limit)
    loop.end_when_done()
    yield from loop.trace()
    if loop.done is None:
        raise ProgramError(
            f"loop '{name}' never ends", remedy="call loop.until(condition) in a block of it"
        )
