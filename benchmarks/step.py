"""A step of a robot that stands, on one thread: whole, bare, by what acts at the joints.

    python -m benchmarks.step [--json FILE] [--quick] [--lengths]

G1 (HEELSTRIKE_DATA/robots/g1.xml) and the bundled hoap1 stand on eight contacts, as for
`heelstrike bench` (heelstrike/bench/standing.py), which measures laws, all cores and compiling. All
work on one thread, and times are CPU times of that thread. Every robot must still stand on eight
contacts when all is measured.

"one world" makes every variable of the default recording, labelled, for every step; nothing is left
for later. "lanes": the step of a batch with vectors of half the CPU's width, with its own, and with
two of them side by side, whose operations could fill each other's waits.

--lengths measures one world alone, with all recorded, in runs of 1,000 to 50,000 steps.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import CONDITIONS, keep, parser
from heelstrike.bench.peer import Peer
from heelstrike.bench.standing import case, check_stands, simulator, unlimited
from heelstrike.bench.steps import BATCH_STEPS, CALL, STEPS, WORLDS
from heelstrike.bench.timing import Contender, Times, timed
from heelstrike.codegen.cpu import widest
from heelstrike.codegen.real import real_type
from heelstrike.runtime.compiler import compile_program
from heelstrike.step.step import step_program

LENGTHS = (1000, 5000, 20_000, 50_000)
"""Steps of a run, which has a cost of its own."""
HALF, WHOLE, DOUBLE = "half a vector", "a vector", "two side by side"
"""Widths of the vectors of a batch, compared with the CPU's."""
BARE_STEPS = 50
"""Of a batch without the simulator around it."""
TURNS = 60
TARGETS = {"one world": (8, 12), "batch, float64": (45, 60), "batch, float32": (90, 120)}
"""Ratio to MuJoCo with the default recording: what is promised, what is aimed at."""
PAPER_US = 1500.0
"""A step of HOAP-1 on a Celeron of 2.0 GHz, [Sugihara2006]."""


