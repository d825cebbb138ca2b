"""Errors of a model on held-out cases: means with standard errors, courses, phases, differences."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heelstrike.validation.fit import Fit
from heelstrike.validation.measured_set import Cases, Floats, MeasuredSet

CLEAR = 2.0
"""Standard errors above which a difference counts."""


@dataclass(frozen=True)
class Score:
    """A mean over cases with its standard error, and the median."""

    mean: float
    error: float
    median: float

    @classmethod
    def of(cls, values: Floats) -> Score:
        """Return the score of one number per case; what diverged is left out."""
        known = values[np.isfinite(values)]
        if len(known) == 0:
            return cls(np.nan, np.nan, np.nan)
        spread = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else np.nan
        return cls(float(known.mean()), float(spread), float(np.median(known)))

    def as_dict(self) -> dict[str, float | None]:
        """Return the numbers, None for those that are not known."""
        values = {"mean": self.mean, "error": self.error, "median": self.median}
        return {name: x if np.isfinite(x) else None for name, x in values.items()}


@dataclass(frozen=True)
class Judged:
    """A model on held-out cases."""

    name: str
    fit: Fit
    errors: Mapping[str, Floats]
    """One number per case by measure."""
    courses: Mapping[str, Floats]
    """Median error over cases of each frame, by measure that has a course."""
    phases: Mapping[str, Mapping[str, float]]
    """Mean error in each phase, by measure that has a course."""
    diverged: int
    """Number of cases whose prediction diverged; they are in no mean."""
    predicted: Floats = field(repr=False, compare=False)
    """Channels, (case, frame, channel)."""

    def score(self, measure: str) -> Score:
        """Return the mean over cases with its error."""
        return Score.of(self.errors[measure])

    def as_dict(self) -> dict[str, Any]:
        """Return what is kept of the model, ready for JSON."""
        return {
            "fit": self.fit.as_dict(),
            "scores": {name: self.score(name).as_dict() for name in self.errors},
            "phases": {
                name: {phase: x if np.isfinite(x) else None for phase, x in phases.items()}
                for name, phases in self.phases.items()
            },
            "diverged": self.diverged,
        }


def judge(about: MeasuredSet, cases: Cases, name: str, fit: Fit, predicted: Floats) -> Judged:
    """Return the errors of predicted channels (case, frame, channel)."""
    found, phase = about.errors(cases, predicted), about.phase(cases)
    of_cases, courses, phases = {}, {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # frames or cases without a number
        for measure in about.measures:
            errors = found[measure.name]
            of_cases[measure.name] = measure.of_cases(errors, len(cases))
            if errors.ndim == 2:
                courses[measure.name] = np.nanmedian(errors, axis=0)
                phases[measure.name] = {
                    word: float(np.mean(values))
                    for k, word in enumerate(about.phases)
                    if len(values := _finite(errors[phase == k]))
                }
    gone = np.any([~np.isfinite(x) & ~np.isnan(x) for x in of_cases.values()], axis=0)
    return Judged(name, fit, of_cases, courses, phases, int(gone.sum()), predicted)


def difference(one: Judged, other: Judged, measure: str) -> Score:
    """Return the mean of the errors of `one` minus those of `other`, case by case."""
    with np.errstate(invalid="ignore"):
        return Score.of(one.errors[measure] - other.errors[measure])


def clearly(found: Score) -> int:
    """Return -1 or 1 where a difference exceeds CLEAR standard errors, else 0."""
    if not np.isfinite(found.error) or abs(found.mean) <= CLEAR * found.error:
        return 0
    return -1 if found.mean < 0 else 1


def _finite(values: Floats) -> Floats:
    return values[np.isfinite(values)]
