"""Fig 8 by an adaptive ODE solver: there is no closed form, so an independent reference.

    m x'' = f - k x (1 + 3/2 alpha x'),      f from (24) or a constant load,      x > 0 below ground

Solved phase by phase to 1e-11, so that no step crosses a change of the controller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar

from heelstrike.papers.marhefka1996.closed_form import Floats

MASS, STIFFNESS, ALPHA, KP = 25.0, 50e3, 0.5, 20e3
"""[kg], [N/m], [s/m], [N/m], fig 8."""
SPEED, LANDING = 2.0, 0.1
"""[m/s], [s], section 5: the desired velocity ramps down from 2 m/s to 0 in 0.1 s."""
LIFTING = 0.5
"""When the foot is lifted [s], ours: the length of the support phase is not given."""

Push = Callable[[float, float], float]
"""(t, x) -> force of the controller, > 0 into the ground [N]"""


@dataclass(frozen=True)
class Variant:
    """Choices for what the paper leaves open."""

    name: str
    load: float | None
    """Force in the support phase [N]; None: position control holds x_d."""
    from_actual: bool
    """The ramp of the lift starts at the actual x, not at x_d = 0.1 m."""


@dataclass(frozen=True)
class Landing:
    """The first 0.1 s, which leave nothing open."""

    force_max: float
    force_max_at: float
    depth_max: float
    depth_max_at: float
    depth_end: float
    rate_end: float
    force_end: float
    impulse: float


@dataclass(frozen=True)
class Lift:
    """The end of contact."""

    t: float
    rate: float
    force_min: float
    """Least force from the start to there [N]."""
    support: tuple[float, float]
    """Least and greatest force in the support phase [N]."""


def desired(t: float) -> float:
    """x_d while landing [m]: the integral of 2 (1 - t / 0.1)."""
    return SPEED * t - SPEED / (2 * LANDING) * t**2


def ground_force(x: Any, v: Any) -> Any:
    """(6) with (18), on the mass, > 0 repels; not clamped."""
    return STIFFNESS * x * (1 + 1.5 * ALPHA * v)


def landing() -> Landing:
    """Position control from touch-down to 0.1 s."""
    path = _solve(lambda t, x: KP * (desired(t) - x), (0, LANDING), [0, SPEED, 0])
    t_force, force = _greatest(lambda t: ground_force(*path.sol(t)[:2]), 5e-3, 3e-2)
    t_depth, depth = _greatest(lambda t: path.sol(t)[0], 1e-2, 5e-2)
    x, v, impulse = path.y[:, -1]
    return Landing(force, t_force, depth, t_depth, x, v, ground_force(x, v), impulse)


def lift(variant: Variant) -> Lift:
    """Support and lift under one reading of the paper."""
    first = _solve(lambda t, x: KP * (desired(t) - x), (0, LANDING), [0, SPEED, 0])

    def support(t: float, x: float) -> float:
        return KP * (desired(LANDING) - x) if variant.load is None else variant.load

    second = _solve(support, (LANDING, LIFTING), first.y[:, -1])
    start = second.y[0, -1] if variant.from_actual else desired(LANDING)
    third = _solve(
        lambda t, x: KP * (start - SPEED * (t - LIFTING) - x),
        (LIFTING, LIFTING + 0.3),
        second.y[:, -1],
        leaves=True,
    )
    t, v = third.t[-1], third.y[1, -1]
    bearing = _forces(second)
    least = min(float(bearing.min()), float(_forces(third).min()), 0.0)
    return Lift(float(t), float(v), least, (float(bearing.min()), float(bearing.max())))


def _solve(push: Push, span: tuple[float, float], start: Any, leaves: bool = False) -> Any:
    """x, x' and the ground's impulse; to the end of the span, or until x = 0."""

    def slope(t: float, state: Floats) -> list[float]:
        x, v, _ = state
        force = ground_force(x, v)
        return [v, (push(t, x) - force) / MASS, force]

    def surface(t: float, state: Floats) -> float:
        return float(state[0])

    surface.terminal = True  # type: ignore[attr-defined]
    surface.direction = -1  # type: ignore[attr-defined]
    return solve_ivp(
        slope,
        span,
        start,
        method="DOP853",
        rtol=1e-11,
        atol=1e-12,
        dense_output=True,
        events=surface if leaves else None,
    )


def _forces(path: Any) -> Floats:
    t = np.linspace(path.t[0], path.t[-1], 20_001)
    x, v, _ = path.sol(t)
    return np.asarray(ground_force(np.maximum(x, 0), v))


def _greatest(what: Callable[[float], float], a: float, b: float) -> tuple[float, float]:
    """Return the position and the value of the maximum between a and b."""
    found = minimize_scalar(
        lambda t: -what(t), bounds=(a, b), method="bounded", options={"xatol": 1e-9}
    )
    return float(found.x), float(-found.fun)
