"""Judges laws on every toss of the cube: each fold is held out in turn.

    HEELSTRIKE_DATA=... python tools/cube_folds.py    # benchmarks/results/cube-folds.json

docs/real-data.md judges one fold of 110 tosses; with all four the standard errors are half as
large. Explicit elastic laws only, whose fits take seconds. tools/real_data.py writes the table.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from heelstrike.machine import machine
from heelstrike.validation.validate import validate

RESULT = Path(__file__).parent.parent / "benchmarks" / "results" / "cube-folds.json"
LAWS = ("hunt-crossley", "linear-both", "linear-in", "poisson-spring", "timestep-damper")
FOLDS = (1, 2, 3, 4)
"""Fold 0 is not in the training file."""


def main() -> None:
    errors: dict[str, dict[str, list[np.ndarray]]] = {law: {} for law in LAWS}
    for fold in FOLDS:
        found = validate("cube", LAWS, mujoco=False, fold=fold)
        for law in LAWS:
            for name, own in found.models[law].errors.items():
                errors[law].setdefault(name, []).append(own)
        print(
            f"fold {fold}", {law: found.models[law].score("position") for law in LAWS}, flush=True
        )
    scores = {
        law: {
            name: {
                "folds": [float(fold.mean()) for fold in folds],
                "mean": float(np.concatenate(folds).mean()),
                "error": float(np.concatenate(folds).std(ddof=1) / np.sqrt(sum(map(len, folds)))),
            }
            for name, folds in own.items()
        }
        for law, own in errors.items()
    }
    RESULT.write_text(
        json.dumps({"folds": FOLDS, "scores": scores, "machine": machine()}, indent=1) + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
