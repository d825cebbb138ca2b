"""Exponential, logarithm and hyperbolic tangent: reduction by log 2, then a polynomial.

    exp x  = 2^k exp r,                     x = k log 2 + r,  |r| <= log(2)/2
    log x  = k log 2 + log(1 + f),          x = 2^k (1 + f),  1/sqrt 2 <= 1 + f < sqrt 2
    tanh x = ((1 - c) + (1 + c) T) / ((1 + c) + (1 - c) T),
             c = 4^-k,  T = tanh h,         x = k log 2 + h,  |h| <= log(2)/2

log(1 + f) = 2 atanh s with s = f / (2 + f); writing 2 s = f - s f leaves the leading term f exact.
"""

from __future__ import annotations

from math import inf, nan, sqrt

from heelstrike.codegen.functions.coefficients import EXP, LN2, LOG, TANH
from heelstrike.codegen.functions.precision import (
    EXPONENT_SHIFT,
    MAGIC,
    Pair,
    clamp,
    fast_two_sum,
    in_float64,
    polynomial,
    power_of_two,
    quotient,
)
from heelstrike.codegen.lanes import Lanes


@in_float64
def exp(b: Lanes, x: str) -> str:
    """Return e^x, within 2 ulp for all x, subnormal results included.

    It is inf from 709.8 (float32: 88.7) on.
    """
    return exp_of_sum(b, x, b.const(-0.0))


def exp_of_sum(b: Lanes, x: str, x_low: str) -> str:
    """Return e^(x + x_low) in float64, for |x_low| within a few ulp of x."""
    x = clamp(b, x, -746.0, 710.0)  # the results are 0 and inf
    k, r, _ = _remainder_of_log_2(b, x)
    r = b.add(r, x_low)
    r2 = b.mul(r, r)
    e = b.add(b.const(1.0), b.fma(r2, polynomial(b, r, EXP), r))
    # two factors, for 2^k itself may be too large or subnormal; only the second product rounds
    magic = b.const(MAGIC)
    shifted = b.fma(k, b.const(0.5), magic)
    rest = b.add(b.sub(k, b.sub(shifted, magic)), magic)
    return b.mul(b.mul(e, power_of_two(b, shifted)), power_of_two(b, rest))


@in_float64
def log(b: Lanes, x: str) -> str:
    """Return log x, within 2 ulp for all x, subnormals included; log 0 = -inf, log(x < 0) = NaN."""
    k, f = split_exponent(b, x)
    s = b.div(f, b.add(b.const(2.0), f))
    z = b.mul(s, s)
    correction = b.mul(s, b.fma(b.neg(z), polynomial(b, z, LOG), f))
    correction = b.fma(k, b.const(-LN2[1]), correction)
    value = b.fma(k, b.const(LN2[0]), b.sub(f, correction))

    value = b.select(b.compare("olt", x, b.const(inf)), value, x)
    outside = b.select(b.compare("oeq", x, b.const(0.0)), b.const(-inf), b.const(nan))
    return b.select(b.compare("ogt", x, b.const(0.0)), value, outside)


def split_exponent(b: Lanes, x: str) -> tuple[str, str]:
    """Return (k, f) with x = 2^k (1 + f), 1/sqrt 2 <= 1 + f < sqrt 2; finite x > 0 in float64."""
    subnormal = b.compare("olt", x, b.const(2.0**-1022))
    x = b.select(subnormal, b.mul(x, b.const(2.0**54)), x)
    bias = b.select(subnormal, b.const(2.0**52 + 1023 + 54), b.const(2.0**52 + 1023))
    one, lowest = b.to_bits(b.const(1.0)), b.to_bits(b.const(sqrt(0.5)))
    # counted from 1/sqrt 2, the exponent field is k + 1023 and the fraction that of the mantissa
    bits = b.int_op("add", b.to_bits(x), b.int_op("sub", one, lowest))
    exponent = b.int_op("lshr", bits, b.integer(EXPONENT_SHIFT))
    k = b.sub(b.from_bits(b.int_op("or", exponent, b.to_bits(b.const(2.0**52)))), bias)
    fraction = b.int_op("and", bits, b.integer(2**EXPONENT_SHIFT - 1))
    mantissa = b.from_bits(b.int_op("add", fraction, lowest))
    return k, b.sub(mantissa, b.const(1.0))


@in_float64
def tanh(b: Lanes, x: str) -> str:
    """Return tanh x, within 2 ulp for all x; +-1 from |x| = 20 on.

    h and the leading terms carry their rounding errors along, for T cancels a part of 1 - c.
    """
    one = b.const(1.0)
    a = b.min(b.const(20.0), b.abs(x))
    k, h, h_low = _remainder_of_log_2(b, a)
    z = b.mul(h, h)
    tail = b.fma(b.mul(z, polynomial(b, z, TANH)), h, h_low)  # T = h + tail

    c = power_of_two(b, b.fma(k, b.const(-2.0), b.const(MAGIC)))
    more, more_low = fast_two_sum(b, one, c)
    less, less_low = fast_two_sum(b, one, b.neg(c))
    above, above_low = _rounded_fma(b, more, h, less)
    below, below_low = _rounded_fma(b, less, h, more)
    above_low, below_low = b.add(above_low, less_low), b.add(below_low, more_low)
    numerator = fast_two_sum(b, above, b.fma(more, tail, above_low))
    denominator = fast_two_sum(b, below, b.fma(less, tail, below_low))
    return b.copysign(quotient(b, numerator, denominator), x)


def _rounded_fma(b: Lanes, x: str, y: str, larger: str) -> Pair:
    """Return fl(x y + larger) and its error, up to a second rounding; |larger| >= |x y| or 0."""
    value = b.fma(x, y, larger)
    return value, b.fma(x, y, b.sub(larger, value))


def _remainder_of_log_2(b: Lanes, x: str) -> tuple[str, str, str]:
    """Return k = round(x / log 2), then x - k log 2 and its error; the first step is exact."""
    magic = b.const(MAGIC)
    k = b.sub(b.fma(x, b.const(1 / LN2[0]), magic), magic)
    first = b.fma(k, b.const(-LN2[0]), x)
    r = b.fma(k, b.const(-LN2[1]), first)
    return k, r, b.fma(k, b.const(-LN2[1]), b.sub(first, r))
