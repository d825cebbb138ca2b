"""Restitution of an impact in closed form: one mass, no gravity.

Hunt-Crossley. With s = 3/2 alpha v and G(s) = s - ln(1 + s), [Marhefka1996] (19) at x = 0 reads

    G(s_out) = G(s_in)                        m, k and n cancel
    G(s_out) = (a_out/a_in)^2 G(s_in)         with another alpha on the way out, the depth the same

Its negative root is Lambert's W, s_out = -1 - W_0(-exp(-1 - level)), and

    e = -s_out / (3/2 a_out v_i) = 1 - z + z^2 - 1.1 z^3 ...,  z = alpha v_i, for one alpha

Linear spring and damper. With z = c / (2 sqrt(k m)) and B = acos(z) / sqrt(1 - z^2), for z > 1
acosh(z) / sqrt(z^2 - 1):

    e = exp(-z B)                     damping on the way in only
    e = exp(-2 z B)                   both ways, no tension
    e = exp(-pi z / sqrt(1 - z^2))    both ways, tension kept; 0 from z = 1 on    [Marhefka1996] (4)

Speeds are positive going in. SI units.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import lambertw

Floats: TypeAlias = NDArray[np.float64]

MAX_RATIO = 1e3
"""Damping ratio at which the restitution of a linear spring counts as 0 [-]."""


def restitution(alpha: ArrayLike, v_in: ArrayLike) -> Floats:
    """Return e of a Hunt-Crossley impact at v_in > 0 [m/s], for alpha > 0 [s/m]."""
    return restitution_two(alpha, alpha, v_in)


def restitution_two(alpha_in: ArrayLike, alpha_out: ArrayLike, v_in: ArrayLike) -> Floats:
    """Return e of a Hunt-Crossley impact with one alpha on the way in and another out [s/m]."""
    a, b, v = np.broadcast_arrays(
        *(np.asarray(x, dtype=float) for x in (alpha_in, alpha_out, v_in))
    )
    level = (b / a) ** 2 * g(1.5 * a * v)
    return -_below_zero(level) / (1.5 * b * v)


def g(s: Floats | float) -> Floats:
    """Return G(s) = s - ln|1 + s|, by its series near zero, where the two terms cancel."""
    s = np.asarray(s, dtype=float)
    series = s**2 * (1 / 2 - s * (1 / 3 - s * (1 / 4 - s * (1 / 5 - s * (1 / 6 - s / 7)))))
    mirrored = np.where(s < -1, -2 - s, s)  # |1 + s| = 1 + mirrored
    return np.where(np.abs(s) < 1e-3, series, s - np.log1p(mirrored))


def _below_zero(level: Floats) -> Floats:
    """Return the root s in (-1, 0] of G(s) = level: -1 - W_0(-exp(-1 - level)), then Newton.

    W_0 has a square root at -1/e: half of its digits are lost at a small level; Newton's method
    restores them.
    """
    s = -1 - lambertw(-np.exp(-1 - level), 0).real
    s = np.where(level < 1e-6, -np.sqrt(2 * level), s)
    lost = (level < 1) & (s < 0)
    for _ in range(3):
        at = np.where(lost, s, -0.5)
        s = np.where(lost, at - (g(at) - level) * (1 + at) / at, s)
    return s


def linear_restitution(z: float, damping: str = "compression", adhesive: bool = False) -> float:
    """Return e of a LinearSpring with damping ratio z, for its `damping` and `adhesive`."""
    if damping == "both" and adhesive:
        return float(np.exp(-np.pi * z / np.sqrt(1 - z**2))) if z < 1 else 0.0
    ways = 2 if damping == "both" else 1
    return float(np.exp(-ways * z * _b(z)))


def damping_ratio(e: float, damping: str = "compression", adhesive: bool = False) -> float:
    """Return the damping ratio at which a LinearSpring rebounds with e, MAX_RATIO at most."""
    most = 1.0 if damping == "both" and adhesive else MAX_RATIO
    if e >= 1:
        return 0.0
    if linear_restitution(most, damping, adhesive) >= e:
        return most
    return float(brentq(lambda z: linear_restitution(z, damping, adhesive) - e, 0.0, most))


def _b(z: float) -> float:
    if abs(z - 1) < 1e-9:
        return 1.0
    return float(np.arccos(z) / np.sqrt(1 - z**2) if z < 1 else np.arccosh(z) / np.sqrt(z**2 - 1))
