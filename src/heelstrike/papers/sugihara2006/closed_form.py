"""Consequences of (13) and (14) alone, for a mass m on n points.

With kappa = n k dt^2 / m, gamma = n c dt / m, the step of (d, dt d') in contact is linear. Its
trace and determinant:

                  symplectic, v first                    explicit
    (13)          2 - kappa - gamma, 1 - gamma           2 - gamma, 1 - gamma + kappa
    (14)          gamma + kappa in place of gamma: the damper of (15)

and it is stable where both eigenvalues lie within the unit circle, |trace| < 1 + det and det < 1:

    symplectic (13)   kappa + 2 gamma < 4
    symplectic (14)   3 kappa + 2 gamma < 4
    explicit (13)     kappa < gamma,  2 gamma < 4 + kappa
    explicit (14)     kappa + 2 gamma < 4

Coming out there is no c, so gamma = 0: kappa < 4, kappa < 4/3, never, kappa < 4.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]

K, C = 4410.0, 282.0
"""Of the floor [N/m], [N s/m], section IV-B."""
MASS = 5.0
"""Of the robot [kg], fig 5."""
STEPS = (1e-3, 2.5e-3)
"""[s], section IV-B."""
HEIGHT = 0.05
"""Of the drop [m], section IV-B."""
G = 9.81


def stable(equation: int, scheme: str, kappa: Floats, gamma: Floats) -> NDArray[np.bool_]:
    """Return where compression is stable, by the inequalities above."""
    if scheme == "euler" and equation == 13:
        return (kappa < gamma) & (2 * gamma < 4 + kappa)
    triple = 3 if (scheme, equation) == ("symplectic", 14) else 1
    return triple * kappa + 2 * gamma < 4


def stable_out(equation: int, scheme: str) -> float:
    """Largest kappa for which coming out is stable."""
    return {
        ("symplectic", 13): 4.0,
        ("symplectic", 14): 4 / 3,
        ("euler", 13): 0.0,
        ("euler", 14): 4.0,
    }[scheme, equation]


def radius(equation: int, scheme: str, kappa: ArrayLike, gamma: ArrayLike) -> Floats:
    """Largest |eigenvalue| of the step."""
    kappa, gamma = np.asarray(kappa, dtype=float), np.asarray(gamma, dtype=float)
    damper = gamma + kappa if equation == 14 else gamma
    if scheme == "symplectic":
        trace, det = 2 - kappa - damper, 1 - damper
    else:
        trace, det = 2 - damper, 1 - damper + kappa
    root = np.sqrt((trace / 2) ** 2 - det + 0j)
    return np.maximum(np.abs(trace / 2 + root), np.abs(trace / 2 - root))


def largest_step(equation: int, points: ArrayLike, mass: float = MASS) -> Floats:
    """Up to which the floor of the paper carries a mass on n points, symplectic [s]."""
    a = 3 if equation == 14 else 1
    share = mass / np.asarray(points, dtype=float)
    return np.asarray((np.sqrt(C**2 + 4 * a * K * share) - C) / (a * K))


def bounce(
    equation: int, scheme: str, theta: Floats, kappa: float, gamma: float, steps: int = 400
) -> Floats:
    """e of one bounce, step by step: the mass enters a fraction theta of a step deep at w = 1."""
    d, w = theta.copy(), np.ones_like(theta)
    for _ in range(steps):
        at = np.maximum(d + w, 0) if equation == 14 else d
        after = w - np.where(d > 0, kappa * at + gamma * np.maximum(w, 0), 0)
        d = d + (after if scheme == "symplectic" else w)
        w = after
    return np.asarray(-w)
