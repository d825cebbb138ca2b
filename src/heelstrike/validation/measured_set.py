"""What a data set states: its cases, models, errors, phases, noise and curves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heelstrike.identification.space import Space

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int_]
Errors: TypeAlias = Mapping[str, Floats]
"""Errors by measure, (..., case, frame), or (..., case) of one that has no course."""

BASELINE, MUJOCO = "no contact", "mujoco"
"""Names of the two models that every table has beside the laws."""


@dataclass(frozen=True)
class Measure:
    """What a prediction is judged by."""

    name: str
    """Key of `errors`, such as "position"."""
    unit: str
    average: Literal["mean", "rms"] = "mean"
    """How the errors of a case's frames become one number."""
    aim: float | None = None
    """Mean over cases that is aimed at, in the unit."""

    def of_cases(self, errors: Floats, cases: int) -> Floats:
        """Return one number per case, (..., case); infinite where the prediction diverged."""
        if errors.ndim == 1 and len(errors) == cases:
            return errors
        with np.errstate(over="ignore"):
            if self.average == "rms":
                return np.asarray(np.sqrt(np.nanmean(errors**2, axis=-1)))
            return np.asarray(np.nanmean(errors, axis=-1))


@dataclass(frozen=True)
class Cases:
    """Measured cases side by side: tosses, drops, landings, or pieces of a walk."""

    file: str
    """Name of the file."""
    ids: Ints
    """Number of each case in the data set, by which it belongs to a fold."""
    time: Floats
    """Times of the frames since the start of a case [s], in equal steps."""
    measured: Floats
    """Measured channels, (case, frame, channel); NaN where a case has ended."""
    given: Mapping[str, np.ndarray] = field(default_factory=dict)
    """What a simulation is given, one row per case: the start, torques, references."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def frames(self) -> int:
        """Number of frames of the longest case."""
        return self.measured.shape[1]

    def cut(self, frames: int) -> Cases:
        """Return the first frames of all cases."""
        return replace(self, time=self.time[:frames], measured=self.measured[:, :frames])

    def chosen(self, which: slice | np.ndarray) -> Cases:
        """Return a subset of the cases."""
        given = {name: value[which] for name, value in self.given.items()}
        return replace(self, ids=self.ids[which], measured=self.measured[which], given=given)

    def with_given(self, **given: np.ndarray) -> Cases:
        """Return the cases with some of `given` replaced."""
        return replace(self, given={**self.given, **given})


@dataclass(frozen=True)
class Model(ABC):
    """A contact law, a peer or a baseline that predicts what was measured."""

    space: Space | None
    """Parameters that are searched; None if there is nothing to find."""

    @abstractmethod
    def predict(self, cases: Cases, values: Mapping[str, Floats]) -> Floats:
        """Return channels (set, case, frame, channel) as measured ones, inf where it diverged.

        Args:
            cases: what is predicted; only `given`, and the first frame, may be read.
            values: parameters by path, one value per set; empty for one set without any.
        """


class MeasuredSet(ABC):
    """A data set with everything that depends on it; the package's docstring is the contract."""

    name: str
    """Name in the command, such as "cube"."""
    title: str
    """What was measured, in a few words."""
    stem: str
    """Beginning of the names of its files, such as "cube_toss"."""
    columns: tuple[str, ...]
    """Arrays that a file has."""
    measures: tuple[Measure, ...]
    phases: tuple[str, ...]
    """Names of the phases of a case, such as ("flight", "impact", "slide", "rest")."""
    laws: tuple[str, ...]
    """Laws that are compared unless others are chosen."""
    parts: int = 5
    """A case belongs to the fold id % parts."""
    held: tuple[int, ...] = (1,)
    """Folds that are judged: what a set reads off neighbouring cases does not come from them."""
    start_noise: str = ""
    """How large the noise of a start is, in words, for the noise floor."""

    @abstractmethod
    def read(self, path: Path) -> Cases:
        """Return the cases of a file; raise FileError naming file, row and remedy."""

    @abstractmethod
    def models(self) -> dict[str, Callable[[], Model]]:
        """Return functions that make the models, by name, BASELINE and MUJOCO among them.

        Quantities of the set-up, such as a scale, are constants of the set's module;
        `calibration` measures them on the training cases.
        """

    @abstractmethod
    def errors(self, cases: Cases, predicted: Floats) -> dict[str, Floats]:
        """Return the errors of predicted channels (..., case, frame, channel) by measure."""

    @abstractmethod
    def loss(self, cases: Cases, errors: Errors) -> Floats:
        """Return the loss of each case, (..., case)."""

    def searched(self, training: Cases) -> Cases:
        """Return the training cases as the search compares them: here whole ones."""
        return training

    @abstractmethod
    def phase(self, cases: Cases) -> Ints:
        """Return the phase of each measured frame, (case, frame); -1 where there is none."""

    @abstractmethod
    def disturbed(self, cases: Cases, random: np.random.Generator) -> Cases:
        """Return the cases with starts disturbed by the measurement's noise."""

    @abstractmethod
    def curves(self, cases: Cases, channels: Floats, case: int) -> dict[str, Floats]:
        """Return what pictures show of a case, (frame,) by label with unit.

        Args:
            cases: the cases.
            channels: measured or predicted channels, (case, frame, channel).
            case: number of the case.
        """

    def identity(self, cases: Cases) -> Floats:
        """Return what two cases share only if they are copies, (case, ...): here all channels."""
        return cases.measured

    def starts(self, cases: Cases) -> Floats:
        """Return numbers (case, n) that agree where two cases begin alike, symmetries removed."""
        return np.zeros((len(cases), 1))

    def residuals(self, cases: Cases, predicted: Floats) -> dict[str, Floats]:
        """Return measured minus predicted as vectors (case, frame, axis) by measure.

        Their lengths are the errors of the measure, and their axes those of the case, so that
        cases that begin alike can be compared. Empty: the set has no such vectors.
        """
        return {}

    def calibration(self, training: Cases) -> dict[str, Any]:
        """Return what the training cases say of the set-up, by name with unit."""
        return {}
