"""Growth of the time of a step, and of compiling it, with joints, points, surfaces and worlds.

Every size is measured in a process of its own (growth_case.py), so that a size that exceeds the
memory or is interrupted costs no other. Growth is the exponent p of x^p, fitted to logarithms:

    log y = a + p log x + e,    s^2 = sum e^2 / (n - 2) / sum (log x - mean)^2

with the standard error s of p; `last` is p between the two largest sizes, where costs that do not
grow matter least.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from heelstrike.bench.results import conditions
from heelstrike.bench.standing import empty_cache
from heelstrike.errors import UnknownNameError
from heelstrike.machine import module_command

TURNS, QUICK_TURNS = 7, 3


@dataclass(frozen=True)
class Axis:
    """What grows, and its sizes."""

    about: str
    """What is measured, a sentence."""
    counts: tuple[int, ...]
    quick: tuple[int, ...]
    """Sizes of a quick run."""
    parts: tuple[str, ...] = ()
    """Names of its curves in growth_case.CASES; () for the axis's own name."""


AXES = {
    "joints": Axis("Joints: chains in free flight.", (5, 10, 20, 50, 100, 200, 400), (5, 20, 80)),
    "points": Axis(
        "Points: a slab that rests on spheres, on elastic and on rigid ground.",
        (1, 3, 10, 30, 100, 300, 1000),
        (1, 10, 100),
        ("points", "points, rigid"),
    ),
    "surfaces": Axis(
        "Surfaces: hoap1 on a plane with boxes around it, out of reach.",
        (1, 3, 10, 30, 100),
        (1, 3, 10),
    ),
    "worlds": Axis(
        "Worlds: hoap1 on its feet.",
        (1, 8, 64, 512, 4096, 32_768, 262_144, 1_000_000),
        (1, 64, 4096),
    ),
}

Curve = list[dict[str, float]]


def sizes(axes: Sequence[str], quick: bool) -> list[tuple[str, int]]:
    """Return every size that is measured: the name of its curve, and the count."""
    for name in axes:
        if name not in AXES:
            raise UnknownNameError("axis", name, AXES, "axes", path="--axes")
    return [
        (part, count)
        for name in axes
        for part in AXES[name].parts or (name,)
        for count in (AXES[name].quick if quick else AXES[name].counts)
    ]


def growth(
    axes: Sequence[str] = tuple(AXES),
    quick: bool = False,
    report: Callable[[str], None] = lambda text: None,
    measure: Callable[[str, int, int], Mapping[str, Any]] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the result after each size, ready for JSON; the last one is complete.

    Args:
        axes: names of AXES.
        quick: whether to measure small sizes only, with few turns.
        report: is called with the name of each size before it is measured.
        measure: returns the figures of a curve's size with a number of turns; None: a new process.
    """
    wanted, made = sizes(axes, quick), conditions("heelstrike")
    curves: dict[str, Curve] = {}
    notes: list[str] = []
    for part, count in wanted:
        report(f"{part}: {count:,}")
        found = (measure or in_a_process)(part, count, QUICK_TURNS if quick else TURNS)
        if "said" in found:
            notes.append(f"Without {part} {count:,}: {found['said']}.")
        else:
            curves.setdefault(part, []).append({"count": count, **found})
        yield {
            **asdict(made),
            "quick": quick,
            "axes": list(axes),
            "notes": list(notes),
            "growth": {name: with_exponents(curve) for name, curve in curves.items()},
        }


def with_exponents(curve: Curve) -> dict[str, Any]:
    """Return a curve with the exponents of its times, where it has several sizes."""
    found: dict[str, Any] = {"curve": curve}
    for name in ("us", "compile_s"):
        if len(curve) > 1 and name in curve[0]:
            counts, values = ([point[key] for point in curve] for key in ("count", name))
            found[f"{name}_growth"] = exponent(counts, values)
    return found


def exponent(counts: Sequence[float], values: Sequence[float]) -> dict[str, float | None]:
    """Return p of value ~ count^p, its standard error (None for two sizes) and the last p."""
    x, y = np.log(counts), np.log(values)
    p, a = np.polyfit(x, y, 1)
    off = y - (a + p * x)
    error = None
    if len(x) > 2:
        error = float(np.sqrt(off @ off / (len(x) - 2) / np.sum((x - x.mean()) ** 2)))
    return {
        "exponent": float(p),
        "error": error,
        "last": float((y[-1] - y[-2]) / (x[-1] - x[-2])),
    }


def in_a_process(part: str, count: int, turns: int) -> dict[str, Any]:
    """Return the figures of a size, or why it has none, measured by growth_case.py."""
    command = module_command("heelstrike.bench.growth_case", part, str(count), str(turns))
    with empty_cache():
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode < 0:
        return {"said": "its process was killed, possibly out of memory"}
    if done.returncode:
        return {"said": f"its process failed: {done.stderr.strip()[-200:]}"}
    return dict(json.loads(done.stdout.splitlines()[-1]))
