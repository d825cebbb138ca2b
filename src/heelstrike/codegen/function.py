"""LLVM functions of straight-line code: blocks, table look-ups, ends of rounds and of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from heelstrike.codegen.frame import Group, GuardTest, ScratchFrame
from heelstrike.codegen.lanes import Lanes
from heelstrike.codegen.operations import BlockEmitter
from heelstrike.codegen.values import Places, Values
from heelstrike.ir.code import (
    CLOCK,
    FAILED,
    Advance,
    Code,
    Commit,
    Lookup,
    PackedCode,
    Place,
    next_of,
)
from heelstrike.ir.operations import INPUT

PARALLEL_SUMS = 4
"""Sums that are formed side by side: a multiply-add takes about as many cycles."""


class FunctionEmitter(Values):
    """Emits the body of `i1 f(ptr frame, i64 counter, ptr port, ...)`.

    The function returns an answer: at the end of a loop's round whether a lane goes on, before a
    guard whether a lane needs it.
    """

    def __init__(self, lanes: Lanes, frame: ScratchFrame, constants: Mapping[str, str]) -> None:
        super().__init__(lanes, frame, constants)
        self.answer = "false"

    def emit(self, group: Group) -> None:
        for item in group:
            match item:
                case Code():
                    self._code(item)
                case PackedCode():
                    self._packed(item)
                case Lookup():
                    self._lookup(item)
                case Advance():
                    self._advance(item)
                case Commit():
                    self._commit(item)
                case GuardTest():
                    needed = self.lanes.compare("une", self.load(item.need), self.lanes.const(0.0))
                    self.answer = self.lanes.any(needed)

    def _code(self, code: Code) -> None:
        block = BlockEmitter(self.lanes, code.graph, code.reads, self.load)
        block.run()
        assigned = set(code.writes) & set(code.reads)
        block.load_before_store(place in assigned for place in code.reads)
        copies = []
        for place, i in zip(code.writes, code.graph.outputs, strict=True):
            operation = code.graph.operations[i]
            source = code.reads[operation.operands[0]] if operation.code == INPUT else None
            if source is not None and source not in assigned:
                copies.append((place, source))
            else:
                self.store(block.value(i), place)
        for places, sources in self.chunks(copies):
            self.store_all(self.load_all(sources), places)

    def _packed(self, item: PackedCode) -> None:
        block = BlockEmitter(self.lanes.beside(item.width), item.graph, item.read, self.load_all)
        block.run()
        assigned = set(item.writes) & set(item.reads)
        block.load_before_store(not assigned.isdisjoint(places) for places in item.read)
        for places, operation in zip(item.written, item.graph.outputs, strict=True):
            self.store_all(block.value(operation), places)

    def _lookup(self, item: Lookup) -> None:
        """Emit value = a + (b - a) f between neighbours a and b; beyond the ends the slope is 0."""
        b, (rows, columns) = self.lanes, item.table.shape
        base = self.port(item.table.name)
        if item.is_row:
            held = b.min(b.max(self.load(item.reads[0]), b.const(0.0)), b.const(rows - 1.0))
            start = b.int_op("mul", b.to_integer(held), b.integer(columns))
            for value, place in zip(b.fetch(base, start, range(columns)), item.writes, strict=True):
                self.store(value, place)
            return
        cell, part, inside = self._cell(item.reads[0], rows)
        if len(item.reads) == 1:
            start = b.int_op("mul", cell, b.integer(columns))
            pairs = b.fetch(base, start, range(2 * columns))
            for k in range(columns):
                low, high = pairs[k], pairs[columns + k]
                rise = b.sub(high, low)
                self.store(b.fma(rise, part, low), item.writes[k])
                slope = b.select(inside, rise, b.const(0.0))
                self.store(slope, item.writes[columns + k])
            return
        across, share, within = self._cell(item.reads[1], columns)
        start = b.int_op("add", b.int_op("mul", cell, b.integer(columns)), across)
        corners = b.fetch(base, start, (0, 1, columns, columns + 1))
        near, far = b.sub(corners[1], corners[0]), b.sub(corners[3], corners[2])
        left, right = b.fma(near, share, corners[0]), b.fma(far, share, corners[2])
        rise = b.sub(right, left)
        self.store(b.fma(rise, part, left), item.writes[0])
        self.store(b.select(inside, rise, b.const(0.0)), item.writes[1])
        twist = b.sub(far, near)
        sideways = b.fma(twist, part, near)
        self.store(b.select(within, sideways, b.const(0.0)), item.writes[2])
        self.store(b.select(b.both(inside, within), twist, b.const(0.0)), item.writes[3])

    def _cell(self, argument: Place, count: int) -> tuple[str, str, str]:
        """Return the cell's number, the fraction of it, and whether the argument is in range."""
        b, u = self.lanes, self.load(argument)
        last = b.const(count - 1.0)
        held = b.min(b.max(u, b.const(0.0)), last)  # 0 for NaN
        floor = b.min(b.floor(held), b.const(count - 2.0))
        inside = b.both(b.compare("oge", u, b.const(0.0)), b.compare("ole", u, last))
        return b.to_integer(floor), b.sub(held, floor), inside

    def _advance(self, item: Advance) -> None:
        b = self.lanes
        zero = b.const(0.0)
        over = b.compare("une", self.load(item.done[0]), zero) if item.done else None
        carried = {place for place, _ in item.carried}
        # what another value takes over is read before any is written; too many fill the registers
        early = [
            (places, self._next(places, nexts, over))
            for places, nexts in self.chunks([x for x in item.carried if x[1] in carried])
        ]
        for places, nexts in self.chunks([x for x in item.carried if x[1] not in carried]):
            self.store_all(self._next(places, nexts, over), places)
        for places, value in early:
            self.store_all(value, places)
        if item.done is None or over is None:
            return
        finishes = self.load(item.done[1])
        if item.rounds is not None:
            rounds = self.load(item.rounds)
            counted = b.add(rounds, b.const(1.0))
            self.store(b.select(over, rounds, counted), item.rounds)
        ends = b.either(over, b.compare("une", finishes, zero))
        self.store(b.select(ends, b.const(1.0), zero), item.done[0])
        self.answer = b.any(b.invert(ends))

    def _next(self, places: Places, nexts: Places, over: str | None) -> str:
        """Return the next values of carried places; lanes that are over keep theirs."""
        value = self.load_all(nexts)
        if over is None or self.lanes.width == 1:  # a single world that makes a round is not over
            return value
        return self.lanes.select(over, self.load(places[0]), value)

    def _commit(self, item: Commit) -> None:
        b, zero = self.lanes, self.lanes.const(0.0)
        clock, failed = self.load(Place(CLOCK, 0)), self.load(Place(FAILED, 0))
        alive = b.compare("olt", failed, zero)
        chunks = self.chunks(
            [
                (Place(m.name, i), Place(next_of(m.name), i))
                for m in item.memory
                if m.name not in (CLOCK, FAILED)
                for i in range(m.size)
            ]
        )
        finite = b.invert(self._not_finite([following for _, following in chunks]))
        if item.failure is not None:
            finite = b.both(finite, b.compare("oeq", self.load(item.failure), zero))
        keeps = b.both(alive, finite)
        self._keep_or_hold(chunks, keeps)
        fails = b.both(alive, b.invert(finite))
        self.store(b.select(fails, clock, failed), Place(FAILED, 0))
        counted = b.add(clock, b.const(1.0))
        self.store(b.select(keeps, counted, clock), Place(CLOCK, 0))

    def _keep_or_hold(self, chunks: Sequence[tuple[Places, Places]], keeps: str) -> None:
        """Store the next values; lanes that do not keep them hold their old ones.

        A CPU reads old values only if there is such a lane.
        """
        b = self.lanes
        self.forget()
        if b.pitch == 1:
            held = b.any(b.invert(keeps))
            b.lines += [f"  br i1 {held}, label %hold, label %keep", "keep:"]
            for places, following in chunks:
                self.store_all(self.load_all(following), places)
            self.forget()
            b.lines += ["  br label %kept", "hold:"]
        for places, following in chunks:
            new, old = self.load_all(following), self.load_all(places)
            self.store_all(b.choose(keeps, new, old, len(places)), places)
        self.forget()
        if b.pitch == 1:
            b.lines += ["  br label %kept", "kept:"]

    def _not_finite(self, chunks: Sequence[Places]) -> str:
        """Return whether a value is not finite: 0 x is 0, or NaN.

        Several sums are formed side by side, so that none waits for another.
        """
        sums: dict[tuple[int, int], str] = {}
        for n, places in enumerate(chunks):
            lanes, column = self.lanes_of(len(places)).careful(), (len(places), n % PARALLEL_SUMS)
            zero = lanes.const(0.0)
            sums[column] = lanes.fma(zero, self.load_all(places), sums.get(column, zero))
        masks = []
        for (size, _), total in sums.items():
            lanes = self.lanes_of(size).careful()
            mask = lanes.compare("une", total, lanes.const(0.0))
            masks.append(lanes.any(mask) if size > 1 else mask)
        return reduce(self.lanes.either, masks)
