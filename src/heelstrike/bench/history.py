"""Results by commit, and what became slower between two of them.

A figure is a ratio x = MuJoCo's time / ours, both of one run, so that machines may differ, with its
noise n: the product of both spreads (median turn over the best). Between two results,

    change = x_before / x_now,      slower where change > max(n_before n_now, 1 + MIN_CHANGE)

A history is a file of lines, one JSON object each: `commit`, `date`, `cpu`, `quick` and `figures`,
[x, n] by name. `heelstrike bench --history FILE` appends one; --against reads the last.
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heelstrike.bench.steps import PEER_BATCH, PEER_ONE
from heelstrike.errors import FileError, HeelstrikeError
from heelstrike.files import check_regular, whole_file

MIN_CHANGE = 0.03
"""Smallest change that counts as one [-]."""
HISTORY = ".jsonl"
"""Suffix of a history."""
WRONG = ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError
"""What data of another kind raise."""


@dataclass(frozen=True)
class Change:
    """How one figure changed from one result to another."""

    name: str
    before: float
    """MuJoCo's time over ours [-]."""
    now: float
    noise: float
    """Product of the noise of both [-]."""

    @property
    def factor(self) -> float:
        """Our time over that of before, each relative to MuJoCo's [-]."""
        return self.before / self.now

    @property
    def limit(self) -> float:
        """Factor above which a figure became slower [-]."""
        return max(self.noise, 1 + MIN_CHANGE)

    @property
    def verdict(self) -> str:
        """Return "slower", "faster" or "" where the noise hides any change."""
        if self.factor > self.limit:
            return "slower"
        return "faster" if self.factor < 1 / self.limit else ""


def figures(result: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return ratio and noise of every way to step and of every law, by name."""
    found = {}
    for robot, own in result["robots"].items():
        ways = own["ways"]
        one, batch = ways[PEER_ONE], ways[PEER_BATCH]
        for way, spent in ways.items():
            alone = way.startswith("one world") or way.endswith("one thread")
            if way not in (PEER_ONE, PEER_BATCH):
                found[f"{robot}: {way}"] = _figure(one if alone else batch, spent)
        for law, each in own["laws"].items():
            for kind, peer in (("one", one), ("batch", batch)):
                if each[kind]:
                    found[f"{robot}, {law}: {kind}"] = _figure(peer, each[kind])
    return found


def _figure(peer: Mapping[str, float], ours: Mapping[str, float]) -> tuple[float, float]:
    """Return ratio and noise; of CPU time where both have it, since pools may starve."""
    clock = "cpu_us" if "cpu_us" in peer and "cpu_us" in ours else "us"
    return peer[clock] / ours[clock], peer["spread"] * ours["spread"]


def entry(result: Mapping[str, Any], commit: str) -> dict[str, Any]:
    """Return the line of a history for a result."""
    return {
        "commit": commit,
        "date": result["date"],
        "cpu": result["machine"]["cpu"],
        "quick": result["quick"],
        "figures": {name: [round(x, 3) for x in own] for name, own in figures(result).items()},
    }


def append(path: Path, result: Mapping[str, Any]) -> None:
    """Append a result to a history, under the commit of the code that was measured.

    The file is written anew, whole or not at all.
    """
    lines = path.read_text() if path.exists() else ""
    with whole_file(path) as part:
        part.write_text(f"{lines}{json.dumps(entry(result, measured_commit()))}\n")


def measured_commit() -> str:
    """Return the commit of the code that runs, with a + if files were changed since.

    Installed code that is no part of a repository is "installed".
    """
    folder = Path(__file__).parent
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty=+", "--exclude=*"]
    tracked = ["git", "-C", str(folder), "ls-files", "--error-unmatch", Path(__file__).name]
    try:
        for words in (tracked, command):
            done = subprocess.run(words, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "installed"
    return done.stdout.strip()


def read_entry(path: Path) -> dict[str, Any]:
    """Return the last entry of a history, or the entry of a result that --out wrote."""
    check_regular(path)
    try:
        text = path.read_text()
        if path.suffix == HISTORY:
            return _checked(json.loads(text.strip().splitlines()[-1]))
        return _checked(entry(json.loads(text), ""))
    except OSError as error:
        raise FileError(f"cannot read '{path}': {error.strerror}", path=str(path)) from error
    except WRONG as error:
        raise FileError(
            f"'{path}' is neither a history nor a result of heelstrike bench",
            path=str(path),
            remedy="name a file that --history or --out wrote",
        ) from error


def _checked(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry with its types; raise one of several errors if it is none."""
    own = {name: (float(x), float(noise)) for name, (x, noise) in found["figures"].items()}
    if not all(0 < value < math.inf for pair in own.values() for value in pair):
        raise ValueError("a figure that is no ratio")
    return {key: str(found[key]) for key in ("commit", "date", "cpu")} | {"figures": own}


def compare(before: Mapping[str, Any], result: Mapping[str, Any]) -> list[Change]:
    """Return the changes of all figures that an entry and a result both have, slowest first."""
    old, new = before["figures"], figures(result)
    common = [name for name in new if name in old]
    if not common:
        raise HeelstrikeError(
            "the two results have no figure in common",
            path="--against",
            remedy="measure the same robots and laws",
        )
    found = [Change(n, old[n][0], new[n][0], old[n][1] * new[n][1]) for n in common]
    return sorted(found, key=lambda change: -change.factor / change.limit)
