"""Kernel of a program on a GPU with a warp per limb: common code, and that of each warp group."""

from __future__ import annotations

from functools import partial

from heelstrike.codegen.cuda.apart import GLOBAL, IN_SPACE, LOCAL, ApartFunctions
from heelstrike.codegen.cuda.call_code import CalledFunctions
from heelstrike.codegen.cuda.hosted_code import MemberWork
from heelstrike.codegen.cuda.member_code import MemberEmitter
from heelstrike.codegen.cuda.member_lanes import MemberLanes, MemberTables
from heelstrike.codegen.cuda.module import WARP
from heelstrike.codegen.cuda.registers import MAX_REGISTER_CELLS
from heelstrike.codegen.cuda.schedule import TOGETHER, Schedule
from heelstrike.codegen.cuda.units import Places, pack_unit
from heelstrike.codegen.cuda.warp_group_code import BARRIER, WarpGroupEmitter
from heelstrike.codegen.llvm import constant_text
from heelstrike.codegen.real import Real
from heelstrike.ir.code import Code, TracedProgram, flatten


def emit_limb_kernel(program: TracedProgram, plan: Schedule, real: Real, fast: bool) -> str:
    """Return the kernel's LLVM IR; its arguments are those of WorldKernel.

    A block slice computes a tile. Slices of a block keep in step, so that they share the
    instructions that are fetched.
    """
    ports = (*program.inputs, *program.tables, *program.memory, *program.outputs)
    names = [port.array for port in ports]
    outputs = {port.array for port in program.outputs}
    pointers = {name: str(k) if plan.ports else f"%port{k}" for k, name in enumerate(names)}
    flags = "fast " if fast else ""
    tables = [MemberTables(k, real) for k in range(len(plan.sizes) + len(plan.members))]
    calls, apart = CalledFunctions(program, plan, real, fast), ApartFunctions()
    intrinsics = set(calls.intrinsics)
    bodies: list[str] = []
    for k in range(len(plan.sizes)):
        lanes = MemberLanes(real, flags, f"w{k}v", tables[k], f"%member{k}", [])
        emitter = WarpGroupEmitter(lanes, plan, pointers, k, tables, calls, apart)
        _step(program, emitter, outputs)
        intrinsics |= lanes.intrinsics
        bodies += lanes.lines
    before = _inputs(plan, pointers, tables, real, calls)
    head = _head(program.name, names[: len(names) - len(outputs)], plan, real, calls, before)
    tail = [
        "step.end:",
        "  %s.next = add i64 %s, 1",
        "  %up = zext i1 %hit to i64",
        "  %record.next = add i64 %record, %up",
        "  br label %stepping",
        "done:",
        "  ret void",
        "}",
        '!0 = distinct !{!0, !{!"llvm.loop.unroll.disable"}}',
    ]
    constants = [constant_text(x, table, real) for x, table in program.constants.items()]
    constants += [line for own in tables for line in own.text()]
    parts = [*sorted(intrinsics), *constants, *calls.texts, *apart.texts, *head, *bodies, *tail]
    return "\n".join(parts)


def _step(program: TracedProgram, emitter: WarpGroupEmitter, outputs: set[str]) -> None:
    """Emit one step of a warp group; the host of the root block also records."""
    lines, pointers = emitter.lanes.lines, emitter.ports
    emitter.begin(emitter.label)
    for part in emitter.plan.parts:
        emitter.part(part)
    if emitter.is_host and program.record:
        lines.append("  br i1 %hit, label %recording, label %recorded")
        emitter.begin("recording")
        numbers = [k for k, name in enumerate(pointers) if name in outputs]
        for k in numbers:
            lines += [
                *_address(k),
                f"  %g{k} = getelementptr i64, ptr %records, i64 {k}",
                f"  %h{k} = load i64, ptr %g{k}",
                f"  %k{k} = mul i64 %record, %h{k}",
                f"  %l{k} = add i64 %f{k}, %k{k}",
                *_pointer(k, f"%l{k}"),
            ]
        emitter.ports = pointers | {list(pointers)[k]: f"%port{k}" for k in numbers}
        emitter.hosted(emitter.root, MemberWork(partial(_record, program)))
        emitter.ports = pointers
        lines.append("  br label %recorded")
        emitter.begin("recorded")
    assert program.commit is not None
    failed, clock = emitter.begin_commit(program.commit)
    lines.append(BARRIER)
    emitter.end_commit(failed, clock)
    if (late := emitter.plan.late) is not None:
        emitter.hosted(emitter.root, MemberWork(lambda root: root.call(late)))
    lines += [BARRIER, "  br label %step.end"]


