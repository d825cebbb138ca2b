"""Judges laws on every third of the iCub's walk, fitted on the rest of it.

    HEELSTRIKE_DATA=... python tools/icub_protocol.py    # benchmarks/results/icub-protocol.json

docs/real-data.md judges five windows by parameters of four others. Here each third of the walk is
held out in turn. Training windows are those of the rest: they begin every EVERY, so that they
overlap one another, but none overlaps a window that is held out, its spin-up included. Every law of
the set, and MuJoCo, is fitted on them and judged on the third. One law of CHOICE is chosen as well,
on the training windows alone: the law with the least loss where one half of their time is fitted
and the other judged, in turn. Length of windows, spin-up, loss and what is searched are those of
the set. tools/real_data.py writes the table.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from heelstrike.machine import machine
from heelstrike.validation.files import training_file
from heelstrike.validation.fit import Effort, Fit, fit, predict_fitted
from heelstrike.validation.icub import Walking
from heelstrike.validation.icub_balance import check
from heelstrike.validation.icub_models import LEG, SPIN_UP
from heelstrike.validation.icub_recording import read
from heelstrike.validation.icub_robot import RATE, robot, weight
from heelstrike.validation.measured_set import MUJOCO, Cases, Floats, Model

RESULT = Path(__file__).parent.parent / "benchmarks" / "results" / "icub-protocol.json"
CHOICE = ("linear-both", "linear-in", "hunt-crossley", "poisson-spring", "timestep-damper")
"""Explicit laws, whose fits take seconds."""
OUTER, INNER = 3, 2
EVERY = 0.14
"""Time from one training window to the next [s]: five times as many windows as are judged."""
EFFORT = Effort(sets=24, rounds=6)
"""Budget of each fit."""
STRIDE, SLACK, ALIKE = (150, 300), 12, 0.01
"""Range of a stride's length, and how far a partner may be off it [frames]; root mean square by
which angles of pairs differ at most [rad]."""


def errors(about: Walking, walker: Model, found: Fit, cases: Cases) -> dict[str, Floats]:
    """Return the errors of windows by measure, and their loss."""
    made = about.errors(cases, predict_fitted(walker, cases, found.values))
    own = {one.name: one.of_cases(made[one.name], len(cases)) for one in about.measures}
    return {**own, "loss": about.loss(cases, made)}


class Dense(Walking):
    """Windows that overlap, to train on."""

    every = EVERY


def apart(cases: Cases, others: Cases) -> Cases:
    """Return the windows that overlap none of the others, spin-up included."""
    between = np.abs(cases.given["time"][:, None] - others.given["time"][None])
    return cases.chosen((between >= Walking.window + SPIN_UP).all(axis=1))


def held_out(about: Walking, law: str, training: Cases, others: Cases) -> dict[str, Floats]:
    """Return the errors of windows by a law that was fitted on others."""
    walker = about.models()[law]()
    return errors(about, walker, fit(about, walker, training, EFFORT), others)


def inner_loss(about: Walking, law: str, cases: Cases) -> float:
    """Return the mean loss over windows, each part of the time held out in turn."""
    losses = []
    for part in np.array_split(np.argsort(cases.given["time"]), INNER):
        others = cases.chosen(part)
        losses.append(held_out(about, law, apart(cases, others), others)["loss"])
    return float(np.mean(np.concatenate(losses)))


def strides(path: Path) -> dict[str, float]:
    """Return how much forces of one stride differ from those of the next, at equal angles.

    A frame's partner is the frame of the next stride with the nearest angles of the legs; pairs
    within ALIKE count. As in floor.py, |f_i - f_j| / sqrt(2) is what did not repeat.
    """
    made, walked = read(path, Walking.columns), Walking().read(path).given["time"]
    first, last = (round(RATE * t) for t in (walked[0], walked[-1] + Walking.window))
    legs = [j.iq for j in robot().joints if j.name[2:] in (*LEG, "hip_roll")]
    angles, share = made.q[first:last, legs], 100 * made.force[first:last] / weight()
    between = [np.mean((angles[lag:] - angles[:-lag]) ** 2) for lag in range(*STRIDE)]
    lag = STRIDE[0] + int(np.argmin(between))
    apart, force = [], []
    for k in range(len(angles) - lag):
        near = np.arange(k + lag - SLACK, min(k + lag + SLACK + 1, len(angles)))
        own = np.sqrt(np.mean((angles[near] - angles[k]) ** 2, axis=1))
        apart.append(own.min())
        force.append(share[near[own.argmin()]] - share[k])
    alike = np.array(apart) < ALIKE
    left, right = np.sqrt(np.mean(np.array(force)[alike] ** 2, axis=0) / 2)
    return {
        "stride [s]": lag / RATE,
        "frames": int(alike.sum()),
        "angles apart [mrad]": 1e3 * float(np.median(np.array(apart)[alike])),
        "left foot": float(left),
        "right foot": float(right),
    }


def balances(path: Path) -> dict[str, float]:
    """Return how well the motion of the walk fits its sensors, with the files' base and ours."""
    made, walked = read(path, Walking.columns), Walking().read(path).given["time"]
    judged = slice(round(RATE * walked[0]), round(RATE * (walked[-1] + Walking.window)))
    filed = {f"{name}, base of the file": x for name, x in check(made, made.filed, judged).items()}
    return check(made, made.q, judged) | filed


def main() -> None:
    about = Walking()
    path = training_file(about.stem)
    cases, dense = about.read(path), Dense().read(path)
    models = [*Walking.laws, MUJOCO]
    held: dict[str, list[dict[str, Floats]]] = {name: [] for name in models}
    folds = []
    for part in np.array_split(np.arange(len(cases)), OUTER):
        others = cases.chosen(part)
        training = apart(dense, others)
        losses = {law: inner_loss(about, law, training) for law in CHOICE}
        for name in models:
            held[name].append(held_out(about, name, training, others))
        chosen = min(losses, key=lambda name: losses[name])
        folds.append(
            {
                "windows": len(others),
                "trained": len(training),
                "law": chosen,
                "losses": losses,
                **{name: float(x.mean()) for name, x in held[chosen][-1].items()},
            }
        )
        print(folds[-1], flush=True)
    made = {
        "folds": folds,
        "scores": scores([held[fold["law"]][k] for k, fold in enumerate(folds)]),
        "laws": {law: scores(own) for law, own in held.items()},
        "measured": strides(path) | balances(path),
        "machine": machine(),
    }
    RESULT.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def scores(thirds: list[dict[str, Floats]]) -> dict[str, dict[str, float]]:
    """Return means with their standard errors over the windows of all thirds, by measure."""
    every = {name: np.concatenate([one[name] for one in thirds]) for name in thirds[0]}
    return {
        name: {"mean": float(x.mean()), "error": float(x.std(ddof=1) / np.sqrt(len(x)))}
        for name, x in every.items()
    }


if __name__ == "__main__":
    main()
