"""A program on a GPU with a warp a part: a block holds 32 worlds, each warp works on one limb.

gpu_schedule.py says which warp does what. A value stays in its warp's registers; one that another
warp reads goes through shared memory, and a barrier stands between. All warps of a block see the
same worlds, so all make the same rounds of a loop. The operations are those of a thread a world, so
are the bits.
"""

from __future__ import annotations

from heelstrike.compile.code import CLOCK, FAILED, Advance, Code, Commit, Place, Traced, next_of
from heelstrike.compile.cuda import WARP
from heelstrike.compile.frame import Frame
from heelstrike.compile.gpu_schedule import Schedule, Segment
from heelstrike.compile.lanes import Lanes, Real
from heelstrike.compile.straight import FunctionEmitter

BARRIER = "  call void @llvm.nvvm.barrier0()"


class WarpEmitter(FunctionEmitter):
    """One warp's code: values in registers, those that cross in shared memory."""

    def __init__(self, lanes: Lanes, plan: Schedule, ports: dict[str, str], warp: int) -> None:
        super().__init__(lanes, Frame({}, {}, 0), {})
        self.plan = plan
        self.ports = ports
        self.warp = warp
        self.label = f"warp{warp}"

    def begin(self, label: str) -> None:
        """A stretch of code that may be jumped to."""
        self.lanes.lines.append(f"{label}:")
        self.label = label

    def segment(self, segment: Segment, number: int) -> None:
        """Its phases, once or round by round."""
        if segment.loop is None:
            self.phases(segment)
            return
        b, head, before = self.lanes, f"w{self.warp}round{number}", self.label
        kept = self.kept(segment.advance)
        starts = [self.load(place) for place in kept]
        b.lines.append(f"  br label %{head}")
        self.begin(head)
        first = len(b.lines)
        b.lines += [""] * (1 + len(kept))
        self.here |= {place: f"%{head}.c{k}" for k, place in enumerate(kept)}
        self.forget(segment.advance)
        self.phases(segment)
        goes_on = self.advance(segment.advance)
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
        for k, (place, start) in enumerate(zip(kept, starts, strict=True)):
            pair = f"[ {start}, %{before} ], [ {self.here[place]}, {ends}"
            b.lines[first + 1 + k] = f"  %{head}.c{k} = phi {b.values} {pair}"
        self.begin(f"{head}.over")

    def kept(self, end: Advance) -> list[Place]:
        """What this warp carries itself: its own values, and whether a world is done."""
        assert end.done is not None
        rounds = [end.rounds] if end.rounds and self.warp == 0 else []
        own = [place for place, _ in end.carried if self.plan.owner[place] == self.warp]
        return [*own, *rounds, end.done[0]]

    def forget(self, end: Advance) -> None:
        """What other warps carry lies in shared memory, where they change it."""
        for place in set(end.writes).difference(self.kept(end)):
            self.here.pop(place, None)

    def phases(self, segment: Segment) -> None:
        for phase in segment.phases:
            self.emit(tuple(phase[self.warp]))
            self.lanes.lines.append(BARRIER)

    def advance(self, end: Advance) -> str:
        """Ends a round: takes over this warp's carried values; whether a world goes on."""
        b, zero = self.lanes, self.lanes.const(0.0)
        assert end.done is not None
        done, finishes = (self.load(place) for place in end.done)
        over = b.compare("une", done, zero)
        ends = b.either(over, b.compare("une", finishes, zero))
        new = [
            (place, b.select(over, self.load(place), self.load(following)))
            for place, following in end.carried
            if self.plan.owner[place] == self.warp
        ]
        if end.rounds is not None and self.warp == 0:
            rounds = self.load(end.rounds)
            new.append((end.rounds, b.select(over, rounds, b.add(rounds, b.const(1.0)))))
        b.intrinsics.add("declare i1 @llvm.nvvm.vote.any.sync(i32, i1)")
        goes_on = b.line(f"call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 {b.invert(ends)})")
        b.lines.append(BARRIER)  # the others have read the old ones
        for place, value in new:
            self.store(value, place)
        self.here[end.done[0]] = b.select(ends, b.const(1.0), zero)
        self.forget(end)
        b.lines.append(BARRIER)
        return goes_on

    def load(self, place: Place) -> str:
        if place not in self.here and place in self.plan.crossing:
            self.here[place] = self.from_shared(self.plan.crossing[place])
        return super().load(place)

    def store(self, value: str, place: Place) -> None:
        self.here[place] = value
        if place in self.plan.crossing:
            self.to_shared(value, self.plan.crossing[place])
        if place.array is not None and place.array in self.ports:
            self.lanes.store(value, self._address(place))

    def from_shared(self, slot: int) -> str:
        real = self.lanes.real
        return self.lanes.line(
            f"load {real.name}, ptr addrspace(3) {self._shared(slot)}, align {real.bytes}"
        )

    def to_shared(self, value: str, slot: int) -> None:
        real = self.lanes.real
        where = self._shared(slot)
        self.lanes.lines.append(
            f"  store {real.name} {value}, ptr addrspace(3) {where}, align {real.bytes}"
        )

    def _shared(self, slot: int) -> str:
        index = self.lanes.line(f"add i64 %lane, {slot * WARP}")
        return self.lanes.line(
            f"getelementptr {self.lanes.real.name}, ptr addrspace(3) @shared, i64 {index}"
        )

    def begin_commit(self, commit: Commit) -> tuple[str, list[tuple[Place, Place]]]:
        """Says in shared memory whether this warp's next values are sound."""
        b = self.lanes
        failed = self.load(Place(FAILED, 0))
        pairs = [
            (Place(m.name, i), Place(next_of(m.name), i))
            for m in commit.memory
            if m.name not in (CLOCK, FAILED)
            for i in range(m.size)
        ]
        own = [pair for pair in pairs if self.plan.owner[pair[1]] == self.warp]
        total = b.const(0.0)
        for _, following in own:
            total = b.fma(b.const(0.0), self.load(following), total)
        if commit.failure is not None and self.plan.owner[commit.failure] == self.warp:
            fails = b.compare("une", self.load(commit.failure), b.const(0.0))
            total = b.select(fails, b.const(float("nan")), total)
        self.to_shared(total, len(self.plan.crossing) + self.warp)
        for place, _ in own:
            self.load(place)
        return failed, own

    def end_commit(self, failed: str, own: list[tuple[Place, Place]]) -> None:
        """Takes the next values, if every warp's are sound."""
        b, zero = self.lanes, self.lanes.const(0.0)
        total = zero
        for other in range(self.plan.warps):
            total = b.add(total, self.from_shared(len(self.plan.crossing) + other))
        sound = b.compare("oeq", total, zero)
        alive = b.compare("olt", failed, zero)
        keeps = b.both(alive, sound)
        clock = self.load(Place(CLOCK, 0)) if self.warp == 0 else ""
        for place, following in own:
            self.store(b.select(keeps, self.load(following), self.load(place)), place)
        if self.warp == 0:
            fails = b.both(alive, b.invert(sound))
            self.store(b.select(fails, clock, failed), Place(FAILED, 0))
            counted = b.add(clock, b.const(1.0))
            self.store(b.select(keeps, counted, clock), Place(CLOCK, 0))


