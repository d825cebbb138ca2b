"""Parameters from measurements, against the parameters that the measurements were made with.

Restitution is made with Lambert's W in 40 digits (mpmath), [Marhefka1996] (19) at x = 0, and forces
by (6) along an invented path; neither uses the code under test. With noise, the scatter of
what is found over many repetitions is the oracle of the standard errors.
"""

import mpmath
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.contact.identify import fit_force, fit_restitution
from heelstrike.errors import HeelstrikeError

SPEEDS = np.linspace(0.3, 4, 12)  # [m/s]
REPEATS = 300
SCATTER = 0.15  # a standard deviation of 300 draws is known to 4 %: three and a half of these


def restitution(alpha, v):
    with mpmath.workdps(40):
        u = 1 + mpmath.mpf(1.5) * mpmath.mpf(alpha) * mpmath.mpf(v)
        return float((1 + mpmath.lambertw(-u * mpmath.exp(-u))) / (u - 1))


def path(k, alpha, n, samples=80):
    """Depth, rate and force along half an ellipse that enters at 1 m/s and leaves at -0.4 m/s."""
    phase = np.linspace(0.02, np.pi - 0.02, samples)
    d, rate = 8e-3 * np.sin(phase), 0.3 + 0.7 * np.cos(phase)
    return d, rate, k * d**n * np.maximum(1 + 1.5 * alpha * rate, 0)


@pytest.mark.parametrize("alpha", [1e-3, 0.05, 0.4, 3.0, 40.0])
def test_alpha_from_exact_restitution(alpha):
    fit = fit_restitution(SPEEDS, [restitution(alpha, v) for v in SPEEDS])
    # e to 1e-16 over 1 - e, which is alpha v: 3e-13 at the smallest alpha
    assert fit.values["alpha"] == pytest.approx(alpha, rel=1e-10)
    assert fit.residual < 1e-12
    assert fit.samples == len(SPEEDS)


@pytest.mark.parametrize("alpha", [0.05, 0.4, 3.0])
def test_standard_error_of_alpha_is_its_scatter(alpha):
    random = np.random.default_rng(7)
    e = np.array([restitution(alpha, v) for v in SPEEDS])
    fits = [fit_restitution(SPEEDS, e + 5e-3 * random.normal(size=12)) for _ in range(REPEATS)]
    found = np.array([fit.values["alpha"] for fit in fits])
    stated = np.mean([fit.errors["alpha"] for fit in fits])
    assert np.std(found) / stated == pytest.approx(1, abs=SCATTER)
    assert abs(found.mean() - alpha) < 4 * stated / np.sqrt(REPEATS)


@pytest.mark.parametrize(("k", "alpha", "n"), [(5e4, 0.4, 1.0), (2e5, 0.05, 1.5), (1e6, 1.0, 2.0)])
def test_all_three_from_exact_forces(k, alpha, n):
    d, rate, f = path(k, alpha, n)
    fit = fit_force(d, rate, f)
    # rounding of the sums, 1e-16, times what k makes of an error of n: log(8e-3)
    assert fit.values["k"] == pytest.approx(k, rel=1e-9)
    assert fit.values["alpha"] == pytest.approx(alpha, rel=1e-9)
    assert fit.values["n"] == pytest.approx(n, rel=1e-9)
    known = fit_force(d, rate, f, n=n)
    assert known.values == pytest.approx({"k": k, "alpha": alpha, "n": n}, rel=1e-9)
    assert known.errors["n"] == 0


@pytest.mark.parametrize("n", [None, 1.5])
def test_standard_errors_of_forces_are_their_scatter(n):
    random = np.random.default_rng(11)
    d, rate, f = path(2e5, 0.3, 1.5)
    noise = 0.01 * f.max()
    fits = [fit_force(d, rate, f + noise * random.normal(size=80), n) for _ in range(REPEATS)]
    for name in ("k", "alpha", "n")[: 3 if n is None else 2]:
        scatter = np.std([fit.values[name] for fit in fits])
        assert scatter / np.mean([fit.errors[name] for fit in fits]) == pytest.approx(
            1, abs=SCATTER
        )
    assert np.mean([fit.residual for fit in fits]) == pytest.approx(noise, rel=0.05)


