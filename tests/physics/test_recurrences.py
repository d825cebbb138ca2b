"""Fixed steps against their own recurrences: [Sugihara2006] (13) and (14), ORACLE.md section 4.

With kappa = n k dt^2 / m, gamma = n c dt / m, and w = dt d' while n points touch:

    symplectic  w+ = w - kappa d - gamma max(w, 0) + g dt^2,  d+ = d + w+
    explicit    the same w+,                                  d+ = d + w

and (14) has d + w for d. The recurrence is written here a second time, in plain numbers; the tables
are ORACLE.md's.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import heelstrike as hs

LAWS = {
    13: hs.LinearSpring(k=4410, c=282),
    14: hs.TimestepDamper(hs.LinearSpring(k=4410, c=282)),
}
PREFIX = {13: "ground.normal.", 14: "ground.normal.law."}


@cache
def simulator(equation, points, integrator):
    """The bundled foot, with its one point n times."""
    foot = hs.load("foot")
    twins = tuple(replace(foot.points[0], name=f"point {i}") for i in range(points))
    law = hs.Elastic(LAWS[equation], friction=None)
    scene = hs.Scene(replace(foot, points=twins), hs.Plane(name="ground", law=law), gravity=9.81)
    return hs.Simulator(scene, integrator=integrator)


def recurrence(equation, integrator, d, w, kappa, gamma, pull, steps):
    """Depths and w after every step."""
    path = [(d, w)]
    for _ in range(steps):
        at = np.maximum(d + w, 0) if equation == 14 else d
        force = np.where(d > 0, np.maximum(kappa * at + gamma * np.maximum(w, 0), 0), 0)
        after = w - force + pull
        d = d + (after if integrator == "symplectic" else w)
        w = after
        path.append((d, w))
    return np.array(path)


DROPS = {
    (13, 1): ([1.636095487e-2, 1.523305782e-2], [281.751497, 277.860263]),
    (14, 1): ([1.618283149e-2, 1.477971868e-2], [286.120969, 288.675788]),
    (13, 4): ([3.858657236e-3, 2.780612245e-3], [1127.005988, 1111.441050]),
    (14, 4): ([3.801784001e-3, 2.780612245e-3], [1144.483877, 1154.703150]),
}
"""(equation, points): largest depth [m] and force of all points [N] at dt = 1 and 2.5 ms."""
FIRST = {1e-3: (101, 5.3131e-4), 2.5e-3: (40, 2.7625e-4)}
"""Step of the first contact and the depth there [m]."""


@pytest.mark.parametrize(("equation", "points"), DROPS)
def test_drop_of_a_mass_on_points(equation, points):
    """5 kg from 0.05 m at 1 ms and 2.5 ms: depths and forces, and rest at m g / (n k)."""
    dt = np.array([1e-3, 2.5e-3])
    sim = simulator(equation, points, "symplectic")
    vary = {"dt": dt, "foot.mass": np.full(2, 5.0), "gravity": [0.0, 0.0, -9.81]}
    vary |= {PREFIX[equation] + "k": 4410.0, PREFIX[equation] + "c": 282.0}
    run = sim.run(steps=4000, q0=[0.05], v0=[0.0], worlds=2, vary=vary, progress=False)
    depth, force = run.data.depth.values, run.data.normal_force.values.sum(axis=-1)
    deepest, strongest = DROPS[equation, points]
    rest = 5 * 9.81 / (points * 4410)
    np.testing.assert_allclose(depth[..., 0].max(axis=1), deepest, rtol=1e-9)
    np.testing.assert_allclose(force.max(axis=1), strongest, rtol=2e-9)  # as many digits as printed
    np.testing.assert_allclose(depth[:, -1], rest, rtol=1e-12)
    assert not (depth[:, :, 0].argmax(axis=1) == 0).any()
    for world, (step, first) in enumerate(FIRST.values()):
        touched = depth[world, :, 0] > 0
        assert touched.argmax() == step
        assert depth[world, step, 0] == pytest.approx(first, rel=1e-9)
        assert touched[step:].all()  # no rebound
    kappa, gamma = points * 4410 * dt**2 / 5, points * 282 * dt / 5
    start = np.full(2, -0.05), np.zeros(2)
    path = recurrence(equation, "symplectic", *start, kappa, gamma, 9.81 * dt**2, 4000)
    # after some thousand steps: rounding
    np.testing.assert_allclose(depth[..., 0].T, path[:, 0], rtol=1e-11, atol=1e-15)


BOUNCES = [
    ("symplectic", 0.0, 0.3, (0.966, 1.036), (0.398, 0.568)),
    ("symplectic", 0.02, 0.3, (0.934, 1.014), (0.379, 0.558)),
    ("symplectic", 0.3, 0.1, (0.416, 0.595), (0.255, 0.425)),
    ("symplectic", 1.0, 0.6, (0.0, 0.840), (0.600, 1.200)),
    ("symplectic", 1.9, 0.1, (0.900, 1.000), (1.000, 1.100)),
    ("euler", 0.0, 0.1, (1.616, 1.646), (1.005, 1.096)),
    ("euler", 0.3, 0.1, (0.886, 1.136), (0.595, 0.823)),
]
"""Scheme, gamma, kappa, range of e over where the mass enters: by (13), by (14)."""


@pytest.mark.parametrize("equation", [13, 14])
@pytest.mark.parametrize(("integrator", "gamma", "kappa", "by_13", "by_14"), BOUNCES)
def test_energy_of_a_bounce(integrator, gamma, kappa, by_13, by_14, equation):
    """e of one bounce over every place of touch within a step, without gravity."""
    theta = (np.arange(4000) + 0.5) / 4000
    dt = 1e-3
    sim = simulator(equation, 1, integrator)
    ours = {"k": kappa / dt**2, "c": gamma / dt}
    vary = {PREFIX[equation] + name: np.full(4000, value) for name, value in ours.items()}
    vary |= {"foot.mass": np.ones(4000), "gravity": np.zeros((4000, 3)), "dt": np.full(4000, dt)}
    depth, rate = theta * dt, 1.0
    sim.run(
        steps=400,
        q0=-depth[:, None],
        v0=np.full((4000, 1), -rate),
        worlds=4000,
        vary=vary,
        progress=False,
    )
    e = sim.state["v"][:, 0]
    exact = recurrence(equation, integrator, theta, np.ones(4000), kappa, gamma, 0.0, 400)
    # twins but for rounding, except where a world misses the surface by as much
    np.testing.assert_allclose(e, -exact[-1, 1], rtol=0, atol=1e-9)
    low, high = by_13 if equation == 13 else by_14
    # printed to three digits
    assert e.min() == pytest.approx(low, abs=6e-4)
    assert e.max() == pytest.approx(high, abs=6e-4)


@pytest.mark.parametrize(("equation", "ahead"), [(13, 0), (14, 1)])
def test_reversal_in_one_step(equation, ahead):
    """gamma > 1: e = gamma + kappa (theta + ahead) - 1, at worst gamma + kappa (1 + ahead) - 1."""
    rng = np.random.default_rng(13)
    gamma, kappa, theta = rng.uniform([1.0, 0.0, 0.0], [2.5, 1.0, 1.0], (4000, 3)).T
    e = gamma + kappa * (theta + ahead) - 1
    once = e > theta  # out again after one step
    gamma, kappa, theta, e = gamma[once], kappa[once], theta[once], e[once]
    dt, worlds = 1e-3, len(e)
    vary = {
        PREFIX[equation] + "k": kappa / dt**2,
        PREFIX[equation] + "c": gamma / dt,
        "foot.mass": np.ones(worlds),
        "gravity": np.zeros((worlds, 3)),
        "dt": np.full(worlds, dt),
    }
    sim = simulator(equation, 1, "symplectic")
    start = {"q0": -dt * theta[:, None], "v0": np.full((worlds, 1), -1.0)}
    sim.run(steps=2, worlds=worlds, vary=vary, progress=False, **start)
    np.testing.assert_allclose(sim.state["v"][:, 0], e, rtol=0, atol=1e-9)
    assert worlds > 2000
    gains = gamma + (1 + ahead) * kappa > 2
    assert e[~gains].max() <= 1 < e[gains].max()
