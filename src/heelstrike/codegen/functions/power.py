"""x^y = exp(y log x), with the logarithm carried as a sum of two float64.

The result's relative error is the absolute error of y log x, which reaches 745: log x must be right
to 2^-64 for a result right to 2^-54. With s = f / (2 + f) and z = s^2 as in `exponential`,

    log(1 + f) = 2 s + s z (2/3 + z p(z)),

in which z p(z) < 2^-6 may be a float64 and all that stands outside it is a sum of two.
"""

from __future__ import annotations

from math import inf, nan

from heelstrike.codegen.functions.coefficients import LN2, LOG_TAIL, TWO_THIRDS
from heelstrike.codegen.functions.exponential import exp_of_sum, split_exponent
from heelstrike.codegen.functions.precision import (
    Pair,
    fast_two_sum,
    in_float64,
    polynomial,
    two_product,
)
from heelstrike.codegen.lanes import Lanes


@in_float64
def pow(b: Lanes, x: str, y: str) -> str:
    """Return x^y, within 4 ulp for all x and y.

    As in C: x^0 = 1 and 1^y = 1 even for NaN, a negative x needs an integer y (else NaN) and an odd
    one makes the result negative; 0^y is 0 or, for y < 0, inf. Subnormal results round gradually.
    """
    zero, one = b.const(0.0), b.const(1.0)
    size = b.abs(x)
    h, low = _log(b, size)
    h = b.select(b.compare("oeq", size, zero), b.const(-inf), h)
    h = b.select(b.compare("olt", size, b.const(inf)), h, size)  # inf and NaN
    p, p_low = two_product(b, y, h)
    p_low = b.fma(y, low, p_low)
    p_low = b.select(b.compare("olt", b.abs(p), b.const(1e3)), p_low, zero)
    p = b.select(b.compare("oeq", h, zero), zero, p)  # 1^inf
    value = exp_of_sum(b, p, p_low)

    negative = b.int_compare("slt", b.to_bits(x), b.integer(0))
    whole, half = b.compare("oeq", b.trunc(y), y), b.mul(b.const(0.5), y)
    odd = b.both(whole, b.compare("one", b.trunc(half), half))
    value = b.select(b.both(negative, odd), b.neg(value), value)
    finite_negative = b.both(b.compare("olt", x, zero), b.compare("ogt", x, b.const(-inf)))
    value = b.select(b.both(finite_negative, b.invert(whole)), b.const(nan), value)
    return b.select(b.compare("oeq", y, zero), one, value)


def _log(b: Lanes, x: str) -> Pair:
    """Return log x as a sum of two, right to 2^-64 of it, for finite x > 0."""
    k, f = split_exponent(b, x)
    h, low = _log_near_one(b, f)
    multiple, multiple_low = two_product(b, k, b.const(LN2[0]))
    multiple_low = b.fma(k, b.const(LN2[1]), multiple_low)
    h, error = fast_two_sum(b, multiple, h)
    return fast_two_sum(b, h, b.add(error, b.add(multiple_low, low)))


def _log_near_one(b: Lanes, f: str) -> Pair:
    """Return log(1 + f) as a sum of two, for 1 + f within a factor sqrt 2 of 1."""
    d, d_low = fast_two_sum(b, b.const(2.0), f)
    inverse = b.div(b.const(1.0), d)
    s = b.mul(f, inverse)
    s_low = b.mul(b.fma(b.neg(s), d_low, b.fma(b.neg(s), d, f)), inverse)
    z = _product(b, (s, s_low), (s, s_low))
    q, q_low = fast_two_sum(b, b.const(TWO_THIRDS[0]), b.mul(z[0], polynomial(b, z[0], LOG_TAIL)))
    q_low = b.add(q_low, b.const(TWO_THIRDS[1]))
    cubic, cubic_low = _product(b, (s, s_low), _product(b, z, (q, q_low)))
    h, error = fast_two_sum(b, b.add(s, s), cubic)
    return h, b.add(error, b.add(cubic_low, b.add(s_low, s_low)))


def _product(b: Lanes, x: Pair, y: Pair) -> Pair:
    """Return (x + x_low) (y + y_low) without the product of the low parts, not normalised."""
    p, low = two_product(b, x[0], y[0])
    return p, b.add(low, b.fma(x[0], y[1], b.mul(x[1], y[0])))
