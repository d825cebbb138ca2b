"""Stability of a time step for a mass on a spring and a damper, whatever the law.

With kappa = k dt^2 / m and gamma = c dt / m the step of (d, dt d') is linear:

    symplectic   [[1 - kappa, 1 - gamma], [-kappa, 1 - gamma]]     stable iff kappa + 2 gamma < 4
    euler        [[1, 1], [-kappa, 1 - gamma]]
    rk4          1 + z + z^2/2 + z^3/6 + z^4/24 of [[0, 1], [-kappa, -gamma]]

For n points that share a mass m, n k and n c replace k and c. [Sugihara2006] (14) has c + k dt in
place of c.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import casadi as ca
import numpy as np

from heelstrike.contact.law import SX, Contact, NormalLaw, force_and_memory
from heelstrike.parameters import with_values

Slopes: TypeAlias = Callable[[float], tuple[float, float]]
"""Function from a time step dt [s] to the stiffness [N/m] and damping [N s/m] of a law."""


def step_matrix(k: float, c: float, mass: float, dt: float, integrator: str) -> np.ndarray:
    """Return the matrix of one step of (d, dt d'), (2, 2)."""
    kappa, gamma = k * dt**2 / mass, c * dt / mass
    if integrator == "symplectic":
        return np.array([[1 - kappa, 1 - gamma], [-kappa, 1 - gamma]])
    if integrator == "euler":
        return np.array([[1.0, 1.0], [-kappa, 1 - gamma]])
    z = np.array([[0.0, 1.0], [-kappa, -gamma]])
    eye = np.eye(2)
    return eye + z @ (eye + z @ (eye + z @ (eye + z / 4) / 3) / 2)


def step_radius(k: float, c: float, mass: float, dt: float, integrator: str) -> float:
    """Return the spectral radius of a step; above 1 the motion grows with every step."""
    return float(np.abs(np.linalg.eigvals(step_matrix(k, c, mass, dt, integrator))).max())


def largest_step(law: Slopes, mass: float, dt: float, integrator: str) -> float | None:
    """Return the largest stable step up to dt [s], to 1 %; None if there is none above dt / 1e4."""

    def stable(at: float) -> bool:
        return step_radius(*law(at), mass, at, integrator) <= 1 + 1e-9

    good = dt
    while not stable(good):
        good /= 2
        if good < 1e-4 * dt:
            return None
    bad = 2 * good
    while bad > 1.01 * good:
        middle = (good * bad) ** 0.5
        good, bad = (middle, bad) if stable(middle) else (good, middle)
    return good


def slopes(
    law: NormalLaw,
    values: Mapping[str, np.ndarray],
    path: str,
    depth: float,
    rate: float,
    dt: float,
) -> tuple[float, float]:
    """Return df/dd [N/m] and df/dd' [N s/m] of a normal law at a depth [m] and a rate [m/s].

    Args:
        law: normal law.
        values: values of the parameters by path.
        path: path of the law in `values`, with its final dot.
        depth, rate: state of the contact.
        dt: time step [s].
    """
    own = {name: SX(value) for name, value in values.items() if name.startswith(path)}
    d, v, none = SX.sym("d"), SX.sym("v"), SX.zeros(law.memory_size)
    c = Contact(d, v, SX(dt), none, SX.zeros(2), SX.zeros(2), SX(0))
    force, _ = force_and_memory(with_values(law, own, path).force(c), none)
    both = ca.Function("slopes", [d, v], [ca.jacobian(force, ca.vertcat(d, v))])(depth, rate)
    return float(both[0]), float(both[1])
