"""Functions of a few correctly rounded operations, without a polynomial."""

from __future__ import annotations

from heelstrike.codegen.functions.precision import in_float64
from heelstrike.codegen.lanes import Lanes


@in_float64
def hypot(b: Lanes, x: str, y: str) -> str:
    """Return sqrt(x^2 + y^2), within 2 ulp.

    Float64: the larger of |x| and |y| within [2^-480, 2^511], or 0; beyond, the squares under- or
    overflow. Float32: all x and y. Where either is NaN so is the result, even next to an infinity.
    """
    return b.sqrt(b.fma(x, x, b.mul(y, y)))


@in_float64
def fmod(b: Lanes, a: str, c: str) -> str:
    """Return a - c trunc(a / c), exact and with the sign of a, for |a / c| < 2^53.

    As in C: NaN for infinite a or c = 0, and a for infinite c.
    """
    size, step = b.abs(a), b.abs(c)
    quotient = b.trunc(b.div(size, step))
    r = b.fma(b.neg(quotient), step, size)
    # size / step may have rounded up to an integer: r is then negative, and r + step exact
    r = b.select(b.compare("olt", r, b.const(0.0)), b.add(r, step), r)
    r = b.select(b.compare("olt", size, step), size, r)
    return b.copysign(r, a)


def sign(b: Lanes, x: str) -> str:
    """Return -1, 1, or x itself where it is zero or NaN."""
    one, minus_one, zero = b.const(1.0), b.const(-1.0), b.const(0.0)
    positive = b.select(b.compare("ogt", x, zero), one, x)
    return b.select(b.compare("olt", x, zero), minus_one, positive)
