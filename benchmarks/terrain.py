"""What shapes cost: a robot that stands on a plane, on height fields, on stairs.

    python -m benchmarks.terrain [--json FILE] [--quick]

G1 (HEELSTRIKE_DATA/robots/g1.xml) and the bundled hoap1 stand on eight contacts of an elastic floor
with a bristle, each shape flat where they stand. Compiled: CPU time from a scene to its first step
with an empty cache, best of some. Stepped: CPU time of the bare compiled step, one thread;
contenders take turns, each one's best turn counts.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.step import compiled, sources
from heelstrike.bench.standing import check_stands, empty_cache, simulator
from heelstrike.bench.steps import WORLDS
from heelstrike.bench.timing import Contender, seconds_of, timed

LAW = hs.Elastic(hs.LinearSpring(), hs.Bristle())
LIMIT = 1.5
"""Of a height field's step beside a plane's: what is promised."""
COMPILED, TURNS = 3, 400
"""Times that each is compiled, and stepped. Turns are short, so that some are not disturbed."""
ONE, BATCH = 200, 4
"""Steps of a turn."""


def floors() -> dict[str, Any]:
    """Shapes that are flat at z = 0."""
    long = {"run": 4.0, "count": 2, "point": (-2.0, 0, -0.1), "rise": 0.1, "width": 4.0}
    return {
        "plane": hs.Plane(LAW),
        "field, 8 x 8": hs.HeightField(LAW, heights=np.zeros((8, 8)), size=(4, 4)),
        "field, 256 x 256": hs.HeightField(LAW, heights=np.zeros((256, 256)), size=(4, 4)),
        "box": hs.Box(LAW, point=(0, 0, -0.5), size=(4, 4, 1)),
        "stairs": hs.Stairs(LAW, **long),
        "stairs, treads alone": hs.Stairs(LAW, **long, risers=False),
        "treadmill": hs.Treadmill(LAW, speed=0.0, size=(4, 4, 1)),
    }


def main() -> None:
    options = parser(__doc__, "hoap1 alone, few turns").parse_args()
    warnings.simplefilter("ignore")
    console = Console()
    turns = 50 if options.quick else TURNS
    result: dict[str, Any] = {}
    for name, source in sources(options.quick).items():
        with console.status(f"measuring {name}"):
            result[name] = measured(
                hs.load(source, collide="feet"), turns, 1 if options.quick else COMPILED
            )
        console.print(_shown(name, result[name]))
    keep(result, options.json)


def measured(robot: hs.Robot, turns: int, rounds: int) -> dict[str, dict[str, float]]:
    """Seconds to compile, us per world and step of one world and of a batch, and operations."""
    contenders: dict[str, Contender] = {}
    found: dict[str, dict[str, float]] = {}
    sims = {}
    for name, floor in floors().items():
        one, batch = (simulator(robot, 1e-3, floor=floor, worlds=n) for n in (1, WORLDS))
        sims[name] = one, batch
        contenders[f"{name}: one"] = Contender(partial(compiled(one), ONE), ONE)
        contenders[f"{name}: batch"] = Contender(partial(compiled(batch), BATCH), WORLDS * BATCH)
        counts = one.program.counts()
        operations = counts.additions + counts.multiplications + counts.choices
        found[name] = {"operations": operations, "compile_s": compile_seconds(robot, floor, rounds)}
    times = timed(contenders, turns, shortest=1e-3)
    for name, (one, batch) in sims.items():
        check_stands(name, one)
        check_stands(name, batch)
        found[name] |= {kind: times[f"{name}: {kind}"]["us"] for kind in ("one", "batch")}
    return found


def compile_seconds(robot: hs.Robot, floor: Any, rounds: int) -> float:
    """CPU time from a scene to its first step."""
    best = float("inf")
    for _ in range(rounds):
        with empty_cache():
            sim = hs.Simulator(hs.Scene(robot, floor), control=hs.Servo())
            best = min(best, seconds_of(sim.step, time.process_time))
    return best


def _shown(name: str, found: dict[str, dict[str, float]]) -> Table:
    plane = found["plane"]
    table = Table(title=f"{name}, promised of height fields: {LIMIT} times a plane's step")
    columns = ("", "operations", "compile s", "step us", "ratio", f"{WORLDS} worlds us", "ratio")
    for column in columns:
        table.add_column(column, justify="right" if column else "left")
    for shape, values in found.items():
        cells = [f"{values['operations']:.0f}", f"{values['compile_s']:.2f}"]
        for kind in ("one", "batch"):
            cells += [f"{values[kind]:.3g}", f"{values[kind] / plane[kind]:.2f}"]
        table.add_row(shape, *cells)
    return table


if __name__ == "__main__":
    main()
