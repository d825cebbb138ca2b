"""Roofline of a step on the CPU: operations, instructions, cycles, spills, and what bounds it.

    python -m benchmarks.roofline [--json FILE] [--quick]
    python -m benchmarks.roofline --gpu --json benchmarks/results/roofline-gpu.json
    python tools/performance_page.py                 # writes docs/performance.md

Robots stand on their feet, 256 worlds on one thread, nothing recorded. Times are CPU times, best of
turns. Most machines that are rented give no performance counters, so that

- operations are those of the traced step (Program.counts; a loop's body counts once, and what
  guards skip counts as well),
- instructions are counted by valgrind (callgrind) while the step runs as AVX2 code, which is the
  widest that valgrind knows, behind the C interface; two runs of different length are subtracted,
- cycles are CPU time times the clock rate, which a chain of dependent multiplications tells,
- the peak is measured by independent fused multiply-adds in registers, 2 operations a lane,
- kinds of instructions, and loads and stores of the stack (spills, mostly), are shares of the
  assembly text, so that what loops and guards repeat or skip is not weighted.

--gpu measures steps per second of 65,536 worlds in float32, beside the data sheet's peak.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import tempfile
import warnings
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.other_cpu import AVX2, AVX512, Compiled, ForeignBatch, cross_compiled
from heelstrike.bench.gpu import device_name, on_gpu
from heelstrike.bench.standing import case, missing, simulator
from heelstrike.bench.steps import WORLDS
from heelstrike.bench.timing import Contender, timed
from heelstrike.codegen.cpu import widest
from heelstrike.codegen.host import target_machine
from heelstrike.codegen.real import real_type
from heelstrike.contact.choose import template

ROBOTS, LAWS = ("hoap1", "g1", "anymal_c"), ("linear-spring", "micro-macro", "rigid")
TURNS, STEPS = 9, 40
COUNTED = (2, 10)
"""Steps of the two runs under valgrind, whose instructions are subtracted."""
RUNS = 9
"""Runs of each length whose best time counts."""
CHAINS, ROUNDS = 16, 1_000_000
LATENCY = 4
"""Cycles of x * x + 1 in integers, on x86: 3 and 1."""
GPU_PEAK = {"H200": 66.9e12, "H100": 66.9e12}
"""float32 operations per second outside of tensor cores, by NVIDIA's data sheets."""
EXACT = (("float32", "exact"),)
"""Numbers and arithmetic on a GPU."""


def kernel(kind: str, lanes: int) -> str:
    """Return LLVM IR of a loop of ROUNDS: independent FMAs, or a chain of integer operations."""
    v = f"<{lanes} x double>"
    if kind == "clock":
        body = [
            "%x = phi i64 [3, %entry], [%y, %loop]",
            "%m = mul i64 %x, %x",
            "%y = add i64 %m, 1",
        ]
        end = ["ret i64 %y"]
    else:
        call = f"call {v} @llvm.fma.v{lanes}f64({v} %a, {v} %x{{k}}, {v} %a)"
        chains = range(CHAINS)
        body = [f"%x{k} = phi {v} [zeroinitializer, %entry], [%y{k}, %loop]" for k in chains]
        body += [f"%y{k} = {call.format(k=k)}" for k in chains]
        end = [f"%s0 = fadd {v} %y0, %y0"]
        end += [f"%s{k} = fadd {v} %s{k - 1}, %y{k}" for k in chains[1:]]
        end += [f"%e = extractelement {v} %s{CHAINS - 1}, i32 0", "%r = fptosi double %e to i64"]
        end += ["ret i64 %r"]
    lines = [
        f"declare {v} @llvm.fma.v{lanes}f64({v}, {v}, {v})",
        "define i64 @work(i64 %c) {",
        "entry:",
        "%n = sitofp i64 %c to double",
        f"%a = insertelement {v} zeroinitializer, double %n, i32 0",
        "br label %loop",
        "loop:",
        "%i = phi i64 [0, %entry], [%j, %loop]",
        *body,
        "%j = add i64 %i, 1",
        f"%go = icmp ult i64 %j, {ROUNDS}",
        "br i1 %go, label %loop, label %end",
        "end:",
        *end,
        "}",
    ]
    return "\n".join(lines)


def rate(kind: str, lanes: int) -> float:
    """Return rounds per second of a kernel, compiled for this CPU."""
    machine = target_machine(3)
    parsed = llvm.parse_assembly(kernel(kind, lanes))
    parsed.triple = machine.triple
    parsed.verify()
    with llvm.create_mcjit_compiler(parsed, machine) as engine:
        engine.finalize_object()
        work = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(engine.get_function_address("work"))
        spent = timed({"work": Contender(partial(work, 0), ROUNDS)}, 15)["work"]["us"]
    return 1e6 / spent


def machine_limits() -> dict[str, float]:
    """Return clock rate [Hz] and peak [float64 operations per second] of one core."""
    lanes = widest(real_type("float64"))
    return {
        "clock": LATENCY * rate("clock", lanes),
        "peak": 2 * lanes * CHAINS * rate("fma", lanes),
        "lanes": lanes,
    }


