"""A crew's code on a GPU with a warp a limb: a block holds 32 worlds, each warp works on one limb.

gpu_schedule.py says which warp does what. A value stays in its warp's registers; one that another
warp reads goes through shared memory, and a barrier stands between. All warps of a block see the
same worlds, so all make the same rounds of a loop. Limbs that do the same run the same code: of
what differs, constants and places, a warp takes its own. The operations are those of a thread a
world, so are the bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from heelstrike.compile.code import CLOCK, FAILED, Advance, Commit, Place, Twins
from heelstrike.compile.cuda import WARP
from heelstrike.compile.gpu_crews import Places
from heelstrike.compile.gpu_schedule import Schedule, Segment
from heelstrike.compile.graph import INPUT
from heelstrike.compile.lanes import Lanes
from heelstrike.compile.operations import BlockEmitter
from heelstrike.compile.real import Real

BARRIER = "  call void @llvm.nvvm.barrier0()"


class CrewLanes(Lanes):
    """A crew's code: constants that differ from warp to warp come from a table."""

    def __init__(self, real: Real, fast: bool, crew: int) -> None:
        super().__init__(1, real, None, WARP, "fast " if fast else "", prefix=f"w{crew}v")
        self.crew = crew
        self.table: dict[tuple[str, ...], int] = {}

    def const(self, x: float | tuple[float, ...]) -> str:
        if not isinstance(x, tuple):
            return super().const(x)
        values = tuple(self._literal(y) for y in x)
        if len(set(values)) == 1:
            return values[0]
        row = self.table.setdefault(values, len(self.table))
        index = self.line(f"add i64 %twin{self.crew}, {row * len(x)}")
        space = "ptr addrspace(4)"
        where = f'{space} @"constants{self.crew}", i64 {index}'
        where = self.line(f"getelementptr {self.real.name}, {where}")
        return self.line(f"load {self.real.name}, {space} {where}, align {self.real.bytes}")

    def text(self) -> str:
        """The table."""
        values = [value for row in self.table for value in row] or [self._literal(0.0)]
        listed = ", ".join(f"{self.real.name} {value}" for value in values)
        kind = f"[{len(values)} x {self.real.name}]"
        return f'@"constants{self.crew}" = private addrspace(4) constant {kind} [{listed}]'


