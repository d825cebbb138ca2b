"""Parameters from measurements, against the parameters that the measurements were made with.

Restitution is made with Lambert's W in 40 digits (mpmath), [Marhefka1996] (19) at x = 0, or with
the closed form of a linear spring and damper, (4); forces by (6) along an invented path. None of
these uses the code under test. With noise, the scatter of what is found over repetitions, and how
often an interval of 95 % holds the truth, are the oracles of errors and intervals.
"""

from contextlib import nullcontext

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import heelstrike as hs
from heelstrike.errors import HeelstrikeError
from heelstrike.identification.apart import groups
from heelstrike.identification.search import search
from heelstrike.identification.slopes import least_squares
from heelstrike.identification.space import Space

SPEEDS = np.linspace(0.3, 4, 8)  # [m/s]
ALPHA = {"alpha": (0.02, 10.0)}
PRESS = {"k": (1e3, 1e7), "alpha": (0.005, 5.0), "n": (1.0, 3.0)}
LAW = hs.HuntCrossley(k=5e4)
FEW = {"sets": 12}


def restitution(alpha, v):
    with mpmath.workdps(40):
        u = 1 + mpmath.mpf(1.5) * mpmath.mpf(alpha) * mpmath.mpf(v)
        return float((1 + mpmath.lambertw(-u * mpmath.exp(-u))) / (u - 1))


def path(k, alpha, n, samples=80):
    """Depth, rate and force along half an ellipse that enters at 1 m/s and leaves at -0.4 m/s."""
    phase = np.linspace(0.02, np.pi - 0.02, samples)
    d, rate = 8e-3 * np.sin(phase), 0.3 + 0.7 * np.cos(phase)
    return {
        "depth": d,
        "depth_rate": rate,
        "force": k * d**n * np.maximum(1 + 1.5 * alpha * rate, 0),
    }


def noisy(table, size, random):
    return table | {"force": table["force"] + size * random.normal(size=len(table["force"]))}


@pytest.mark.parametrize("alpha", [0.05, 0.4, 3.0])
def test_alpha_from_exact_restitution(alpha):
    table = {"speed": SPEEDS, "e": [restitution(alpha, v) for v in SPEEDS]}
    fit = hs.identify(table, LAW, ALPHA, **FEW)
    # RK4 through steps of 1e-4 s and an end that falls between two of them
    assert fit.values["alpha"] == pytest.approx(alpha, rel=1e-5)
    assert fit.model == hs.HuntCrossley(k=5e4, alpha=fit.values["alpha"])
    assert not fit.unresolved


def test_rebounds_say_nothing_of_the_stiffness():
    """e depends on alpha alone: k is named, and its interval is the range that was searched."""
    random = np.random.default_rng(5)
    e = np.array([restitution(0.4, v) for v in SPEEDS]) + 0.01 * random.normal(size=8)
    fit = hs.identify({"speed": SPEEDS, "e": e}, LAW, ALPHA | {"k": (5e3, 5e5)}, **FEW)
    assert [group.names for group in fit.unresolved] == [("k",)]
    assert "say nothing of k" in str(fit)
    assert fit.intervals["k"] == pytest.approx((5e3, 5e5))
    assert fit.values["alpha"] == pytest.approx(0.4, abs=4 * fit.errors["alpha"])


def test_rebounds_of_a_linear_spring_tell_c_over_root_k():
    """e = exp(-2 z B), z = c / (2 sqrt(k m)), B = acos(z) / sqrt(1 - z^2): (4), tension zero."""
    z, mass = 0.3, 2.0
    e = np.exp(-2 * z * np.arccos(z) / np.sqrt(1 - z * z))
    random = np.random.default_rng(2)
    table = {"speed": SPEEDS, "e": e + 0.01 * random.normal(size=8)}
    law = hs.LinearSpring(k=1e4, c=100, damping="both")
    (group,) = hs.identify(table, law, mass=mass, **FEW).unresolved
    assert set(group.names) == {"k", "c"}
    (found,) = group.determined
    # powers of a line in logarithms, where the noise bends it
    assert found.powers == pytest.approx({"c": 1, "k": -0.5}, abs=0.03)
    value = found.value / 1e4 ** (found.powers["k"] + 0.5)  # in [N s/m (N/m)^-0.5] at this k
    assert value == pytest.approx(2 * z * np.sqrt(mass), rel=0.1)
    assert "do not determine" in str(group)