def measured(name: str, law: str, limits: dict[str, float], turns: int) -> dict[str, Any]:
    """Return the figures of one robot under one law."""
    of = case(name)
    sim = simulator(of.robot, of.dt, template(law), worlds=WORLDS)
    run = sim.compiled.batch(()).run
    us = timed({"step": Contender(partial(run, STEPS), STEPS * WORLDS)}, turns)["step"]["us"]
    counts = sim.program.counts(())
    operations = counts.arithmetic + counts.functions
    found: dict[str, Any] = {
        "us": us,
        "operations": operations,
        "choices": counts.choices,
        "peak_share": operations / (1e-6 * us) / limits["peak"],
        "cycles": 1e-6 * us * limits["clock"] * limits["lanes"],
    }
    for cpu, key in ((AVX2, "avx2"), (AVX512, "avx512")):
        made = cross_compiled(sim.program, cpu)
        found[key] = shares(made.assembly)
        if cpu is AVX2 and shutil.which("valgrind"):
            found[key] |= counted(made, sim.compiled.batch(()), limits["clock"])
    return found


def counted(made: Compiled, like: Any, clock: float) -> dict[str, float]:
    """Return instructions and cycles of a tile's step as AVX2 code, from the state of a batch.

    Both are those of the later ones of COUNTED steps, by the difference of two runs.
    """
    total, seconds = [], []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "callgrind.out")
        for steps in COUNTED:
            batch = ForeignBatch(made, like, Path(folder))
            start = {port.name: batch.get(port.name) for port in made.layout.memory}
            batch.run(steps, ("valgrind", "--tool=callgrind", f"--callgrind-out-file={log}"))
            (line,) = re.findall(r"^(?:summary|totals): (\d+)", log.read_text(), re.MULTILINE)[:1]
            total.append(int(line))
            spent = []
            for _ in range(RUNS):
                batch.set(**start)
                spent.append(batch.run(steps))
            seconds.append(min(spent))
        work = (COUNTED[1] - COUNTED[0]) * batch.tiles
    instructions = (total[1] - total[0]) / work
    cycles = (seconds[1] - seconds[0]) * clock / work
    return {"instructions": instructions, "cycles": cycles, "per_cycle": instructions / cycles}


KINDS = {
    "fused": r"vf(n?)m(add|sub)\d",
    "arithmetic": r"v(add|sub|mul|div|sqrt|max|min)[ps][sd]",
    "select": r"v(cmp|blend|and|or|xor|perm|shuf|insert|extract|broadcast|unpck|round|rndscale)",
    "move": r"v?mov",
}
"""Kinds of instructions by their names; what is none of these is "other"."""


def shares(assembly: str) -> dict[str, float]:
    """Return shares of the instructions of an assembly text by kind, and of those on the stack."""
    tally: Counter[str] = Counter()
    for line in assembly.splitlines():
        if not line.startswith("\t") or line.startswith(("\t.", "\t#")):
            continue
        name, _, operands = line.strip().partition("\t")
        kind = next((k for k, pattern in KINDS.items() if re.match(pattern, name)), "other")
        tally[kind] += 1
        tally["all"] += 1
        if "(%rsp" in operands or "(%rbp" in operands:
            to_stack = name.startswith("v") and operands.rstrip().endswith((")",))
            tally["stack stores" if to_stack and kind == "move" else "stack loads"] += 1
    total = tally.pop("all")
    kinds = (*KINDS, "other", "stack loads", "stack stores")
    return {"static": total} | {kind: tally[kind] / total for kind in kinds}


def on_device(names: list[str]) -> dict[str, Any]:
    """Return steps per second on the GPU, and shares of its peak where that is known."""
    device, found = device_name(), {}
    peak = next((value for key, value in GPU_PEAK.items() if key in str(device)), None)
    for name in names:
        of = case(name)
        for law in LAWS:
            made = on_gpu(of, {law: template(law)}, variants=EXACT)[f"{law}, float32, exact"]
            sim = simulator(of.robot, of.dt, template(law))
            counts = sim.program.counts(())
            operations, speed = counts.arithmetic + counts.functions, made.get("steps_per_s")
            share = operations * speed / peak if speed and peak else None
            found[f"{name}, {law}"] = made | {"operations": operations, "peak_share": share}
    return {"device": device, "peak": peak, "rows": found}


def show(console: Console, found: dict[str, Any]) -> None:
    table = Table(title=f"{found['clock'] / 1e9:.2f} GHz, peak {found['peak'] / 1e9:.0f} Gflop/s")
    names = ("robot, law", "us", "operations", "of peak", "instr./cycle", "fused", "stack")
    for name in names:
        table.add_column(name, justify="left" if name == names[0] else "right")
    for name, row in found["rows"].items():
        own = row["avx2"]
        stack = own["stack loads"] + own["stack stores"]
        ipc = f"{own['per_cycle']:.2f}" if "per_cycle" in own else ""
        cells = f"{row['us']:.3f}", f"{row['operations']}", f"{100 * row['peak_share']:.0f} %", ipc
        table.add_row(name, *cells, f"{100 * own['fused']:.0f} %", f"{100 * stack:.0f} %")
    console.print(table)


def main() -> None:
    """Measure every robot under every law."""
    own = parser(__doc__, "hoap1 and one law only")
    own.add_argument("--gpu", action="store_true", help="measure on the GPU instead")
    options = own.parse_args()
    warnings.simplefilter("ignore", hs.HeelstrikeWarning)
    gone = missing(ROBOTS)
    names = [name for name in ROBOTS[: 1 if options.quick else None] if name not in gone]
    if options.gpu:
        keep(on_device(names), options.json)
        return
    limits = machine_limits()
    rows = {}
    for name in names:
        for law in LAWS[: 1 if options.quick else None]:
            rows[f"{name}, {law}"] = measured(name, law, limits, 3 if options.quick else TURNS)
            show(Console(), limits | {"rows": rows})
    keep(limits | {"rows": rows}, options.json)


if __name__ == "__main__":
    main()
