"""Samples of curves, and bounds of their axes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

MAX_SAMPLES = 400
"""Largest number of samples of a curve; longer ones keep the extremes of each bin."""
MIN_SHARE = 0.02
"""Smallest span of an axis over the largest number on it, so that its ticks differ."""
INTERVALS = 3
"""Number of intervals between round numbers into which an axis is divided, at least."""


def thinned(time: np.ndarray, *values: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return times and values of curves at few times: the extremes of each in every bin."""
    if len(time) <= MAX_SAMPLES:
        return time, *values
    edges = np.linspace(0, len(time), MAX_SAMPLES // 2 + 1).astype(int)
    kept: list[int] = []
    for a, b in pairwise(edges.tolist()):
        parts = [value[a:b] for value in values]
        kept += sorted({a + int(end(part)) for part in parts for end in (np.argmin, np.argmax)})
    return time[kept], *(value[kept] for value in values)


def axis_bounds(
    values: Sequence[np.ndarray], span: float, from_zero: bool = True
) -> tuple[float, float]:
    """Return round ends of an axis that holds all values.

    Args:
        values: Numbers that are drawn.
        span: Smallest difference of the ends.
        from_zero: Whether zero is on the axis.
    """
    every = np.concatenate([np.ravel(value) for value in values])
    every = every[np.isfinite(every)]
    if from_zero or not len(every):
        every = np.append(every, 0.0)
    low, high = float(every.min()), float(every.max())
    wide = max(high - low, span, MIN_SHARE * max(abs(low), abs(high)))
    middle = (low + high) / 2
    if not from_zero:
        low, high = min(low, middle - wide / 2), max(high, middle + wide / 2)
    elif high - low < wide:
        high = low + wide if high >= -low else high
        low = high - wide
    step = round_up(wide / INTERVALS)
    return step * float(np.floor(low / step + 1e-9)), step * float(np.ceil(high / step - 1e-9))


def round_up(value: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten from a positive value on."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * min(step for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9)))
