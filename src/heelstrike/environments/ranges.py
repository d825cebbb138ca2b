"""Ranges from which parameters and commands are drawn.

(low, high)                 low + (high - low) u            one number u in [0, 1) for each entry
Factor(low, high)           x0 (low + (high - low) u)       x0 is the parameter's own value
Graded(easy, hard)          both ends go from easy to hard with the level of a world, 0 to 1
a function of u             anything else
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from heelstrike.checks import array_of_numbers, number
from heelstrike.environments.arrays import Array, Arrays
from heelstrike.errors import ParameterError

LAST = 1 - 2.0**-24
"""Largest random number."""


@dataclass(frozen=True)
class Factor:
    """A random factor of a parameter's own value: one for all entries of a vector, or one each."""

    low: float
    """Smallest factor [-]."""
    high: float
    """Largest factor [-]."""
    each: bool = False
    """Whether each entry of a vector draws its own factor."""

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            number(name, getattr(self, name))


@dataclass(frozen=True)
class Graded:
    """A range that widens with the level of a world, from 0 to 1."""

    easy: tuple[Array, Array] | Factor
    """Range at level 0."""
    hard: tuple[Array, Array] | Factor
    """Range at level 1."""


Range: TypeAlias = tuple[Array, Array] | Factor | Graded | Callable[[Array], Array]
"""Low and high, a factor, graded ranges, or a function of random numbers of shape (count, size)."""


class Drawing:
    """A range as a function of random numbers and levels."""

    def __init__(self, arrays: Arrays, path: str, given: Range, own: np.ndarray) -> None:
        """Check a range.

        Args:
            arrays: arrays of the worlds.
            path: name of what is drawn, for errors.
            given: the range.
            own: value that factors multiply, (size,).
        """
        self.path, self._function = path, given if callable(given) else None
        size = self.numbers = len(own)
        """Count of random numbers."""
        self._ends: list[Array] = []
        if self._function is not None:
            self.extremes()
            return
        grades = (given.easy, given.hard) if isinstance(given, Graded) else (given,)
        if all(isinstance(grade, Factor) for grade in grades):
            if not any(grade.each for grade in grades):  # type: ignore[union-attr]
                self.numbers = 1
            pairs = [(own * grade.low, own * grade.high) for grade in grades]  # type: ignore[union-attr]
        else:
            pairs = [_pair(path, grade, size) for grade in grades]
        self._ends = [arrays.real_array(end) for pair in pairs for end in pair]

    def __call__(self, u: Array, level: Array) -> Array:
        """Return values (count, size) for u (count, numbers) and levels (count,)."""
        if self._function is not None:
            return self._function(u)
        low, high, *hard = self._ends
        if hard:
            level = level[:, None]
            low, high = low + (hard[0] - low) * level, high + (hard[1] - high) * level
        return low + (high - low) * u

    def extremes(self) -> list[np.ndarray]:
        """Return the values at the ends, (size,) each, as NumPy arrays."""
        if self._function is not None:
            return [self._drawn(np.full((1, self.numbers), u)) for u in (0.0, LAST)]
        return [np.asarray(end.cpu() if hasattr(end, "cpu") else end) for end in self._ends]

    def _drawn(self, u: np.ndarray) -> np.ndarray:
        """Return what the function makes of numbers (1, size), (size,); raise for other shapes."""
        assert self._function is not None
        found = array_of_numbers(self._function(u))
        if found is None or found.shape != u.shape:
            shape = None if found is None else found.shape
            allowed = f"(count, {self.numbers}) for random numbers of that shape"
            raise ParameterError(
                self.path, shape, allowed, owner="shape of what its function draws"
            )
        if not np.isfinite(found).all():
            raise ParameterError(
                self.path, found, "finite numbers", owner="what its function draws"
            )
        return found[0]


def _pair(path: str, given: object, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return low and high, (size,) each."""
    ends = [array_of_numbers(end) for end in given] if isinstance(given, Sequence) else []
    if len(ends) != 2 or any(end is None or end.shape not in ((), (1,), (size,)) for end in ends):
        allowed = "(low, high), hs.Factor, hs.Graded, or a function of numbers in [0, 1)"
        raise ParameterError(path, given, allowed, owner="range")
    low, high = (np.broadcast_to(np.asarray(end), (size,)) for end in ends)
    if not np.isfinite([low, high]).all():
        raise ParameterError(path, given, "finite ends", owner="range")
    return low, high