class CrewEmitter:
    """The code of one crew: values in registers, those that cross in shared memory."""

    def __init__(self, lanes: CrewLanes, plan: Schedule, ports: dict[str, str], crew: int) -> None:
        self.lanes = lanes
        self.plan = plan
        self.ports = ports
        self.crew = crew
        self.size = plan.sizes[crew]
        self.is_hub = crew == len(plan.sizes) - 1
        self.here: dict[Places, str] = {}
        self.label = f"crew{crew}"

    def begin(self, label: str) -> None:
        """A stretch of code that may be jumped to."""
        self.lanes.lines.append(f"{label}:")
        self.label = label

    # work

    def segment(self, segment: Segment, number: int) -> None:
        """Its phases, once or round by round."""
        if segment.loop is None:
            self.phases(segment)
            return
        end = segment.loop.body[-1]
        assert isinstance(end, Advance)
        b, head, before = self.lanes, f"w{self.crew}round{number}", self.label
        kept = self.kept(end)
        starts = [self.load(places) for places in kept]
        b.lines.append(f"  br label %{head}")
        self.begin(head)
        first = len(b.lines)
        b.lines += [""] * (1 + len(kept))
        self.here = {places: f"%{head}.c{k}" for k, places in enumerate(kept)}
        self.phases(segment)
        goes_on = self.advance(end)
        b.lines.append(f"  br label %{head}.end")
        self.begin(f"{head}.end")
        b.lines += [
            f"  %{head}.up = add i64 %{head}.k, 1",
            f"  %{head}.in = icmp slt i64 %{head}.up, {segment.loop.limit}",
            f"  %{head}.on = and i1 %{head}.in, {goes_on}",
            f"  br i1 %{head}.on, label %{head}, label %{head}.over",
        ]
        ends = f"%{head}.end ]"
        b.lines[first] = f"  %{head}.k = phi i64 [ 0, %{before} ], [ %{head}.up, {ends}"
        for k, (places, start) in enumerate(zip(kept, starts, strict=True)):
            pair = f"[ {start}, %{before} ], [ {self.here[places]}, {ends}"
            b.lines[first + 1 + k] = f"  %{head}.c{k} = phi {b.values} {pair}"
        self.begin(f"{head}.over")

    def kept(self, end: Advance) -> list[Places]:
        """What this crew carries itself: its own values, and whether a world is done."""
        assert end.done is not None
        rounds = [(end.rounds,)] if end.rounds and self.is_hub else []
        return [*(old for old, _ in self.plan.carried[self.crew]), *rounds, self.all(end.done[0])]

    def phases(self, segment: Segment) -> None:
        for phase in segment.phases:
            for unit in phase[self.crew]:
                self.unit(unit)
            self.lanes.lines.append(BARRIER)
            self.forget()

    def forget(self) -> None:
        """Frees the registers of what can be read again."""
        self.here = {
            places: value
            for places, value in self.here.items()
            if places[0].array not in self.ports and places[0] not in self.plan.slots
        }

    def unit(self, unit: Twins) -> None:
        block = BlockEmitter(self.lanes, unit.graph, unit.read, self.load)
        block.run()
        copies = []
        for places, i in zip(unit.written, unit.graph.outputs, strict=True):
            if unit.graph.operations[i].code == INPUT:
                copies.append((places, block.value(i)))
            else:
                self.store(block.value(i), places)
        for places, value in copies:
            self.store(value, places)

    def advance(self, end: Advance) -> str:
        """Ends a round: takes over this crew's carried values; whether a world goes on."""
        b, zero = self.lanes, self.lanes.const(0.0)
        assert end.done is not None
        done, finishes = (self.load(self.all(place)) for place in end.done)
        over = b.compare("une", done, zero)
        ends = b.either(over, b.compare("une", finishes, zero))
        new = [
            (old, b.select(over, self.load(old), self.load(following)))
            for old, following in self.plan.carried[self.crew]
        ]
        if end.rounds is not None and self.is_hub:
            rounds = self.load((end.rounds,))
            new.append(((end.rounds,), b.select(over, rounds, b.add(rounds, b.const(1.0)))))
        b.intrinsics.add("declare i1 @llvm.nvvm.vote.any.sync(i32, i1)")
        goes_on = b.line(f"call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 {b.invert(ends)})")
        b.lines.append(BARRIER)  # the others have read the old ones
        for places, value in new:
            self.store(value, places)
        self.here[self.all(end.done[0])] = b.select(ends, b.const(1.0), zero)
        b.lines.append(BARRIER)
        return goes_on

    def begin_commit(self, commit: Commit) -> str:
        """Says in shared memory whether this crew's next values are sound."""
        b = self.lanes.careful()
        failed = self.load(self.all(Place(FAILED, 0)))
        total = b.const(0.0)
        for _, following in self.plan.memory[self.crew]:
            total = b.fma(b.const(0.0), self.load(following), total)
        if commit.failure is not None and self.is_hub:
            fails = b.compare("une", self.load((commit.failure,)), b.const(0.0))
            total = b.select(fails, b.const(float("nan")), total)
        first = len(self.plan.slots) + sum(self.plan.sizes[: self.crew])
        self.to_shared(total, [first + k for k in range(self.size)])
        return failed

    def end_commit(self, failed: str) -> None:
        """Takes the next values, if every warp's are sound."""
        b, zero = self.lanes.careful(), self.lanes.const(0.0)
        total = zero
        for warp in range(self.plan.warps):
            total = b.add(total, self.from_shared([len(self.plan.slots) + warp] * self.size))
        sound = b.compare("oeq", total, zero)
        alive = b.compare("olt", failed, zero)
        keeps = b.both(alive, sound)
        values = [(old, self.load(new)) for old, new in self.plan.memory[self.crew]]
        if self.is_hub:
            clock = self.load((Place(CLOCK, 0),))
            fails = b.both(alive, b.invert(sound))
            self.store(b.select(fails, clock, failed), (Place(FAILED, 0),))
            values.append(((Place(CLOCK, 0),), b.add(clock, b.const(1.0))))
        kept = f"w{self.crew}kept"
        b.lines += [f"  br i1 {keeps}, label %{kept}, label %{kept}.over", f"{kept}:"]
        for places, value in values:
            self.store(value, places)
        b.lines += [f"  br label %{kept}.over", f"{kept}.over:"]

    # values

    def all(self, place: Place) -> Places:
        """The same place for each warp."""
        return (place,) * self.size

    def load(self, places: Places) -> str:
        if places not in self.here:
            slots = self.plan.slots
            if places[0] in slots:
                self.here[places] = self.from_shared([slots[place] for place in places])
            else:
                self.here[places] = self.lanes.load(self._address(places))
        return self.here[places]

    def store(self, value: str, places: Places) -> None:
        self.here[places] = value
        if places[0] in self.plan.slots:
            self.to_shared(value, [self.plan.slots[place] for place in places])
        if places[0].array in self.ports:
            self.lanes.store(value, self._address(places))

    def from_shared(self, slots: Sequence[int]) -> str:
        real = self.lanes.real
        return self.lanes.line(
            f"load {real.name}, ptr addrspace(3) {self._shared(slots)}, align {real.bytes}"
        )

    def to_shared(self, value: str, slots: Sequence[int]) -> None:
        real = self.lanes.real
        where = self._shared(slots)
        self.lanes.lines.append(
            f"  store {real.name} {value}, ptr addrspace(3) {where}, align {real.bytes}"
        )

    def _shared(self, slots: Sequence[int]) -> str:
        line = self.lanes.line
        own = line(f"add i64 %lane, {self._own([slot * WARP for slot in slots])}")
        return line(f"getelementptr {self.lanes.real.name}, ptr addrspace(3) @shared, i64 {own}")

    def _address(self, places: Places) -> str:
        """Of an element of a port."""
        base = self.ports[str(places[0].array)]
        own = self._own([place.index * WARP for place in places])
        return self.lanes.line(f"getelementptr {self.lanes.real.name}, ptr {base}, i64 {own}")

    def _own(self, values: Sequence[int]) -> str:
        """The warp's own of these."""
        line, twin = self.lanes.line, f"%twin{self.crew}"
        steps = {b - a for a, b in pairwise(values)}
        if steps <= {0}:
            return str(values[0])
        if len(steps) == 1:
            return line(f"add i64 {line(f'mul i64 {twin}, {steps.pop()}')}, {values[0]}")
        own = str(values[0])
        for k, value in enumerate(values[1:], start=1):
            is_it = line(f"icmp eq i64 {twin}, {k}")
            own = line(f"select i1 {is_it}, i64 {value}, i64 {own}")
        return own
