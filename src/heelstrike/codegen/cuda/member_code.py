"""Code of one member of a group: all members run it, each with its own values (member_memory.py).

The operations are those of a thread per world, and so are the bits. Units under a guard are in a
branch that a warp takes if one of its worlds needs them. What a branch loaded or computed is
unknown after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

from heelstrike.codegen.cuda.apart import (
    ApartFunctions,
    Argument,
    allows_apart,
    is_long,
)
from heelstrike.codegen.cuda.call_code import FRAME, CalledFunctions
from heelstrike.codegen.cuda.called import CalledCode
from heelstrike.codegen.cuda.member_lanes import MemberLanes
from heelstrike.codegen.cuda.member_memory import MemberMemory
from heelstrike.codegen.cuda.schedule import TOGETHER, Schedule
from heelstrike.codegen.cuda.units import Places, Unit
from heelstrike.codegen.operations import BlockEmitter
from heelstrike.ir.operations import INPUT


class MemberEmitter(MemberMemory):
    """Emits blocks for a member of a group."""

    def __init__(
        self,
        lanes: MemberLanes,
        plan: Schedule,
        ports: dict[str, str],
        group: int,
        label: str,
        calls: CalledFunctions,
        apart: ApartFunctions,
        row: int | None = None,
    ) -> None:
        super().__init__(lanes, plan, ports, group, calls.tables, row)
        self.label = label
        """Label of the LLVM basic block that is being written."""
        self.calls, self.apart = calls, apart
        self.is_apart = False
        """Whether this is the code of a function that stands apart."""
        self.results: dict[Places, tuple[Places, tuple[Places, ...]]] = {}
        """Inputs of a unit that are 0 where a guard was skipped: its need, and all of its."""

    def begin(self, label: str) -> None:
        """Begin a basic block."""
        self.lanes.lines.append(f"{label}:")
        self.label = label

    def units(self, units: Sequence[Unit], depth: int = 0) -> None:
        """Emit units in order; those under further guards than `depth` are in branches."""
        for needs, own in groupby(units, key=lambda unit: unit.needs[depth : depth + 1]):
            if needs:
                self.under_guard(needs[0], list(own), depth + 1)
            else:
                for unit in own:
                    self.unit(unit)

    def under_guard(self, need: Places, units: Sequence[Unit], depth: int) -> None:
        """Emit units under a guard, in a function of their own where that is faster."""
        own = self.group < len(self.plan.sizes)
        cells = self.plan.cell_count(self.group) if own else self.plan.most_cells
        apart = not self.is_apart and allows_apart(cells) and is_long(units)
        self.branch(need, units, partial(self.call_apart if apart else self.units, units, depth))

    def branch(self, need: Places, units: Sequence[Unit], emit: Callable[[], None]) -> None:
        """Emit units that are skipped where no world of the warp has need != 0."""
        b, head = self.lanes, f"{self.lanes.prefix}guard{len(self.lanes.lines)}"
        b.lines.append(f"  br i1 {self.vote(need)}, label %{head}, label %{head}.over")
        here, bases = self.here, self.bases
        self.here, self.bases = dict(here), dict(bases)
        self.begin(head)
        emit()
        b.lines.append(f"  br label %{head}.over")
        self.begin(f"{head}.over")
        written = {places for unit in units for places in unit.written}
        self.here = {places: value for places, value in here.items() if places not in written}
        self.bases = bases

    def call_apart(self, units: Sequence[Unit], depth: int) -> None:
        """Emit units in a function, and its call. It takes what it cannot read from memory."""
        b = self.lanes
        read = dict.fromkeys(w for unit in units for w in unit.read)
        given = [w for w in read if w in self.here and not self.is_in_memory(w)]
        names = {w: f"%given{k}" for k, w in enumerate(given)}
        arguments = [Argument("i64", "%number", b.number), *self.pointers(units, self.group)]
        arguments += [Argument(b.values, names[w], self.here[w]) for w in given]

        def code() -> list[str]:
            lanes = b.elsewhere("%number")
            inner = MemberEmitter(
                lanes, self.plan, self.ports, self.group, "entry", self.calls, self.apart, self.row
            )
            inner.is_apart, inner.here = True, dict(names)
            inner.units(units, depth)
            return lanes.lines

        b.lines.append(self.apart.call(arguments, code))

    def vote(self, need: Places) -> str:
        """Return whether a world of the warp has need != 0."""
        b, vote = self.lanes, "i1 @llvm.nvvm.vote.any.sync"
        b.intrinsics.add(f"declare {vote}(i32, i1)")
        needs = b.compare("une", self.load(need), b.const(0.0))
        return b.line(f"call {vote}(i32 -1, i1 {needs})")

    def load(self, places: Places) -> str:
        """Load a value, or the result of a guard that the warp may have skipped."""
        if places not in self.here and places in self.results:
            self.load_result(places)
        return super().load(places)

    def load_result(self, places: Places) -> None:
        """Load the result of a guard, 0 if the warp skipped it, with its neighbours in memory."""
        need, values = self.results[places]
        near = self._neighbours(places)
        values = tuple(w for w in values if w not in self.here and self._neighbours(w) == near)
        for own in values:
            del self.results[own]
        b, taken = self.lanes, self.vote(need)
        head, before = f"{b.prefix}results{len(b.lines)}", self.label
        b.lines.append(f"  br i1 {taken}, label %{head}, label %{head}.over")
        here, bases = self.here, self.bases
        self.here, self.bases = dict(here), dict(bases)
        self.begin(head)
        loaded = [self.load(own) for own in values]
        b.lines.append(f"  br label %{head}.over")
        self.here, self.bases = here, bases
        self.begin(f"{head}.over")
        for own, value in zip(values, loaded, strict=True):
            pairs = f"[ {value}, %{head} ], [ {b.const(0.0)}, %{before} ]"
            self.here[own] = b.line(f"phi {b.values} {pairs}")

    def _neighbours(self, places: Places) -> int | None:
        """Return the number of the four neighbours in the thread's memory that a value is among."""
        for own in (self.plan.cells[self.group], self.plan.private[self.group]):
            if places in own:
                return own[places] // TOGETHER
        return None

    def unit(self, unit: Unit) -> None:
        """Emit a unit."""
        self.results = {places: row for row in unit.defaults for places in row[1]}
        if unit.called is not None:
            self.call(unit.called)
            return
        block = BlockEmitter(self.lanes, unit.graph, unit.read, self.load)
        block.run()
        block.load_before_store(places in unit.written for places in unit.read)
        copies = []
        for places, i in zip(unit.written, unit.graph.outputs, strict=True):
            if unit.graph.operations[i].code == INPUT:
                copies.append((places, block.value(i)))
            else:
                self.store(block.value(i), places)
        for places, value in copies:
            self.store(value, places)

    def call(self, code: CalledCode) -> None:
        """Emit the calls of functions, between copies of what they share with other units."""
        b, offset = self.lanes, self.calls.frame.offset
        for place in code.reads:
            b.store(self.load((place,)), b.address(FRAME, offset(place)))
        pointers = {name: self._port(name) for name in self.calls.ports(code)}
        b.lines += self.calls.lines(code, self.label, pointers)
        after = f"{b.prefix}called{len(b.lines)}"
        b.lines.append(f"  br label %{after}")
        self.begin(after)
        for place in code.writes:
            self.store(b.load(b.address(FRAME, offset(place))), (place,))
