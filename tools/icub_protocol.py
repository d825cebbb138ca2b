"""Chooses the walking iCub's set-up on training windows alone, and judges it once on the others.

    HEELSTRIKE_DATA=... python tools/icub_protocol.py    # benchmarks/results/icub-protocol.json

The set-up of docs/real-data.md was chosen while errors of held-out windows were seen. Here nested
folds choose it: each third of the windows is held out in turn; on the others, every set-up of
SETUPS is fitted with the plainest law on every other window and judged on those between, in turn;
then every law of LAWS is, with the set-up of the least loss. The law with the least loss is fitted
on all of them and judged on the third that was held out. Length of windows, spin-up and loss are
not chosen anew. tools/real_data.py writes the table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.identification.space import Space
from heelstrike.machine import machine
from heelstrike.validation.candidates import candidates
from heelstrike.validation.files import training_file
from heelstrike.validation.fit import Effort, Fit, fit, predict_fitted
from heelstrike.validation.icub import POINTS, Walking
from heelstrike.validation.icub_models import BODY, HIP, LEAN, STIFFNESS, Walker
from heelstrike.validation.icub_recording import robot
from heelstrike.validation.measured_set import Cases, Floats

RESULT = Path(__file__).parent.parent / "benchmarks" / "results" / "icub-protocol.json"
LAWS = ("linear-both", "linear-in", "hunt-crossley", "poisson-spring", "timestep-damper")
"""Explicit laws, whose fits take seconds; the first is the plainest."""
OUTER, INNER = 3, 2
EFFORT = Effort(sets=24, rounds=6)
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


def held_out(
    about: Walking, law: str, setup: Mapping[str, bool], training: Cases, others: Cases
) -> dict[str, Floats]:
    """Return the errors of windows by a law that was fitted on others."""
    walker = model(law, setup)
    return errors(about, walker, fit(about, walker, training, EFFORT), others)


def inner_loss(about: Walking, law: str, setup: Mapping[str, bool], cases: Cases) -> float:
    """Return the mean loss over windows, each inner fold held out in turn."""
    part = np.arange(len(cases)) % INNER
    losses = [
        held_out(about, law, setup, cases.chosen(part != k), cases.chosen(part == k))["loss"]
        for k in range(INNER)
    ]
    return float(np.mean(np.concatenate(losses)))


def main() -> None:
    about = Walking()
    cases = about.read(training_file(about.stem))
    part = np.arange(len(cases)) % OUTER
    folds, held = [], []
    for k in range(OUTER):
        training, others = cases.chosen(part != k), cases.chosen(part == k)
        setup = min(SETUPS, key=lambda one: inner_loss(about, LAWS[0], one, training))
        losses = {law: inner_loss(about, law, setup, training) for law in LAWS}
        law = min(losses, key=lambda name: losses[name])
        held.append(held_out(about, law, setup, training, others))
        own = {name: float(x.mean()) for name, x in held[-1].items()}
        folds.append({"windows": len(others), "law": law, "setup": setup, "losses": losses, **own})
        print(folds[-1], flush=True)
    every = {name: np.concatenate([one[name] for one in held]) for name in held[0]}
    scores = {
        name: {"mean": float(x.mean()), "error": float(x.std(ddof=1) / np.sqrt(len(x)))}
        for name, x in every.items()
    }
    made = {"folds": folds, "scores": scores, "machine": machine()}
    RESULT.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
