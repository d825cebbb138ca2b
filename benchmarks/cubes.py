"""Contact laws and MuJoCo on real tosses of a cube: found on 330 tosses, judged on 110 others.

    HEELSTRIKE_DATA=... python -m benchmarks.cubes [LAW ...] [--nominal] [--json FILE]

The numbers of each law are found by hs.identify: a search in which all training tosses with all
sets of parameters are the worlds of one run. The loss, and which toss is trained on, stand in
heelstrike.papers.marhefka1996.tosses, the ranges in candidates.py. MuJoCo is searched by the same
method and loss, and shown with the numbers of others as well (cubes_mujoco.py). The cube is as the
training tosses measure it, with --nominal as its makers state it. With --json what was not run
keeps what the file says of it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import sem

import heelstrike as hs
from heelstrike.papers.marhefka1996.candidates import CANDIDATES
from heelstrike.papers.marhefka1996.tosses import (
    MEASURED,
    NOMINAL,
    Errors,
    Tosses,
    data_file,
    errors,
    loss,
    read,
    simulate,
    simulator,
)

MUJOCO = "mujoco"
KEYS = {False: "laws", True: "nominal"}
"""Of the results, by whether the cube is the nominal one."""
EFFORT = {True: (20, 6), False: (48, 9)}
"""Sets and rounds of a search; of a coupled law fewer, for its step takes ten times as long."""


def judged(made: Errors) -> dict[str, float]:
    """Means, medians and standard errors of the means over tosses."""
    values = {"width_percent": made.width, "degrees": made.degrees, "e_q": made.e_q}
    return {
        f"{kind}_{name}": float(of(value))
        for name, value in values.items()
        for kind, of in (("mean", np.mean), ("median", np.median), ("error", sem))
    }


def law(name: str, tosses: Tosses) -> dict[str, Any]:
    """Finds a law's numbers on the training tosses, and judges them on the others."""
    candidate = CANDIDATES[name]
    sets, rounds = EFFORT[candidate.law.couples]
    started = time.perf_counter()
    sim = simulator(candidate.law, cube=tosses.cube)
    fit = hs.identify(
        tosses.training.table, sim, candidate.ranges, loss=loss, sets=sets, rounds=rounds
    )
    spent = time.perf_counter() - started
    print(fit, flush=True)
    return {
        "found": dict(fit.values),
        "intervals": {path: list(ends) for path, ends in fit.intervals.items()},
        "unresolved": [str(group) for group in fit.unresolved],
        "sets": sets * (rounds + 1),
        "seconds": round(spent, 1),
        "training": judged(errors(tosses.training, simulate(tosses.training, sim))),
        "held_out": judged(errors(tosses.held_out, simulate(tosses.held_out, sim))),
    }


def shown(name: str, result: dict[str, Any]) -> str:
    made = result["held_out"]
    return (
        f"{name:<22} position {made['mean_width_percent']:5.1f} / "
        f"{made['median_width_percent']:4.1f} % of width, rotation {made['mean_degrees']:5.1f} / "
        f"{made['median_degrees']:4.1f} deg"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.cubes", description=__doc__.splitlines()[0])
    parser.add_argument("laws", nargs="*", help=f"of {', '.join([*CANDIDATES, MUJOCO])}")
    parser.add_argument("--nominal", action="store_true", help="the cube as it was stated")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    path = data_file()
    if path is None:
        sys.exit("set HEELSTRIKE_DATA to the folder that holds the tosses")
    tosses, key = read(path, NOMINAL if asked.nominal else MEASURED), KEYS[asked.nominal]
    kept: dict[str, Any] = {"laws": {}, "nominal": {}}
    if asked.json and asked.json.exists():
        kept |= json.loads(asked.json.read_text())
    for name in asked.laws or [*CANDIDATES, MUJOCO]:
        if name == MUJOCO:
            from benchmarks.cubes_mujoco import compared

            made = compared(tosses)
        else:
            made = {name: law(name, tosses)}
        kept[key] |= made
        for one, result in made.items():
            print(shown(one, result), flush=True)
        if asked.json:
            asked.json.write_text(json.dumps(kept | {}, indent=1) + "\n")


if __name__ == "__main__":
    main()
