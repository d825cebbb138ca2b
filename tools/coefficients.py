"""Prints src/heelstrike/codegen/functions/coefficients.py: every constant, made from mpmath alone.

    python tools/coefficients.py > src/heelstrike/codegen/functions/coefficients.py

A polynomial p of n coefficients minimises max |w (p - g)| over an interval: at the optimum the
weighted error takes its largest value, with alternating sign, at n + 1 points. Remez's exchange
solves for p and that value on n + 1 points, moves the points to the extrema of the error, and
repeats. The weight w makes w (p - g) the relative error of the function that p serves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from mpmath import MPContext  # type: ignore[import-untyped]

mp = MPContext()
mp.prec = 200

Number = Any  # mpmath's, which has no type to name
Function = Callable[[Number], Number]
DTYPES: dict[str, type] = {"double": np.float64, "float": np.float32}
SLACK = 1 + mp.mpf(2) ** -10
"""Range reduction may overshoot its interval by this factor: its multiplier is rounded."""


def remez(
    g: Function, w: Function, low: Number, high: Number, n: int
) -> tuple[list[Number], Number]:
    """The n coefficients, lowest power first, and max |w (p - g)|."""
    count = 40 * (n + 1)
    middle, radius = (low + high) / 2, (high - low) / 2
    grid = [middle - radius * mp.cos(mp.pi * (i + mp.mpf("0.5")) / count) for i in range(count)]
    target, weight = [g(x) for x in grid], [w(x) for x in grid]
    nodes = [int((i + mp.mpf("0.5")) * count / (n + 1)) for i in range(n + 1)]
    for _ in range(30):
        system = mp.matrix(n + 1, n + 1)
        for row, i in enumerate(nodes):
            for column in range(n):
                system[row, column] = grid[i] ** column
            system[row, n] = (-1) ** row / weight[i]
        solution = mp.lu_solve(system, mp.matrix([target[i] for i in nodes]))
        p = list(solution)[:n]
        error = [(horner(p, grid[i]) - target[i]) * weight[i] for i in range(count)]
        worst = max(abs(e) for e in error)
        if worst < abs(solution[n]) * (1 + mp.mpf("1e-6")):
            break
        nodes = alternation(error, n + 1)
    return p, worst


def horner(p: list[Number], x: Number) -> Number:
    return reduce(lambda value, c: value * x + c, reversed(p))


def alternation(error: list[Number], count: int) -> list[int]:
    """The extremum of each run of one sign; the smaller end is dropped while there are too many."""
    extrema: list[int] = []
    for i, e in enumerate(error):
        if extrema and (error[extrema[-1]] > 0) == (e > 0):
            if abs(e) > abs(error[extrema[-1]]):
                extrema[-1] = i
        else:
            extrema.append(i)
    while len(extrema) > count:
        ends = abs(error[extrema[0]]), abs(error[extrema[-1]])
        extrema.pop(0 if ends[0] < ends[1] else -1)
    return extrema


def parts(value: Number, count: int, bits: int) -> list[float]:
    """value as a sum of floats, each the leading bits of what the ones before it left over.

    Truncated, not rounded, so that all are positive: x - 0 part is then -0 for x = -0.
    """
    result = []
    for _ in range(count):
        part = mp.floor(mp.ldexp(value, bits - mp.frexp(value)[1]))
        part = mp.ldexp(part, mp.frexp(value)[1] - bits)
        result.append(float(part))
        value -= part
    return result


@dataclass(frozen=True)
class Polynomial:
    """One table: p approximates g with the relative error w (p - g) of what `serves` says."""

    serves: str
    g: Function
    w: Function
    low: Number
    high: Number
    terms: dict[str, int]
    """Number of coefficients for each type."""

    def table(self, real: str) -> tuple[list[float], float]:
        """The coefficients rounded to the type, and the largest relative error before rounding."""
        p, error = remez(self.g, self.w, self.low, self.high, self.terms[real])
        return [float(DTYPES[real](float(c))) for c in p], float(error)


def of_square(f: Function) -> Function:
    """f as a function of z = r^2."""
    return lambda z: f(mp.sqrt(z))


QUARTER = (mp.pi / 4 * SLACK) ** 2
HALF_LN2 = mp.ln2 / 2 * SLACK
S_MAX = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * SLACK

POLYNOMIALS = {
    "SIN": Polynomial(
        "sin(r) = r + r z p(z), z = r^2, |r| <= pi/4",
        of_square(lambda r: (mp.sin(r) / r - 1) / r**2),
        of_square(lambda r: r**3 / mp.sin(r)),
        mp.mpf(0),
        QUARTER,
        {"double": 6, "float": 3},
    ),
    "COS": Polynomial(
        "cos(r) = 1 + z p(z), z = r^2, |r| <= pi/4",
        of_square(lambda r: (mp.cos(r) - 1) / r**2),
        of_square(lambda r: r**2 / mp.cos(r)),
        mp.mpf(0),
        QUARTER,
        {"double": 7, "float": 4},
    ),
    "ATAN": Polynomial(
        "atan(t) = t + t z p(z), z = t^2, |t| <= 1/2",
        of_square(lambda t: (mp.atan(t) / t - 1) / t**2),
        of_square(lambda t: t**3 / mp.atan(t)),
        mp.mpf(0),
        mp.mpf("0.25") * SLACK,
        {"double": 13},
    ),
    "EXP": Polynomial(
        "exp(r) = 1 + r + r^2 p(r), |r| <= log(2)/2",
        lambda r: (mp.expm1(r) - r) / r**2,
        lambda r: r**2 / mp.exp(r),
        -HALF_LN2,
        HALF_LN2,
        {"double": 10},
    ),
    "TANH": Polynomial(
        "tanh(h) = h + h z p(z), z = h^2, |h| <= log(2)/2",
        of_square(lambda h: (mp.tanh(h) / h - 1) / h**2),
        of_square(lambda h: h**3 / mp.tanh(h)),
        mp.mpf(0),
        HALF_LN2**2,
        {"double": 9},
    ),
    "LOG": Polynomial(
        "log((1 + s) / (1 - s)) = 2 s + s z p(z), z = s^2, |s| <= 3 - 2 sqrt(2)",
        of_square(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3),
        of_square(lambda s: s**3 / (2 * mp.atanh(s))),
        mp.mpf(0),
        S_MAX**2,
        {"double": 7},
    ),
    "LOG_TAIL": Polynomial(
        "log((1 + s) / (1 - s)) = 2 s + s z (2/3 + z p(z)), z = s^2, |s| <= 3 - 2 sqrt(2)",
        of_square(lambda s: (2 * mp.atanh(s) - 2 * s - 2 * s**3 / 3) / s**5),
        of_square(lambda s: s**5 / (2 * mp.atanh(s))),
        mp.mpf(0),
        S_MAX**2,
        {"double": 8},
    ),
}

NUMBERS = {
    "PI_2": ("pi/2 in three parts", mp.pi / 2, 3, ("double", "float")),
    "PI_4": ("pi/4 in two parts", mp.pi / 4, 2, ("double",)),
    "LN2": ("log(2) in two parts", mp.ln2, 2, ("double",)),
    "TWO_THIRDS": ("2/3 in two parts", mp.mpf(2) / 3, 2, ("double",)),
}


def table(name: str, meaning: str, rows: dict[str, tuple[list[float], str]]) -> list[str]:
    """The lines of one table: a tuple where only float64 has it, else a tuple for each type."""
    lines = []
    for real, (values, note) in rows.items():
        opening = f"{name} = (" if len(rows) == 1 else f'    "{real}": ('
        indent = "    " if len(rows) == 1 else "        "
        lines += [f"{opening}  # {note}", *(f"{indent}{v!r}," for v in values), f"{indent[4:]}),"]
    if len(rows) == 1:
        lines[-1] = ")"
    else:
        lines = [f"{name} = {{", *lines, "}"]
    return ["", *lines, f'"""{meaning}."""']


def module() -> str:
    """The text of coefficients.py."""
    lines = [
        '"""Coefficients of the elementary functions, lowest power first.',
        "",
        "Written by tools/coefficients.py; the errors are those of the exact coefficients.",
        '"""',
    ]
    for name, (meaning, value, count, reals) in NUMBERS.items():
        bits = {real: np.finfo(DTYPES[real]).nmant + 1 for real in reals}
        rows = {real: (parts(value, count, n), f"{n} bits each") for real, n in bits.items()}
        lines += table(name, meaning, rows)
    for name, p in POLYNOMIALS.items():
        fits = {real: p.table(real) for real in p.terms}
        rows = {r: (v, f"relative error 2^{np.log2(e):.1f}") for r, (v, e) in fits.items()}
        lines += table(name, p.serves, rows)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(module(), end="")