def main() -> None:
    own = parser(__doc__, "hoap1 alone, few turns")
    own.add_argument("--lengths", action="store_true", help="one world in runs of several lengths")
    options = own.parse_args()
    warnings.simplefilter("ignore")
    console = Console()
    turns = 3 if options.quick else TURNS
    if options.lengths:
        name, source = next(iter(sources(options.quick).items()))
        times = lengths(source, max(3, turns // 4))
        console.print(_against(f"{name}, all recorded", times))
        keep({"lengths": {name: times}}, options.json)
        return
    result: dict[str, Any] = {}
    with console.status("measuring") as status:
        for name, source in sources(options.quick).items():
            status.update(f"measuring {name}")
            result[name] = stands(name, source, turns)
        name, source = next(iter(sources(options.quick).items()))
        result["joints"] = {}
        for dtype in ("float64", "float32"):
            status.update(f"measuring joints, {dtype}")
            result["joints"][f"{name}, {dtype}"] = joints(source, dtype, turns)
        result["lanes"] = {}
        for dtype in ("float64", "float32"):
            status.update(f"measuring lanes, {dtype}")
            result["lanes"][f"{name}, {dtype}"] = lanes(source, dtype, turns)
    show(console, result)
    keep(result, options.json)


def sources(quick: bool) -> dict[str, str]:
    """Robots by name; G1 only where HEELSTRIKE_DATA is."""
    data = os.environ.get("HEELSTRIKE_DATA")
    g1 = {"g1": f"{data}/robots/g1.xml"} if data and not quick else {}
    return g1 | {"hoap1": "hoap1"}


def stands(name: str, source: str, turns: int) -> dict[str, Any]:
    """Times of one robot."""
    robot = hs.load(source, collide="feet")
    peer = Peer(source, robot)
    one, step, batch, single = (
        simulator(robot, peer.dt, dtype=dtype, worlds=worlds)
        for dtype, worlds in (
            ("float64", 1),
            ("float64", 1),
            ("float64", WORLDS),
            ("float32", WORLDS),
        )
    )
    contenders = {
        "MuJoCo": Contender(partial(peer.step, CALL), CALL),
        "MuJoCo, a call a step": Contender(peer.step, 1),
        "one world": Contender(lambda: one.run(steps=STEPS).data, STEPS),  # labelled
        "one world, the end alone": Contender(partial(one.run, steps=STEPS, record="final"), STEPS),
        "one world, sim.step()": Contender(step.step, 1),
        "one world, bare": Contender(partial(compiled(step), CALL), CALL),
    }
    for dtype, sim in (("float64", batch), ("float32", single)):
        run = partial(sim.run, steps=BATCH_STEPS, threads=1)
        contenders[f"batch, {dtype}"] = Contender(run, WORLDS * BATCH_STEPS)
        contenders[f"batch, {dtype}, bare"] = bare(sim)
    times = timed(contenders, turns)
    for sim in (one, step, batch, single):
        check_stands(name, sim)
    peer.check_stands(name)
    return {"dt": peer.dt, "nv": robot.nv, "times": times}


def lengths(source: str, turns: int) -> Times:
    """One world with the default recording, labelled, in runs of several lengths."""
    robot = hs.load(source, collide="feet")
    peer = Peer(source, robot)
    sim = simulator(robot, peer.dt)

    def run(steps: int) -> object:
        return sim.run(steps=steps).data

    runs = {f"{steps:,} steps": Contender(partial(run, steps), steps) for steps in LENGTHS}
    return timed({"MuJoCo": Contender(partial(peer.step, CALL), CALL)} | runs, turns)


def bare(sim: hs.Simulator) -> Contender:
    """A batch without the simulator around it."""
    return Contender(partial(compiled(sim), BARE_STEPS), WORLDS * BARE_STEPS)


def compiled(sim: hs.Simulator) -> Callable[[int], object]:
    """The compiled step without the simulator around it."""
    sim.step()
    return sim.compiled.batch(()).run


def joints(source: str, dtype: str, turns: int) -> Times:
    """A batch with and without what acts at the joints beside the servo."""
    robot = hs.load(source, collide="feet")
    plain = unlimited(robot)
    standing = partial(simulator, dt=case(source).dt, dtype=dtype, worlds=WORLDS)
    limited = replace(plain, torque_limit=robot.torque_limit)
    rubbing = replace(plain, friction=robot.friction)
    chosen = {
        "servo alone": standing(plain, stops=None),
        "with stops": standing(plain),
        "with torque limits": standing(limited, stops=None),
        "with dry friction": standing(rubbing, stops=None),
        "with all": standing(robot),
    }
    return timed({name: bare(sim) for name, sim in chosen.items()}, turns)


def lanes(source: str, dtype: str, turns: int) -> Times:
    """The step of a batch, compiled for vectors of three widths."""
    sim = simulator(hs.load(source, collide="feet"), case(source).dt, dtype=dtype, worlds=WORLDS)
    parameters = sim.compiled.parameters.of_world(0)
    start = {name: np.asarray(x) for name, x in parameters.items()} | sim.compiled.batch(()).state()
    own = widest(real_type(dtype))
    contenders = {}
    for name, width in {HALF: own // 2, WHOLE: own, DOUBLE: 2 * own}.items():
        batch = compile_program(step_program(sim.plan), dtype=dtype, width=width).batch(WORLDS)
        batch.set(**start)
        run = partial(batch.run, BARE_STEPS)
        contenders[f"{name}: {width} lanes"] = Contender(run, WORLDS * BARE_STEPS)
    return timed(contenders, turns)


def show(console: Console, result: Mapping[str, Any]) -> None:
    for key, value in CONDITIONS.machine.items():
        console.print(f"{key} {value}", end="; ", highlight=False)
    console.print("one thread\n", highlight=False)
    for name in ("g1", "hoap1"):
        if name in result:
            console.print(_standing(name, result[name]))
    for name, times in result["joints"].items():
        first = next(iter(times.values()))["us"]
        console.print(_relative(f"what acts at the joints of {name}", times, first))
    for name, times in result["lanes"].items():
        (whole,) = (row["us"] for key, row in times.items() if key.startswith(WHOLE))
        console.print(_relative(f"lanes of {name}", times, whole))


def _standing(name: str, found: Mapping[str, Any]) -> Table:
    times: Times = found["times"]
    peer = times["MuJoCo"]["us"]
    title = f"{name} standing on eight contacts, nv = {found['nv']}, dt = {found['dt']:g} s"
    table = Table(title=title, caption=_caption(name, found))
    for column in ("", "us", "spread", "MuJoCo / this", "target", "goal"):
        table.add_column(column, justify="right" if column else "left")
    for key, value in times.items():
        target = [str(x) for x in TARGETS[key]] if name == "g1" and key in TARGETS else ["", ""]
        cells = [f"{value['us']:.3g}", f"{value['spread']:.2f}", f"{peer / value['us']:.1f}"]
        table.add_row(key, *cells, *target)
    return table


def _caption(name: str, found: Mapping[str, Any]) -> str | None:
    if name != "hoap1":
        return None
    share = PAPER_US / found["times"]["one world"]["us"]
    return f"[Sugihara2006]: {PAPER_US:.0f} us on a Celeron of 2.0 GHz, {share:.0f} times"


def _relative(title: str, times: Times, first: float) -> Table:
    table = Table(title=title)
    for column in ("", "us", "spread", "ratio"):
        table.add_column(column, justify="right" if column else "left")
    for key, value in times.items():
        cells = [f"{value['us']:.3f}", f"{value['spread']:.2f}", f"{value['us'] / first:.2f}"]
        table.add_row(key, *cells)
    return table


def _against(title: str, times: Times) -> Table:
    """Return a table of times beside MuJoCo's."""
    table = Table(title=title)
    for column in ("", "us", "spread", "MuJoCo / this"):
        table.add_column(column, justify="right" if column else "left")
    for key, value in times.items():
        ratio = times["MuJoCo"]["us"] / value["us"]
        table.add_row(key, f"{value['us']:.3f}", f"{value['spread']:.2f}", f"{ratio:.1f}")
    return table


if __name__ == "__main__":
    main()
