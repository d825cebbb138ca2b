"""The noise floor: how far predictions can be trusted at all, whatever the law.

Two estimates, each a mean error as the laws are judged by:

- start noise: each case is simulated again from starts disturbed by the noise of the measurement
  (`MeasuredSet.disturbed`), and compared with its own simulation. No law can be expected to be
  closer than that: it does not know the start any better. Variation of the ground from place to
  place comes on top, so this is a lower bound.
- repeatability of nearly equal cases: r_i = measured - simulated. For a smooth systematic error of
  the law, r_i = r_j where starts i and j are nearly equal; what differs, |r_i - r_j| / sqrt(2), did
  not repeat. Pairs are each case's nearest neighbour, by starts divided by their spread; the
  nearest NEAREST of them count. Beside it stands the same for pairs drawn at random: if the two
  are equal, neighbours are too far apart, or errors are chance.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heelstrike.validation.fit import predict_fitted
from heelstrike.validation.judge import Judged, Score, judge
from heelstrike.validation.measured_set import Cases, Floats, MeasuredSet, Model

TWINS = 6
"""Disturbed starts of each case."""
NEAREST = 0.25
"""Share of the pairs of neighbours that count, the nearest ones."""


@dataclass(frozen=True)
class Floor:
    """Errors that no law can be expected to be below, by measure."""

    law: str
    """The law whose simulations were compared."""
    start_noise: Mapping[str, Score]
    phases: Mapping[str, Mapping[str, float]]
    """Noise of the start in each phase of the simulation, by measure that has a course."""
    repeatability: Mapping[str, Score]
    """Of nearly equal cases; empty if the set does not say which are."""
    random_pairs: Mapping[str, Score]

    def as_dict(self) -> dict[str, Any]:
        """Return the floor, ready for JSON."""
        parts = {
            "start_noise": self.start_noise,
            "repeatability": self.repeatability,
            "random_pairs": self.random_pairs,
        }
        scores = {
            part: {name: score.as_dict() for name, score in found.items()}
            for part, found in parts.items()
        }
        return {"law": self.law, "phases": self.phases, **scores}


def floor(about: MeasuredSet, cases: Cases, model: Model, judged: Judged, seed: int = 0) -> Floor:
    """Return the noise floor of cases, by a law whose parameters were found."""
    random = np.random.default_rng(seed)
    noise, phases = _start_noise(about, cases, model, judged, random)
    starts, residuals = about.starts(cases), about.residuals(cases, judged.predicted)
    if not residuals or len(cases) < 8:
        return Floor(judged.name, noise, phases, {}, {})
    near = nearest(starts)
    drawn = np.stack([np.arange(len(cases)), random.permutation(len(cases))], axis=1)
    return Floor(
        judged.name,
        noise,
        phases,
        *({m: _pairs(r, pairs) for m, r in residuals.items()} for pairs in (near, drawn)),
    )


def _start_noise(
    about: MeasuredSet, cases: Cases, model: Model, judged: Judged, random: np.random.Generator
) -> tuple[dict[str, Score], dict[str, dict[str, float]]]:
    """Return errors of disturbed starts beside the simulation itself, of cases and by phase."""
    truth = np.where(np.isnan(cases.measured), np.nan, judged.predicted)
    simulated = replace(cases, measured=truth)
    twins = []
    for _ in range(TWINS):
        predicted = predict_fitted(model, about.disturbed(cases, random), judged.fit.values)
        twins.append(judge(about, simulated, judged.name, judged.fit, predicted))
    noise = {
        one.name: Score.of(np.mean([twin.errors[one.name] for twin in twins], axis=0))
        for one in about.measures
    }
    phases = {
        name: {
            word: float(
                np.mean([twin.phases[name][word] for twin in twins if word in twin.phases[name]])
            )
            for word in own
        }
        for name, own in twins[0].phases.items()
    }
    return noise, phases


def nearest(starts: Floats) -> np.ndarray:
    """Return pairs (pair, 2) of neighbours, the nearest quarter, by starts over their spread."""
    scaled = starts / np.maximum(starts.std(axis=0), 1e-12)
    apart = np.linalg.norm(scaled[:, None] - scaled[None], axis=-1)
    np.fill_diagonal(apart, np.inf)
    other = apart.argmin(axis=1)
    pairs = np.unique(np.sort(np.stack([np.arange(len(starts)), other], axis=1)), axis=0)
    distance = apart[pairs[:, 0], pairs[:, 1]]
    return pairs[np.argsort(distance)[: max(4, int(NEAREST * len(starts)))]]


def _pairs(residuals: Floats, pairs: np.ndarray) -> Score:
    """Return |r_i - r_j| / sqrt(2), mean over the frames that both have."""
    a, b = residuals[pairs[:, 0]], residuals[pairs[:, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of what diverged, or has no such frame
        apart = np.linalg.norm(a - b, axis=-1) / np.sqrt(2)
        return Score.of(np.nanmean(apart, axis=-1))