def emit_parts(program: Traced, plan: Schedule, real: Real, fast: bool) -> str:
    """The kernel, with the arguments of GpuEntry's; a block of 32 * warps threads is a tile."""
    names = [p.name for p in (*program.inputs, *program.tables, *program.memory, *program.outputs)]
    outputs = {port.name for port in program.outputs}
    pointers = {name: f"%port{k}" for k, name in enumerate(names)}
    intrinsics: set[str] = set()
    bodies = []
    for warp in range(plan.warps):
        lanes = Lanes(1, real, None, WARP, "fast " if fast else "", prefix=f"w{warp}v")
        emitter = WarpEmitter(lanes, plan, pointers, warp)
        emitter.begin(f"warp{warp}")
        for number, segment in enumerate(plan.segments):
            emitter.segment(segment, number)
        if warp == 0 and program.record:
            lanes.lines += ["  br i1 %hit, label %recording, label %recorded", "recording:"]
            now = {name: f"{pointers[name]}.now" for name in outputs}
            shown = WarpEmitter(lanes, plan, pointers | now, warp)
            shown.here = dict(emitter.here)
            shown.emit(tuple(item for item in program.record if isinstance(item, Code)))
            lanes.lines += ["  br label %recorded", "recorded:"]
        assert program.commit is not None
        failed, own = emitter.begin_commit(program.commit)
        lanes.lines.append(BARRIER)
        emitter.end_commit(failed, own)
        lanes.lines += [BARRIER, "  br label %step.end"]
        intrinsics |= lanes.intrinsics
        bodies += lanes.lines
    size = (len(plan.crossing) + plan.warps) * WARP
    head = _head(program.name, names, outputs, size, real, plan.warps)
    tail = [
        "step.end:",
        "  %s.next = add i64 %s, 1",
        "  %up = zext i1 %hit to i64",
        "  %record.next = add i64 %record, %up",
        "  br label %stepping",
        "done:",
        "  ret void",
        "}",
    ]
    return "\n".join([*sorted(intrinsics), *head, *bodies, *tail])


