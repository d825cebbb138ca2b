"""Checks of what a user passes: numbers, counts, arrays and names, as values or a ParameterError.

Public constructors and calls take their arguments through these functions, so that text, empty
lists, NaN or numbers that no run could serve are refused in one sentence, before anything happens.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from heelstrike.errors import ParameterError

T = TypeVar("T")
MAX_COUNT = 2**53
"""Largest count of steps or worlds: up to here float64 holds every integer."""
MAX_NAME = 200
"""Largest number of letters of a name that may become part of a file's name."""


def count(name: str, value: object, least: int = 1, most: int = MAX_COUNT) -> int:
    """Return an integer between `least` and `most`, both allowed."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ParameterError(name, value, f"an integer above {least - 1}")
    if value > most:
        raise ParameterError(name, value, f"an integer of at most {most}")
    return int(value)


def number(
    name: str,
    value: object,
    allowed: str = "a finite number",
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    below: float = math.inf,
) -> float:
    """Return a finite number that is >= `least`, > `above` and < `below`.

    Args:
        name: name of the argument.
        value: what was passed: a number, or an array of one.
        allowed: what is allowed, in words, with the unit.
    """
    array = array_of_numbers(value)
    if array is None or array.size != 1:
        raise ParameterError(name, value, allowed)
    found = float(array.reshape(()))
    if not (math.isfinite(found) and found >= least and above < found < below):
        raise ParameterError(name, value, allowed)
    return found


def numbers(
    name: str,
    value: object,
    shapes: Sequence[tuple[int, ...]],
    allowed: str,
    finite: bool = True,
) -> np.ndarray:
    """Return an array of numbers of one of these shapes, all of them finite unless told else."""
    array = array_of_numbers(value)
    if array is None or array.shape not in shapes or (finite and not np.isfinite(array).all()):
        raise ParameterError(name, value, allowed)
    return array


def array_of_numbers(value: object) -> np.ndarray | None:
    """Return real numbers as a float64 array; None for text, objects, complex or ragged lists."""
    try:
        if isinstance(value, int) and not isinstance(value, bool):
            return np.array(float(value))  # NumPy makes an object of a large integer
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            return None
        return array.astype(float)
    except (TypeError, ValueError, OverflowError):
        return None


def mapping(name: str, value: object, allowed: str) -> Mapping[str, Any]:
    """Return a mapping whose keys are text."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ParameterError(name, value, allowed)
    return value


def instance(name: str, value: object, kind: type[T], allowed: str) -> T:
    """Return an object of a class."""
    if not isinstance(value, kind):
        raise ParameterError(name, value, allowed)
    return value


def function(name: str, value: object) -> list[inspect.Parameter]:
    """Return the parameters of a function that a user wrote."""
    try:
        return list(inspect.signature(value).parameters.values())  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ParameterError(name, value, "a function with a signature") from None


def label(name: str, value: object) -> str:
    """Return a name that recordings can hold."""
    if isinstance(value, str) and value and "\0" not in value:
        with suppress(UnicodeEncodeError):
            value.encode()
            return value
    raise ParameterError(name, value, "a text of UTF-8 that is not empty, without zero bytes")


def paths(name: str, value: object) -> tuple[Path, ...]:
    """Return paths as a tuple."""
    try:
        return tuple(Path(item) for item in value)  # type: ignore[attr-defined]
    except TypeError:
        raise ParameterError(name, value, "a list of paths") from None


def path(name: str, value: object) -> Path:
    """Return the path of one file."""
    try:
        found = Path(value)  # type: ignore[arg-type]
    except TypeError:
        raise ParameterError(name, value, "a path") from None
    if "\0" in str(found):
        raise ParameterError(name, value, "a path without zero bytes")
    return found


def names(name: str, value: object) -> tuple[str, ...]:
    """Return one name, or several, as a tuple."""
    if isinstance(value, str):
        return (value,)
    try:
        found: tuple[object, ...] = tuple(value)  # type: ignore[arg-type]
    except TypeError:
        found = (None,)
    named = tuple(item for item in found if isinstance(item, str))
    if len(named) < len(found):
        raise ParameterError(name, value, "a name, or names in a list")
    return named
