"""Closed forms of [Marhefka1996]: one mass, one impact, no gravity.

With u = 1 + 3/2 alpha v, and u_i at entry, (19) with its two negative radicands merged reads

    x^(n+1) = 4 m (n+1) / (9 k alpha^2) (G(u_i - 1) - G(u - 1)),      G(s) = s - ln(1 + s)

At x = 0 this is G(u - 1) = G(u_i - 1): m, k and n cancel, and what is left is the restitution
(heelstrike.contact.restitution), for one alpha and, of section 6, for two.
The peak force k x^n u is where d(x^n u)/du = 0, also a W. The linear law (3), with
zeta = b / (2 sqrt(k m)), has e from (4), and two others where tension is not kept.
Speeds and depths are positive going in, forces positive where they repel. SI units.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import lambertw

from heelstrike.contact.restitution import Floats as Floats
from heelstrike.contact.restitution import g
from heelstrike.contact.restitution import restitution as restitution
from heelstrike.contact.restitution import restitution_two as restitution_two


def sticky_speed(alpha: ArrayLike) -> Floats:
    """-2/(3 alpha), (22): the only depth rate at which spring and damper cancel [m/s]."""
    return -2 / (3 * np.asarray(alpha, dtype=float))


def speed_out(alpha: ArrayLike, v_in: ArrayLike) -> Floats:
    """Depth rate at separation [m/s], negative."""
    return -restitution(alpha, v_in) * np.asarray(v_in, dtype=float)


def depth(v: ArrayLike, v_in: float, alpha: float, m: float, k: float, n: float = 1.0) -> Floats:
    """(19): depth where the depth rate is v [m]; NaN where the contour does not go.

    v_in is the rate at which the contour meets x = 0: on entry, or, below (22), on leaving.
    """
    s = 1.5 * alpha * np.asarray(v, dtype=float)
    power = 4 * m * (n + 1) / (9 * k * alpha**2) * (g(1.5 * alpha * v_in) - g(s))
    return np.where(power >= 0, np.abs(power) ** (1 / (n + 1)), np.nan)


def off_contour(
    x: ArrayLike, v: ArrayLike, v_in: float, alpha: float, m: float, k: float, n: float = 1.0
) -> Floats:
    """Distance of states from the contour (19), in units of their own largest depth and rate [-].

    To first order |H - H_i| / |grad H|, where H = G(3/2 alpha v) + 9 k alpha^2/(4 m (n+1)) x^(n+1).
    """
    x, v = np.asarray(x, dtype=float), np.asarray(v, dtype=float)
    s = 1.5 * alpha * v
    c = 9 * k * alpha**2 / (4 * m * (n + 1))
    slope_x = c * (n + 1) * np.abs(x) ** n * np.max(np.abs(x))
    slope_v = 1.5 * alpha * s / (1 + s) * np.max(np.abs(v))
    return np.abs(g(s) + c * np.abs(x) ** (n + 1) - g(1.5 * alpha * v_in)) / np.hypot(
        slope_x, slope_v
    )


def depth_max(alpha: float, v_in: float, m: float, k: float, n: float = 1.0) -> float:
    """Greatest depth [m]: (19) at v = 0."""
    return float(depth(0.0, v_in, alpha, m, k, n))


def force_max(alpha: float, v_in: float, m: float, k: float, n: float = 1.0) -> float:
    """Greatest force [N], at the root of u_i - ln u_i - u + ln u = n/(n+1) (u - 1)."""
    u_in = 1 + 1.5 * alpha * v_in
    share = n / (n + 1)
    level = u_in - np.log(u_in) + share
    u = float(-lambertw(-(1 + share) * np.exp(-level), -1).real / (1 + share))
    return float(k * depth((u - 1) / (1.5 * alpha), v_in, alpha, m, k, n) ** n * u)


def energy_lost(alpha: float, v_in: float, m: float) -> float:
    """Area of the loop (23) [J]."""
    return float(0.5 * m * v_in**2 * (1 - restitution(alpha, v_in) ** 2))


def contact_time(alpha: float, v_in: float, m: float, k: float, n: float = 1.0) -> float:
    """Duration of contact [s]: the integral of m dv / f, v from v_in to 0 and on to v_out.

    v = end (1 - s^(n+1)) takes the root of the depth off both ends; then Gauss-Legendre.
    """
    nodes, weights = np.polynomial.legendre.leggauss(
        40
    )  # more lose digits: (19) cancels near its ends
    s, ds = 0.5 * (nodes + 1), 0.5 * weights
    total = 0.0
    for end in (v_in, float(speed_out(alpha, v_in))):
        v = end * (1 - s ** (n + 1))
        force = k * depth(v, v_in, alpha, m, k, n) ** n * (1 + 1.5 * alpha * v)
        total += float(np.sum(ds * m * abs(end) * (n + 1) * s**n / force))
    return total


def linear_restitution(m: ArrayLike, k: ArrayLike, b: ArrayLike, rule: str) -> Floats:
    """e of the linear law (3) [-], underdamped.

    "tension": kept, exp(-pi zeta / sqrt(1 - zeta^2)), which is (4);
    "zeroed": the pull before separation set to zero, exp(-2 zeta B);
    "compression": damping on the way in only, exp(-zeta B);  B = acos(zeta) / sqrt(1 - zeta^2).
    """
    m, k, b = (np.asarray(x, dtype=float) for x in (m, k, b))
    zeta = b / (2 * np.sqrt(k * m))
    root = np.sqrt(1 - zeta**2)
    angle = {"tension": np.pi, "zeroed": 2 * np.arccos(zeta), "compression": np.arccos(zeta)}
    return np.exp(-zeta * angle[rule] / root)