@pytest.mark.parametrize("column", ["height", "time"])
def test_a_ball_that_bounces_on(column):
    """Five rebounds of alpha = 0.1 from 0.5 m, heights to 1 mm, or times to 1 ms."""
    speed = [np.sqrt(2 * 9.81 * 0.5)]
    for _ in range(5):
        speed.append(speed[-1] * restitution(0.1, speed[-1]))
    speed = np.array(speed)
    random = np.random.default_rng(4)
    exact = (
        speed**2 / (2 * 9.81) if column == "height" else np.cumsum(np.r_[0, 2 * speed[1:] / 9.81])
    )
    table = {column: exact + 1e-3 * random.normal(size=len(exact))}
    fit = hs.identify(table, LAW, ALPHA, **FEW)
    assert fit.values["alpha"] == pytest.approx(0.1, abs=4 * fit.errors["alpha"])
    assert fit.errors["alpha"] < 0.01
    first = 0.5 if column == "height" else speed[1]
    assert fit.values["first"] == pytest.approx(first, abs=4 * fit.errors["first"])


def test_restitution_of_a_rigid_law():
    random = np.random.default_rng(6)
    table = {"speed": SPEEDS, "e": 0.55 + 0.01 * random.normal(size=8)}
    fit = hs.identify(table, hs.Rigid(), {"restitution": (0.05, 1.0)}, **FEW)
    # the mean of what was measured, which is what least squares is here
    assert fit.values["restitution"] == pytest.approx(np.mean(table["e"]), abs=1e-6)
    # in closed form: s / sqrt(8)
    assert fit.errors["restitution"] == pytest.approx(
        np.std(table["e"], ddof=1) / np.sqrt(8), rel=0.05
    )
    assert fit.model.restitution == fit.values["restitution"]


@pytest.mark.parametrize(("k", "alpha", "n"), [(5e4, 0.4, 1.0), (2e5, 0.05, 1.5), (1e6, 1.0, 2.0)])
def test_all_three_from_exact_forces(k, alpha, n):
    end = pytest.warns(hs.HeelstrikeWarning, match="n = 1 lies at an end of its range")
    with end if n == PRESS["n"][0] else nullcontext():
        fit = hs.identify(path(k, alpha, n), hs.HuntCrossley(), PRESS, **FEW)
    # clouds of 1e-6 about it: their curvature
    assert fit.values == pytest.approx({"k": k, "alpha": alpha, "n": n}, rel=1e-8)


def test_standard_errors_of_forces_are_their_scatter_and_intervals_hold():
    random = np.random.default_rng(11)
    exact = path(2e5, 0.3, 1.5)
    size = 0.01 * exact["force"].max()
    fits = [
        hs.identify(noisy(exact, size, random), hs.HuntCrossley(), PRESS, **FEW) for _ in range(40)
    ]
    true = {"k": 2e5, "alpha": 0.3, "n": 1.5}
    for name, value in true.items():
        scatter = np.std([fit.values[name] for fit in fits])
        # a standard deviation of 40 draws is known to 11 %: three of these
        assert scatter / np.mean([fit.errors[name] for fit in fits]) == pytest.approx(1, abs=0.35)
        held = [fit.intervals[name][0] <= value <= fit.intervals[name][1] for fit in fits]
        assert np.sum(held) >= 34  # of 40 at 95 %: fewer happens once in 250
    assert np.mean([fit.residual for fit in fits]) == pytest.approx(size, rel=0.05)


def test_a_known_exponent_makes_the_stiffness_sharper():
    """k [N/m^n] and n are entangled: ten times and more at millimetres."""
    exact = path(2e5, 0.3, 1.5)
    table = noisy(exact, 0.01 * exact["force"].max(), np.random.default_rng(3))
    both = hs.identify(table, hs.HuntCrossley(), PRESS, **FEW)
    known = {name: PRESS[name] for name in ("k", "alpha")}
    one = hs.identify(table, hs.HuntCrossley(n=1.5), known, **FEW)
    assert both.errors["k"] > 10 * one.errors["k"]


