"""A robot that stands on its soles, a step at a time: Heelstrike's beside MuJoCo's.

    python -m benchmarks.step [--json FILE] [--quick]

G1 (HEELSTRIKE_DATA/robots/g1.xml) and the bundled hoap1 stand on eight contacts. Ours: the file's
own gains, torque limits, joint ranges and dry friction, LinearSpring with Bristle. MuJoCo's: the
file's own solver settings, on a plane that is added to it. Both make steps of the file's own
timestep. Contenders take turns, each one's best turn counts; "spread" is the median turn over the
best one. All work on one thread, and times are CPU times of that thread, the system's work for it
included: what others do on a shared machine counts as little as it can. Every robot must still
stand on eight contacts when all is measured.

"one world" makes every variable of the default recording, labelled, for every step; nothing is left
for later.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.standing import CONTACTS, Peer, check_stands, simulator, unlimited
from benchmarks.timing import best_of, machine

WORLDS = 256
"""Of a batch on one thread; above 64 a run keeps the end, peaks, impulses and works by default."""
CALL, STEPS, BATCH_STEPS = 200, 5000, 500
"""Steps in one call: MuJoCo's, a run of one world, a run of a batch. A run has a cost of its own,
some milliseconds for labels and attributes, which short runs would measure.
"""
BARE_STEPS = 50
"""Of a batch without the simulator around it."""
TURNS = 60
TARGETS = {"one world": (8, 12), "batch, float64": (45, 60), "batch, float32": (90, 120)}
"""Ratio to MuJoCo with the default recording: what is promised, what is aimed at."""
PAPER_US = 1500.0
"""A step of HOAP-1 on a Celeron of 2.0 GHz, [Sugihara2006]."""

Timed = dict[str, dict[str, float]]
"""By contender: us per world and step, and spread."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE as well")
    parser.add_argument("--quick", action="store_true", help="hoap1 alone, few turns")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    console = Console()
    turns = 3 if options.quick else TURNS
    result: dict[str, Any] = {"machine": machine()}
    with console.status("measuring") as status:
        for name, source in sources(options.quick).items():
            status.update(f"measuring {name}")
            result[name] = stands(name, source, turns)
        status.update("measuring laws and joints")
        source = next(iter(sources(options.quick).values()))
        result["laws"] = laws(source, turns)
        result["joints"] = joints(source, turns)
    show(console, result)
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n")


def sources(quick: bool) -> dict[str, str]:
    """Robots by name; G1 only where HEELSTRIKE_DATA is."""
    data = os.environ.get("HEELSTRIKE_DATA")
    g1 = {"g1": f"{data}/robots/g1.xml"} if data and not quick else {}
    return g1 | {"hoap1": "hoap1"}


def stands(name: str, source: str, turns: int) -> dict[str, Any]:
    """Times of one robot, and what its compilation takes."""
    peer = Peer(source)
    robot = hs.load(source)
    cold, cached = compile_seconds(robot, peer.dt)
    one, step, batch, single = (
        simulator(robot, peer.dt, dtype=dtype, worlds=worlds)
        for dtype, worlds in (
            ("float64", 1),
            ("float64", 1),
            ("float64", WORLDS),
            ("float32", WORLDS),
        )
    )
    contenders: dict[str, tuple[Callable[[], object], int]] = {
        "MuJoCo": (partial(peer.step, CALL), CALL),
        "MuJoCo, a call a step": (peer.step, 1),
        "one world": (lambda: one.run(steps=STEPS).data, STEPS),  # labelled
        "one world, the end alone": (partial(one.run, steps=STEPS, record="final"), STEPS),
        "one world, sim.step()": (step.step, 1),
        "one world, bare": (partial(compiled(step), CALL), CALL),
    }
    work = WORLDS * BATCH_STEPS
    for dtype, sim in (("float64", batch), ("float32", single)):
        run = partial(sim.run, steps=BATCH_STEPS, threads=1)
        contenders[f"batch, {dtype}"] = run, work
        bare = partial(compiled(sim), BARE_STEPS)
        contenders[f"batch, {dtype}, bare"] = bare, WORLDS * BARE_STEPS
    times = timed(contenders, turns)
    for sim in (one, step, batch, single):
        check_stands(name, sim)
    peer.check_stands(name)
    return {"dt": peer.dt, "nv": robot.nv, "cold_s": cold, "cached_s": cached, "times": times}


def compiled(sim: hs.Simulator) -> Callable[[int], object]:
    """The compiled step without the simulator around it."""
    sim.step()
    return sim._machine.ready(()).run


def compile_seconds(robot: hs.Robot, dt: float) -> tuple[float, float]:
    """From a scene to its first step: with an empty cache, and with a full one."""
    before = os.environ.get("HEELSTRIKE_CACHE")
    found = []
    with TemporaryDirectory() as folder:
        os.environ["HEELSTRIKE_CACHE"] = folder
        for _ in range(2):
            started = time.perf_counter()
            floor = hs.Plane(law=hs.Elastic(hs.LinearSpring(), hs.Bristle()))
            hs.Simulator(hs.Scene(robot, floor), dt=dt, control=hs.Servo()).step()
            found.append(time.perf_counter() - started)
    if before is None:
        del os.environ["HEELSTRIKE_CACHE"]
    else:
        os.environ["HEELSTRIKE_CACHE"] = before
    return found[0], found[1]


