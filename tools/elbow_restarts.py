"""Judges laws on tosses of the elbow from a state that was measured after the first impact.

    HEELSTRIKE_DATA=... python tools/elbow_restarts.py    # benchmarks/results/elbow-restarts.json

How much of the error is the first impact's? Of each held-out toss that flies again after it, the
same frames are predicted twice, with the kept parameters: from the start of the toss, and from pose
and velocities measured at the end of that flight, LEFT frames before something is near again. What
the second prediction gains is the error of the first impact, carried on. Noise of the second start
(`MeasuredSet.disturbed`) is a limit below all laws. tools/real_data.py writes the table.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from heelstrike.machine import machine
from heelstrike.validation import free_body, kept
from heelstrike.validation.elbow import Elbow
from heelstrike.validation.elbow_physics import CLEAR, spans
from heelstrike.validation.elbow_recording import FLOWN, LEAST, flight, lowest
from heelstrike.validation.files import training_file
from heelstrike.validation.fit import predict_fitted
from heelstrike.validation.floor import TWINS
from heelstrike.validation.judge import Score
from heelstrike.validation.measured_set import BASELINE, Cases, Errors, Floats, Ints, Model
from heelstrike.validation.validate import FOLD

RESULT = Path(__file__).parent.parent / "benchmarks" / "results" / "elbow-restarts.json"
LEFT, COMPARED = 3, 20
"""Frames of the flight that are left at the second start; least number of frames after it."""


def restarts(cases: Cases) -> tuple[Cases, Ints, Ints]:
    """Return tosses from the flight after their first impact on, their rows and first frames."""
    poses, speeds, rows, firsts = [], [], [], []
    for row, toss in enumerate(cases.measured):
        q = toss[np.isfinite(toss[:, 0])]
        hit = int(np.argmax(lowest(q) < CLEAR))
        for a, b in spans(q):
            if a <= hit or b - a < LEAST or b > len(q) - COMPARED:
                continue
            begun = max(a, b - FLOWN)
            start = max(a, b - LEFT)
            v0 = flight(q[begun:b], start - begun)
            inward = Rotation.from_quat(q[start, 3:7]).inv()
            speeds.append(np.concatenate([inward.apply(v0[:3]), v0[3:]]))
            poses.append(q[start:])
            rows.append(row)
            firsts.append(start)
            break
    measured = free_body.side_by_side(poses)
    begun_again = replace(
        cases.chosen(np.array(rows)),
        time=cases.time[: measured.shape[1]],
        measured=measured,
        given={"v0": np.array(speeds)},
    )
    return begun_again, np.array(rows), np.array(firsts)


def later(errors: Floats, rows: Ints, firsts: Ints) -> Floats:
    """Return mean errors (toss,) of errors (toss, frame) from those frames on."""
    return np.array([np.nanmean(errors[row, k:]) for row, k in zip(rows, firsts, strict=True)])


def noise(about: Elbow, cases: Cases, model: Model, values: dict[str, float]) -> Errors:
    """Return mean errors (toss,) that noise of the start makes, by measure."""
    random = np.random.default_rng(0)
    own = predict_fitted(model, cases, values)
    truth = replace(cases, measured=np.where(np.isnan(cases.measured), np.nan, own))
    twins = [
        about.errors(truth, predict_fitted(model, about.disturbed(cases, random), values))
        for _ in range(TWINS)
    ]
    return {
        name: np.mean([np.nanmean(twin[name], axis=1) for twin in twins], axis=0)
        for name in twins[0]
    }


def main() -> None:
    about = Elbow()
    cases = about.read(training_file(about.stem))
    cases = cases.chosen(cases.ids % about.parts == FOLD)
    again, rows, firsts = restarts(cases)
    found: dict[str, dict[str, dict[str, object]]] = {}
    for name, fitted in kept.fits(about.name).items():
        if name == BASELINE:
            continue
        model, values = about.models()[name](), dict(fitted.values)
        whole = about.errors(cases, predict_fitted(model, cases, values))
        second = about.errors(again, predict_fitted(model, again, values))
        limit = noise(about, again, model, values)
        found[name] = {
            measure: {
                "from the start": Score.of(later(whole[measure], rows, firsts)).as_dict(),
                "after the first impact": Score.of(np.nanmean(second[measure], axis=1)).as_dict(),
                "noise": Score.of(limit[measure]).as_dict(),
            }
            for measure in whole
        }
        print(name, found[name], flush=True)
    made = {"tosses": len(rows), "scores": found, "machine": machine()}
    RESULT.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
