"""Writes docs/performance.md from results of benchmarks.roofline and benchmarks.accuracy.

    python -m benchmarks.roofline --json benchmarks/results/roofline.json
    python -m benchmarks.roofline --gpu --json benchmarks/results/roofline-gpu.json
    python -m benchmarks.accuracy --json benchmarks/results/accuracy.json
    python tools/performance_page.py

The page is not edited by hand. Rows of a GPU stand empty until their file exists.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.pages import markdown

ROOT = Path(__file__).parent.parent
PAGE, RESULTS = ROOT / "docs/performance.md", ROOT / "benchmarks/results"
ISSUED, FLOATING, LOADS = 6, 2, 2
"""What a core of x86 does in a cycle, at most: instructions; vector operations that multiply, of
full width; loads of vectors."""

ROBOTS, LAWS = ("hoap1", "g1", "anymal_c"), ("linear-spring", "micro-macro", "rigid")
"""Rows of a GPU that was not measured."""
HEAD = """# Where the time goes

Written by `python tools/performance_page.py` from `benchmarks/results`.
"""
CPU = """## Roofline on the CPU

{cpu}, {date}, load of other processes {load:.0f}: {clock:.2f} GHz, peak {peak:.0f} Gflop/s in
float64 on one core, measured by fused multiply-adds in registers (`{command}`). Robots stand on
their feet; 256 worlds in {lanes:.0f} lanes on one thread, nothing recorded, everything that acts
at the joints included. Operations are additions, multiplications, divisions and functions of the
traced step for one world; the body of a loop counts once, and so does work that a guard skips,
so that shares of the peak are upper bounds under elastic laws and lower ones where the solver
takes several rounds. For G1 on rigid ground it does: a second after the start, when
this is measured, joints still creep. Once they rest a step takes [less](speed.md).
"""
CODE = """## Instructions and spills

The machine gives no performance counters. Instructions are counted by valgrind on the same step
as AVX2 code (4 lanes), behind the C interface, and cycles are its CPU time times the clock rate.
Kinds of instructions are shares of the assembly text; `stack` are loads and stores of the stack,
which are spills, mostly. AVX-512 has twice as many registers.
"""
BOUNDS = """The last column names the resource that is used most, with its share of what a core can
do in a cycle: {issued} instructions (a Zen 5 can do more), {floating} vector multiplications or
additions, {loads} vector loads or stores. Where none is near its limit, instructions wait for one
another's results (latency) or for code and data from the caches.
"""
GPU = """## Roofline on the GPU

