"""Finds the parameters of contact laws that explain real tosses of a cube best.

    HEELSTRIKE_DATA=... python -m benchmarks.cubes [LAW ...]

A search by the cross-entropy method: draw sets of parameters, simulate all training tosses with all
sets in one run, narrow the draw to the best, repeat. Every second toss is trained on; the score is
the geometric mean of e_q over them (heelstrike.papers.marhefka1996.tosses), for which the few that
tip to another face weigh no more than others. The sets found stand in
heelstrike.papers.marhefka1996.cubes, which judges them on the other tosses.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

from heelstrike.errors import HeelstrikeWarning
from heelstrike.papers.marhefka1996.cubes import CANDIDATES, Candidate, scores
from heelstrike.papers.marhefka1996.tosses import Tosses, data_file, read

SETS, ROUNDS, ELITE = 48, 10, 12
"""Drawn in a round; rounds; kept for the next draw, of all so far."""
WIDER = 1.2
"""By how much the next draw is wider than the kept ones."""


def search(candidate: Candidate, tosses: Tosses, seed: int = 0) -> tuple[dict[str, float], float]:
    """The best set of parameters, and its score."""
    random = np.random.default_rng(seed)
    names = list(candidate.ranges)
    low, high = np.log(np.array(list(candidate.ranges.values())).T)
    tried, found = np.empty((0, len(names))), np.empty(0)
    drawn = random.uniform(low, high, (2 * SETS, len(names)))
    for _ in range(ROUNDS):
        sets = dict(zip(names, np.exp(drawn).T, strict=True))
        tried = np.concatenate([tried, drawn])
        found = np.concatenate([found, scores(candidate, sets, tosses)])
        best = tried[np.argsort(found)[:ELITE]]
        drawn = random.normal(best.mean(0), WIDER * best.std(0), (SETS, len(names)))
        drawn = np.clip(drawn, low, high)
    values = np.exp(tried[np.argmin(found)])
    return dict(zip(names, values.tolist(), strict=True)), float(found.min())


def main(names: list[str]) -> None:
    path = data_file()
    if path is None:
        sys.exit("set HEELSTRIKE_DATA to the folder that holds the tosses")
    warnings.simplefilter("ignore", HeelstrikeWarning)  # of sets that diverge
    training = read(path).chosen(slice(0, None, 2))
    for name in names or list(CANDIDATES):
        started = time.perf_counter()
        values, score = search(CANDIDATES[name], training)
        shown = ", ".join(f"{key}={value:.4g}" for key, value in values.items())
        spent = time.perf_counter() - started
        print(f"{name}: {shown}; e_q {score:.4f} on {len(training)} tosses, {spent:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
