"""Building blocks of the functions: polynomials, wider lanes, sums that keep their rounding error.

    a + b = s + e exactly, s = fl(a + b)         [Dekker1971], [Knuth1969]
    a b   = p + e exactly, p = fl(a b), e = fma(a, b, -p)

Knuth, The Art of Computer Programming 2, 4.2.2. Dekker, A floating-point technique for extending
the available precision, Numerische Mathematik 18, 1971.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps

from heelstrike.codegen.lanes import Lanes
from heelstrike.codegen.real import FLOAT32

EXPONENT_SHIFT = 52
Pair = tuple[str, str]
"""A value and its rounding error, which stand for their exact sum."""

MAGIC = 1.5 * 2.0**52
"""Adding it rounds a float64 to an integer, whose low bits are then those of the bit pattern."""


def in_float64(function: Callable[..., str]) -> Callable[..., str]:
    """Apply a function in float64 to float32 lanes, and round: within 0.5001 ulp."""

    @wraps(function)
    def widened(b: Lanes, *operands: str) -> str:
        if b.real is not FLOAT32:
            return function(b, *operands)
        return b.round(function(b.widened(), *(b.extend(x) for x in operands)))

    return widened


def polynomial(b: Lanes, x: str, coefficients: Sequence[float]) -> str:
    """Return a polynomial by Horner's rule with FMA; lowest power first."""
    value = b.const(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = b.fma(value, x, b.const(c))
    return value


def fast_two_sum(b: Lanes, x: str, y: str) -> Pair:
    """Return fl(x + y) and its error, for |x| >= |y| or x = 0 [Dekker1971]."""
    s = b.add(x, y)
    return s, b.add(b.sub(x, s), y)


def two_sum(b: Lanes, x: str, y: str) -> Pair:
    """Return fl(x + y) and its error [Knuth1969]."""
    s = b.add(x, y)
    y_part = b.sub(s, x)
    x_part = b.sub(s, y_part)
    return s, b.add(b.sub(x, x_part), b.sub(y, y_part))


def two_product(b: Lanes, x: str, y: str) -> Pair:
    """Return fl(x y) and its error."""
    p = b.mul(x, y)
    return p, b.fma(x, y, b.neg(p))


def quotient(b: Lanes, above: Pair, below: Pair) -> str:
    """Return above / below, each a float and its error, within 0.51 ulp; below is not 0."""
    inverse = b.div(b.const(1.0), below[0])
    q = b.mul(above[0], inverse)
    residual = b.add(b.fma(b.neg(q), below[0], above[0]), above[1])
    return b.fma(b.fma(b.neg(q), below[1], residual), inverse, q)


def clamp(b: Lanes, x: str, low: float, high: float) -> str:
    """Return x within [low, high]; NaN stays NaN."""
    return b.max(b.const(low), b.min(b.const(high), x))


def power_of_two(b: Lanes, shifted: str) -> str:
    """Return 2^k from fl(k + MAGIC), for an integer k in [-1022, 1023]."""
    exponent = b.int_op("shl", b.to_bits(shifted), b.integer(EXPONENT_SHIFT))
    return b.from_bits(b.int_op("add", exponent, b.to_bits(b.const(1.0))))
