"""The axes of a sweep: values on a grid, or random distributions.

Draws are counter-based: the numbers of world i for a path are those of Philox at counter i with a
key of seed and path [Salmon2011], so that they depend on nothing else. From u, w in [0, 1)

    uniform     low + (high - low) u
    log         exp(log low + (log high - log low) u)
    normal      mean + sigma sqrt(-2 log(1 - u)) cos(2 pi w)          (Box and Muller)

in compiled code of our own functions, so that values have the same bits on every machine.
[Salmon2011] J. Salmon et al.: Parallel random numbers: as easy as 1, 2, 3, SC 2011.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError
from heelstrike.ir.program import Program
from heelstrike.runtime.cache import cached_kernel

BLOCK = 4
"""Numbers per count of Philox."""
DIGITS = 12
"""Significant digits of a grid's values, so that 1e4 is 10000 and not 9999.99999999999."""
MAX_VALUES = 10**6
"""Largest number of values of a grid axis."""
GRID = "1e3:1e6:log:64, 0:1:11 or 0.2,0.4,0.8"
"""Examples of grids."""
RANDOM = "0.9:1.1, 1e3:1e6:log or 1:0.1:normal (mean and sigma)"
"""Examples of distributions."""
KINDS = ("uniform", "log", "normal")

GridLike: TypeAlias = str | ArrayLike
RandomLike: TypeAlias = "str | Sequence[float | str] | Random"


@dataclass(frozen=True)
class Random:
    """A distribution from which a value is drawn for each world."""

    low: float
    """Lower end, or the mean of a normal distribution."""
    high: float
    """Upper end, or the standard deviation of a normal distribution."""
    kind: str = "uniform"
    """Kind: uniform, log or normal."""

    def __post_init__(self) -> None:
        a, b, kind = self.low, self.high, self.kind
        if kind not in KINDS:
            raise UnknownNameError("distribution", kind, KINDS)
        if not (np.isfinite(a) and np.isfinite(b)):
            raise HeelstrikeError(f"{a:g}:{b:g} is not finite; write for instance {RANDOM}")
        if kind == "normal" and not b >= 0:
            raise ParameterError("sigma", b, "at least 0", f"write for instance {RANDOM}")
        if kind != "normal" and not a <= b:
            raise HeelstrikeError(f"{a:g}:{b:g} ends below its start; write {b:g}:{a:g}")
        if kind == "log" and not a > 0:
            raise HeelstrikeError(f"a log distribution needs positive ends; {a:g} is not positive")

    def draw(self, seed: int, path: str, first: int, last: int) -> np.ndarray:
        """Return the values of the worlds first to last - 1."""
        u = unit_numbers(seed, path, first, last)
        if self.kind == "uniform":
            return self.low + (self.high - self.low) * u
        if self.kind == "log":
            return np.clip(_compiled("log", self.low, self.high, u), self.low, self.high)
        w = unit_numbers(seed, f"{path} angle", first, last)
        return _compiled("normal", self.low, self.high, u, w)

    def as_list(self) -> list[float | str]:
        """Return the distribution as it stands in a manifest."""
        return [self.low, self.high, self.kind]


def grid_values(path: str, given: GridLike) -> tuple[float, ...]:
    """Return the values of a grid axis, from text or numbers."""
    values = _parse_grid(path, given) if isinstance(given, str) else _numbers(path, given)
    if not values or not np.all(np.isfinite(values)):
        raise ParameterError(path, given, "finite numbers", f"write for instance {GRID}", "grid")
    return values


def parse_random(path: str, given: RandomLike) -> Random:
    """Return a distribution from text, or from (low, high) or (low, high, kind)."""
    if isinstance(given, Random):
        return given
    try:
        words = given.split(":") if isinstance(given, str) else list(given)
        if len(words) not in (2, 3):
            raise ValueError
        kind = str(words[2]).strip() if len(words) == 3 else "uniform"
        low, high = float(words[0]), float(words[1])
    except (TypeError, ValueError) as error:
        raise ParameterError(path, given, f"texts such as {RANDOM}", owner="random") from error
    try:
        return Random(low, high, kind)
    except HeelstrikeError as error:
        raise HeelstrikeError(f"random '{path}': {error}", path=path, value=given) from error


def unit_numbers(seed: int, path: str, first: int, last: int) -> np.ndarray:
    """Return a number in [0, 1) for each of the worlds first to last - 1."""
    key = int.from_bytes(sha256(f"{seed} {path}".encode()).digest()[:16], "little")
    begin = first // BLOCK
    bits = np.random.Philox(key=key, counter=begin)
    raw = bits.random_raw(BLOCK * (-(-last // BLOCK) - begin))
    return (raw[first - BLOCK * begin : last - BLOCK * begin] >> np.uint64(11)) * 2.0**-53


def _parse_grid(path: str, text: str) -> tuple[float, ...]:
    words = [word.strip() for word in text.split(":")]
    try:
        if len(words) == 1:
            return tuple(float(word) for word in text.split(","))
        low, high, count = float(words[0]), float(words[1]), int(float(words[-1]))
        if len(words) not in (3, 4) or (len(words) == 4 and words[2] not in ("lin", "log")):
            raise ValueError
    except (ValueError, OverflowError) as error:
        raise ParameterError(path, text, f"texts such as {GRID}", owner="grid") from error
    if not 2 <= count <= MAX_VALUES or float(words[-1]) != count:
        raise HeelstrikeError(
            f"the grid of '{path}' has {words[-1]} values",
            path=path,
            value=text,
            allowed=f"2 to {MAX_VALUES}",
            remedy="use --random for more",
        )
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ParameterError(path, text, "finite numbers", f"write for instance {GRID}", "grid")
    u = np.arange(count) / (count - 1)
    if words[2] != "log":
        values = low + (high - low) * u
    elif low > 0 and high > 0:
        values = _compiled("log", low, high, u)
    else:
        raise ParameterError(path, text, "positive ends of a log grid", owner="grid")
    return (low, *(float(f"{value:.{DIGITS}g}") for value in values[1:-1]), high)


def _numbers(path: str, given: ArrayLike) -> tuple[float, ...]:
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros((0, 0))
    if array.ndim != 1:
        raise ParameterError(
            path, given, f"a list of numbers, or a text such as {GRID}", "", "grid"
        )
    return tuple(array.tolist())


def _compiled(
    kind: str, a: float, b: float, u: np.ndarray, w: np.ndarray | None = None
) -> np.ndarray:
    """Return transformed numbers by compiled code, whose bits are the same on every machine."""
    angle = {} if w is None else {"w": w[:, None]}
    kernel = cached_kernel(("draw", kind), lambda: _program(kind))
    found = kernel(1, a=np.array([a]), b=np.array([b]), u=u[:, None], **angle)
    return found["value"].reshape(-1)


def _program(kind: str) -> Program:
    p = Program(f"draw_{kind}")
    a, b, u = (p.input(name, 1) for name in ("a", "b", "u"))
    with p.block("value"):
        if kind == "log":
            value = ca.exp(ca.log(a) + (ca.log(b) - ca.log(a)) * u)
        else:
            w = p.input("w", 1)
            value = a + b * ca.sqrt(-2 * ca.log(1 - u)) * ca.cos(2 * np.pi * w)
        p.output("value", value)
    return p
