"""The kernel of a program with a warp a limb: what all crews share, and each crew's code in it."""

from __future__ import annotations

from heelstrike.compile.code import Code, Traced
from heelstrike.compile.cuda import WARP
from heelstrike.compile.gpu_crew import BARRIER, CrewEmitter, CrewLanes
from heelstrike.compile.gpu_schedule import Schedule
from heelstrike.compile.real import Real
from heelstrike.compile.twins import joined


def emit_parts(program: Traced, plan: Schedule, real: Real, fast: bool) -> str:
    """The kernel, with the arguments of GpuEntry's; a block of 32 * warps threads is a tile."""
    names = [p.name for p in (*program.inputs, *program.tables, *program.memory, *program.outputs)]
    outputs = {port.name for port in program.outputs}
    pointers = {name: f"%port{k}" for k, name in enumerate(names)}
    intrinsics: set[str] = set()
    bodies, tables = [], []
    for crew in range(len(plan.sizes)):
        lanes = CrewLanes(real, fast, crew)
        emitter = CrewEmitter(lanes, plan, pointers, crew)
        emitter.begin(f"crew{crew}")
        for number, segment in enumerate(plan.segments):
            emitter.segment(segment, number)
        if emitter.is_hub and program.record:
            lanes.lines += ["  br i1 %hit, label %recording, label %recorded", "recording:"]
            now = {name: f"{pointers[name]}.now" for name in outputs}
            shown = CrewEmitter(lanes, plan, pointers | now, crew)
            shown.here = dict(emitter.here)
            for item in program.record:
                assert isinstance(item, Code)
                if (unit := joined([item])) is not None:
                    shown.unit(unit)
            lanes.lines += ["  br label %recorded", "recorded:"]
        assert program.commit is not None
        failed = emitter.begin_commit(program.commit)
        lanes.lines.append(BARRIER)
        emitter.end_commit(failed)
        lanes.lines += [BARRIER, "  br label %step.end"]
        intrinsics |= lanes.intrinsics
        bodies += lanes.lines
        tables.append(lanes.text())
    head = _head(program.name, names, outputs, plan, real)
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
    return "\n".join([*sorted(intrinsics), *tables, *head, *bodies, *tail])


def _head(name: str, ports: list[str], outputs: set[str], plan: Schedule, real: Real) -> list[str]:
    """Shared memory, this thread's pointers, and the loop over steps."""
    lines = [
        "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
        "declare void @llvm.nvvm.barrier0()",
        f"@shared = internal addrspace(3) global [{plan.values * WARP} x {real.name}] undef,",
        "  align 16",
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
            f"  %i{k} = getelementptr i8, ptr %b{k}, i64 %f{k}",
            f"  %j{k} = addrspacecast ptr %i{k} to ptr addrspace(1)",  # not shared, not local
            f"  %port{k} = addrspacecast ptr addrspace(1) %j{k} to ptr",
            f"  %g{k} = getelementptr i64, ptr %records, i64 {k}",
            f"  %h{k} = load i64, ptr %g{k}",
        ]
    firsts = [sum(plan.sizes[:crew]) for crew in range(len(plan.sizes))]
    for crew, first in enumerate(firsts):
        lines += [
            f"  %twin32.{crew} = sub i32 %warp, {first}",
            f"  %twin{crew} = zext i32 %twin32.{crew} to i64",
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
                f"  %k{k} = mul i64 %record, %h{k}",
                f"  %port{k}.now = getelementptr i8, ptr %port{k}, i64 %k{k}",
            ]
    targets = " ".join(
        f"i32 {first + k}, label %crew{crew}"
        for crew, first in enumerate(firsts)
        for k in range(plan.sizes[crew])
        if first + k
    )
    lines.append(f"  switch i32 %warp, label %crew0 [ {targets} ]")
    return lines
