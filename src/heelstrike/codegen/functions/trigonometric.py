"""Sine, cosine and tangent: reduction by pi/2, then two polynomials on |r| <= pi/4.

    x = k pi/2 + r,    k = round(2 x / pi)
    k mod 4:     0        1        2        3
    sin x      sin r    cos r   -sin r   -cos r
    cos x      cos r   -sin r   -cos r    sin r
    tan x      tan r  -1/tan r   tan r  -1/tan r

Adding 1.5 2^52 (1.5 2^23 in float32) to 2 x / pi rounds it to k and leaves k's bits at the low end
of the pattern. pi/2 is subtracted in three parts [Cody1980]; with FMA the first step is exact, for
k P1 and x are multiples of 2^-53 and their difference is less than 1.

Cody and Waite, Software Manual for the Elementary Functions, Prentice-Hall, 1980.
"""

from __future__ import annotations

from math import pi

from heelstrike.codegen.functions.coefficients import COS, PI_2, SIN
from heelstrike.codegen.functions.precision import (
    MAGIC,
    Pair,
    fast_two_sum,
    in_float64,
    polynomial,
    quotient,
    two_product,
    two_sum,
)
from heelstrike.codegen.lanes import Lanes


def sincos(b: Lanes, x: str) -> tuple[str, str]:
    """Return (sin x, cos x), within 2 ulp for |x| <= 2^40 (float64), 2^17 (float32).

    Infinities and NaN give NaN. Beyond the range accuracy fades, first near multiples of pi/2.
    """
    name = b.real.name
    quadrant, k = _nearest_quadrant(b, x)
    r = x
    for part in PI_2[name]:
        r = b.fma(k, b.const(-part), r)
    z = b.mul(r, r)
    # + 0 turns z p = -0 into 0, and so sin(-0) into -0
    sin_r = b.fma(b.fma(z, polynomial(b, z, SIN[name]), b.const(0.0)), r, r)
    cos_r = b.fma(z, polynomial(b, z, COS[name]), b.const(1.0))

    odd = b.int_op("shl", quadrant, b.integer(b.real.bits - 1))
    swap = b.int_compare("slt", odd, b.integer(0))
    half_turn = b.int_op("shl", quadrant, b.integer(b.real.bits - 2))
    half_turn = b.int_op("and", half_turn, b.integer(-(2 ** (b.real.bits - 1))))
    sin_x = b.to_bits(b.select(swap, cos_r, sin_r))
    cos_x = b.to_bits(b.select(swap, sin_r, cos_r))
    sin_x = b.int_op("xor", sin_x, half_turn)
    cos_x = b.int_op("xor", cos_x, b.int_op("xor", half_turn, odd))
    return b.from_bits(sin_x), b.from_bits(cos_x)


def sin(b: Lanes, x: str) -> str:
    """Return sin x in the range of `sincos`."""
    return sincos(b, x)[0]


def cos(b: Lanes, x: str) -> str:
    """Return cos x in the range of `sincos`."""
    return sincos(b, x)[1]


@in_float64
def tan(b: Lanes, x: str) -> str:
    """Return tan x, within 2 ulp for |x| <= 2^40; infinities and NaN give NaN.

    r, sin r and cos r carry their rounding errors along, and the quotient is corrected by them.
    """
    quadrant, k = _nearest_quadrant(b, x)
    r, r_low = _compensated_remainder(b, x, k)
    s, c = _compensated_sincos(b, r, r_low)
    odd = b.int_op("shl", quadrant, b.integer(b.real.bits - 1))
    swap = b.int_compare("slt", odd, b.integer(0))
    above = b.select(swap, c[0], s[0]), b.select(swap, c[1], s[1])
    below = b.select(swap, s[0], c[0]), b.select(swap, s[1], c[1])
    tan_x = b.to_bits(quotient(b, above, below))
    tan_x = b.from_bits(b.int_op("xor", tan_x, odd))
    tiny = b.compare("olt", b.abs(x), b.const(2.0**-27))  # keeps -0
    return b.select(tiny, x, tan_x)


def _nearest_quadrant(b: Lanes, x: str) -> tuple[str, str]:
    """Return k = round(2 x / pi): an integer right in its two low bits, and a float."""
    magic = b.const(MAGIC if b.real.bits == 64 else 1.5 * 2.0**23)
    shifted = b.fma(x, b.const(2 / pi), magic)
    return b.to_bits(shifted), b.sub(shifted, magic)


def _compensated_remainder(b: Lanes, x: str, k: str) -> Pair:
    """Return x - k pi/2 as a float64 and its rounding error."""
    p1, p2, p3 = PI_2["double"]
    first = b.fma(k, b.const(-p1), x)  # exact
    product, product_low = two_product(b, k, b.const(-p2))
    r, r_low = two_sum(b, first, product)
    return fast_two_sum(b, r, b.fma(k, b.const(-p3), b.add(r_low, product_low)))


def _compensated_sincos(b: Lanes, r: str, r_low: str) -> tuple[Pair, Pair]:
    """Return sin and cos of r + r_low, each with its rounding error.

    cos r = 1 - z/2 + z^2 q(z): the second term is exact but for the rounding of z = r^2.
    """
    z, z_low = two_product(b, r, r)
    quartic = b.mul(b.mul(z, z), polynomial(b, z, COS["double"][1:]))
    minus_half = b.const(COS["double"][0])
    c, error = fast_two_sum(b, b.const(1.0), b.mul(minus_half, z))
    tail = b.fma(minus_half, z_low, b.fma(b.neg(r_low), r, quartic))
    c, c_low = fast_two_sum(b, c, b.add(error, tail))
    cubic = b.mul(b.mul(z, polynomial(b, z, SIN["double"])), r)
    return fast_two_sum(b, r, b.fma(r_low, c, cubic)), (c, c_low)