def _record(program: TracedProgram, root: MemberEmitter) -> None:
    """Emit the work that only the outputs need, whether a guard needs it or not."""
    for code in (x for item in program.record for x in flatten(item)):
        assert isinstance(code, Code)
        if (unit := pack_unit([code])) is not None:
            root.unit(unit)


def _inputs(
    plan: Schedule,
    pointers: dict[str, str],
    tables: list[MemberTables],
    real: Real,
    calls: CalledFunctions,
) -> tuple[list[str], str]:
    """Return the copy of strided groups' inputs to shared memory, once for all steps.

    Also return the label of its last basic block.
    """
    lanes = MemberLanes(real, "", "copy", tables[0], "0", [])
    emitter = WarpGroupEmitter(lanes, plan, pointers, 0, tables, calls, ApartFunctions())
    emitter.label = "entry"
    for group, own in enumerate(plan.inputs):
        if own:
            emitter.hosted(group, MemberWork(partial(_copy, own), len(own)))
    return [*lanes.lines, BARRIER], emitter.label


def _copy(inputs: list[Places], member: MemberEmitter) -> None:
    for places in inputs:
        member.to_shared(member.fetch(places), [member.plan.slots[place] for place in places])


def _head(
    name: str,
    ports: list[str],
    plan: Schedule,
    real: Real,
    calls: CalledFunctions,
    before: tuple[list[str], str],
) -> list[str]:
    """Return shared memory, this thread's pointers, the work before the steps, and their loop."""
    lines = _thread_indices(name, plan, real) + calls.alloca()
    for group, own in enumerate(plan.private):
        if own:
            count = plan.rows(group) * plan.width(group)
            lines += _own_memory(f"%local{group}", count, "%zero", real)
    for group in range(len(plan.sizes)):
        if count := plan.cell_count(group):
            index = "0" if count <= MAX_REGISTER_CELLS else "%zero"
            lines += _own_memory(f"%cells{group}", count, index, real)
    for k, port in enumerate(ports):
        shared = port in calls.tables
        lane = "0" if shared else "%lane.bytes"
        lines += [*_address(k), *(_entry(k) if plan.ports else _pointer(k, f"%f{k}", lane))]
    lines.append(BARRIER)
    firsts = [sum(plan.sizes[:group]) for group in range(len(plan.sizes))]
    for group, first in enumerate(firsts):
        lines += [
            f"  %member32.{group} = sub i32 %warp, {first}",
            f"  %member{group} = zext i32 %member32.{group} to i64",
        ]
    lines += [
        *before[0],
        "  br label %stepping",
        "stepping:",
        f"  %s = phi i64 [ 0, %{before[1]} ], [ %s.next, %step.end ]",
        f"  %record = phi i64 [ 0, %{before[1]} ], [ %record.next, %step.end ]",
        "  %goes = icmp slt i64 %s, %steps",
        "  br i1 %goes, label %step, label %done",
        "step:",
        "  %at = add i64 %s, %phase",
        "  %rest = srem i64 %at, %every",
        "  %hit = icmp eq i64 %rest, 0",
    ]
    targets = " ".join(
        f"i32 {first + k}, label %group{group}"
        for group, first in enumerate(firsts)
        for k in range(plan.sizes[group])
        if first + k
    )
    lines.append(f"  switch i32 %warp, label %group0 [ {targets} ]")
    return lines


