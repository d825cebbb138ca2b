"""Restitution of a linear spring and damper in closed form, and the damping that gives it.

With z = c / (2 sqrt(k m)) and B = acos(z) / sqrt(1 - z^2), acosh(z) / sqrt(z^2 - 1) above 1:

    e = exp(-z B)                     damping on the way in only
    e = exp(-2 z B)                   both ways, no tension
    e = exp(-pi z / sqrt(1 - z^2))    both ways, tension kept; 0 from z = 1 on

(linear_spring.py). One mass, no gravity.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

LARGEST = 1e3
"""Damping ratio at which e is as good as 0."""


def restitution(z: float, damping: str = "compression", adhesive: bool = False) -> float:
    """e of a damping ratio."""
    if damping == "both" and adhesive:
        return float(np.exp(-np.pi * z / np.sqrt(1 - z**2))) if z < 1 else 0.0
    ways = 2 if damping == "both" else 1
    return float(np.exp(-ways * z * _b(z)))


def ratio(e: float, damping: str = "compression", adhesive: bool = False) -> float:
    """The damping ratio that gives e, LARGEST at most."""
    most = 1.0 if damping == "both" and adhesive else LARGEST
    if e >= 1:
        return 0.0
    if restitution(most, damping, adhesive) >= e:
        return most
    return float(brentq(lambda z: restitution(z, damping, adhesive) - e, 0.0, most))


def _b(z: float) -> float:
    if abs(z - 1) < 1e-9:
        return 1.0
    return float(np.arccos(z) / np.sqrt(1 - z**2) if z < 1 else np.arccosh(z) / np.sqrt(z**2 - 1))
