"""hs.validate: fit laws on training cases, judge them on others, and say what differs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike import checks
from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.identification.progress import search_bar
from heelstrike.machine import machine
from heelstrike.validation import kept
from heelstrike.validation.candidates import QUICK as QUICK_LAWS
from heelstrike.validation.files import find, training_file
from heelstrike.validation.fit import FULL, QUICK, Effort, Fit, fit, predict_fitted, thinned
from heelstrike.validation.floor import Floor, floor
from heelstrike.validation.judge import Judged, judge
from heelstrike.validation.measured_set import BASELINE, MUJOCO, Cases, MeasuredSet, Model
from heelstrike.validation.sets import measured_set
from heelstrike.validation.tables import table
from heelstrike.validation.verdict import laws as laws_of
from heelstrike.validation.verdict import ranks, verdict

FOLD = 1
"""The fold that is held out: cases whose id leaves this when divided by the set's `parts`."""
QUICK_CASES = 40
"""Largest number of held-out cases in a quick run."""


@dataclass(frozen=True)
class Validation:
    """Models judged on held-out cases; print() shows table and verdict."""

    name: str
    title: str
    file: str
    """Name of the file that was judged."""
    models: Mapping[str, Judged]
    floor: Floor | None
    trained: tuple[int, ...]
    """Checksums of the cases that parameters were fitted on."""
    effort: Effort | None
    """Budget of each search; None if kept parameters were judged."""
    notes: tuple[str, ...]
    """What to know of the cases: how many, which were left out."""
    calibration: Mapping[str, Any]
    about: MeasuredSet = field(repr=False)
    cases: Cases = field(repr=False)

    @property
    def verdict(self) -> list[str]:
        """Sentences that follow from the numbers."""
        return verdict(self.models, self.about.measures, self.floor)

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        effort = self.effort and {
            "sets": self.effort.total,
            "cases": self.effort.cases,
            "seed": self.effort.seed,
        }
        return {
            "set": self.name,
            "title": self.title,
            "file": self.file,
            "cases": len(self.cases),
            "notes": list(self.notes),
            "calibration": dict(self.calibration),
            "measures": {
                one.name: {"unit": one.unit, "average": one.average, "aim": one.aim}
                for one in self.about.measures
            },
            "models": {name: one.as_dict() for name, one in self.models.items()},
            "floor": self.floor and self.floor.as_dict(),
            "verdict": self.verdict,
            "ranks": ranks(self.models, self.about.measures),
            "effort": effort,
            "machine": machine(),
        }

    def __str__(self) -> str:
        values = self.as_dict()
        return "\n".join([f"{self.name}: {self.title}", *self.notes, "", table(values), "",
                          *self.verdict])  # fmt: skip

    __repr__ = __str__