def test_a_known_exponent_makes_the_stiffness_sharper():
    """k [N/m^n] and n are entangled: ten times and more at millimetres."""
    random = np.random.default_rng(3)
    d, rate, f = path(2e5, 0.3, 1.5)
    f = f + 0.01 * f.max() * random.normal(size=80)
    assert fit_force(d, rate, f).errors["k"] > 10 * fit_force(d, rate, f, n=1.5).errors["k"]


def test_flight_and_letting_go_do_no_harm():
    """Samples above the surface are left out; where (6) would pull, the law is clamped, (22)."""
    d, rate, f = path(5e4, 2.0, 1.0)
    assert (f == 0).any()
    above = -np.linspace(0, 0.1, 50)
    fit = fit_force(np.r_[above, d], np.r_[above, rate], np.r_[0 * above, f])
    assert fit.values == pytest.approx({"k": 5e4, "alpha": 2.0, "n": 1.0}, rel=1e-9)
    assert fit.samples == len(d)


def test_from_a_recording():
    """What the simulator records of a ball that bounces gives back the ground's parameters."""
    law = hs.HuntCrossley(k=2e5, alpha=0.5, n=1.5)
    scene = hs.Scene(hs.load("ball"), hs.Plane(law=hs.Elastic(law, None)))
    pose = np.array(scene.robot.neutral)
    pose[2] = 0.5
    run = hs.Simulator(scene, dt=1e-4).run(0.6, q0=pose, progress=False)
    data = run.data.isel(world=0, point=0)
    found = fit_force(data.depth, data.depth_rate, data.normal_force)
    assert found.law() == hs.HuntCrossley(**found.values)
    # a record is state and force of one moment: exact up to rounding
    assert found.values == pytest.approx({"k": 2e5, "alpha": 0.5, "n": 1.5}, rel=1e-9)


def test_law_with_what_is_known():
    fit = fit_restitution(SPEEDS, [restitution(0.4, v) for v in SPEEDS])
    assert fit.law(k=3e4, n=1.5).k == 3e4
    assert fit.law().alpha == fit.values["alpha"]
    assert str(fit).startswith("alpha = 0.4 +- ")


def test_no_law_below_exponent_one():
    d, rate, f = path(5e4, 0.4, 0.9)
    with pytest.raises(HeelstrikeError, match="fit again with n=1"):
        fit_force(d, rate, f).law()


@pytest.mark.parametrize(
    ("speed", "e", "said"),
    [
        ([1.0], [0.5], "at least twice"),
        ([1.0, 0.0], [0.5, 0.5], "above 0 m/s"),
        ([1.0, 2.0], [0.5, -0.1], "not < 0"),
        ([1.0, 2.0], [1.1, 1.0], "lose no energy"),
        ([1.0, 2.0], [0.0, 0.0], "no impact rebounds"),
        ([1.0, 2.0], [0.5, np.nan], "e has values that are no numbers"),
        ([1.0, 2.0, 3.0], [0.5, 0.4], "speed has 3, e has 2"),
    ],
)
def test_unusable_restitution_is_a_sentence(speed, e, said):
    with pytest.raises(HeelstrikeError, match=said):
        fit_restitution(speed, e)


def changed(change):
    d, rate, f = path(5e4, 0.4, 1.0)
    return change(d, rate, f)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d, v, f: (-d, v, f), "penetration, positive inside"),
        (lambda d, v, f: (d, -v, f), "positive going in"),
        (lambda d, v, f: (d, v, -f), "f_n > 0 repels"),
        (lambda d, v, f: (0 * d, v, 0 * f), "no sample is in contact"),
        (lambda d, v, f: (d[:3], v[:3], f[:3]), "3 samples in contact are too few"),
        (lambda d, v, f: (d, 0 * v, 5e4 * d), "do not tell k, alpha, n apart"),
        (lambda d, v, f: (d, v[:5], f), "depth_rate has 5"),
        (lambda d, v, f: (d, v, f + np.inf), "force has values that are no numbers"),
    ],
)
def test_unusable_forces_are_a_sentence(change, said):
    with pytest.raises(HeelstrikeError, match=said):
        fit_force(*changed(change))