def test_flight_and_letting_go_do_no_harm():
    """Samples above the surface are left out; where (6) would pull, the law is clamped, (22)."""
    table = path(5e4, 2.0, 1.0)
    assert (table["force"] == 0).any()
    above = -np.linspace(0, 0.1, 50)
    whole = {
        "depth": np.r_[above, table["depth"]],
        "depth_rate": np.r_[above, table["depth_rate"]],
        "force": np.r_[0 * above, table["force"]],
    }
    fit = hs.identify(whole, hs.HuntCrossley(), {"k": PRESS["k"], "alpha": (0.1, 9.0)}, **FEW)
    assert fit.values == pytest.approx({"k": 5e4, "alpha": 2.0}, rel=1e-8)
    assert fit.samples == 80


def test_forces_of_an_elastic_law_and_of_a_linear_one():
    d, rate = path(1, 0, 1)["depth"], path(1, 0, 1)["depth_rate"]
    table = {"depth": d, "depth_rate": rate, "force": 2e4 * d + 90 * np.maximum(rate, 0)}
    law = hs.Elastic(hs.LinearSpring(), hs.Kinetic(mu=0.3))
    search = {"normal.k": (1e3, 1e6), "normal.c": (1.0, 1e3)}
    fit = hs.identify(table, law, search, **FEW)
    assert fit.values == pytest.approx({"normal.k": 2e4, "normal.c": 90}, rel=1e-8)
    assert fit.model.friction == law.friction
    assert fit.model.normal.c == fit.values["normal.c"]


def plate(force, mass, speed, rate=2000.0, touch=0.0103, end=0.06):
    """Force over time of a mass that falls on a law, by SciPy's integrator (DOP853)."""
    at = np.arange(0, end, 1 / rate)
    flight = at < touch

    def motion(t, state):
        d, w = state
        return [w, 9.81 - (force(d, w) if d > 0 else 0) / mass]

    later = at[~flight]
    found = solve_ivp(
        motion, (touch, end), [0, speed], "DOP853", later, rtol=1e-10, atol=1e-12, max_step=1e-4
    )
    loads = [force(d, w) if d > 0 else 0.0 for d, w in found.y.T]
    return {"time": at, "force": np.r_[np.zeros(flight.sum()), loads]}


@pytest.mark.parametrize("known_speed", [True, False])
def test_force_over_time(known_speed):
    """A force plate under 2 kg that lands at 0.9 m/s and leaves: law and impact speed are found."""
    table = plate(lambda d, w: max(0.0, 6e4 * d * (1 + 1.5 * 0.5 * w)), 2.0, 0.9, end=0.06)
    random = np.random.default_rng(3)
    table["force"] = table["force"] + 2.0 * random.normal(size=table["force"].size)  # of 360 N
    if known_speed:
        table["speed"] = 0.9
    search = {"k": (6e3, 6e5), "alpha": (0.05, 5.0)}
    fit = hs.identify(table, hs.HuntCrossley(), search, mass=2.0, sets=24)
    true = {"k": 6e4, "alpha": 0.5} | ({} if known_speed else {"speed": 0.9})
    for name, value in true.items():
        assert fit.values[name] == pytest.approx(value, abs=4 * fit.errors[name])
        assert fit.errors[name] < 0.02 * value
    assert fit.residual == pytest.approx(2.0, rel=0.15)  # the noise
    assert fit.model == hs.HuntCrossley(k=fit.values["k"], alpha=fit.values["alpha"])


def test_force_over_time_of_rigid_ground():
    table = plate(lambda d, w: 6e4 * d, 2.0, 0.9)
    with pytest.raises(HeelstrikeError, match="explicit elastic law"):
        hs.identify(table, hs.Rigid(), {"restitution": (0.1, 1)}, mass=2.0)


def test_groups_of_a_covariance():
    """Standard errors of 10 along (1, 1, 0) / sqrt 2 and 0.01 across: x y is lost, x / y is not."""
    v = np.array([[1, 1, 0], [1, -1, 0], [0, 0, np.sqrt(2)]]) / np.sqrt(2)
    covariance = v.T @ np.diag([100, 1e-4, 1e-4]) @ v
    (group,) = groups(("x", "y", "z"), np.log([6.0, 2.0, 5.0]), covariance)
    assert group.names == ("x", "y")
    (ratio,) = group.determined
    assert ratio.value ** np.sign(ratio.powers["x"]) == pytest.approx(3)
    assert ratio.error == pytest.approx(0.01 * np.sqrt(2), rel=1e-6)
    assert groups(("x", "y", "z"), np.zeros(3), 1e-4 * np.eye(3)) == ()


