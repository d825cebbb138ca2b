"""A sweep of 100,000 worlds through the command line: time, memory, kills.

    python -m benchmarks.sweep [--json FILE] [--worlds N] [--duration T] [--no-ray]

hoap1 falls from 1 cm and stands (scene "stand"), over stiffness, friction and masses, as

    heelstrike sweep stand --grid ground.normal.k=1e4:1e5:log:100 --random ... --worlds 100000

on all cores. Three times: undisturbed; killed by SIGKILL at three random moments and resumed; and
by --ray local, a worker a core, one of them killed while it works. All must leave the same bytes.
Time is that of the whole command, imports, compilation and picture included, by the clock and, of
the undisturbed one, of all cores together; "rate" is the sweep's own, steps of all worlds over the
time from the first chunk to the last. Memory is the most that the process held; of Ray's workers it
is not told.

"overhead" is measured in one process, with the robots of benchmarks.step as they stand: CPU time of
one thread, of the bare compiled step and of hs.sweep from its first chunk to its last, as many
worlds and steps; both take turns, the best one counts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from signal import SIGKILL
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.processes import waited, workers_of
from benchmarks.step import sources
from heelstrike.bench.standing import case, simulator
from heelstrike.sweeps.definition import define_sweep
from heelstrike.sweeps.job import STATE, Worker
from heelstrike.sweeps.plan import SweepPlan

SCENE = "stand"
GRID = {"ground.normal.k": "1e4:1e5:log:100"}
RANDOM = {"ground.friction.mu_k": "0.3:0.6", "robot.mass_scale": "0.9:1.1"}
KILLS = 3
PATIENCE = 600.0
"""With a cluster that does nothing [s]."""
TURNS, TURN_WORLDS, TURN_STEPS = 8, 4096, 500
RESULTS = Path(__file__).parent / "results" / "sweep.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", metavar="FILE", default=RESULTS, help="where the figures go")
    parser.add_argument("--worlds", type=int, default=100_000)
    parser.add_argument("--duration", type=float, default=0.5, help="of each world [s]")
    parser.add_argument("--no-ray", action="store_true", help="leave the cluster out")
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the kills")
    options = parser.parse_args()
    console, moments = Console(), random.Random(options.seed)
    result: dict[str, Any] = {"cores": os.cpu_count()}
    result |= {"scene": SCENE, "worlds": options.worlds, "duration": options.duration}
    result["load"] = os.getloadavg()[0]  # of what else runs here
    with TemporaryDirectory() as folder, console.status("measuring the overhead") as status:
        robots = sources(quick=False)
        result["overhead"] = {name: overhead(source) for name, source in robots.items()}
        base = command(options.worlds, options.duration)
        status.update("undisturbed")
        whole = Path(folder) / "whole"
        result["undisturbed"] = undisturbed([*base, "-o", str(whole)])
        wanted = digest(whole)
        result["bytes"] = (whole / "sweep.nc").stat().st_size
        seconds = result["undisturbed"]["seconds"]
        status.update(f"killed {KILLS} times")
        result["killed"] = killed(base, Path(folder) / "killed", seconds, moments)
        result["killed"]["same_bytes"] = digest(Path(folder) / "killed") == wanted
        if not options.no_ray:
            status.update("by Ray, a worker killed")
            result["ray"] = by_ray(base, Path(folder) / "ray", seconds, moments)
            result["ray"]["same_bytes"] = digest(Path(folder) / "ray") == wanted
    show(console, result)
    Path(options.json).write_text(json.dumps(result, indent=1) + "\n")


def command(worlds: int, duration: float) -> list[str]:
    words = [sys.executable, "-m", "heelstrike", "sweep", SCENE, "--json", "--worlds", str(worlds)]
    for option, axes in (("--grid", GRID), ("--random", RANDOM)):
        for path, values in axes.items():
            words += [option, f"{path}={values}"]
    return [*words, "--duration", str(duration)]


def undisturbed(words: list[str]) -> dict[str, Any]:
    started, cpu = time.perf_counter(), cpu_of_children()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    summary = json.loads(done.stdout)["summary"]
    return {
        "seconds": time.perf_counter() - started,
        "cpu_seconds": cpu_of_children() - cpu,
        "rate": summary["rate"],
        "memory": summary["memory"],
        "failed": summary["failed"]["count"],
        "fell": summary["fell"]["count"],
        "peak_force": [summary["peak_force"][end]["value"] for end in ("least", "largest")],
    }


def cpu_of_children() -> float:
    """Time that all cores worked for processes that have ended [s]."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def killed(base: list[str], folder: Path, seconds: float, moments: random.Random) -> dict[str, Any]:
    """Each kill comes after a random part of what a third of the whole takes."""
    words, found = [*base, "-o", str(folder), "--resume"], []
    started = time.perf_counter()
    for _ in range(KILLS):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.2, 1.0) * seconds / KILLS)
        if process.poll() is not None:
            raise SystemExit("the sweep was over before it was killed: give it more worlds")
        process.send_signal(SIGKILL)
        process.wait()
        chunks = len(list((folder / "chunks").glob("[0-9]*.npz")))
        found.append({"after": time.perf_counter() - started, "chunks": chunks})
    last = undisturbed(words)
    return {"kills": found, "seconds": time.perf_counter() - started, "last": last}


