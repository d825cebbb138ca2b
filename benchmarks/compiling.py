"""CPU seconds to compile a step, by stage, for robots with few and many contact points.

    python -m benchmarks.compiling [--json FILE] [--quick]

hoap1 with its eight points and with all its 137, and G1 (HEELSTRIKE_DATA/robots/g1.xml) on its feet
and with points on 20 bodies (whole_body.py), on an explicit law and on `hs.Rigid`, for 8 lanes of
float64 with nothing recorded. The stages are tracing (expressions of CasADi), graphs (dead code,
lists of operations), emission (LLVM IR) and LLVM. "Different" are the operations that are left when
blocks with the same operations count once. "Unshared" is LLVM's time without sharing
(codegen/passes/sharing.py).
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.whole_body import faller
from heelstrike.codegen.cpu import object_code
from heelstrike.codegen.host import LEVEL
from heelstrike.codegen.llvm import emit
from heelstrike.codegen.passes import sharing
from heelstrike.codegen.real import FLOAT64
from heelstrike.ir.code import Code, TracedProgram, flatten
from heelstrike.step.step import step_program

WIDTH = 8
LAWS = {"explicit": hs.Elastic(hs.LinearSpring(), hs.Bristle()), "Rigid": hs.Rigid()}
TARGETS = {"hoap1, all points": 6.0, "g1, 20 bodies": 5.0, "g1": 3.0}
"""CPU seconds in which a robot on `hs.Rigid` is to be compiled."""
SECONDS = ("tracing", "graphs", "emission", "LLVM", "total", "unshared")
SIZES = ("points", "operations", "different", "kB")
Result = TypeVar("Result")


def main() -> None:
    options = parser(__doc__, "hoap1 on the explicit law alone").parse_args()
    warnings.simplefilter("ignore")
    laws = {"explicit": LAWS["explicit"]} if options.quick else LAWS
    console, result = Console(), {}
    with console.status("compiling") as status:
        for name, robot in robots(options.quick).items():
            for law, surface_law in laws.items():
                status.update(f"compiling {name}, {law}")
                result[f"{name}, {law}"] = stages(robot, surface_law)
    show(console, result)
    keep({"targets": TARGETS, "seconds": result}, options.json)


def robots(quick: bool) -> dict[str, hs.Robot]:
    """Return the robots by name; G1 only where HEELSTRIKE_DATA is."""
    found = {
        "hoap1": hs.load("hoap1", collide="feet"),
        "hoap1, all points": hs.load("hoap1", collide="all"),
    }
    data = os.environ.get("HEELSTRIKE_DATA")
    if data and not quick:
        found["g1"] = hs.load(f"{data}/robots/g1.xml", collide="feet")
        found["g1, 20 bodies"] = faller("g1").robot
    return found


def stages(robot: hs.Robot, law: hs.SurfaceLaw) -> dict[str, float]:
    """Return the CPU seconds of each stage, and the sizes of program and code."""
    scene = hs.Scene(robot, hs.Plane(law, name="ground"))
    plan = hs.Simulator(scene, control=hs.Servo()).compiled.plan
    program, tracing = timed(lambda: step_program(plan))
    traced, graphs = timed(lambda: program.trace(()))
    module, emission = timed(lambda: emit(traced, WIDTH, FLOAT64))
    code, llvm = timed(lambda: object_code(module, LEVEL))
    with unshared():
        alone = emit(traced, WIDTH, FLOAT64)
    seconds = {"tracing": tracing, "graphs": graphs, "emission": emission, "LLVM": llvm}
    operations, different = sizes(traced)
    return {
        "points": len(robot.points),
        "operations": operations,
        "different": different,
        **seconds,
        "total": sum(seconds.values()),
        "kB": len(code) / 1e3,
        "unshared": timed(lambda: object_code(alone, LEVEL))[1],
    }


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of some work, and its CPU time [s]."""
    start = time.process_time()
    return work(), time.process_time() - start


@contextmanager
def unshared() -> Iterator[None]:
    """Emit code in which no blocks are shared."""
    least, sharing.MIN_SAVED = sharing.MIN_SAVED, 10**9
    try:
        yield
    finally:
        sharing.MIN_SAVED = least


def sizes(program: TracedProgram) -> tuple[int, int]:
    """Return the number of operations, and of those in blocks that differ."""
    items = [x for item in (*program.step, *program.record) for x in flatten(item)]
    codes = [item for item in items if isinstance(item, Code)]
    kinds = {tuple((op.code, op.operands) for op in code.graph.operations) for code in codes}
    return sum(code.size for code in codes), sum(map(len, kinds))


def show(console: Console, result: Mapping[str, Mapping[str, float]]) -> None:
    """Print a table of seconds and one of sizes for each law; they fit into 80 columns."""
    for law in dict.fromkeys(name.rpartition(", ")[2] for name in result):
        seconds = Table("CPU seconds", *SECONDS, "target", title=f"on {law}, 8 lanes of float64")
        sizes = Table("sizes", *SIZES)
        for name, found in result.items():
            robot, _, its_law = name.rpartition(", ")
            if its_law != law:
                continue
            target = f"{TARGETS[robot]:g}" if law == "Rigid" and robot in TARGETS else ""
            seconds.add_row(robot, *(f"{found[key]:.2f}" for key in SECONDS), target)
            sizes.add_row(robot, *(f"{found[key]:,.0f}" for key in SIZES))
        console.print(seconds, sizes)


if __name__ == "__main__":
    main()
