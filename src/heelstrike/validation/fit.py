"""One search for every model: the same method, sets of parameters, cases, loss and seed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from heelstrike.checks import count
from heelstrike.identification.identified import of_search
from heelstrike.identification.search import Report, search
from heelstrike.validation.measured_set import Cases, Floats, MeasuredSet, Model

MAX_EFFORT = 100_000
"""Largest number of sets in a round, of rounds, and of cases."""
BATCH = 2**27
"""Largest memory of the predictions of one call [bytes]."""


@dataclass(frozen=True)
class Effort:
    """Budget of a search, equal for all models."""

    sets: int = 24
    """Sets of parameters in a round; twice as many in the first."""
    rounds: int = 7
    cases: int = 220
    """Largest number of training cases, spread evenly over those that there are."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("sets", "rounds", "cases"):
            count(name, getattr(self, name), least=1, most=MAX_EFFORT)
        count("seed", self.seed, least=0)

    @property
    def total(self) -> int:
        """Number of sets of parameters that are tried."""
        return self.sets * (self.rounds + 1)


FULL = Effort()
QUICK = Effort(sets=6, rounds=3, cases=24)


@dataclass(frozen=True)
class Fit:
    """Parameters of a model that were found, with their uncertainty."""

    values: Mapping[str, float]
    """By the first path of each parameter."""
    intervals: Mapping[str, tuple[float, float]]
    """Intervals of 95 %, by bootstrap over the training cases."""
    unresolved: tuple[str, ...] = ()
    """What the cases do not determine, in words."""
    at_end: tuple[str, ...] = ()
    """Parameters at an end of their range."""
    loss: float = 0.0
    """Mean loss over the training cases that were searched."""
    seconds: float = 0.0
    """CPU time of the search [s]."""

    def as_dict(self) -> dict[str, Any]:
        """Return the fit, ready for JSON."""
        return asdict(self)

    @classmethod
    def of_dict(cls, values: Mapping[str, Any]) -> Fit:
        """Return the fit of what `as_dict` returned."""
        intervals = {path: (ends[0], ends[1]) for path, ends in values["intervals"].items()}
        groups = {name: tuple(values[name]) for name in ("unresolved", "at_end")}
        return cls(**{**values, "intervals": intervals, **groups})


def fit(
    about: MeasuredSet,
    model: Model,
    training: Cases,
    effort: Effort,
    report: Report = lambda done, best: None,
) -> Fit:
    """Return the parameters of a model with the least mean loss over training cases."""
    if model.space is None:
        return Fit({}, {})
    space, few = model.space, about.searched(thinned(training, effort.cases))
    started = time.process_time()

    def losses(x: Floats) -> Floats:
        made = about.loss(few, about.errors(few, predict(model, few, space.values(x))))
        return np.where(np.isfinite(made), made, np.inf)

    tried = search(losses, space, effort.sets, effort.rounds, effort.seed, report)
    found = of_search(space, tried, tried.again(np.random.default_rng(effort.seed)), None)
    return Fit(
        dict(found.values),
        dict(found.intervals),
        tuple(str(group) for group in found.unresolved),
        found.at_end,
        found.residual,
        round(time.process_time() - started, 1),
    )


def predict(model: Model, cases: Cases, values: Mapping[str, Floats]) -> Floats:
    """Return the channels (set, case, frame, channel) of many sets, in calls of limited memory."""
    sets = len(next(iter(values.values()))) if values else 1
    most = max(1, BATCH // max(1, cases.measured.nbytes))
    parts = [
        model.predict(cases, {path: value[k : k + most] for path, value in values.items()})
        for k in range(0, sets, most)
    ]
    return np.concatenate(parts)


def predict_fitted(model: Model, cases: Cases, values: Mapping[str, float]) -> Floats:
    """Return the channels (case, frame, channel) with the parameters that were found."""
    if model.space is None:
        return predict(model, cases, {})[0]
    x = np.log([[values[name] for name in model.space.names]])
    return predict(model, cases, model.space.values(x))[0]


def thinned(cases: Cases, most: int) -> Cases:
    """Return at most so many cases, spread evenly."""
    if len(cases) <= most:
        return cases
    return cases.chosen(np.linspace(0, len(cases) - 1, most).round().astype(int))
