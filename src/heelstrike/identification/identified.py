"""Identified parameters with their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from heelstrike.contact.restitution import Floats
from heelstrike.identification.apart import Group, groups
from heelstrike.identification.search import Tried
from heelstrike.identification.slopes import Solution
from heelstrike.identification.space import Space

SURE = 0.95
"""Probability of an interval."""
EDGE = 1e-3
"""Distance of ln p from the end of its range below which a parameter lies at the end."""


@dataclass(frozen=True)
class Identified:
    """Identified parameters by path, with intervals and undetermined combinations."""

    values: Mapping[str, float]
    errors: Mapping[str, float]
    """Standard error of each parameter, in its unit."""
    intervals: Mapping[str, tuple[float, float]]
    """Intervals of 95 %, inside the range that was searched."""
    unresolved: tuple[Group, ...]
    """Parameters that the data do not determine one by one, with the combinations that they do."""
    at_end: tuple[str, ...]
    """Determined parameters at an end of their range: the optimum may lie outside."""
    residual: float
    """Standard deviation of the residuals of least squares, or the mean loss of a search."""
    samples: int
    """Number of compared values; for a search, of motions."""
    model: Any
    """The law with these parameters, or the simulator, to which they are applied."""

    def __str__(self) -> str:
        wide = max(map(len, self.values))
        lines = [
            f"{name:<{wide}}  {value:<10.5g} {self.intervals[name][0]:.4g} to "
            f"{self.intervals[name][1]:.4g}"
            for name, value in self.values.items()
        ]
        lines += [str(group) for group in self.unresolved]
        lines += [f"{name} lies at an end of its range; search further out" for name in self.at_end]
        return "\n".join([*lines, f"residual {self.residual:.3g}, {self.samples} samples"])

    __repr__ = __str__


def of_slopes(space: Space, found: Solution, model: Any) -> Identified:
    """Return the result of least squares, with intervals by Student's t."""
    spread = np.sqrt(np.diag(found.covariance))
    wide = float(stdtrit(found.samples - len(space), (1 + SURE) / 2)) * spread
    ends = space.clipped(np.stack([found.x - wide, found.x + wide]))
    return _made(space, found.x, found.covariance, ends, (found.residual, found.samples), model)


def of_search(space: Space, tried: Tried, again: Floats, model: Any) -> Identified:
    """Return the result of a search, with intervals by the bootstrap's quantiles.

    What is not determined is found by the bootstrap and by the profile of the loss together.
    """
    ends = np.quantile(again, [(1 - SURE) / 2, (1 + SURE) / 2], axis=0)
    covariance = np.cov(again, rowvar=False).reshape(len(space), len(space))
    told = float(tried.means.min()), tried.losses.shape[1]
    flat = covariance + tried.profile()
    return _made(space, tried.best, covariance, ends, told, model, flat)


def _made(
    space: Space,
    x: Floats,
    covariance: Floats,
    ends: Floats,
    told: tuple[float, int],
    model: Any,
    flat: Floats | None = None,
) -> Identified:
    """Return the result; `flat` is the covariance by which directions count as undetermined."""
    names, p = space.names, np.exp(x)
    unresolved = groups(names, x, covariance if flat is None else flat)
    vague = {name for group in unresolved for name in group.names}
    spread = p * np.sqrt(np.diag(covariance))
    near = np.minimum(x - space.low, space.high - x) < EDGE
    return Identified(
        dict(zip(names, p.tolist(), strict=True)),
        dict(zip(names, spread.tolist(), strict=True)),
        {name: (float(a), float(b)) for name, a, b in zip(names, *np.exp(ends), strict=True)},
        unresolved,
        tuple(name for name, edge in zip(names, near, strict=True) if edge and name not in vague),
        *told,
        model,
    )
