"""Writes docs/solver-figures.md from results of three benchmarks of the contact solver.

    python -m benchmarks.solver_limits --json benchmarks/results/solver-limits.json
    python -m benchmarks.robustness --steps 1000000 --json benchmarks/results/robustness.json
    python -m benchmarks.float32 --json benchmarks/results/float32.json
    python tools/solver_figures.py

docs/solver.md and docs/bench.md explain the figures; this page is not edited by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/solver-figures.md"
HEAD = """# Figures of the contact solver

Written by `python tools/solver_figures.py` from `benchmarks/results`.
[The contact solver](solver.md#limits) explains the first table,
[bench](bench.md#the-solver-of-coupled-laws) the others.
"""
ALLOWED = 1e-3
"""Error of forces that 99 of 100 bodies may have, over the weight."""


def main() -> None:
    PAGE.write_text(page())


def page() -> str:
    """Return the text of the page."""
    return "\n".join([HEAD, *limits(), *robustness(), *precision()])


def limits() -> list[str]:
    """Return the section of benchmarks.solver_limits."""
    found = result("solver-limits")
    rows = found["rows"]
    names = list(next(iter(rows.values())))
    lines = [[name, *(f"{row[key]:.4g}" for key in names)] for name, row in rows.items()]
    units = (
        "Rounds of steps with contact, the number of steps at the limit of rounds, residuals [m/s] "
        "of those and of the others, and the speed of the fastest joint at the end [m/s, rad/s].\n"
    )
    return ["## Cases at the limits\n", source(found), units, *table(["case", *names], lines)]


def robustness() -> list[str]:
    """Return the section of benchmarks.robustness."""
    found = result("robustness")
    names = ["failed", "launched", "mean rounds", "99 %", "largest", "at the limit", "residual"]
    lines = []
    for name, row in found["falls"].items():
        rounds = [f"{x:.4g}" for x in row["rounds"].values()]
        ends = [str(row["unfinished"]), f"{row['residual']:.1e}"]
        lines.append([name, str(row["steps"]), str(row["failed"]), str(row["launched"])])
        lines[-1] += [*rounds, *ends]
    whole = found["all"]
    sums = [str(whole[key]) for key in ("steps", "failed", "launched")]
    lines.append(["all", *sums, "", "", "", str(whole["unfinished"]), f"{whole['residual']:.1e}"])
    return ["## A million steps of falls\n", source(found), *table(["", "steps", *names], lines)]


def precision() -> list[str]:
    """Return the section of benchmarks.float32."""
    found = result("float32")
    lines = []
    for name, row in found["rows"].items():
        errors = [row[kind]["99th percentile"] for kind in row]
        met = "yes" if row["all"]["99th percentile"] < ALLOWED else "**no**"
        lines.append([name, *(f"{error:.1e}" for error in errors), met])
    kinds = list(next(iter(found["rows"].values())))
    title = (
        "## Forces in float32 against float64\n\n99th percentile of errors over the weight. "
        "[History](solver.md#rounding) is no error of float32.\n"
    )
    return [title, source(found), *table(["", *kinds, f"below {ALLOWED:g}"], lines)]


def result(name: str) -> dict[str, Any]:
    """Return a file of results."""
    found: dict[str, Any] = json.loads((ROOT / f"benchmarks/results/{name}.json").read_text())
    return found


def source(found: dict[str, Any]) -> str:
    """Return a sentence that says where figures are from."""
    quiet = "" if found["quiet"] else ", beside other work, which does not change them"
    return f"`{found['command']}`, {found['machine']['cpu']}, {found['date']}{quiet}.\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = [list(head), ["---"] * len(head), *map(list, rows)]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


if __name__ == "__main__":
    main()
