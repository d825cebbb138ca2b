"""Chooses the walking iCub's set-up on training windows alone, and judges it once on the others.

    HEELSTRIKE_DATA=... python tools/icub_protocol.py    # benchmarks/results/icub-protocol.json

The set-up of docs/real-data.md was chosen while errors of held-out windows were seen. Here nested
folds choose it. Each third of the walk is held out in turn. Training windows are those of the rest
of the walk: they begin every EVERY, so that they overlap one another, but none overlaps a window
that is held out, its spin-up included. On them, every set-up of SETUPS is fitted with the plainest
law on one half of the time and judged on the other, in turn; then every law of LAWS is, with the
set-up of the least loss. The law with the least loss is fitted on all training windows and judged
on the third that was held out. Length of windows, spin-up and loss are not chosen anew.
tools/real_data.py writes the table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from heelstrike.identification.space import Space
from heelstrike.machine import machine
from heelstrike.robot.convert import to_pinocchio
from heelstrike.validation.candidates import candidates
from heelstrike.validation.files import training_file
from heelstrike.validation.fit import Effort, Fit, fit, predict_fitted
from heelstrike.validation.icub import POINTS, Walking
from heelstrike.validation.icub_models import BODY, HIP, LEAN, LEG, SPIN_UP, STIFFNESS, Walker
from heelstrike.validation.icub_recording import DELAY, FEET, GRAVITY, RATE, read, robot, weight
from heelstrike.validation.measured_set import Cases, Floats

RESULT = Path(__file__).parent.parent / "benchmarks" / "results" / "icub-protocol.json"
LAWS = ("linear-both", "linear-in", "hunt-crossley", "poisson-spring", "timestep-damper")
"""Explicit laws, whose fits take seconds; the first is the plainest."""
OUTER, INNER = 3, 2
EVERY = 0.14
"""Time from one training window to the next [s]: five times as many windows as are judged."""
EFFORT, CHOOSING = Effort(sets=24, rounds=6), Effort(sets=16, rounds=4)
"""Budget of the fit that is judged, and of those that choose law and set-up."""
LAGS = range(-10, 11)
"""Frames by which forces may lag further."""
STRIDE, SLACK, ALIKE = (150, 300), 12, 0.01
"""Range of a stride's length, and how far a partner may be off it [frames]; root mean square by
which angles of pairs differ at most [rad]."""
WORDS = {"hip rolls apart": (True, False), "lean": (True, False), "friction": (False, True)}
"""What a set-up searches with the law; first what docs/real-data.md has."""
SETUPS = [dict(zip(WORDS, values, strict=True)) for values in product(*WORDS.values())]


def model(law: str, setup: Mapping[str, bool]) -> Walker:
    """Return a law with what a set-up searches."""
    chosen = candidates(robot().mass / POINTS)[law]
    ranges = {
        key: ends
        for key, ends in chosen.ranges.items()
        if setup["friction"] or "friction" not in str(key)
    }
    joints: dict[Any, tuple[float, float]] = {(STIFFNESS, HIP): BODY[HIP]}
    if setup["hip rolls apart"]:
        joints = {STIFFNESS: BODY[STIFFNESS], HIP: BODY[HIP]}
    if setup["lean"]:
        joints[LEAN] = BODY[LEAN]
    return Walker(Space.of({**joints, **ranges}), chosen.law)


def errors(about: Walking, walker: Walker, found: Fit, cases: Cases) -> dict[str, Floats]:
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


def held_out(
    about: Walking,
    law: str,
    setup: Mapping[str, bool],
    training: Cases,
    others: Cases,
    effort: Effort = EFFORT,
) -> dict[str, Floats]:
    """Return the errors of windows by a law that was fitted on others."""
    walker = model(law, setup)
    return errors(about, walker, fit(about, walker, training, effort), others)


def inner_loss(about: Walking, law: str, setup: Mapping[str, bool], cases: Cases) -> float:
    """Return the mean loss over windows, each part of the time held out in turn."""
    losses = []
    for part in np.array_split(np.argsort(cases.given["time"]), INNER):
        others = cases.chosen(part)
        training = apart(cases, others)
        losses.append(held_out(about, law, setup, training, others, CHOOSING)["loss"])
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


def lag(path: Path) -> float:
    """Return by how much recorded forces lag behind the measured motion [ms], without any law.

    The weight is divided as the ZMP of the motion lies between the soles; the lag is that of the
    least squared difference from the recorded share.
    """
    made = read(path, Walking.columns)
    model = to_pinocchio(robot())
    data, frames = model.createData(), [robot().frames[f"{foot}_sole"] for foot in FEET]
    rows = []
    for q in made.q:
        com = pin.centerOfMass(model, data, q)
        rows.append([com, *(data.oMi[one.body + 1].act(one.translation) for one in frames)])
    com, left, right = np.array(rows).swapaxes(0, 1)
    height = com[:, 2] - np.minimum(left, right)[:, 2]
    rate = np.gradient(np.gradient(com[:, :2], 1 / RATE, axis=0), 1 / RATE, axis=0)
    zmp = com[:, :2] - height[:, None] / GRAVITY * rate
    between = (left - right)[:, :2]
    share = np.sum((zmp - right[:, :2]) * between, axis=1) / np.sum(between**2, axis=1)
    apart = []
    for late in LAGS:
        force = np.roll(made.force, -late, axis=0)
        own = np.clip(share, 0, 1) - force[:, 0] / force.sum(axis=1)
        apart.append(np.mean(own[RATE:-RATE] ** 2))
    return 1e3 * (DELAY + LAGS[int(np.argmin(apart))] / RATE)


def main() -> None:
    about = Walking()
    path = training_file(about.stem)
    cases, dense = about.read(path), Dense().read(path)
    folds, held = [], []
    for part in np.array_split(np.arange(len(cases)), OUTER):
        others = cases.chosen(part)
        training = apart(dense, others)
        setup = min(SETUPS, key=lambda one: inner_loss(about, LAWS[0], one, training))
        losses = {law: inner_loss(about, law, setup, training) for law in LAWS}
        law = min(losses, key=lambda name: losses[name])
        held.append(held_out(about, law, setup, training, others))
        own = {name: float(x.mean()) for name, x in held[-1].items()}
        folds.append(
            {
                "windows": len(others),
                "trained": len(training),
                "law": law,
                "setup": setup,
                "losses": losses,
                **own,
            }
        )
        print(folds[-1], flush=True)
    every = {name: np.concatenate([one[name] for one in held]) for name in held[0]}
    scores = {
        name: {"mean": float(x.mean()), "error": float(x.std(ddof=1) / np.sqrt(len(x)))}
        for name, x in every.items()
    }
    made = {
        "folds": folds,
        "scores": scores,
        "strides": strides(path) | {"lag by the ZMP [ms]": lag(path)},
        "machine": machine(),
    }
    RESULT.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
