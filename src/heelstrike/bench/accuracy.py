"""The largest step with which a simulator still agrees with itself.

A simulator that is given steps of h = GRID / n passes through the same times, multiples of GRID,
for every n. Its reference is its own path at n = FINEST. The reference counts as converged where
the path at FINEST / 2 is within a tenth of the tolerance. Then

    dt = max { h : max_t |z_h'(t) - z_ref(t)| < TOLERANCE for h and all smaller h' that were tried }

so a large step that agrees by chance, between two that do not, is not taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

GRID = 0.02
"""Times at which paths are compared are its multiples [s]."""
PARTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 32, 64)
"""Steps that fit into GRID, of those that are tried."""
FINEST = 512
TOLERANCE = 1e-3
"""Of the base's height [m]."""

Path = Callable[[int], np.ndarray]
"""From steps per GRID to the heights at its multiples [m]."""


@dataclass(frozen=True)
class Accuracy:
    """Largest accurate step of one simulator."""

    dt: float | None
    """The largest step [s]; None where no step will do, or the reference has not converged."""
    parts: int | None
    """GRID / dt."""
    error: float | None
    """Of that step [m]."""
    reference_error: float
    """Between the finest step and twice of it [m]."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def largest_step(path: Path, tolerance: float = TOLERANCE) -> Accuracy:
    """Tries the steps from small to large."""
    reference = path(FINEST)
    own = _apart(path(FINEST // 2), reference)
    found = Accuracy(None, None, None, own)
    if not own < tolerance / 10:
        return found
    for parts in reversed(PARTS):
        error = _apart(path(parts), reference)
        if not error < tolerance:
            break
        found = Accuracy(GRID / parts, parts, error, own)
    return found


def _apart(path: np.ndarray, reference: np.ndarray) -> float:
    """Large, not NaN, where a path went astray."""
    return float(np.nan_to_num(np.abs(path - reference), nan=1e9, posinf=1e9).max())
