"""mujoco_warp's own benchmark models in both simulators, on one GPU in one run.

    python -m benchmarks.warp_models [--json FILE] [--device cuda] [--worlds 8192,65536]
                                     [--laws rigid,implicit,springs] [--only ours|theirs]
                                     [--seconds S] [--limit S] [--budget S] [MODEL ...]

The models are those of warp_cases.py. Each world starts from the keyframe with small offsets of its
own, the same in both simulators, and runs for 5 s: theirs in the file's steps of 5 ms with the
file's solver, ours in 5 ms on coupled laws and in 0.5 ms on explicit springs. Nothing is recorded.

Every simulator of a model has a process of its own. All build at the same time; they are timed one
after another, when all are built, the smaller number of worlds first. A run that takes longer than
--limit ends after a part of it, and no run begins after --budget. A kernel of a coupled law takes
15 to 32 GB of the GPU for its threads' own memory: let g1-field be a command of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import heelstrike as hs
from benchmarks.command import keep
from benchmarks.warp_cases import MODELS, SECONDS, model
from benchmarks.warp_sides import Ours, Side, Theirs, timed
from heelstrike.machine import module_command

SHARED = (("humanoid",), ("g1", "g1-stiff"), ("g1-field",))
"""Models whose code is the same."""
WORLDS, LAWS, LIMIT = "8192,65536", "rigid,implicit,springs", 30.0
READY, DONE = "built", "done"
"""Lines by which a process says that it can be timed, and that it was."""


@dataclass(frozen=True)
class Job:
    """A simulator of some models in a process: a law of ours, or mujoco_warp."""

    side: str
    models: tuple[str, ...]

    @property
    def title(self) -> str:
        return f"{self.models[0]}, {self.side}"


def main() -> None:
    options = _options()
    if options.side:
        work(options)
        return
    names = options.models or list(MODELS)
    laws = [] if options.only == "theirs" else options.laws.split(",")
    sides = [*(["mujoco_warp"] if options.only != "ours" else []), *laws]
    groups = [tuple(name for name in group if name in names) for group in SHARED]
    jobs = [Job(side, group) for group in groups if group for side in sides]
    rows: dict[str, Any] = {}
    figures = {"gpu": _gpu() if options.device == "cuda" else None, "rows": rows}
    began = time.perf_counter()
    processes = [(job, _started(job)) for job in jobs]
    built = [(job, process) for job, process in processes if _is_built(job, process, rows)]
    print(f"all built after {time.perf_counter() - began:.0f} s", flush=True)
    for worlds in options.worlds.split(","):
        for job, process in built:
            if options.budget is None or time.perf_counter() - began < options.budget:
                rows.update(_measured(process, worlds))
            else:
                rows[f"{job.title}, {worlds} worlds"] = {"said": "not measured, for want of time"}
            keep(figures, options.json)
    for _, process in processes:
        process.communicate()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE as well")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--worlds", default=WORLDS)
    parser.add_argument("--laws", default=LAWS, help="rigid, implicit, springs")
    parser.add_argument("--only", choices=("ours", "theirs"))
    parser.add_argument("--seconds", type=float, default=SECONDS, help="simulated time")
    parser.add_argument("--limit", type=float, default=LIMIT, help="of the time of a run [s]")
    parser.add_argument("--budget", type=float, help="no run begins later than this [s]")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for given, known in (
        (options.models, list(MODELS)),
        (options.laws.split(","), LAWS.split(",")),
    ):
        if unknown := [name for name in given if name not in known]:
            parser.error(f"no '{unknown[0]}'; there are {', '.join(known)}")
    if not all(count.isdecimal() and int(count) for count in options.worlds.split(",")):
        parser.error(f"--worlds is '{options.worlds}'; pass numbers, such as {WORLDS}")
    return options


def _started(job: Job) -> subprocess.Popen[str]:
    """Start the process of a job with the options of this one."""
    own = [word for word in sys.argv[1:] if word not in MODELS]
    words = [*own, "--side", job.side, *job.models]
    command = module_command("benchmarks.warp_models", *words)
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)


def _is_built(job: Job, process: subprocess.Popen[str], rows: dict[str, Any]) -> bool:
    """Wait for a process to be built; keep the reason where it is not."""
    assert process.stdout is not None
    said = "the process ended"
    for line in process.stdout:
        said = line.strip() or said
        if said == READY:
            break
    print(f"{job.title}: {said}", flush=True)
    if said != READY:
        rows[job.title] = {"said": said}
    return said == READY


def _measured(process: subprocess.Popen[str], worlds: str) -> dict[str, dict[str, Any]]:
    """Let a process measure a number of worlds; print its rows, and return them by name."""
    assert process.stdin is not None
    assert process.stdout is not None
    rows: dict[str, dict[str, Any]] = {}
    with suppress(BrokenPipeError):  # it ended before
        process.stdin.write(f"{worlds}\n")
        process.stdin.flush()
    for line in process.stdout:
        if line.strip() == DONE:
            break
        if line.startswith("{"):
            print(line, end="", flush=True)
            row = json.loads(line)
            rows[row.pop("name")] = row
    return rows


def work(options: argparse.Namespace) -> None:
    """Build one simulator, wait for a line, and print what is measured, a row a line."""
    warnings.simplefilter("ignore", hs.HeelstrikeWarning)  # losses and failures are counted
    first = int(options.worlds.partition(",")[0])
    models = [found for name in options.models if (found := model(name)) is not None]
    if not models:
        print("mujoco_warp, whose file it is, is not installed", flush=True)
        return
    side: Side
    if options.side == "mujoco_warp":
        try:
            side = Theirs(models[0], first, options.device)
        except ImportError as error:
            print(f"mujoco_warp is not installed ({error})", flush=True)
            return
    else:
        side = Ours(models[0], options.side, first, options.device)
    print(READY, flush=True)
    for line in sys.stdin:
        for one in models:
            row = timed(side, one, int(line), options.seconds, options.limit)
            name = f"{one.name}, {options.side}, {row['worlds']} worlds"
            print(json.dumps({"name": name, **row}), flush=True)
        print(DONE, flush=True)


def _gpu() -> str:
    from heelstrike.runtime.cuda.driver import current_device

    return str(current_device().name)


if __name__ == "__main__":
    main()
