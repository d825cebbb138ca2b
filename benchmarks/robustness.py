"""Robots that fall, tumble and lie under every coupled law, towers of cubes and mass ratios.

    python -m benchmarks.robustness [--json FILE] [--quick] [--steps 1000000] [--robots g1 ...]

hoap1, and of HEELSTRIKE_DATA/robots G1 and ANYmal C, with contact points on the whole body
(whole_body.py), are thrown in eight ways each under every coupled law; --steps is the sum over all
of them. Counted are worlds that failed and worlds that were launched, and for the steps: rounds of
the solver, the share that reached the limit of rounds, and the velocity by which contacts miss
their law.

A launch is energy from nowhere. The ledger of a world is

    kinetic + potential - work of control - work of stops - work of the joints' damping and friction

so that only contact changes it, and contact may only lower it, but for what a spring stores and
gives back. Its highest value in each quarter of a second must therefore not rise above that of any
quarter before; the largest such rise, as a height that the robot was lifted by, is `rise`. Beyond
MARGIN it counts as a launch. Below that, up to 1 mm measured, it is the integrator's error of order
dt in free motion.

Then a tower of ten cubes (tower.py) stands for two seconds, and a cube on one up to a million times
lighter for one (models.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks import models
from benchmarks.command import keep, parser
from benchmarks.tower import heaped, tower
from benchmarks.whole_body import LAWS, Faller, faller, tumbling, with_robots

STARTS = 8
STEPS, QUICK_STEPS = 1_000_000, 40_000
QUARTER = 0.25
"""Time over which the highest value of a ledger is taken [s]."""
MARGIN = 0.01
"""Rise of a ledger that counts as a launch, as a height of the robot [m]."""
GIVEN = ("work_control", "work_stops", "work_joints")
SOLVER = ("solver_rounds", "solver_unfinished", "solver_residual")
CUBES, QUICK_CUBES = 10, 3
STANDS = 2.0
"""Time that the tower stands [s]."""


def main() -> None:
    made = parser(__doc__, "few points of hoap1, three cubes, short falls")
    made.add_argument("--steps", type=int, metavar="N", help="steps of all worlds together")
    options, robots = with_robots(made)
    warnings.simplefilter("ignore")
    total = options.steps or (QUICK_STEPS if options.quick else STEPS)
    steps = max(1, round(total / (len(robots) * len(LAWS) * STARTS)))
    console = Console()
    result: dict[str, Any] = {"steps_per_world": steps, "falls": {}}
    for name in robots:
        thrown = faller(name, few=options.quick)
        for law in LAWS:
            with console.status(f"{name}, {law}: {steps} steps"):
                result["falls"][f"{name}, {law}"] = fall(thrown, LAWS[law], steps)
    result["all"] = together(result["falls"])
    with console.status("cubes"):
        result["tower"], result["ratio"] = cubes(options.quick)
    show(console, result)
    keep(result, options.json)


def fall(thrown: Faller, law: hs.SurfaceLaw, steps: int, worlds: int = STARTS) -> dict[str, Any]:
    """Return the figures of so many steps of each world."""
    robot, sim = thrown.robot, thrown.simulator(law, worlds)
    q0, v0 = tumbling(robot, worlds)
    wanted = ("kinetic", "potential", *GIVEN, *SOLVER)
    data = sim.run(steps=steps, q0=q0, v0=v0, record=wanted, progress=False).data
    failed = data["failed"].values
    alive = [steps if step < 0 else max(step, 1) for step in failed]  # steps before a failure
    ledger = (data["kinetic"] + data["potential"] - sum(data[name] for name in GIVEN)).values
    quarter = max(1, round(QUARTER / thrown.dt))
    weight = robot.mass * robot.gravity
    rises = [rise(ledger[k, :count], quarter) / weight for k, count in enumerate(alive)]
    rounds, unfinished, residual = (
        np.concatenate([data[name].values[k, :count] for k, count in enumerate(alive)])
        for name in SOLVER
    )
    return {
        "bodies": thrown.bodies,
        "points": len(robot.points),
        "worlds": worlds,
        "steps": int(sum(alive)),
        "failed": int((failed >= 0).sum()),
        "launched": int((np.array(rises) > MARGIN).sum()),
        "rise_mm": 1e3 * max(rises),
        "rounds": {
            "mean": float(rounds.mean()),
            "99th percentile": float(np.percentile(rounds, 99)),
            "largest": float(rounds.max()),
        },
        "unfinished": int(unfinished.sum()),
        "residual": float(residual.max()),
    }


def rise(ledger: np.ndarray, quarter: int) -> float:
    """Return by how much the highest value in `quarter` steps rises above that of any quarter
    before, 0 if it never does [J].
    """
    highest = np.array([ledger[k : k + quarter].max() for k in range(0, len(ledger), quarter)])
    return models.won(highest)


def together(falls: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return sums and extremes over all falls."""
    rows = falls.values()
    sums = {
        name: sum(row[name] for row in rows)
        for name in ("worlds", "steps", "failed", "launched", "unfinished")
    }
    largest = {name: max(row[name] for row in rows) for name in ("rise_mm", "residual")}
    return {**sums, **largest, "unfinished_percent": 100 * sums["unfinished"] / sums["steps"]}


