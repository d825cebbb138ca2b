"""Judges laws on every toss of the cube: each fold is held out in turn.

    HEELSTRIKE_DATA=... python tools/cube_folds.py    # benchmarks/results/cube-folds.json

docs/real-data.md judges one fold of 110 tosses; with all four the standard errors are half as
large. Explicit elastic laws only, whose fits take seconds. tools/real_data.py writes the table.

Beside each error stands what is left of it after a smooth correction: kernel regression of the
residuals r(start), learned on three folds and judged on the fourth,

    r(x) = k(x, X) (k(X, X) + s 1)^-1 R,    k(x, y) = exp(-|x - y|^2 / (2 w^2)),

with starts x over their spread; w and s are those of the least error on inner folds. What it gains
is a systematic error of the law that varies smoothly with the start.

And a limit that no law can reach here: errors with the same parameters where the turn of the
cube's frame (cube_frames.py) is read off the judged toss itself, instead of its neighbours.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np

from heelstrike.machine import machine
from heelstrike.validation.cube import Cube
from heelstrike.validation.files import training_file
from heelstrike.validation.fit import predict_fitted
from heelstrike.validation.measured_set import Floats
from heelstrike.validation.validate import Validation, validate

RESULT = Path(__file__).parent.parent / "benchmarks" / "results" / "cube-folds.json"
LAWS = ("hunt-crossley", "linear-both", "linear-in", "poisson-spring", "timestep-damper")
FOLDS = (1, 2, 3, 4)
"""Fold 0 is not in the training file."""


WIDTHS, STRENGTHS = (0.7, 1.5, 3.0, 6.0), (0.3, 1.0, 3.0, 10.0, 30.0, 1e9)
"""w and s that are tried; the last s is no correction."""


def corrected(starts: Floats, residuals: Floats, folds: Floats) -> Floats:
    """Return the errors of tosses (toss,) after a smooth correction learned on other folds."""
    known = np.isfinite(residuals[..., 0])
    last = known.sum(axis=1) - 1  # what is not measured keeps the last frame's residual
    ends = residuals[np.arange(len(last)), last][:, None]
    filled = np.where(known[..., None], residuals, ends)
    scaled = (starts - starts.mean(axis=0)) / starts.std(axis=0)
    square = np.sum((scaled[:, None] - scaled[None]) ** 2, axis=-1)

    def left(train: Floats, test: Floats, width: float, strength: float) -> Floats:
        kernel = np.exp(-square / (2 * width**2))
        own = kernel[np.ix_(train, train)] + strength * np.eye(train.sum())
        weights = np.linalg.solve(own, filled[train].reshape(train.sum(), -1))
        made = (kernel[np.ix_(test, train)] @ weights).reshape(filled[test].shape)
        apart = np.linalg.norm(filled[test] - made, axis=-1)
        return np.asarray(np.nanmean(np.where(known[test], apart, np.nan), axis=-1))

    found = np.empty(len(folds))
    for fold in np.unique(folds):
        inner = [k for k in np.unique(folds) if k != fold]
        width, strength = min(
            product(WIDTHS, STRENGTHS),
            key=lambda one: sum(
                left((folds != fold) & (folds != k), folds == k, *one).sum() for k in inner
            ),
        )
        found[folds == fold] = left(folds != fold, folds == fold, width, strength)
    return found


def score(errors: Floats) -> dict[str, float]:
    """Return the mean with its standard error."""
    return {
        "mean": float(errors.mean()),
        "error": float(errors.std(ddof=1) / np.sqrt(len(errors))),
    }


def told(found: Validation, law: str) -> dict[str, Floats]:
    """Return the errors of a law by measure where the turns of the judged tosses are known."""
    about = Cube()
    about.held = ()
    cases = about.read(training_file(about.stem))
    cases = cases.chosen(np.isin(cases.ids, found.cases.ids))
    values = found.models[law].fit.values
    made = about.errors(cases, predict_fitted(about.models()[law](), cases, values))
    return {one.name: one.of_cases(made[one.name], len(cases)) for one in about.measures}


def main() -> None:
    found = [validate("cube", LAWS, mujoco=False, fold=fold) for fold in FOLDS]
    folds = np.repeat(FOLDS, [len(one.cases) for one in found])
    starts = np.concatenate([one.about.starts(one.cases) for one in found])
    scores: dict[str, dict[str, object]] = {law: {} for law in LAWS}
    for law in LAWS:
        known = [told(one, law) for one in found]
        residuals = [one.about.residuals(one.cases, one.models[law].predicted) for one in found]
        for name in residuals[0]:
            errors = np.concatenate([one.models[law].errors[name] for one in found])
            smooth = corrected(starts, np.concatenate([r[name] for r in residuals]), folds)
            scores[law][name] = {
                "folds": [float(errors[folds == fold].mean()) for fold in FOLDS],
                **score(errors),
                "corrected": score(smooth),
                "told": score(np.concatenate([one[name] for one in known])),
            }
        print(law, scores[law], flush=True)
    made = {"folds": FOLDS, "tosses": len(folds), "scores": scores, "machine": machine()}
    RESULT.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
