"""Least squares with derivatives from clouds of parameter sets.

    minimise |r(x)|^2,  x = ln p;    r(x_i) = r_0 + J (x_i - x) + rough_i     over a cloud of x_i
    C = s^2 (J^T J)^-1 + cov((J^T J)^-1 J^T rough_i),   s^2 = |r|^2 / (samples - p)

A round judges a cloud of sets about x in one run of the lanes, finds r_0 and J by regression, then
judges the steps of Levenberg and Marquardt for several dampings, and takes the best. Clouds shrink
to the size of C; from there on the line's own minimum is followed. So slopes are those of the
interval that is told, not of one corner in it: impacts fall on one step or on the next, and what a
motion does then jumps. What the slopes do not explain inside the cloud moves the estimate as noise
does: the second term of C.

The first is right where what is left is noise, independent and equally large in all samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from heelstrike.contact.restitution import Floats
from heelstrike.errors import HeelstrikeError
from heelstrike.identification.search import Report, search
from heelstrike.identification.space import Space

Residuals = Callable[[Floats], Floats]
"""r (sets, samples) of sets of parameters, rows of ln p; not finite where a motion diverged."""

SEARCHED, ROUNDS = 6, 30
"""Rounds before derivatives are used, and largest number of rounds with them."""
DAMPINGS = np.array([0.0, 1e-6, 1e-4, 1e-2, 0.1, 1.0, 10.0, 1e3])
"""Dampings of a step, as shares of the diagonal of J^T J."""
WIDE = 1.5
"""Standard deviation of a cloud, in standard errors."""
LEAST, MOST = 1e-6, 0.3
"""Bounds of it, of ln p."""
SHRINK = 4.0
"""Largest factor by which a cloud's standard deviation falls in a round."""
SETTLED = 2.0
"""Ratio of a cloud's variance to its target below which its size is accepted."""
STILL, STOP = 0.3, 1e-11
"""Steps below this, in standard errors or of ln p, then end it."""
FOLLOWED = 4
"""Rounds in which the line's minimum is followed, at most."""
BLIND = 1e-12
"""Of J^T J's greatest eigenvalue: a direction below it changes nothing."""
NOTHING = 1e3
"""Standard error of such a direction, of ln p."""


@dataclass(frozen=True)
class Solution:
    """Minimum of the sum of squares, with its covariance."""

    x: Floats
    covariance: Floats
    """Covariance of ln p, (p, p)."""
    residual: float
    """Standard deviation s of the residuals."""
    samples: int


@dataclass(frozen=True)
class _Line:
    """r as a line through a cloud."""

    r: Floats
    """Residuals at the centre, (samples,)."""
    slopes: Floats
    """J, (samples, p)."""
    rough: Floats
    """Residuals of the line, (sets, samples)."""

    def covariance(self) -> Floats:
        samples, p = self.slopes.shape
        variance = float(self.r @ self.r) / (samples - p)
        w, v = np.linalg.eigh(self.slopes.T @ self.slopes)
        seen = w > BLIND * max(float(w.max()), 1e-300)
        safe = np.where(seen, w, 1.0)
        noise = np.where(seen, np.minimum(variance / safe, NOTHING**2), NOTHING**2)
        moved = (self.rough @ self.slopes) @ v * np.where(seen, 1 / safe, 0.0) @ v.T
        jumps = moved.T @ moved / max(1, len(moved) - p - 1)
        return (v * noise) @ v.T + jumps

    def steps(self) -> Floats:
        """Return a step for each damping, (dampings, p)."""
        normal = self.slopes.T @ self.slopes
        diagonal = np.diag(normal)
        size = np.sqrt(np.maximum(diagonal, BLIND * max(float(diagonal.max()), 1e-300)))
        w, v = np.linalg.eigh(normal / np.outer(size, size))
        parts = v.T @ (self.slopes.T @ self.r / size)
        found = [-(v @ (parts / (np.maximum(w, 1e-14) + damp))) / size for damp in DAMPINGS]
        return np.array(found)


def least_squares(
    residuals: Residuals,
    space: Space,
    sets: int,
    seed: int,
    report: Report = lambda done, best: None,
) -> Solution:
    """Minimise the sum of squares, from a search over the ranges; report the best so far."""
    random = np.random.default_rng(seed)
    early: Report = lambda done, best: report(done / 2, best)  # noqa: E731
    tried = search(lambda x: _sizes(residuals(x))[:, None], space, sets, SEARCHED, seed, early)
    best = tried.x[np.argsort(tried.means)[: max(len(space) + 1, sets // 4)]]
    x, cloud = tried.best, _bounded(np.cov(best, rowvar=False))
    followed = 0
    for done in range(ROUNDS):
        size, line = _line(residuals, space, x, cloud, max(sets, 3 * len(space)), random)
        report(0.5 + done / (2 * ROUNDS), size)
        covariance, steps = line.covariance(), line.steps()
        target, error = _bounded(WIDE**2 * covariance), np.sqrt(np.diag(covariance))
        if eigh(cloud, target, eigvals_only=True)[-1] < SETTLED:
            x, followed = space.clipped(x + steps[0]), followed + 1
            still = np.abs(steps[0]) < np.maximum(STILL * error, STOP)
            if np.all(still) or followed == FOLLOWED:
                break
        else:
            tries = space.clipped(x + steps)
            sizes = _sizes(residuals(tries))
            x = tries[np.argmin(sizes)] if sizes.min() < size else x
        cloud = _bounded(target + cloud / SHRINK**2)
    left = float(np.sqrt(line.r @ line.r / (line.r.size - len(space))))
    return Solution(x, covariance, left, line.r.size)


def _line(
    residuals: Residuals,
    space: Space,
    x: Floats,
    cloud: Floats,
    sets: int,
    random: np.random.Generator,
) -> tuple[float, _Line]:
    """Return |r|^2 at x, and the line through the sets of a cloud that did not diverge."""
    around = random.multivariate_normal(np.zeros(len(x)), cloud, sets, method="eigh")
    points = space.clipped(x + np.concatenate([np.zeros((1, len(x))), around]))
    made = residuals(points)
    if made.shape[1] <= len(x):
        raise HeelstrikeError(
            f"{made.shape[1]} samples are too few for {', '.join(space.names)}; give more than "
            f"{len(x)}"
        )
    sizes = _sizes(made)
    use = np.isfinite(sizes)
    matrix = np.column_stack([np.ones(use.sum()), points[use] - x])
    found = np.linalg.lstsq(matrix, made[use], rcond=None)[0]
    return float(sizes[0]), _Line(found[0], found[1:].T, made[use] - matrix @ found)


def _bounded(covariance: Floats) -> Floats:
    """Return a covariance with standard deviations from LEAST to MOST in every direction."""
    w, v = np.linalg.eigh(np.atleast_2d(covariance))
    return np.asarray((v * np.clip(w, LEAST**2, MOST**2)) @ v.T)


def _sizes(r: Floats) -> Floats:
    """Return |r|^2 of each row; infinite where it is not a number."""
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.sum(r**2, axis=1)
    return np.where(np.isfinite(sizes), sizes, np.inf)
