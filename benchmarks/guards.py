"""Cost of guards: twenty parts of a program that are needed by no, some or all lanes.

    python -m benchmarks.guards [--json FILE] [--quick]

Each part is a guard that changes six variables by a number of operations. The same program without
guards always does all the work. Times are CPU time per world and step of the bare compiled step on
one thread; contenders take turns, each one's best turn counts.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.command import keep, parser
from heelstrike.bench.timing import Contender, timed
from heelstrike.codegen.cpu import object_code, widest
from heelstrike.codegen.layout import Layout
from heelstrike.codegen.llvm import emit
from heelstrike.codegen.real import FLOAT64
from heelstrike.ir.block import SX
from heelstrike.ir.guard import guarded
from heelstrike.ir.program import Program
from heelstrike.runtime.batch import Batch
from heelstrike.runtime.kernel import Kernel

PARTS, ENTRIES = 20, 6
ROUNDS = (2, 10, 60)
"""Lengths of a part: each round is 24 operations."""
WORLDS, STEPS = 256, 20
TURNS, SHORTEST = 60, 1e-3
"""Turns of the contenders, and how long one lasts at least [s]."""


def main() -> None:
    options = parser(__doc__, "few turns").parse_args()
    console = Console()
    result: dict[str, Any] = {}
    for width in (1, widest(FLOAT64)):
        for rounds in ROUNDS:
            found = measured(width, rounds, 10 if options.quick else TURNS)
            operations = program(rounds).counts().arithmetic // PARTS
            result[f"{width} lanes, {operations} operations"] = found
    console.print(_shown(result))
    keep(result, options.json)


def program(rounds: int, parts: int = PARTS) -> Program:
    """Return a program whose parts `need` chooses; with parts=0 it only copies its memory."""
    p = Program("parts")
    x, need = p.memory("x", PARTS * ENTRIES, 0.5), p.input("need", PARTS)
    with p.block("start"):
        v = p.variable("v", x)
    for part in range(parts):
        own = v[part * ENTRIES : (part + 1) * ENTRIES]
        with guarded(p, f"part {part}", need[part]), p.block("part", limb=f"part {part}"):
            p.assign(own, _worked(own, rounds))
    with p.block("end"):
        p.update("x", v)
    return p


def _worked(values: SX, rounds: int) -> SX:
    """Return values of size 1 after rounds of four operations for each entry."""
    for _ in range(rounds):
        values = values * (1.1 - values * values) + 0.1
    return values


def measured(width: int, rounds: int, turns: int) -> dict[str, float]:
    """Return microseconds per world and step, by the share of lanes that need a part."""
    rng = np.random.default_rng(0)
    worlds = 1 if width == 1 else WORLDS
    needs = {"none": np.zeros((worlds, PARTS)), "all": np.ones((worlds, PARTS))}
    if width > 1:
        lane = rng.integers(width, size=(worlds // width, 1, PARTS))
        lanes = np.arange(width)[:, None] == lane
        needs["a lane of each tile"] = lanes.reshape(worlds, PARTS).astype(float)
    contenders: dict[str, Contender] = {}
    for label, need in needs.items():
        call = partial(_batch(program(rounds), width, True, need).run, STEPS)
        contenders[label] = Contender(call, worlds * STEPS)
    for label, parts in (("without guards", PARTS), ("without parts", 0)):
        call = partial(_batch(program(rounds, parts), width, False, needs["all"]).run, STEPS)
        contenders[label] = Contender(call, worlds * STEPS)
    return {label: found["us"] for label, found in timed(contenders, turns, SHORTEST).items()}


def _batch(p: Program, width: int, guards: bool, need: np.ndarray) -> Batch:
    traced = p.trace()
    module = emit(traced, width, FLOAT64, guards=guards)
    layout = Layout.of(traced, module.width, FLOAT64, module.frame_size)
    batch = Kernel(layout, object_code(module, 2)).batch(len(need))
    batch.set(need=need)
    return batch


def _shown(result: dict[str, dict[str, float]]) -> Table:
    table = Table(title=f"{PARTS} guards: time of a step over that without guards")
    columns = ("needed by", "none", "a lane of each tile", "all", "us without guards")
    skipped = "ns of a skipped guard"
    for column in (*columns, skipped):
        table.add_column(column, justify="left" if column == columns[0] else "right")
    for label, found in result.items():
        base = found["without guards"]
        cells = [f"{found[k] / base:.2f}" if k in found else "-" for k in columns[1:4]]
        one = 1e3 * (found["none"] - found["without parts"]) / PARTS
        table.add_row(label, *cells, f"{base:.3g}", f"{one:.2g}")
    return table


if __name__ == "__main__":
    main()
