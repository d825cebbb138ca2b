"""The imposed acceleration over a step, on numbers.

Oracle: y'' = -kp y - kv max(y', 0) by scipy's integrator, from where the point entered, until it
leaves at y = 0; then the bounds of imposed.py. Integrated to 1e-10; measured: 7e-11.
"""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import heelstrike as hs
from heelstrike.contact.laws.imposed import Imposed, rate_by_acceleration, rate_by_motion


@cache
def compiled(law):
    names = ("kp", "kv", "epsilon", "dt", "d", "w", "slow")
    kp, kv, epsilon, dt, d, w, slow = symbols = [ca.SX.sym(name) for name in names]
    c = Imposed(kp, kv, epsilon, dt)
    after = law(c, d, w, slow) if law is rate_by_motion else law(c, d, w)
    return ca.Function("f", symbols, [after])


def after(kp, kv, epsilon, dt, d, w, slow=0.0, law=rate_by_motion):
    return float(compiled(law)(kp, kv, epsilon, dt, d, w, slow))


def integrated(kp, kv, epsilon, dt, d, w):
    entered = d < w * dt
    start = [-epsilon if entered else d - epsilon, w]

    def leaves(_, y):
        return y[0]

    leaves.terminal, leaves.direction = True, -1
    time = dt + (d / w if entered else 0)
    options = {"rtol": 1e-10, "atol": 1e-14, "max_step": time / 50}
    found = solve_ivp(
        lambda _, y: [y[1], -kp * y[0] - kv * max(y[1], 0)],
        (0, time),
        start,
        events=leaves,
        **options,
    )
    end, drift = found.y[1, -1], (epsilon - d) / dt / (1 + kp * dt**2)
    return end if entered else min(max(end, min(-abs(w), drift)), max(w, drift))


def test_rate_by_motion_a_step_is_the_equations():
    """Over- and underdamped, critical, without kp or kv, in and out, epsilon of both signs."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(300):
        kp = 10 ** rng.uniform(0, 6) * (rng.random() > 0.1)
        kv = 10 ** rng.uniform(0, 4) * (rng.random() > 0.1)
        kv = 2 * np.sqrt(kp) if rng.random() < 0.1 else kv
        epsilon, dt = rng.choice([0, 1e-3, -1e-3, 1e-6]), 10 ** rng.uniform(-4, -2)
        d, w = 10 ** rng.uniform(-5, -2), rng.normal() * 10 ** rng.uniform(-3, 0)
        exact = integrated(kp, kv, epsilon, dt, d, w)
        scale = max(abs(w), abs(exact), np.sqrt(kp) * abs(d - epsilon))
        worst = max(worst, abs(after(kp, kv, epsilon, dt, d, w) - exact) / scale)
    assert worst < 1e-8


@pytest.mark.parametrize("kv", [50.0, 200.0, 200.0000001, 199.9999999, 1000.0])
def test_one_step_is_many(kv):
    """Going in, two halves of a step are the whole: no digits are lost near critical damping."""
    kp, d, w = 1e4, 0.02, 1.5
    half = after(kp, kv, 0, 1e-3, d, w)
    s = kv / 2
    r = np.sqrt(complex(s * s - kp))
    t = 1e-3
    odd = np.sinh(r * t) / r if r else t
    depth = np.exp(-s * t) * (d * np.cosh(r * t) + (w + s * d) * odd)
    assert after(kp, kv, 0, 2e-3, d, w) == pytest.approx(
        after(kp, kv, 0, t, depth.real, half), abs=1e-9
    )


def test_no_kp_is_exponential():
    assert after(0, 100, 0, 1e-2, 0.02, 0.7) == pytest.approx(0.7 * np.exp(-1), rel=1e-12)
    assert after(0, 0, 0, 1e-2, 0.02, 0.7) == pytest.approx(0.7, rel=1e-12)
    assert after(0, 100, 0, 1e-2, 0.02, -0.7) == pytest.approx(-0.7, rel=1e-12)


def test_a_slow_point_goes_to_epsilon():
    """Where gravity would bring it back within the step it does not leave."""
    led = -np.sqrt(500) * 4e-6 / (1 + np.sqrt(500) * 1e-3)
    for w in (-8e-3, 0, 8e-3):
        found = after(500, 250, 1e-6, 1e-3, 5e-6, w, slow=9.81e-3)
        assert found == pytest.approx(led, rel=1e-12)
    stopped = after(500, 250, 1e-6, 1e-3, 5e-4, -8e-3, slow=1e-2)  # 11 mm/s would lead it out
    assert stopped == pytest.approx(after(500, 250, 1e-6, 1e-3, 5e-4, -8e-3), rel=1e-12)
    assert after(500, 250, 1e-6, 1e-3, 5e-6, -8e-3) < -8e-3 + 1e-6
    assert after(500, 250, 1e-6, 1e-3, 5e-6, -0.1, slow=9.81e-3) == pytest.approx(-0.1, rel=1e-4)


def test_corners_of_a_rolling_sole_have_a_rigid_motion():
    """While it rolls across its corners at 0.1 mm/s, one goes in, one comes out, two stay where
    they are. No plane has their velocities unless opposite corners have the same sum.
    """
    depths, rates = np.array([6e-6, 5e-6, 5e-6, 4e-6]), np.array([1e-4, 0, 0, -1e-4])
    law = (500, 250, 1e-6, 1e-3)
    a, b, c, d = (after(*law, *x, slow=9.81e-3) for x in zip(depths, rates, strict=True))
    assert abs((a + d) - (b + c)) < 1e-12


def test_at_once():
    assert after(500, 250, 1e-6, 1e-3, 1e-3, 0.2, law=rate_by_acceleration) == pytest.approx(
        0.2 - 1e-3 * (500 * (1e-3 - 1e-6) + 250 * 0.2)
    )


@pytest.mark.parametrize(
    "wrong",
    [{"kp": -1}, {"kv": np.inf}, {"rule": "least"}, {"form": "rk4"}, {"friction": hs.Kinetic()}],
)
def test_refused(wrong):
    with pytest.raises(hs.HeelstrikeError, match="FeedbackLinearized"):
        hs.FeedbackLinearized(**wrong)


def test_integrators_and_neighbours():
    """RK4 takes the accelerations, not the discrete form; two literal rules do not mix."""
    box = hs.load("box")
    hs.Simulator(
        hs.Scene(box, hs.Plane(hs.FeedbackLinearized(form="acceleration"))), integrator="rk4"
    )
    with pytest.raises(hs.HeelstrikeError, match="acceleration"):
        hs.Simulator(hs.Scene(box, hs.Plane(hs.FeedbackLinearized())), integrator="rk4")
    surfaces = [
        hs.Plane(hs.Rigid(rule="paper"), "one"),
        hs.Plane(hs.FeedbackLinearized(rule="paper"), "two"),
    ]
    with pytest.raises(hs.HeelstrikeError, match="rule"):
        hs.Simulator(hs.Scene(box, *surfaces))
