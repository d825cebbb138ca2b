"""All that `heelstrike bench` measures, in one run on this machine, as one value for JSON.

Compiled code is kept in an empty cache of the run's own, so that compiling is measured too.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from heelstrike.bench.drop import drops
from heelstrike.bench.gpu import by_warp, device_name, on_gpu
from heelstrike.bench.memory import memory
from heelstrike.bench.results import conditions
from heelstrike.bench.standing import ROBOTS, Case, case, empty_cache, missing
from heelstrike.bench.steps import ALL_CORES, ONE_THREAD, WORLDS, under_laws, ways
from heelstrike.contact.choose import NAMES, template
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError, HeelstrikeWarning

QUICK_ROBOTS, QUICK_LAWS = ("hoap1",), ("linear-spring", "rigid")
TURNS, QUICK_TURNS = 12, 3
PARTS = ("laws", "ways to step", "equal accuracy", "memory")
"""What is measured of a robot, in this order."""
GPU_LAWS = ("linear-spring", "rigid")


@dataclass(frozen=True)
class Wanted:
    """Selection of robots and laws by name; the usual ones by default."""

    robots: tuple[str, ...] = ()
    laws: tuple[str, ...] = ()
    quick: bool = False

    @property
    def turns(self) -> int:
        return QUICK_TURNS if self.quick else TURNS

    @property
    def names(self) -> list[str]:
        """Names of the robots to measure; usual ones whose files are missing are left out."""
        usual = QUICK_ROBOTS if self.quick else ROBOTS
        gone = [] if self.robots else missing(usual)
        return [name for name in self.robots or usual if name not in gone]

    @property
    def parts(self) -> int:
        """Number of parts that `bench` reports, without a GPU."""
        return len(PARTS) * len(self.names)

    def cases(self) -> list[Case]:
        """Return the robots to measure; raise an error if a named one cannot be loaded."""
        return [case(name) for name in self.names]

    def surface_laws(self) -> dict[str, SurfaceLaw]:
        """Return the laws with their default parameters."""
        names = self.laws or (QUICK_LAWS if self.quick else NAMES)
        return {name: template(name) for name in names}


def bench(wanted: Wanted, report: Callable[[str], None] = lambda text: None) -> dict[str, Any]:
    """`report` is told what is measured next."""
    cases, laws = wanted.cases(), wanted.surface_laws()
    cores = os.cpu_count() or 1
    made, started = conditions("heelstrike"), time.time()
    gpu = None if wanted.quick else device_name()
    with empty_cache(), warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)
        robots, said = {}, notes(wanted, gpu)
        for c in cases:
            try:
                robots[c.name] = _robot(c, laws, cores, wanted, report)
            except HeelstrikeError as error:
                said.append(f"Without {c.name}: {error}.")
        on_device = {}
        for c in cases if gpu else ():
            report(f"{c.name}: GPU")
            on_device[c.name] = gpu_part(c)
    if gpu:
        made.machine["gpu"] = gpu
    return {
        **asdict(made),
        "took_s": time.time() - started,
        "quick": wanted.quick,
        "worlds": WORLDS,
        "notes": said,
        "robots": robots,
        "gpu": on_device or None,
    }


def notes(wanted: Wanted, gpu: str | None) -> list[str]:
    """Return notes on what was left out, and why."""
    found = []
    gone = [] if wanted.robots or wanted.quick else missing()
    if gone:
        found.append(f"Without {', '.join(gone)}: set HEELSTRIKE_DATA to where robots/ has them.")
    if gpu is None and not wanted.quick:
        found.append("Without a GPU: none is usable here, or heelstrike[cuda] is not installed.")
    return found


def _robot(
    c: Case,
    laws: dict[str, SurfaceLaw],
    cores: int,
    wanted: Wanted,
    report: Callable[[str], None],
) -> dict[str, Any]:
    laws_of, steps, accuracy, size = (f"{c.name}: {part}" for part in PARTS)
    report(laws_of)
    by_law = under_laws(c, laws, cores, wanted.turns)  # first: it finds an empty cache
    report(steps)
    times = ways(c, cores, wanted.turns)
    report(accuracy)
    few = WORLDS // 4 if wanted.quick else WORLDS // 2
    dropped = drops(c, laws, few, cores, max(3, wanted.turns // 3))
    report(size)
    return {
        "nv": c.robot.nv,
        "points": len(c.robot.points),
        "dt": c.dt,
        "ways": times,
        "threads": {
            "count": cores,
            "ratio": times[ONE_THREAD]["us"] / times[ALL_CORES]["us"],
        },
        "laws": by_law,
        "accuracy": dropped,
        "memory": memory(c, wanted.quick),
    }


def gpu_part(c: Case, laws: Sequence[str] = GPU_LAWS) -> dict[str, Any]:
    """Steps a second of a robot's worlds on the GPU, and mujoco_warp's."""
    found = on_gpu(c, {name: template(name) for name in laws})
    try:
        found["mujoco_warp"] = by_warp(c)
    except HeelstrikeError as error:
        found["mujoco_warp"] = {"said": str(error)}
    return found
