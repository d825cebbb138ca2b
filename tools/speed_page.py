"""Writes tables of speed in README.md, docs/speed.md and docs/servo.md from results.

    python -m benchmarks.step --json benchmarks/results/step.json
    python -m benchmarks.rigid_speed --json benchmarks/results/rigid-speed.json
    python tools/speed_page.py

Both results have to come from one machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.pages import markdown, placed

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
FEET = "G1 of benchmarks/results/step.json, rigid-speed.json"
"""Mark of the table of a robot on its feet,"""
BODY = "whole body of benchmarks/results/rigid-speed.json"
"""and of that with contact points on its whole body."""
JOINTS = "joints of benchmarks/results/step.json"
"""Mark of the table of what acts at the joints."""
LANES = "lanes of benchmarks/results/step.json"
"""Mark of the table of vectors of three widths."""
MARKS = {
    ROOT / "README.md": (FEET,),
    ROOT / "docs" / "speed.md": (FEET, BODY, LANES),
    ROOT / "docs" / "servo.md": (JOINTS,),
}
"""Tables of each page."""
KINDS = {
    "256 worlds, vectorised, float64": ("batch, float64", "batch, float64"),
    "256 worlds, vectorised, float32": ("batch, float32", "batch, float32"),
    "one world, only the end recorded": ("one world, the end alone", "one world"),
    "one world, everything recorded at every step": ("one world", "recorded"),
}
"""Names of a row in the results of both commands."""
PEER = "MuJoCo"

Times = Mapping[str, Mapping[str, float]]


def pages() -> dict[Path, str]:
    """Return each page with its tables."""
    step, rigid = kept("step"), kept("rigid-speed")
    if step["machine"]["cpu"] != rigid["machine"]["cpu"]:
        raise SystemExit("results of both commands must come from one machine")
    made = {
        FEET: table(
            step["machine"]["cpu"],
            {
                "elastic (`LinearSpring`, `Bristle`)": (step["g1"]["times"], 0),
                "rigid (`Rigid`)": (rigid["two feet"]["times"], 1),
            },
        ),
        BODY: table(
            rigid["machine"]["cpu"],
            {
                "standing": (rigid["whole body"]["times"], 1),
                "lying after a fall": (rigid["lying"]["times"], 1),
            },
        ),
        JOINTS: joints(step["machine"]["cpu"], step["joints"]),
        LANES: lanes(step["machine"]["cpu"], step["lanes"]),
    }
    return {
        page: placed(page.read_text(encoding="utf-8"), {mark: made[mark] for mark in marks})
        for page, marks in MARKS.items()
    }


def kept(name: str) -> dict[str, Any]:
    """Return the results of a command."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def table(cpu: str, columns: Mapping[str, tuple[Times, int]]) -> str:
    """Return a table of times beside MuJoCo's; columns have times, and which names they have."""
    rows = [["MuJoCo", *(f"{times[PEER]['us']:.3g} us" for times, _ in columns.values())]]
    for row, names in KINDS.items():
        cells = (beside(times, names[which]) for times, which in columns.values())
        rows.append([row, *cells])
    return markdown([f"time of a step, {cpu}", *columns], rows)


def joints(cpu: str, found: Mapping[str, Times]) -> str:
    """Return a table of times over those of the servo alone."""
    first, *others = next(iter(found.values()))
    rows = [
        [name, f"{times[first]['us']:.3g} us"]
        + [f"{times[other]['us'] / times[first]['us']:.2f}" for other in others]
        for name, times in found.items()
    ]
    return markdown([f"256 worlds, {cpu}", first, *others], rows)


def lanes(cpu: str, found: Mapping[str, Times]) -> str:
    """Return a table of times with half the CPU's vectors, its own, and two side by side."""
    kinds = [name.partition(":")[0] for name in next(iter(found.values()))]
    rows = [
        [name] + [f"{row['us']:.3g} us ({key.partition(': ')[2]})" for key, row in times.items()]
        for name, times in found.items()
    ]
    return markdown([f"256 worlds, {cpu}", *kinds], rows)


def beside(times: Times, name: str) -> str:
    """Return a time, and MuJoCo's as a multiple of it."""
    own, peer = times[name]["us"], times[PEER]["us"]
    ratio = peer / own
    return f"{own:.2g} us, {ratio:.{0 if ratio >= 10 else 1}f} times as fast"


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
