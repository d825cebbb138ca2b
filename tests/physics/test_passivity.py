"""No impact gains more than the scheme's own bound: 2,000 random impacts a law and scheme.

In units of the step (w = dt d', forces times dt^2 / m) every law here is f = phi(d) + g w with phi
convex, phi' <= kappa at the deepest point, V its integral, g >= 0, and f >= 0 or g <= 1.

Symplectic, w+ = w - f, d+ = d + w+. Let H = w^2/2 + V(d) - phi(d) w/2. Then
    H+ - H = -g w (w+ + w)/2 + [V(d+) - V(d) - (phi(d) + phi(d+)) w+/2]
The bracket is what the trapezoidal rule is off by: <= 0 going in, coming out <= w+^2/8 times the
change of phi', so <= w_out^2 kappa/8 in all. The first term is > 0 only in the step that turns the
mass round, by g phi^2 / (8 (2 - g)) at most, and phi^2 <= 2 kappa V. Outside H = w^2/2, so
    e^2 <= (1 + g kappa / ((2 - g)(4 - kappa))) / (1 - kappa/4)
For a spring this is ORACLE's 1 / (1 - kappa/4).

Explicit, w+ = w - f, d+ = d + w. With E = w^2/2 + V(d), E+ <= E (1 + 2 kappa / (2 - g)), and E is
at most w^2 (1 + kappa)/2 in the first step that touches; so with N steps in contact
    e^2 <= (1 + kappa) (1 + 2 kappa / (2 - g))^N,        which is 1 + O(dt), N going as 1/dt

RK4 loses energy in smooth contact, and what it gains it gains in the two steps that cross the
surface, whose forces are 1/6, 2/3, 1/6 of those at the start, middle and end: at most
kappa (2/24 + 2/72) of the energy, to leading order:
    e^2 <= 1 + kappa/9 + O(kappa^(3/2)),  tested with twice that

A TimestepDamper has phi'(d + w) dt^2/m more in g.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.slide import CASES, INTEGRATORS, motion

WORLDS = 2000
NIGHTLY = pytest.mark.nightly
GAINS = [
    pytest.param(
        name, integrator, marks=NIGHTLY if "timestep" in name and integrator != "symplectic" else ()
    )
    for name in CASES
    for integrator in INTEGRATORS
]
"""Nightly: a damper of the step makes explicit Euler the symplectic scheme (test_elastic.py)."""


def impacts(name):
    """Random masses, speeds, stiffnesses, dampings, steps and places of touch within a step."""
    rng = np.random.default_rng(2006)

    def between(low, high):
        return np.exp(rng.uniform(np.log(low), np.log(high), WORLDS))

    mass, speed, k, kappa = (
        between(0.1, 100),
        between(0.05, 5),
        between(1e3, 1e6),
        between(1e-3, 0.5),
    )
    loss, other, place = rng.uniform(size=(3, WORLDS))
    loss = loss**2  # many with little damping: those are the ones that gain
    plain = name.removeprefix("timestep ")
    values = {"k": k}
    depth = (1.25 * mass * speed**2 / k) ** 0.4 if plain == "sphere" else speed * np.sqrt(mass / k)
    if plain == "user":
        values["stiffer"] = other * k / depth**2
    dt = np.sqrt(kappa * mass / spring(plain, values, depth)[0])
    if plain in ("compression", "both", "adhesive"):
        values["c"] = loss * mass / dt
    elif plain == "poisson":
        values["e"] = 1 - loss
    else:
        values["alpha"] = 0.7 * loss / speed
    if plain == "two-alphas":
        values["alpha_restitution"] = other / speed
    return mass, speed, dt, place, values


def spring(plain, values, depth):
    """phi' and phi of a law at a depth, in N/m and N."""
    k = values["k"]
    if plain == "sphere":
        return 1.5 * k * depth**0.5, k * depth**1.5
    if plain == "user":
        return k + 3 * values["stiffer"] * depth**2, k * depth + values["stiffer"] * depth**3
    return k, k * depth


def gain_and_bound(name, integrator, finer=1):
    """e^2 - 1 of every impact, and the most that it may be."""
    mass, speed, dt, place, values = impacts(name)
    dt, damper, plain = dt / finer, CASES[name].damper, name.removeprefix("timestep ")
    end = motion(
        name,
        integrator,
        -place * speed * dt,
        speed,
        dt,
        600 * finer,
        mass=mass,
        count=integrator == "euler",
        **values,
    )
    reach = end.deepest + damper * speed * dt
    stiffness, force = spring(plain, values, reach)
    g = (values.get("c", 0) + 1.5 * values.get("alpha", 0) * force) * dt / mass
    kappa = stiffness * dt**2 / mass
    g = g + damper * kappa
    assert np.all(g < 2)
    assert np.all(kappa < 2)
    bound = {
        "symplectic": lambda: (1 + g * kappa / ((2 - g) * (4 - kappa))) / (1 - kappa / 4),
        "euler": lambda: (1 + kappa) * (1 + 2 * kappa / (2 - g)) ** end.touched,
        "rk4": lambda: 1 + 2 * kappa / 9,
    }[integrator]()
    return (end.rate / speed) ** 2 - 1, bound - 1


@pytest.mark.parametrize(("name", "integrator"), GAINS)
def test_gain_is_within_the_bound_of_the_scheme(name, integrator):
    """And a bound that is no more than the scheme's order: it falls with the step."""
    gain, bound = gain_and_bound(name, integrator)
    fine, fine_bound = gain_and_bound(name, integrator, finer=4)
    # 1e-12: rounding, where an impact gains nothing
    assert np.all(gain <= bound + 1e-12)
    assert np.all(fine <= fine_bound + 1e-12)
    # a quarter of the step: the bounds go as dt^2, explicit Euler's as dt
    assert np.median(fine_bound / bound) < (0.3 if integrator == "euler" else 0.09)
    assert max(fine.max(), 0) <= max(0.3 * gain.max(), 0)


@pytest.mark.parametrize("name", ["compression", "both", "hunt-crossley", "poisson", "user"])
def test_the_bound_is_nearly_reached(name):
    """A bound that nothing comes near would test nothing."""
    gain, bound = gain_and_bound(name, "symplectic")
    assert (gain / bound).max() > 0.5


def test_a_spring_gains_by_luck_of_phase():
    """e^2 = (1 - kappa th (1 - th)) / (1 - kappa ph (1 - ph)), ORACLE.md section 4: th and ph are
    the fractions of a step by which the mass enters and leaves."""
    place = np.linspace(0, 1, 4000, endpoint=False)
    kappa, dt = 0.3, 1e-3
    end = motion("compression", "symplectic", -place * dt, 1.0, dt, 100, k=kappa / dt**2, c=0)
    theta = 1 - place
    # going back from where it ended: steps of the same length, the last one that does not touch
    phase = np.mod(end.depth / (end.rate * dt), 1)
    exact = (1 - kappa * theta * (1 - theta)) / (1 - kappa * phase * (1 - phase))
    # rounding of the phase, after 100 steps
    np.testing.assert_allclose(end.rate**2, exact, rtol=1e-11)
    assert 1 < (end.rate**2).max() < 1 / (1 - kappa / 4)
