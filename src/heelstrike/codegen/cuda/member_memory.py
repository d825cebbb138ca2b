"""Values of one member of a group on a GPU: where they are, and how they are loaded and stored.

A value stays in registers. One that another warp reads goes through shared memory, one that a
member of a strided group needs in a later phase through its thread's local memory, one that a
branch changes through a cell of its own (variables.py). Places that differ from member to member
are found by the member's number.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from math import gcd

from heelstrike.codegen.cuda.apart import GLOBAL, LOCAL, Argument
from heelstrike.codegen.cuda.member_lanes import MemberLanes
from heelstrike.codegen.cuda.module import WARP
from heelstrike.codegen.cuda.schedule import TOGETHER, Schedule
from heelstrike.codegen.cuda.units import Places, Unit
from heelstrike.ir.code import Place


class MemberMemory:
    """Loads and stores of a member's values."""

    def __init__(
        self,
        lanes: MemberLanes,
        plan: Schedule,
        ports: dict[str, str],
        group: int,
        tables: Collection[str],
        row: int | None = None,
    ) -> None:
        """`tables` are ports that all worlds share."""
        self.lanes = lanes
        self.plan = plan
        self.ports = ports
        self.shared_ports = tables
        self.group = group
        self.size = [*plan.sizes, *plan.members][group]
        """Number of members."""
        self.row = row
        """How many members of a strided group this warp has before this one; None if it is known
        only when the code runs."""
        self.here: dict[Places, str] = {}
        """Values in registers."""
        self.bases: dict[tuple[object, ...], str] = {}
        """Pointers that several addresses share."""

    def know(self, other: MemberMemory, same: Sequence[Places]) -> None:
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

    def is_in_memory(self, places: Places) -> bool:
        """Return whether a value can be read from memory."""
        plan, group = self.plan, self.group
        own = places in plan.private[group] or places in plan.cells[group]
        return own or places[0].array in self.ports or places[0] in plan.slots

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

    def all(self, place: Place) -> Places:
        """Return a place that all members share."""
        return (place,) * self.size

    def load(self, places: Places) -> str:
        if places not in self.here:
            if places[0] in self.plan.slots:
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
            shared = name in self.shared_ports
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
