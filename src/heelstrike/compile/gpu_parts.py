"""A program on a GPU with a warp a part: a block holds 32 worlds, each warp works on one limb.

Blocks are named "PART: what". Parts that exchange values with only one other are limbs and get a
warp each; the rest, the hub, is worked on by the first warp. A value stays in its warp's registers;
one that another warp reads goes through shared memory, and a barrier stands between. The operations
are those of a thread a world, so are the bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heelstrike.compile.code import CLOCK, FAILED, Code, Commit, Place, Traced, next_of
from heelstrike.compile.cuda import WARP
from heelstrike.compile.frame import Frame
from heelstrike.compile.lanes import Lanes, Real
from heelstrike.compile.straight import FunctionEmitter

BARRIER = "  call void @llvm.nvvm.barrier0()"


@dataclass(frozen=True)
class Schedule:
    """Each warp's work, phase by phase; a barrier ends a phase."""

    warps: int
    phases: list[list[list[Code]]]
    """[phase][warp] -> blocks"""
    crossing: dict[Place, int]
    """Values that another warp reads, and their number in shared memory."""
    owner: dict[Place, int]
    """The warp that computes a value."""


def schedule(program: Traced) -> Schedule | None:
    """Which warp does what; None for programs with loops, tables or arrays, or without limbs."""
    steps = [item for item in program.step if isinstance(item, Code)]
    records = [item for item in program.record if isinstance(item, Code)]
    plain = len(steps) == len(program.step) and len(records) == len(program.record)
    nexts = {next_of(port.name) for port in program.memory}
    if not plain or program.constants or any(a.name not in nexts for a in program.arrays):
        return None
    warp_of_part = _warps(steps)
    warps = len(set(warp_of_part.values()))
    if program.commit is None or warps < 2:
        return None
    owner = {place: warp_of_part[_part(code)] for code in steps for place in code.writes}
    work = [*((code, warp_of_part[_part(code)]) for code in steps), *((c, 0) for c in records)]
    crossing: dict[Place, int] = {}
    for code, warp in work:
        for place in code.reads:
            if owner.get(place, warp) != warp:
                crossing.setdefault(place, len(crossing))
    return Schedule(warps, _phases(steps, owner, warps), crossing, owner)


def _phases(steps: Sequence[Code], owner: dict[Place, int], warps: int) -> list[list[list[Code]]]:
    """Each block in a phase between the earliest and the latest it may have, where it lengthens the
    phase least. The limbs are placed first, so that the first warp does its own limb while they do
    theirs, and the hub alone.
    """
    warp_of = [owner[code.writes[0]] for code in steps]
    writer = {place: k for k, code in enumerate(steps) for place in code.writes}
    before = [{writer[p] for p in code.reads if p in writer} for code in steps]
    early = [0] * len(steps)
    for k in range(len(steps)):
        early[k] = max((early[i] + (warp_of[i] != warp_of[k]) for i in before[k]), default=0)
    late = [max(early)] * len(steps)
    for k in reversed(range(len(steps))):
        for i in before[k]:
            late[i] = min(late[i], late[k] - (warp_of[i] != warp_of[k]))
    load = [[0] * warps for _ in range(max(early) + 1)]
    chosen: dict[int, int] = {}
    for k in sorted(range(len(steps)), key=lambda k: (warp_of[k] == 0, k)):
        warp, size = warp_of[k], steps[k].size
        first = max([early[k], *(chosen[i] for i in before[k] if warp_of[i] == warp)])
        chosen[k] = min(
            range(first, late[k] + 1), key=lambda p: max(load[p][warp] + size - max(load[p]), 0)
        )
        load[chosen[k]][warp] += size
    phases: list[list[list[Code]]] = [[[] for _ in range(warps)] for _ in load]
    for k, code in enumerate(steps):
        phases[chosen[k]][warp_of[k]].append(code)
    return phases


def _part(code: Code) -> str:
    return code.name.partition(":")[0]


def _warps(codes: Sequence[Code]) -> dict[str, int]:
    writer = {place: _part(code) for code in codes for place in code.writes}
    neighbours: dict[str, set[str]] = {_part(code): set() for code in codes}
    for code in codes:
        for place in code.reads:
            other = writer.get(place, _part(code))
            if other != _part(code):
                neighbours[_part(code)].add(other)
                neighbours[other].add(_part(code))
    limbs = [part for part, others in neighbours.items() if len(others) == 1]
    return {part: limbs.index(part) if part in limbs else 0 for part in neighbours}


class WarpEmitter(FunctionEmitter):
    """One warp's code: values in registers, those that cross in shared memory."""

    def __init__(self, lanes: Lanes, plan: Schedule, ports: dict[str, str]) -> None:
        super().__init__(lanes, Frame({}, {}, 0), {})
        self.plan = plan
        self.ports = ports

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

    def begin_commit(self, commit: Commit, warp: int) -> tuple[str, list[tuple[Place, Place]]]:
        """Says in shared memory whether this warp's next values are sound."""
        b = self.lanes
        failed = self.load(Place(FAILED, 0))
        pairs = [
            (Place(m.name, i), Place(next_of(m.name), i))
            for m in commit.memory
            if m.name not in (CLOCK, FAILED)
            for i in range(m.size)
        ]
        own = [pair for pair in pairs if self.plan.owner[pair[1]] == warp]
        total = b.const(0.0)
        for _, following in own:
            total = b.fma(b.const(0.0), self.load(following), total)
        if commit.failure is not None and self.plan.owner[commit.failure] == warp:
            fails = b.compare("une", self.load(commit.failure), b.const(0.0))
            total = b.select(fails, b.const(float("nan")), total)
        self.to_shared(total, len(self.plan.crossing) + warp)
        for place, _ in own:
            self.load(place)
        return failed, own

    def end_commit(self, warp: int, failed: str, own: list[tuple[Place, Place]]) -> None:
        """Takes the next values, if every warp's are sound."""
        b, zero = self.lanes, self.lanes.const(0.0)
        total = zero
        for other in range(self.plan.warps):
            total = b.add(total, self.from_shared(len(self.plan.crossing) + other))
        sound = b.compare("oeq", total, zero)
        alive = b.compare("olt", failed, zero)
        keeps = b.both(alive, sound)
        clock = self.load(Place(CLOCK, 0)) if warp == 0 else ""
        for place, following in own:
            self.store(b.select(keeps, self.load(following), self.load(place)), place)
        if warp == 0:
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
        emitter = WarpEmitter(lanes, plan, pointers)
        lanes.lines.append(f"warp{warp}:")
        for phase in plan.phases:
            emitter.emit(tuple(phase[warp]))
            lanes.lines.append(BARRIER)
        if warp == 0 and program.record:
            lanes.lines += ["  br i1 %hit, label %recording, label %recorded", "recording:"]
            shown = WarpEmitter(lanes, plan, pointers | {n: f"{pointers[n]}.now" for n in outputs})
            shown.here = dict(emitter.here)
            shown.emit(tuple(item for item in program.record if isinstance(item, Code)))
            lanes.lines += ["  br label %recorded", "recorded:"]
        assert program.commit is not None
        failed, own = emitter.begin_commit(program.commit, warp)
        lanes.lines.append(BARRIER)
        emitter.end_commit(warp, failed, own)
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