`python -m benchmarks.roofline --gpu` measures 65,536 worlds in float32 by
`hs.Simulator(device="cuda")`; the peak is that of the data sheet. [What bounds the
kernels](gpu.md). The figures are of the code before the work under guards had [functions of its
own](../benchmarks/gpu.md#functions-apart), which made springs 17 to 25 % faster.
"""
ACCURACY = """## Equal accuracy

Simulated seconds per second of CPU time on one thread, each simulator with the largest step, or
the largest `accuracy` of `dt="auto"`, that keeps the base within 1 mm, or within 0.1 mm, of its
own converged path ({cpu}, load of other processes {load:.0f}; `{command}`). A path that has not
converged at steps of 39 us has no figures: what happens then depends on the step, whatever its
size. Only the feet of hoap1 touch. Steps of one size are 20 ms / n; of n above 20, only 32 and 64
are tried.
"""


def main() -> None:
    PAGE.write_text(page())


def page() -> str:
    """Return the text of the page."""
    parts = [HEAD]
    parts += roofline(_read("roofline"))
    parts += gpu(_read("roofline-gpu"))
    parts += accuracy(_read("accuracy"))
    return "\n".join(parts)


def _read(name: str) -> dict[str, Any] | None:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def roofline(found: dict[str, Any] | None) -> list[str]:
    """Return the sections of the CPU."""
    if found is None:
        return []
    rows = [
        (
            name,
            f"{row['us']:.3g}",
            f"{row['operations']:,}",
            f"{row['choices']:,}",
            f"{row['cycles']:,.0f}",
            f"{100 * row['peak_share']:.0f} %",
        )
        for name, row in found["rows"].items()
    ]
    heads = (
        "robot, law",
        "us per step",
        "operations",
        "selects",
        "cycles of a tile",
        "of the peak",
    )
    codes = [_code(name, row) for name, row in found["rows"].items()]
    names = ("robot, law", "instructions of a tile", "per cycle", "fused", "stack, AVX2")
    names += ("stack, AVX-512", "used most")
    about = {
        "cpu": found["machine"]["cpu"],
        "date": found["date"],
        "load": found["load_before"],
        "clock": found["clock"] / 1e9,
        "peak": found["peak"] / 1e9,
        "lanes": found["lanes"],
        "command": found["command"],
    }
    limits = BOUNDS.format(issued=ISSUED, floating=FLOATING, loads=LOADS)
    return [
        CPU.format(**about),
        markdown(heads, rows) + "\n",
        CODE,
        markdown(names, codes) + "\n",
        limits,
    ]


def _code(name: str, row: dict[str, Any]) -> tuple[str, ...]:
    own, wide = row["avx2"], row["avx512"]
    counts = ("", "") if "instructions" not in own else (
        f"{own['instructions']:,.0f}",
        f"{own['per_cycle']:.2f}",
    )  # fmt: skip
    stacks = [f"{100 * (each['stack loads'] + each['stack stores']):.0f} %" for each in (own, wide)]
    return (name, *counts, f"{100 * own['fused']:.0f} %", *stacks, bound(own))


def bound(own: dict[str, float]) -> str:
    """Return the resource that AVX2 code uses most, and its share of the limit."""
    if "per_cycle" not in own:
        return ""
    shares = {
        "instructions": own["per_cycle"] / ISSUED,
        "arithmetic": own["per_cycle"] * (own["fused"] + own["arithmetic"]) / FLOATING,
        "loads and stores": own["per_cycle"] * own["move"] / LOADS,
    }
    first = max(shares, key=lambda name: shares[name])
    return f"{first}, {100 * shares[first]:.0f}&nbsp;%"


def gpu(found: dict[str, Any] | None) -> list[str]:
    """Return the section of the GPU; without results, its rows stand empty."""
    heads = ("robot, law", "million steps per second", "operations", "of the peak")
    if found is None:
        names = [f"{robot}, {law}" for robot in ROBOTS for law in LAWS]
        return [GPU, markdown(heads, [(name, "not measured", "", "") for name in names]) + "\n"]
    rows = []
    for name, row in found["rows"].items():
        speed = row.get("said") or f"{row['steps_per_s'] / 1e6:.0f}"
        share = "" if row["peak_share"] is None else f"{100 * row['peak_share']:.0f} %"
        rows.append((name, speed, f"{row['operations']:,}", share))
    return [GPU, f"{found['device']}, {found['date']}.\n", markdown(heads, rows) + "\n"]


def accuracy(found: dict[str, Any] | None) -> list[str]:
    """Return the section of equal accuracy."""
    if found is None:
        return []
    worlds, rows = found["worlds"], []
    for motion, made in found["motions"].items():
        for tolerance, simulators in made.items():
            within = f"{motion}, {1e3 * float(tolerance):g} mm"
            if all(row["setting"] is None for row in simulators.values()):
                rows.append((within, "all", "no converged path", "", "", ""))
                continue
            for name, row in simulators.items():
                rows.append((within, name, *_rates(name, row, float(tolerance), worlds)))
    heads = ("motion, tolerance", "simulator", "step or accuracy", "error, mm", "one world, s/s")
    about = {
        "cpu": found["machine"]["cpu"],
        "load": found["load_before"],
        "command": found["command"],
    }
    return [ACCURACY.format(**about), markdown((*heads, f"{worlds} worlds, s/s"), rows) + "\n"]


def _rates(name: str, row: dict[str, Any], tolerance: float, worlds: int) -> tuple[str, ...]:
    if row["setting"] is None:
        converged = row["reference_error"] < tolerance / 10
        return ("none" if converged else "no converged path", "", "", "")
    auto = name.endswith("auto")
    setting = f"{row['setting']:g}" if auto else f"{1e3 * row['setting']:.3g} ms"
    rates = (row[f"rate_{n}"] for n in (1, worlds))
    cells = ("" if rate is None else f"{rate:,.0f}" for rate in rates)
    return setting, f"{1e3 * row['error']:.2g}", *cells


if __name__ == "__main__":
    main()
