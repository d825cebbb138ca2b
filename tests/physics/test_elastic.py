"""Order of convergence of every normal law, while it touches and through an impact.

Oracle: an adaptive solver (DOP853, 1e-12) on the same law written a second time, in plain numbers,
stopped where the law is not smooth. A mass of 1 kg, no gravity.

In smooth contact the schemes have their own orders: 1, 1 and 4. A TimestepDamper is another law for
every dt, off by k dt d' from the one inside, so that no scheme does better than 1 with it.

Through an impact what is not smooth sets a ceiling, since no scheme looks for the moment of touch:
- a force that jumps at the surface (c d'): 1, where in the step the surface is met decides how much
  of it acts;
- a kink (n = 1): 2; a force like d^(3/2): 5/2.
Symplectic Euler is of first order and yet leaves at a speed that is right to second order: d and d'
half a step apart follow a leapfrog step, and the shift does not matter when contact is over. That
d' in the law lags by half a step adds 3/2 alpha k d times f dt / (2 m) to the force: another spring
in front of the same 1 + 3/2 alpha d', and e does not depend on the spring. With another alpha on
the way out it does: order 1.
Explicit Euler with a TimestepDamper is the symplectic step without one, shifted by a step, and has
its order; without one it gains energy in every step: order 1.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.slide import CASES, DAMPED, INTEGRATORS, PLAIN, motion

TOUCHING = {"symplectic": 1, "euler": 1, "rk4": 4}
CEILING = {
    "compression": 1,
    "both": 1,
    "adhesive": 1,
    "hunt-crossley": 2,
    "sphere": 2.5,
    "two-alphas": 2,
    "poisson": 2,
    "user": 2,
}
"""Order that the law's least smooth place allows."""


def solved(case, duration, start, event=None):
    """Depth and rate after a while, or at the event."""

    def slope(t, y):
        return [y[1], -case.force(max(y[0], 0), y[1])]

    found = solve_ivp(
        slope, (0, duration), start, method="DOP853", rtol=1e-12, atol=1e-16, events=event
    )
    return found.y[:, -1]


def speed_out(case):
    """Depth rate after an impact at 1 m/s, solved on the way in and on the way out apart."""

    def deepest(t, y):
        return y[1]

    def surface(t, y):
        return y[0]

    deepest.terminal = surface.terminal = True
    deepest.direction = surface.direction = -1
    depth, _ = solved(case, 1, [1e-300, 1.0], deepest)
    return solved(case, 1, [depth, -1e-18], surface)[1]


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", CASES)
def test_order_while_touching(name, integrator):
    """2 ms of compression from 2 mm deep at 0.5 m/s, in 8, 16, 32 steps."""
    case = CASES[name]
    depth, rate = solved(case, 2e-3, [2e-3, 0.5])
    errors = []
    for steps in (8, 16, 32):
        end = motion(name, integrator, [2e-3, 2e-3], 0.5, 2e-3 / steps, steps)
        errors.append(abs(end.depth[0] - depth) / 5e-3 + abs(end.rate[0] - rate) / 0.5)
    expected = 1 if case.damper else TOUCHING[integrator]
    # 0.03 measured at most: the next term of the error
    np.testing.assert_allclose(np.log2(errors[:-1]) - np.log2(errors[1:]), expected, atol=0.05)


def expected_through_impact(name, integrator):
    plain = name.removeprefix("timestep ")
    half_explicit = (integrator == "symplectic") == (name in PLAIN) and integrator != "rk4"
    if integrator == "rk4" and name in PLAIN:
        return CEILING[plain]
    if half_explicit:
        return 1 if plain == "two-alphas" else CEILING[plain]
    return 1


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", CASES)
def test_order_through_an_impact(name, integrator):
    """Worst error of the speed after an impact at 1 m/s over 128 places of touch in a step."""
    exact = speed_out(CASES[name])
    dt = 2.5e-4 / 2.0 ** np.arange(5)
    dt, place = np.meshgrid(dt, (np.arange(128) + 0.5) / 128, indexing="ij")
    end = motion(name, integrator, -(place * dt).ravel(), 1.0, dt.ravel(), 4000)
    errors = np.abs(end.rate - exact).reshape(dt.shape).max(axis=1)
    order = np.polyfit(np.log(dt[:, 0]), np.log(errors), 1)[0]
    # the worst of 128 places is not quite the worst of all: 0.16 measured
    assert order == pytest.approx(expected_through_impact(name, integrator), abs=0.3)


@pytest.mark.parametrize("name", PLAIN)
def test_explicit_euler_with_the_damper_is_the_symplectic_step(name):
    """f(d + d' dt, d') in explicit steps is f(d, d') in symplectic ones, one drift later.

    With d_n + dt d'_n for the depth the two recurrences are the same; so a mass that starts a drift
    higher leaves at the same speed. Not where a force is left out at d <= 0 < d + d' dt: adhesive
    and damped laws lose the first kick then, so these start inside.
    """
    depth, rate, dt = np.linspace(1e-3, 2e-3, 16), 0.2, 1e-4
    ahead = motion(f"timestep {name}", "euler", depth - rate * dt, rate, dt, 60)
    plain = motion(name, "symplectic", depth, rate, dt, 60)
    # rounding alone: the same sums in another order
    np.testing.assert_allclose(ahead.rate, plain.rate, rtol=0, atol=1e-13)
    np.testing.assert_allclose(ahead.depth + dt * ahead.rate, plain.depth, rtol=0, atol=1e-16)


LIMITS = {
    "compression": ({"c": 0}, -1.0, 3e-6),
    "both": ({"c": 0}, -1.0, 3e-6),
    "adhesive": ({"c": 0}, -1.0, 3e-6),
    "hunt-crossley": ({"alpha": 0}, -1.0, 3e-6),
    "sphere": ({"alpha": 0}, -1.0, 3e-6),
    "two-alphas": ({"alpha": 0, "alpha_restitution": 0}, -1.0, 3e-6),
    "poisson": ({"e": 1}, -1.0, 3e-6),
    "user": ({"alpha": 0}, -1.0, 3e-6),
    # leaves at the law's own limit -2 / (3 alpha) [Marhefka1996] (22)
    "hunt-crossley, dead": ({"alpha": 1e3}, -2 / 3e3, 1e-6),
    # stops up to k d dt / m, what one more kick of the spring is worth
    "poisson, dead": ({"e": 0}, 0.0, 2e-3),
}
"""Parameters, rate after an impact at 1 m/s, tolerance: rk4 may gain kappa / 9 of the energy
(test_passivity.py), at kappa = 4e-6 to 4e-5."""


@pytest.mark.parametrize("name", LIMITS)
def test_limits(name):
    """Without damping every law is a spring and gives the speed back; with very much, little."""
    values, out, tolerance = LIMITS[name]
    place, dt = np.arange(16) / 16, 2e-5
    end = motion(name.split(",")[0], "rk4", -place * dt, 1.0, dt, 4000, **values)
    assert np.abs(end.rate - out).max() < tolerance


def test_every_law_is_here():
    """The catalog's normal laws, and one of a user."""
    from heelstrike.contact.catalog import laws

    known = {type(case.law) for case in CASES.values()}
    assert {info.law for info in laws() if info.kind == "normal"} <= known
    assert len(DAMPED) == len(PLAIN) == 8
