"""A derivative-free search, for motions whose outcome jumps with the parameters.

The cross-entropy method: draw sets of parameters, judge all of them on all motions in one run,
narrow the draw to the best so far, repeat. What is made small is the mean of a loss over motions.

Intervals by the bootstrap: motions are drawn again with replacement, and the best of all sets
tried is found again for each such draw. No motion is simulated twice. The best is one of the sets
tried, so an interval is no finer than these lie, which near the best is dense.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from heelstrike.contact.restitution import Floats
from heelstrike.errors import HeelstrikeError
from heelstrike.identification.space import Space

ELITE = 0.25
"""Share of a round's sets that the next draw is narrowed to, of all so far."""
WIDER = 1.2
"""Factor by which the next draw is wider than these."""
NARROWEST = 1e-3
"""Least standard deviation of a draw, of ln p."""
DRAWS = 400
"""Number of draws of the bootstrap."""

Losses = Callable[[Floats], Floats]
"""Loss (sets, motions) of sets of parameters, rows of ln p; inf where a motion diverged."""
Report = Callable[[float, float], None]
"""Takes the share of the work done and the least mean loss so far."""


@dataclass(frozen=True)
class Tried:
    """All sets that a search has evaluated."""

    x: Floats
    """Parameters, (sets, p), as ln p."""
    losses: Floats
    """Losses, (sets, motions)."""

    @property
    def means(self) -> Floats:
        """Mean losses over motions, (sets,)."""
        return self.losses.mean(axis=1)

    @property
    def best(self) -> Floats:
        """The set with the least mean loss, (p,)."""
        return self.x[int(np.argmin(self.means))]

    def profile(self) -> Floats:
        """Return the spread of ln p of sets that fit as well as the best, (p, p).

        A profile of the loss: sets count whose mean loss exceeds the best one by at most the
        standard error of this difference, motion by motion. Directions in which they lie far apart
        are flat: the motions do not determine them.
        """
        apart = self.losses - self.losses[int(np.argmin(self.means))]
        finite = np.isfinite(apart).all(axis=1)
        apart, x = apart[finite], self.x[finite]
        error = apart.std(axis=1, ddof=min(1, apart.shape[1] - 1)) / np.sqrt(apart.shape[1])
        alike = x[apart.mean(axis=1) <= error] - self.best
        return np.asarray(alike.T @ alike / max(1, len(alike) - 1))

    def again(self, random: np.random.Generator) -> Floats:
        """Return the best set of each of DRAWS draws of as many motions, (draws, p)."""
        motions = self.losses.shape[1]
        counts = random.multinomial(motions, np.full(motions, 1 / motions), DRAWS)
        finite = np.isfinite(self.losses).all(axis=1)
        chosen = np.argmin(self.losses[finite] @ counts.T, axis=0)
        return self.x[finite][chosen]


def search(
    losses: Losses,
    space: Space,
    sets: int,
    rounds: int,
    seed: int,
    report: Report = lambda done, best: None,
) -> Tried:
    """Evaluate 2 x `sets` at random, then `sets` nearer to the best in each further round.

    Args:
        losses: loss of each set and motion.
        space: the parameters with their ranges.
        sets: number of sets in a round.
        rounds: number of rounds.
        seed: seed of the draws.
        report: is called after each round with the share of the rounds done and the best loss.
    """
    random = np.random.default_rng(seed)
    drawn = space.drawn(2 * sets, random)
    tried = Tried(np.empty((0, len(space))), np.empty((0, 0)))
    for done in range(rounds):
        made = losses(drawn)
        before = tried.losses if len(tried.x) else made[:0]
        tried = Tried(np.concatenate([tried.x, drawn]), np.concatenate([before, made]))
        kept = max(2, round(ELITE * sets))
        best = tried.x[np.argsort(tried.means)[:kept]]
        spread = np.maximum(WIDER * best.std(axis=0), NARROWEST)
        drawn = space.clipped(random.normal(best.mean(axis=0), spread, (sets, len(space))))
        report((done + 1) / rounds, float(tried.means.min()))
    if not np.isfinite(tried.means.min()):
        raise HeelstrikeError(
            "every set of parameters diverges; search softer ones, or take a shorter step"
        )
    return tried