def _head(
    name: str, ports: list[str], outputs: set[str], shared: int, real: Real, warps: int
) -> list[str]:
    """Shared memory, this thread's pointers, and the loop over steps."""
    lines = [
        "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
        "declare void @llvm.nvvm.barrier0()",
        f"@shared = internal addrspace(3) global [{shared} x {real.name}] undef, align 16",
        f'define ptx_kernel void @"{name}"(ptr %ports, ptr %strides, ptr %records,',
        "  i64 %tiles, i64 %steps, i64 %every, i64 %phase) #1 {",
        "  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
        f"  %warp = udiv i32 %tid, {WARP}",
        f"  %lane32 = urem i32 %tid, {WARP}",
        "  %lane = zext i32 %lane32 to i64",
        "  %tile = zext i32 %ctaid to i64",
        f"  %lane.bytes = mul i64 %lane, {real.bytes}",
    ]
    for k in range(len(ports)):
        lines += [
            f"  %a{k} = getelementptr ptr, ptr %ports, i64 {k}",
            f"  %b{k} = load ptr, ptr %a{k}",
            f"  %c{k} = getelementptr i64, ptr %strides, i64 {k}",
            f"  %d{k} = load i64, ptr %c{k}",
            f"  %e{k} = mul i64 %tile, %d{k}",
            f"  %f{k} = add i64 %e{k}, %lane.bytes",
            f"  %port{k} = getelementptr i8, ptr %b{k}, i64 %f{k}",
            f"  %g{k} = getelementptr i64, ptr %records, i64 {k}",
            f"  %h{k} = load i64, ptr %g{k}",
        ]
    lines += [
        "  br label %stepping",
        "stepping:",
        "  %s = phi i64 [ 0, %0 ], [ %s.next, %step.end ]",
        "  %record = phi i64 [ 0, %0 ], [ %record.next, %step.end ]",
        "  %goes = icmp slt i64 %s, %steps",
        "  br i1 %goes, label %step, label %done",
        "step:",
        "  %at = add i64 %s, %phase",
        "  %rest = srem i64 %at, %every",
        "  %hit = icmp eq i64 %rest, 0",
    ]
    for k, port in enumerate(ports):
        if port in outputs:
            lines += [
                f"  %i{k} = mul i64 %record, %h{k}",
                f"  %port{k}.now = getelementptr i8, ptr %port{k}, i64 %i{k}",
            ]
    targets = " ".join(f"i32 {w}, label %warp{w}" for w in range(1, warps))
    lines.append(f"  switch i32 %warp, label %warp0 [ {targets} ]")
    return lines