def validate(
    name: str,
    laws: Sequence[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    *,
    mujoco: bool = True,
    refit: bool | None = None,
    quick: bool = False,
    fold: int = FOLD,
    effort: Effort | None = None,
    progress: bool | None = None,
) -> Validation:
    """Judge contact laws on measurements of a data set.

    Args:
        name: data set: cube, square, elbow, ...
        laws: names of laws; None for those of the set.
        data: folder or file to judge; None for the held-out fold of the training file.
        mujoco: whether MuJoCo is judged, too.
        refit: whether parameters are fitted now on the training file, found by HEELSTRIKE_DATA;
            None fits unless `data` is given, which is judged with the kept parameters.
        quick: few laws, unless they are named; few sets of parameters, on few cases.
        fold: the fold of the training file that is held out.
        effort: budget of each search; None for the default.
        progress: whether to show a progress bar; None shows one in a terminal.
    """
    about = measured_set(name)
    fold = checks.count("fold", fold, least=0, most=about.parts - 1)
    about.held = (fold,)
    laws = None if laws is None else checks.names("laws", laws)
    if effort is not None:
        checks.instance("effort", effort, Effort, "heelstrike.validation.fit.Effort(...)")
    for option, value in (("mujoco", mujoco), ("quick", quick), ("refit", refit)):
        if value is not None or option != "refit":
            checks.instance(option, value, bool, "True or False")
    fits_now = refit if refit is not None else data is None
    effort = (effort or (QUICK if quick else FULL)) if fits_now else None
    training: Cases | None = None
    if fits_now:
        whole = about.read(training_file(about.stem))
        training = whole if data is not None else whole.chosen(whole.ids % about.parts != fold)
        trained = kept.checksums(about, training)
    else:
        trained = kept.read(name)["trained"]
    path = training_file(about.stem) if data is None else find(about.stem, data)
    cases, notes = _judged(about, path, trained, quick)
    made = about.models()
    if quick and laws is None:
        laws = [law for law in about.laws if law in QUICK_LAWS] or None
    names = _chosen(about, made, laws, mujoco)
    old = {} if fits_now else kept.fits(name)
    models: dict[str, Model] = {}
    judged: dict[str, Judged] = {}
    for each in names:
        models[each] = made[each]()
        if training is not None and effort is not None:
            with search_bar(f"{name}, {each}", progress) as report:
                found = fit(about, models[each], training, effort, report)
        else:
            found = _old(old, each, models[each])
        predicted = predict_fitted(models[each], cases, found.values)
        judged[each] = judge(about, cases, each, found, predicted)
    return Validation(
        name,
        about.title,
        path.name,
        judged,
        _floor(about, cases, models, judged),
        tuple(trained),
        effort,
        tuple(notes),
        about.calibration(training) if training is not None else {},
        about,
        cases,
    )


def _judged(
    about: MeasuredSet, path: Path, trained: Sequence[int], quick: bool
) -> tuple[Cases, list[str]]:
    """Return the cases of a file that no parameter was fitted on, and what to know of them."""
    cases = about.read(path)
    sums = np.array(kept.checksums(about, cases))
    new = ~np.isin(sums, trained)
    if not new.any():
        raise HeelstrikeError(
            f"every case of '{path}' was used to fit the parameters",
            path=str(path),
            remedy="judge a file that was held back, or fit anew with a fold held out: --refit",
        )
    first = np.isin(np.arange(len(sums)), np.unique(sums, return_index=True)[1])
    notes = [f"{int((new & first).sum())} cases of {path.name} are judged."]
    if not new.all():
        notes.append(f"{int((~new).sum())} of its cases, or copies of them, were used to fit "
                     "parameters: left out.")  # fmt: skip
    if not first[new].all():
        notes.append(f"{int((new & ~first).sum())} more are copies of others: left out.")
    cases = cases.chosen(new & first)
    if quick and len(cases) > QUICK_CASES:
        cases = thinned(cases, QUICK_CASES)
        notes.append(f"Quick: only {len(cases)} of them.")
    return cases, notes


def _chosen(
    about: MeasuredSet, made: Mapping[str, object], laws: Sequence[str] | None, mujoco: bool
) -> list[str]:
    """Return the names of the models: laws, then MuJoCo, then no contact."""
    peers = [name for name in made if name.startswith(MUJOCO)]
    known = [name for name in made if name not in (*peers, BASELINE)]
    for law in laws or ():
        if law not in known:
            raise UnknownNameError("law", law, known)
    ours = list(laws if laws is not None else about.laws)
    return [*ours, *(peers if mujoco else ()), *(name for name in made if name == BASELINE)]


def _old(old: Mapping[str, Fit], name: str, model: Model) -> Fit:
    """Return kept parameters of a model."""
    if model.space is None:
        return Fit({}, {})
    if name not in old or set(old[name].values) != set(model.space.names):
        raise HeelstrikeError(
            f"no parameters of '{name}' are kept", path=name, remedy="fit them: --refit"
        )
    return old[name]


def _floor(
    about: MeasuredSet, cases: Cases, models: Mapping[str, Model], judged: Mapping[str, Judged]
) -> Floor | None:
    """Return the noise floor by the law that fits best."""
    ours = laws_of(judged)
    if not ours:
        return None
    losses = {
        name: float(np.mean(about.loss(cases, about.errors(cases, judged[name].predicted))))
        for name in ours
    }
    first = min(losses, key=lambda name: losses[name])
    return floor(about, cases, models[first], judged[first])