def timed(contenders: Mapping[str, tuple[Callable[[], object], int]], turns: int) -> Timed:
    """Best turn [us per world and step], and the median over it."""
    calls = {name: call for name, (call, _) in contenders.items()}
    rounds = [best_of(calls, 1, 0.02, time.thread_time) for _ in range(turns)]
    found: Timed = {}
    for name, (_, work) in contenders.items():
        seconds = [turn[name] for turn in rounds]
        found[name] = {
            "us": 1e6 * min(seconds) / work,
            "spread": median(seconds) / min(seconds),
        }
    return found


def laws(source: str, turns: int) -> Timed:
    """A batch under every elastic law and the two coupled ones that need no material; the joints
    without limits and dry friction, whose rounds depend on how the robot moves.
    """
    normals = {
        "LinearSpring": hs.LinearSpring(),
        "HuntCrossley": hs.HuntCrossley(),
        "PoissonSpring": hs.PoissonSpring(),
        "TimestepDamper": hs.TimestepDamper(hs.LinearSpring()),
    }
    chosen = {f"{name} + Kinetic": hs.Elastic(law, hs.Kinetic()) for name, law in normals.items()}
    chosen["LinearSpring + Bristle"] = hs.Elastic(hs.LinearSpring(), hs.Bristle())
    chosen["LinearSpring, no friction"] = hs.Elastic(hs.LinearSpring(), None)
    chosen |= {"Rigid": hs.Rigid(), "FeedbackLinearized": hs.FeedbackLinearized()}
    robot, dt = unlimited(hs.load(source)), Peer(source).dt
    return batches(
        {name: simulator(robot, dt, law, worlds=WORLDS) for name, law in chosen.items()}, turns
    )


def joints(source: str, turns: int) -> Timed:
    """A batch with and without what acts at the joints beside the servo."""
    robot, dt = hs.load(source), Peer(source).dt
    plain = unlimited(robot)
    limited = replace(plain, torque_limit=robot.torque_limit)
    rubbing = replace(plain, friction=robot.friction)
    chosen = {
        "servo alone": simulator(plain, dt, stops=None, worlds=WORLDS),
        "with stops": simulator(plain, dt, worlds=WORLDS),
        "with torque limits": simulator(limited, dt, stops=None, worlds=WORLDS),
        "with dry friction": simulator(rubbing, dt, stops=None, worlds=WORLDS),
        "with all": simulator(robot, dt, worlds=WORLDS),
    }
    return batches(chosen, turns)


def batches(sims: Mapping[str, hs.Simulator], turns: int) -> Timed:
    """Of simulators with as many worlds, without the simulator around them."""
    work = WORLDS * BARE_STEPS
    return timed(
        {name: (partial(compiled(sim), BARE_STEPS), work) for name, sim in sims.items()}, turns
    )


def show(console: Console, result: Mapping[str, Any]) -> None:
    for key, value in result["machine"].items():
        console.print(f"{key} {value}", end="; ", highlight=False)
    console.print("one thread\n", highlight=False)
    for name in ("g1", "hoap1"):
        if name in result:
            console.print(_standing(name, result[name]))
    first = next(iter(result["laws"].values()))["us"]
    console.print(_relative("elastic laws, batch of float64", result["laws"], first))
    first = next(iter(result["joints"].values()))["us"]
    console.print(_relative("what acts at the joints, batch of float64", result["joints"], first))


def _standing(name: str, found: Mapping[str, Any]) -> Table:
    times: Timed = found["times"]
    peer = times["MuJoCo"]["us"]
    title = f"{name} standing on {CONTACTS} contacts, nv = {found['nv']}, dt = {found['dt']:g} s"
    table = Table(title=title, caption=_caption(name, found))
    for column in ("", "us", "spread", "MuJoCo / this", "target", "goal"):
        table.add_column(column, justify="right" if column else "left")
    for key, value in times.items():
        target = [str(x) for x in TARGETS[key]] if name == "g1" and key in TARGETS else ["", ""]
        cells = [f"{value['us']:.3g}", f"{value['spread']:.2f}", f"{peer / value['us']:.1f}"]
        table.add_row(key, *cells, *target)
    return table


def _caption(name: str, found: Mapping[str, Any]) -> str:
    said = f"first step {found['cold_s']:.1f} s cold, {found['cached_s']:.2f} s from the cache"
    if name == "hoap1":
        share = PAPER_US / found["times"]["one world"]["us"]
        said += f"; [Sugihara2006]: {PAPER_US:.0f} us on a Celeron of 2.0 GHz, {share:.0f} times"
    return said


def _relative(title: str, times: Timed, first: float) -> Table:
    table = Table(title=title)
    for column in ("", "us", "spread", "ratio"):
        table.add_column(column, justify="right" if column else "left")
    for key, value in times.items():
        cells = [f"{value['us']:.3f}", f"{value['spread']:.2f}", f"{value['us'] / first:.2f}"]
        table.add_row(key, *cells)
    return table


if __name__ == "__main__":
    main()