def _thread_indices(name: str, plan: Schedule, real: Real) -> list[str]:
    """Return the kernel's beginning: the numbers of this thread's warp, lane, slice and tile."""
    return [
        "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
        "declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()",
        "declare void @llvm.nvvm.barrier0()",
        f"@shared = external addrspace(3) global [0 x {real.name}], align 16",
        f'define ptx_kernel void @"{name}"(ptr %ports, ptr %strides, ptr %records,',
        "  i64 %tiles, i64 %steps, i64 %every, i64 %phase) #1 {",
        "entry:",
        "  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
        "  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()",
        f"  %warps = udiv i32 %tid, {WARP}",
        f"  %slice = udiv i32 %warps, {plan.warps}",
        f"  %place = urem i32 %warps, {plan.warps}",
        "  %turned = add i32 %place, %slice",  # root blocks on different quarters
        f"  %warp = urem i32 %turned, {plan.warps}",
        f"  %lane32 = urem i32 %tid, {WARP}",
        "  %lane = zext i32 %lane32 to i64",
        f"  %slice.first = mul i32 %slice, {plan.values * WARP}",
        "  %slice.lane = add i32 %slice.first, %lane32",
        f"  %shared.lane = getelementptr {real.name}, ptr addrspace(3) @shared, i32 %slice.lane",
        f"  %table.first = add i32 %slice.first, {plan.address_slot * WARP}",
        f"  %addresses = getelementptr {real.name}, ptr addrspace(3) @shared, i32 %table.first",
        f"  %slices = udiv i32 %ntid, {WARP * plan.warps}",
        "  %tile.first = mul i32 %ctaid, %slices",
        "  %tile32 = add i32 %tile.first, %slice",
        "  %tile.any = zext i32 %tile32 to i64",
        "  %tile.last = sub i64 %tiles, 1",
        "  %tile.over = icmp sgt i64 %tile.any, %tile.last",
        "  %tile = select i1 %tile.over, i64 %tile.last, i64 %tile.any",  # the last one again
        f"  %lane.bytes = mul i64 %lane, {real.bytes}",
        # opaque, so that LLVM leaves in memory what is addressed by it
        '  %zero32 = call i32 asm "mov.u32 $0, $1;", "=r,r"(i32 0)',
        "  %zero = zext i32 %zero32 to i64",
    ]


def _own_memory(name: str, count: int, index: str, real: Real) -> list[str]:
    """Return values in the thread's local memory, addressed from an index on."""
    return [
        f"  {name}.all = alloca [{count} x {real.name}], align {TOGETHER * real.bytes}",
        f"  {name} = getelementptr {real.name}, ptr {name}.all, i64 {index}",
        f"  {name}{IN_SPACE} = addrspacecast ptr {name} to ptr addrspace({LOCAL})",
    ]


def _address(k: int) -> list[str]:
    """Return the address of this slice's values in port k, as the integer %fk."""
    return [
        f"  %a{k} = getelementptr i64, ptr %ports, i64 {k}",
        f"  %b{k} = load i64, ptr %a{k}",
        f"  %c{k} = getelementptr i64, ptr %strides, i64 {k}",
        f"  %d{k} = load i64, ptr %c{k}",
        f"  %e{k} = mul i64 %tile, %d{k}",
        f"  %f{k} = add i64 %b{k}, %e{k}",
    ]


def _entry(k: int) -> list[str]:
    """Write the address of port k to shared memory."""
    return [
        f"  %s{k} = getelementptr i64, ptr addrspace(3) %addresses, i32 {k}",
        f"  store i64 %f{k}, ptr addrspace(3) %s{k}, align 8",
    ]


def _pointer(k: int, address: str, lane: str = "%lane.bytes") -> list[str]:
    """Return the pointer to this lane's values of port k, %portk."""
    return [
        f"  %i{k} = add i64 {address}, {lane}",
        f"  %port{k}{IN_SPACE} = inttoptr i64 %i{k} to ptr addrspace({GLOBAL})",
        f"  %port{k} = addrspacecast ptr addrspace({GLOBAL}) %port{k}{IN_SPACE} to ptr",
    ]
