"""Code of one member of a group: all members run it, each with its own values.

A value stays in registers. One that another warp reads goes through shared memory, one that a
member of a strided group needs in a later phase through its thread's local memory, one that a
branch changes through a cell of its own (variables.py). Constants and places that differ from
member to member are found by the member's number. The operations are those of a thread per world,
and so are the bits.

Units under a guard are in a branch that a warp takes if one of its worlds needs them. What a branch
loaded or computed is unknown after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby, pairwise
from math import gcd

from heelstrike.codegen.cuda.apart import (
    GLOBAL,
    LOCAL,
    ApartFunctions,
    Argument,
    allows_apart,
    is_long,
)
from heelstrike.codegen.cuda.call_code import FRAME, CalledFunctions
from heelstrike.codegen.cuda.called import CalledCode
from heelstrike.codegen.cuda.member_lanes import MemberLanes
from heelstrike.codegen.cuda.module import WARP
from heelstrike.codegen.cuda.schedule import TOGETHER, Schedule
from heelstrike.codegen.cuda.units import Places, Unit
from heelstrike.codegen.operations import BlockEmitter
from heelstrike.ir.code import Place
from heelstrike.ir.operations import INPUT


class MemberEmitter:
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
        self.lanes = lanes
        self.plan = plan
        self.calls = calls
        self.apart = apart
        self.is_apart = False
        """Whether this is the code of a function that stands apart."""
        self.ports = ports
        self.group = group
        self.size = [*plan.sizes, *plan.members][group]
        """Number of members."""
        self.label = label
        """Label of the LLVM basic block that is being written."""
        self.row = row
        """How many members of a strided group this warp has before this one; None if it is known
        only when the code runs."""
        self.here: dict[Places, str] = {}
        """Values in registers."""
        self.bases: dict[tuple[object, ...], str] = {}
        """Pointers that several addresses share."""
        self.results: dict[Places, tuple[Places, tuple[Places, ...]]] = {}
        """Inputs of a unit that are 0 where a guard was skipped: its need, and all of its."""

    def begin(self, label: str) -> None:
        """Begin a basic block."""
        self.lanes.lines.append(f"{label}:")
        self.label = label

    def know(self, other: MemberEmitter, same: Sequence[Places]) -> None:
        """Know values that are the same for all members, and that another one has loaded."""
        self.here |= {places: other.here[places] for places in same}

    def forget(self) -> None:
        """Free the registers of values that can be read again."""
        self.bases = {}
        self.here = {
            places: value
            for places, value in self.here.items()
            if places[0].array not in self.ports
            and places[0] not in self.plan.slots
            and places not in self.plan.cells[self.group]
        }

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

    def pointers(self, units: Sequence[Unit], group: int) -> list[Argument]:
        """Return the pointers that a function needs for units of a group."""
        plan = self.plan
        found = [Argument.same("ptr addrspace(3)", "%shared.lane")]
        if plan.ports:
            found.append(Argument.same("ptr addrspace(3)", "%addresses"))
            found.append(Argument.same("i64", "%lane.bytes"))
        found += [Argument.pointer(LOCAL, f"%local{group}")] if plan.private[group] else []
        found += [Argument.pointer(LOCAL, f"%cells{group}")] if plan.cells[group] else []
        used = {place.array for unit in units for place in (*unit.reads, *unit.writes)}
        own = (port for array, port in self.ports.items() if array in used)
        return found + [Argument.pointer(GLOBAL, port) for port in own if port.startswith("%")]

    def is_in_memory(self, places: Places) -> bool:
        """Return whether a value can be read from memory."""
        plan, group = self.plan, self.group
        own = places in plan.private[group] or places in plan.cells[group]
        return own or places[0].array in self.ports or places[0] in plan.slots

    def vote(self, need: Places) -> str:
        """Return whether a world of the warp has need != 0."""
        b, vote = self.lanes, "i1 @llvm.nvvm.vote.any.sync"
        b.intrinsics.add(f"declare {vote}(i32, i1)")
        needs = b.compare("une", self.load(need), b.const(0.0))
        return b.line(f"call {vote}(i32 -1, i1 {needs})")

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

    def all(self, place: Place) -> Places:
        """Return a place that all members share."""
        return (place,) * self.size

    def load(self, places: Places) -> str:
        if places not in self.here:
            if places in self.results:
                self.load_result(places)
            elif places[0] in self.plan.slots:
                self.here[places] = self.from_shared([self.plan.slots[place] for place in places])
            elif places in self.plan.private[self.group]:
                self.here[places] = self._load_own(*self._local(places))
            elif places in self.plan.cells[self.group]:
                self.here[places] = self._load_own(*self._cell(places))
            else:
                self.here[places] = self.fetch(places)
        return self.here[places]

    def fetch(self, places: Places) -> str:
        """Load a value of a port."""
        return self.lanes.load(self._address(places))

    def store(self, value: str, places: Places) -> None:
        self.here[places] = value
        if places[0] in self.plan.slots:
            self.to_shared(value, [self.plan.slots[place] for place in places])
        if places in self.plan.private[self.group]:
            self._store_own(value, *self._local(places))
        if places in self.plan.cells[self.group]:
            self._store_own(value, *self._cell(places))
        if places[0].array in self.ports:
            self.lanes.store(value, self._address(places))

    def from_shared(self, slots: Sequence[int]) -> str:
        real = self.lanes.real
        where = self._shared(slots)
        return self.lanes.line(f"load {real.name}, ptr addrspace(3) {where}, align {real.bytes}")

    def to_shared(self, value: str, slots: Sequence[int]) -> None:
        real = self.lanes.real
        where = f"ptr addrspace(3) {self._shared(slots)}"
        self.lanes.lines.append(f"  store {real.name} {value}, {where}, align {real.bytes}")

    def _load_own(self, base: str, number: int) -> str:
        """Load a value of the thread's local memory."""
        return self.lanes.line(f"load {self.lanes.real.name}, {self._own(base, number)}")

    def _store_own(self, value: str, base: str, number: int) -> None:
        self.lanes.lines.append(
            f"  store {self.lanes.real.name} {value}, {self._own(base, number)}"
        )

    def _own(self, base: str, number: int) -> str:
        """Return the address of a value in the thread's local memory, and its alignment.

        By that LLVM loads and stores up to four neighbours at once.
        """
        real = self.lanes.real
        where = self.lanes.line(f"getelementptr {real.name}, ptr {base}, i64 {number}")
        return f"ptr {where}, align {real.bytes * gcd(number, TOGETHER)}"

    def _cell(self, places: Places) -> tuple[str, int]:
        """Return base and number of the cell of a value that branches change."""
        return f"%cells{self.group}", self.plan.cells[self.group][places]

    def _local(self, places: Places) -> tuple[str, int]:
        """Return base and number of a member's value in the thread's local memory."""
        line, real = self.lanes.line, self.lanes.real.name
        key = ("local",)
        if key not in self.bases:
            row = str(self.row)
            if self.row is None:
                row = line(f"udiv i64 {self.lanes.number}, {self.plan.warps}")
            start = line(f"mul i64 {row}, {self.plan.width(self.group)}")
            self.bases[key] = line(f"getelementptr {real}, ptr %local{self.group}, i64 {start}")
        return self.bases[key], self.plan.private[self.group][places]

    def _shared(self, slots: Sequence[int]) -> str:
        return self._at("ptr addrspace(3)", "%shared.lane", slots)

    def _address(self, places: Places) -> str:
        """Return the address of an element of a port."""
        base = self._port(str(places[0].array))
        return self._at("ptr", base, [place.index for place in places])

    def ports_known(self) -> dict[tuple[object, ...], str]:
        """Return the pointers to ports that were loaded, which other members may use."""
        return {key: pointer for key, pointer in self.bases.items() if key[0] == "port"}

    def _port(self, name: str) -> str:
        """Return the pointer to this lane's values of a port."""
        line, key, port = self.lanes.line, ("port", name), self.ports[name]
        if port.startswith("%"):
            return port
        if key not in self.bases:
            where = line(f"getelementptr i64, ptr addrspace(3) %addresses, i32 {port}")
            address = line(f"load i64, ptr addrspace(3) {where}, align 8")
            shared = name in self.calls.tables
            own = address if shared else line(f"add i64 {address}, %lane.bytes")
            own = line(f"inttoptr i64 {own} to ptr addrspace(1)")
            self.bases[key] = line(f"addrspacecast ptr addrspace(1) {own} to ptr")
        return self.bases[key]

    def _at(self, kind: str, base: str, indices: Sequence[int]) -> str:
        """Return the address of the member's own of these elements.

        It is a pointer that others share, and an offset. Neighbouring values are apart by the
        lanes of a warp.
        """
        line, real = self.lanes.line, self.lanes.real.name
        apart = tuple(index - indices[0] for index in indices)
        if any(apart):
            key = (kind, base, *apart)
            if key not in self.bases:
                moved = self._distance(apart)
                self.bases[key] = line(f"getelementptr {real}, {kind} {base}, i64 {moved}")
            base = self.bases[key]
        return line(f"getelementptr {real}, {kind} {base}, i64 {indices[0] * WARP}")

    def _distance(self, apart: tuple[int, ...]) -> str:
        line = self.lanes.line
        steps = {b - a for a, b in pairwise(apart)}
        if len(steps) == 1:
            return line(f"mul i64 {self.lanes.number}, {steps.pop() * WARP}")
        own = self.lanes.own("i32", tuple(str(value * WARP) for value in apart))
        return line(f"sext i32 {own} to i64")
