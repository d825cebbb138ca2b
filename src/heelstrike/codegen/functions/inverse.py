"""Angles from ratios: everything is atan2, and atan2 is one division and one polynomial.

With a <= m the smaller and larger of |x| and |y|, an octant's angle is

    a < m/2:   atan(a / m)
    a >= m/2:  pi/4 + atan((a - m) / (a + m))       a - m is exact [Sterbenz1974]

so the polynomial's argument t is within [-1/3, 1/2]. Reflections in the diagonal (|y| > |x|) and in
the y axis (x < 0) turn the angle into j pi/4 +- atan(t), j = 0 ... 4, with pi/4 in two parts.

Sterbenz, Floating-Point Computation, Prentice-Hall, 1974.
"""

from __future__ import annotations

from heelstrike.codegen.functions.coefficients import ATAN, PI_4
from heelstrike.codegen.functions.precision import (
    Pair,
    fast_two_sum,
    in_float64,
    polynomial,
    two_product,
)
from heelstrike.codegen.lanes import Lanes


@in_float64
def atan2(b: Lanes, y: str, x: str) -> str:
    """Return the angle of (x, y) in [-pi, pi] [rad], within 2 ulp for all x and y.

    Zeros and infinities as C has them: atan2(+-0, -0) = +-pi, atan2(+-inf, -inf) = +-3 pi/4, ...
    """
    return _angle(b, y, x, b.const(-0.0))


def _angle(b: Lanes, y: str, x: str, correction: str) -> str:
    """Return atan2(y, x) with a small correction, added before the last two roundings."""
    zero = b.const(0.0)
    steep, a, m = _sorted_magnitudes(b, x, y)
    # not a >= m/2, whose halving may round; 0, 0 is near the axis, inf, inf near the diagonal
    near_diagonal = b.both(b.compare("oge", b.add(a, a), m), b.compare("ogt", a, zero))
    above = b.select(near_diagonal, b.sub(a, m), a)
    below = b.select(near_diagonal, b.add(a, m), m)
    t = b.select(b.compare("oeq", a, m), zero, b.div(above, below))

    left = b.int_compare("slt", b.to_bits(x), b.integer(0))
    j = b.select(near_diagonal, b.const(1.0), zero)
    j, t = b.select(steep, b.sub(b.const(2.0), j), j), b.select(steep, b.neg(t), t)
    j, t = b.select(left, b.sub(b.const(4.0), j), j), b.select(left, b.neg(t), t)

    z = b.mul(t, t)
    low = b.fma(j, b.const(PI_4[1]), correction)
    low = b.fma(b.mul(z, polynomial(b, z, ATAN)), t, low)
    angle = b.fma(j, b.const(PI_4[0]), b.add(t, low))
    return b.copysign(angle, y)


def atan(b: Lanes, x: str) -> str:
    """Return atan x [rad], within 2 ulp for all x; atan(+-inf) = +-pi/2."""
    return atan2(b, x, b.const(1.0))


@in_float64
def asin(b: Lanes, x: str) -> str:
    """Return asin x = atan2(x, sqrt(1 - x^2)) [rad], within 2 ulp for |x| <= 1; beyond it NaN."""
    s, s_low = _cosine_of_asin(b, x)
    return _angle(b, x, s, b.neg(b.mul(b.abs(x), s_low)))  # d angle / d s = -x, as x^2 + s^2 = 1


@in_float64
def acos(b: Lanes, x: str) -> str:
    """Return acos x = atan2(sqrt(1 - x^2), x) [rad], within 2 ulp for |x| <= 1; beyond it NaN."""
    s, s_low = _cosine_of_asin(b, x)
    return _angle(b, s, x, b.mul(x, s_low))


def _cosine_of_asin(b: Lanes, x: str) -> Pair:
    """Return sqrt(1 - x^2) and its error."""
    square, square_low = two_product(b, x, x)
    w, error = fast_two_sum(b, b.const(1.0), b.neg(square))
    w, w_low = fast_two_sum(b, w, b.sub(error, square_low))
    s = b.sqrt(w)
    residual = b.add(b.fma(b.neg(s), s, w), w_low)
    return s, b.div(residual, b.max(b.add(s, s), b.const(2.0**-100)))  # 0 / 0 at |x| = 1


def _sorted_magnitudes(b: Lanes, x: str, y: str) -> tuple[str, str, str]:
    """Return whether |y| > |x|, and the smaller and the larger, scaled to a finite sum."""
    x, y = b.abs(x), b.abs(y)
    steep = b.compare("ogt", y, x)
    smaller, larger = b.select(steep, x, y), b.select(steep, y, x)
    huge = b.compare("ogt", larger, b.const(2.0**1000))
    scale = b.select(huge, b.const(2.0**-60), b.const(1.0))
    return steep, b.mul(smaller, scale), b.mul(larger, scale)