def cubes(quick: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the figures of the tower and of the mass ratios, by law."""
    chosen = {name: law for name, law in models.LAWS.items() if law.couples}
    towers = ("Rigid",) if quick else ("Rigid", "Signorini", "MicroMacro", "Elastic, implicit")
    ratios = ("Rigid",) if quick else chosen
    count = QUICK_CUBES if quick else CUBES
    return (
        {name: stand(chosen[name], count) for name in towers},
        {name: [asdict(row) for row in models.stack(chosen[name])] for name in ratios},
    )


def stand(law: hs.SurfaceLaw, count: int) -> dict[str, Any]:
    """Return how a tower of cubes stands: drift, speed, share of the weight that the ground bears,
    and rounds.
    """
    sim = hs.Simulator(tower(law, *count * [law]))
    wanted = ("q", "v", "normal_force", *SOLVER)
    data = sim.run(STANDS, q0=heaped(count), record=wanted, progress=False).data
    normal = data["normal_force"].isel(world=0, time=-1)
    ground = float(normal.sel(point=normal["surface"] == "ground").sum())
    place = data["q"].values[0].reshape(-1, count, 7)[..., :3]
    return {
        "cubes": count,
        "failed": int(data["failed"].values[0] >= 0),
        "carried": ground / (sim.robot.mass * sim.robot.gravity),
        "moved_um": 1e6 * float(np.abs(place[-1] - place[0]).max()),
        "speed_m_s": float(np.abs(data["v"].values[0, -1]).max()),
        "rounds": float(data["solver_rounds"].values.mean()),
        "unfinished": int(data["solver_unfinished"].values.sum()),
        "residual": float(data["solver_residual"].values.max()),
    }


def show(console: Console, result: Mapping[str, Any]) -> None:
    """Print a table for the falls, one for the tower and one for the mass ratios."""
    table = Table(
        *("", "bodies", "failed", "launched", "rise [mm]", "rounds: mean / 99 % / largest"),
        *("unfinished, %", "residual [m/s]"),
        title=f"falls, {STARTS} worlds of {result['steps_per_world']} steps each",
    )
    for name, row in result["falls"].items():
        rounds = " / ".join(f"{value:.3g}" for value in row["rounds"].values())
        share = 100 * row["unfinished"] / max(row["steps"], 1)
        cells = (row["bodies"], row["failed"], row["launched"], f"{row['rise_mm']:.2g}", rounds)
        table.add_row(name, *map(str, cells), f"{share:.3f}", f"{row['residual']:.1e}")
    whole = result["all"]
    cells = ("", whole["failed"], whole["launched"], f"{whole['rise_mm']:.2g}", "")
    share = f"{whole['unfinished_percent']:.4f}"
    table.add_row("all", *map(str, cells), share, f"{whole['residual']:.1e}")
    console.print(table)
    console.print(_table("tower", {k: [v] for k, v in result["tower"].items()}))
    console.print(_table("mass ratio", result["ratio"]))


def _table(title: str, rows: Mapping[str, Sequence[Mapping[str, float]]]) -> Table:
    names = list(next(iter(rows.values()))[0])
    table = Table("", *names, title=title)
    for law, found in rows.items():
        for row in found:
            table.add_row(law, *(f"{row[name]:.4g}" for name in names))
    return table


if __name__ == "__main__":
    main()