def test_steps_that_jump_widen_the_interval():
    """r = x with stairs as high as their width: known to a stair, however little noise is left."""
    space = Space.of({"p": (0.1, 10.0)})
    smooth, stair = np.log(2.0), 1e-2

    def residuals(x, rough):
        level = np.round(x / stair) * stair if rough else x
        return np.tile(level - smooth, (1, 30)) + 1e-6 * np.sin(np.arange(30))

    exact = least_squares(lambda x: residuals(x, False), space, 24, 0)
    rough = least_squares(lambda x: residuals(x, True), space, 24, 0)
    assert np.sqrt(exact.covariance[0, 0]) < 1e-6
    assert abs(rough.x[0] - smooth) < stair
    assert 0.1 * stair < np.sqrt(rough.covariance[0, 0]) < stair


def test_the_bootstrap_is_the_standard_error_of_a_mean():
    """Loss (x - a_i)^2: the best x is the mean of a, whose error is s / sqrt(motions)."""
    random = np.random.default_rng(8)
    a = random.normal(0.3, 0.2, 60)
    tried = search(lambda x: (x - a) ** 2, Space.of({"p": (0.1, 10.0)}), 48, 8, 0)
    assert tried.best[0] == pytest.approx(a.mean(), abs=5e-3)  # sets lie that dense
    spread = np.std(tried.again(random))
    assert spread == pytest.approx(a.std() / np.sqrt(60), rel=0.15)  # 400 draws: 4 %, and grain


def changed(**columns):
    return path(5e4, 0.4, 1.0) | columns


TABLE = path(5e4, 0.4, 1.0)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (changed(depth=-TABLE["depth"]), "penetration, positive inside"),
        (changed(depth_rate=-TABLE["depth_rate"]), "positive going in"),
        (changed(force=-TABLE["force"]), "f_n > 0 repels"),
        (changed(depth=0 * TABLE["depth"], force=0 * TABLE["force"]), "no sample is in contact"),
        ({name: column[40:43] for name, column in TABLE.items()}, "3 samples are too few"),
        (changed(depth_rate=TABLE["depth_rate"][:5]), "depth_rate has 5"),
        (changed(force=TABLE["force"] + np.inf), "force has values that are no numbers"),
        ({"speed": [1.0, 0.0], "e": [0.5, 0.5]}, "above 0 m/s"),
        ({"speed": [1.0, 2.0], "e": [0.5, -0.1]}, "not < 0"),
        ({"speed": [1.0, 2.0], "e": [1.1, 1.0]}, "lose no energy"),
        ({"speed": [1.0, 2.0], "e": [0.0, 0.0]}, "no impact rebounds"),
        ({"e": [0.5, 0.4]}, "restitution: speed, e"),
        ({"height": [0.5, 0.3]}, "at least three"),
        ({"height": [0.3, 0.4, 0.5]}, "do not fall"),
        ({"weight": [1]}, "no measurement has the columns weight"),
        ({"speed": SPEEDS, "e": SPEEDS / 9, "load": SPEEDS}, "does not use the column load"),
        ({"time": [0, 0.1, 0.2], "height": [3, 2, 1]}, "does not use the column"),
        ({"time": SPEEDS, "force": -SPEEDS}, "f_n > 0 repels"),
        ({"time": -SPEEDS, "force": SPEEDS}, "times of a force plate rise"),
        ({"time": SPEEDS, "force": SPEEDS, "speed": -1.0}, "above 0 m/s"),
    ],
)
def test_unusable_tables_are_a_sentence(table, said):
    with pytest.raises(HeelstrikeError, match=said):
        hs.identify(table, hs.HuntCrossley(), PRESS if "force" in table else ALPHA, **FEW)


@pytest.mark.parametrize(
    ("law", "search", "said"),
    [
        (hs.HuntCrossley(), {}, "nothing to identify"),
        (hs.HuntCrossley(), {"k": (0, 1)}, "0 < least < most"),
        (hs.HuntCrossley(), {"k": 3}, "two numbers"),
        (hs.HuntCrossley(), {"kk": (1, 2)}, "no number 'kk' in HuntCrossley; it has k"),
        (hs.Rigid(), {"restitution": (0.1, 1)}, "forces over depth are of a normal law"),
        ("hertz", None, "identify takes a law"),
    ],
)
def test_unusable_searches_are_a_sentence(law, search, said):
    with pytest.raises(HeelstrikeError, match=said):
        hs.identify(TABLE, law, search, **FEW)
