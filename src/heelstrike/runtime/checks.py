"""Numbers that a caller gives, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.codegen.real import Real
from heelstrike.errors import ProgramError


def as_numbers(name: str, value: ArrayLike, real: Real) -> np.ndarray:
    """The value as an array of at least one dimension."""
    try:
        array = np.atleast_1d(np.asarray(value))
        if array.dtype.kind not in "fiub":
            raise TypeError
        return array.astype(real.dtype)
    except (TypeError, ValueError) as error:
        raise ProgramError(
            f"'{name}' must be numbers in a rectangular array, not {value!r:.60}"
        ) from error


def check_counts(**counts: int) -> None:
    for name, value in counts.items():
        if not isinstance(value, int | np.integer) or value < (0 if name == "steps" else 1):
            least = "a whole number" if name == "steps" else "a whole number above 0"
            raise ProgramError(f"{name} must be {least}, not {value!r}")
