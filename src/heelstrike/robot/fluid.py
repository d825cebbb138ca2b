"""Drag of a fluid on a body: data, traced by step/fluid.py.

MuJoCo's model by the box of equal inertia. A body of mass m and principal moments A, B, C is a box
of edges a, b, c in its principal axes,

    a = sqrt(6 (B + C - A) / m), ...        d = (a + b + c) / 3

and with v the velocity of its centre of mass less the wind, w its angular velocity, rho the density
and eta the viscosity of the fluid,

    f_x = -3 pi eta d v_x   - rho/2 b c |v_x| v_x
    n_x = -pi eta d^3 w_x   - rho/64 a (b^4 + c^4) |w_x| w_x
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Drag:
    """A part of a body in a fluid, as a box."""

    body: int
    """Index of the body that carries it."""
    rotation: np.ndarray
    """Principal axes in the body's frame, as columns, (3, 3)."""
    centre: np.ndarray
    """Centre of mass in the body's frame, (3,) [m]."""
    box: np.ndarray
    """Edges of the box, (3,) [m]."""
    density: float
    """[kg/m^3]"""
    viscosity: float
    """[Pa s]"""
    wind: np.ndarray
    """Velocity of the fluid in world axes, (3,) [m/s]."""


def inertia_box(mass: float, moments: np.ndarray) -> np.ndarray:
    """Return the edges of the box with this mass and these principal moments, (3,) [m]."""
    return np.sqrt(6 * np.maximum(moments.sum() - 2 * moments, 1e-15) / mass)
