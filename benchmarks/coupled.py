"""Rigid and other coupled contact, a step at a time: Heelstrike's beside MuJoCo's.

    python -m benchmarks.coupled [--json FILE] [--quick]

G1 (HEELSTRIKE_DATA/robots/g1.xml; hoap1 where that is not set) stands on eight contacts, as in
benchmarks.step. Then: evaluations of the coupled problem in a step, errors of float32, and growth
with the number of points of a foot.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.step import compiled, sources
from heelstrike.bench.peer import Peer
from heelstrike.bench.standing import case, check_stands, simulator
from heelstrike.bench.steps import BATCH_STEPS, CALL, STEPS, WORLDS
from heelstrike.bench.timing import Contender, timed

TURNS = 9
POINTS = (8, 32, 128)
LAWS = {
    "Rigid": hs.Rigid(),
    "MicroMacro": hs.MicroMacro(),
    "FeedbackLinearized": hs.FeedbackLinearized(),
    "Elastic, implicit": hs.Elastic(hs.LinearSpring(k=1e5, c=1e3), hs.Coulomb(), implicit=True),
}
"""rule="paper" is left out: G1 sinks and falls under it."""


def main() -> None:
    options = parser(__doc__, "hoap1, few turns").parse_args()
    warnings.simplefilter("ignore")
    turns = 3 if options.quick else TURNS
    name, source = next(iter(sources(options.quick).items()))
    console = Console()
    with console.status(f"measuring {name}"):
        result: dict[str, Any] = {"robot": name}
        result["times"] = times(name, source, turns)
        result["rounds"] = {law: rounds(source, LAWS[law]) for law in LAWS}
        result["float32"] = {law: precision(source, LAWS[law]) for law in LAWS}
        result["points"] = {count: grown(source, count, turns) for count in POINTS}
    show(console, result)
    keep(result, options.json)


def times(name: str, source: str, turns: int) -> dict[str, Any]:
    """MuJoCo, one world with and without its default recording, and batches on one thread."""
    robot = hs.load(source, collide="feet")
    peer = Peer(source, robot)
    contenders = {"MuJoCo": Contender(partial(peer.step, CALL), CALL)}
    sims = []
    for law, rule in LAWS.items():
        one = simulator(robot, peer.dt, rule)
        contenders[f"{law}: one world"] = Contender(partial(_recorded, one), STEPS)
        contenders[f"{law}: one world, bare"] = Contender(partial(compiled(one), CALL), CALL)
        sims.append(one)
        for dtype in ("float64", "float32"):
            batch = simulator(robot, peer.dt, rule, worlds=WORLDS, dtype=dtype)
            run = partial(batch.run, steps=BATCH_STEPS, threads=1)
            contenders[f"{law}: batch, {dtype}"] = Contender(run, WORLDS * BATCH_STEPS)
            sims.append(batch)
    found = timed(contenders, turns)
    for sim in sims:
        check_stands(name, sim, least=6)  # a rigid sole may stand on three of its corners
    peer.check_stands(name)
    return found


def _recorded(sim: hs.Simulator) -> object:
    return sim.run(steps=STEPS).data


def rounds(source: str, law: Any) -> dict[str, float]:
    """Evaluations in a step of a robot that stands, over a second of 64 worlds."""
    robot, dt = hs.load(source, collide="feet"), case(source).dt
    sim = simulator(robot, dt, law, worlds=64)
    data = sim.run(1.0, record=("solver_rounds", "solver_unfinished")).data
    made = data["solver_rounds"].values
    return {
        "mean": float(made.mean()),
        "99th percentile": float(np.percentile(made, 99)),
        "largest": float(made.max()),
        "unfinished": float(data["solver_unfinished"].values.mean()),
    }


def precision(source: str, law: Any) -> dict[str, float]:
    """Largest error of a point's force in float32 from the state of 256 float64 worlds that stand,
    over the weight.
    """
    robot, dt = hs.load(source, collide="feet"), case(source).dt
    exact, single = (
        simulator(robot, dt, law, worlds=WORLDS, dtype=dtype) for dtype in ("float64", "float32")
    )
    for name, value in exact.state.copy().items():
        single.state[name] = value
    forces = [sim.observe("force")["force"].astype(float) for sim in (exact, single)]
    off = np.linalg.norm(forces[1] - forces[0], axis=-1).max(axis=1) / (robot.mass * robot.gravity)
    return {
        "median": float(np.median(off)),
        "99th percentile": float(np.percentile(off, 99)),
        "largest": float(off.max()),
    }


def with_points(robot: hs.Robot, count: int) -> hs.Robot:
    """Return the robot with a grid of points between the corners of each sole."""
    feet = sorted({point.body for point in robot.points})
    rows = {2: (2, 1), 4: (2, 2), 16: (4, 4), 64: (8, 8)}[count // len(feet)]
    points = []
    for body in feet:
        corners = np.array([p.position for p in robot.points if p.body == body])
        low, high = corners.min(axis=0), corners.max(axis=0)
        radius = next(p.radius for p in robot.points if p.body == body)
        for i, x in enumerate(np.linspace(low[0], high[0], rows[0])):
            for j, y in enumerate(np.linspace(low[1], high[1], rows[1])):
                place = np.array([x, y, corners[:, 2].mean()])
                points.append(hs.Point(f"{robot.bodies[body].name}.{i}.{j}", body, place, radius))
    return replace(robot, points=tuple(points))


def grown(source: str, count: int, turns: int) -> dict[str, float]:
    """Operations, seconds to compile and us a step with so many points on the soles."""
    robot, dt = with_points(hs.load(source, collide="feet"), count), case(source).dt
    floor = hs.Plane(law=hs.Rigid())
    sim = hs.Simulator(hs.Scene(robot, floor), dt=dt, control=hs.Servo(), worlds=WORLDS)
    counts = sim.program.counts()
    started = time.perf_counter()
    hs.compile_program(sim.program, outputs=[])
    seconds = time.perf_counter() - started
    sim = simulator(robot, dt, hs.Rigid(), worlds=WORLDS)
    made = timed({"step": Contender(partial(compiled(sim), 20), 20 * WORLDS)}, turns)
    operations = counts.additions + counts.multiplications + counts.divisions + counts.functions
    return {"operations": operations, "compile_s": seconds, "us": made["step"]["us"]}


def show(console: Console, result: dict[str, Any]) -> None:
    times = result["times"]
    theirs = times["MuJoCo"]["us"]
    table = Table(title=f"{result['robot']} on eight contacts, one thread")
    for column in ("", "us a step", "spread", "MuJoCo / ours"):
        table.add_column(column, justify="right" if column else "left")
    for name, found in times.items():
        ratio = "" if name == "MuJoCo" else f"{theirs / found['us']:.1f}"
        table.add_row(name, f"{found['us']:.3f}", f"{found['spread']:.2f}", ratio)
    console.print(table)
    tables = {
        "evaluations in a step": "rounds",
        "error of a point's force in float32, over the weight": "float32",
        "points": "points",
    }
    for title, rows in ((title, result[key]) for title, key in tables.items()):
        table = Table(title=title)
        names = list(next(iter(rows.values())))
        for column in ("", *names):
            table.add_column(column, justify="right" if column else "left")
        for name, found in rows.items():
            table.add_row(str(name), *(f"{found[column]:.4g}" for column in names))
        console.print(table)


if __name__ == "__main__":
    main()