def by_ray(base: list[str], folder: Path, seconds: float, moments: random.Random) -> dict[str, Any]:
    """A worker is killed when some chunks are there, a random while later, at work."""
    started = time.perf_counter()
    words = [*base, "-o", str(folder), "--ray", "local"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        waited(process, lambda: list((folder / "chunks").glob("[0-9]*.npz")), PATIENCE)
        time.sleep(moments.uniform(1.0, 5.0))
        os.kill(moments.choice(waited(process, lambda: workers_of(process), PATIENCE)), SIGKILL)
        after = time.perf_counter() - started
        output, _ = process.communicate(timeout=PATIENCE + 10 * seconds)
    finally:
        process.kill()
    if process.returncode:
        raise SystemExit(f"the sweep by Ray failed: exit code {process.returncode}")
    summary = json.loads(output)["summary"]
    return {
        "workers": os.cpu_count(),
        "worker_killed_after": after,
        "seconds": time.perf_counter() - started,
        "rate": summary["rate"],
        "driver_memory": summary["memory"],
    }


def digest(folder: Path) -> str:
    return sha256((folder / "sweep.nc").read_bytes()).hexdigest()


def overhead(source: str) -> dict[str, float]:
    """CPU time of a step of a world on one thread [us]: bare, through hs.sweep; turn by turn."""
    chosen = case(source)
    sim = simulator(chosen.robot, chosen.dt)
    friction = {"ground.friction.mu_k": (0.5, 0.6)}
    duration, work = TURN_STEPS * float(sim.parameters["dt"][0]), TURN_STEPS * TURN_WORLDS
    study = define_sweep(sim, SweepPlan.of(None, friction, TURN_WORLDS, 0), duration)
    worker = Worker(study.job, study.kernel)
    worker.work(TURN_WORLDS, study.rows((0, TURN_WORLDS)))
    batch = worker._ready(TURN_WORLDS)
    bare, swept = [], []
    for _ in range(TURNS):
        batch.reset(**{name: study.job.base[name] for name in STATE})
        started = time.process_time()
        batch.run(TURN_STEPS)
        bare.append(1e6 * (time.process_time() - started) / work)
        found = hs.sweep(sim, None, friction, TURN_WORLDS, 0, duration, threads=1)
        swept.append(1e6 * found.meter.cpu / work)
        if found.data["fell"].any() or (found.data["failed"] >= 0).any():
            raise SystemExit(f"{source} does not stand")
    return {"bare": min(bare), "sweep": min(swept), "ratio": min(bare) / min(swept)}


def show(console: Console, result: dict[str, Any]) -> None:
    for key, value in result["machine"].items():
        console.print(f"{key} {value}", end="; ", highlight=False)
    title = f"{result['worlds']:,} worlds of {SCENE}, {result['duration']:g} s each"
    table = Table(title=title, caption=f"sweep.nc: {result['bytes'] / 1e6:.0f} MB")
    for column in ("", "seconds", "CPU, s", "M world-steps/s", "memory, MB", "same bytes"):
        table.add_column(column, justify="right" if column else "left")
    once, kills = result["undisturbed"], result["killed"]
    rate, memory = once["rate"] / 1e6, once["memory"] / 1e6
    times = [f"{once[name]:.0f}" for name in ("seconds", "cpu_seconds")]
    table.add_row("undisturbed", *times, f"{rate:.2f}", f"{memory:.0f}", "")
    same = "yes" if kills["same_bytes"] else "NO"
    table.add_row(f"killed {KILLS} times", f"{kills['seconds']:.0f}", "", "", "", same)
    if ray := result.get("ray"):
        cells = [f"{ray['seconds']:.0f}", "", f"{ray['rate'] / 1e6:.2f}"]
        cells += [f"{ray['driver_memory'] / 1e6:.0f}", "yes" if ray["same_bytes"] else "NO"]
        table.add_row("by Ray, a worker killed", *cells)
    console.print()
    console.print(table)
    for name, found in result["overhead"].items():
        times = f"bare {found['bare']:.3f} us, through hs.sweep {found['sweep']:.3f} us"
        console.print(f"{name} standing, a step of a world on one thread: {times}")


if __name__ == "__main__":
    main()
