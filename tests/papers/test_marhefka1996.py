"""[Marhefka1996], figure by figure.

Oracles: the closed forms are checked against the equation of motion, solved adaptively to 1e-11,
against Lambert's W in 50 digits (mpmath), and against numbers worked out from the paper's equations
by other hands. Then every row of every figure is judged by its own tolerance, and exactly
the rows that are known not to reproduce may fail.
"""

import json

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from heelstrike.papers import paper
from heelstrike.papers.marhefka1996 import closed_form, reference
from heelstrike.papers.marhefka1996.cubes import FILE
from heelstrike.papers.marhefka1996.impact import impacts
from heelstrike.papers.marhefka1996.reference import Variant
from heelstrike.papers.report import below, near
from tests.models import data_file

ADAPTIVE = 1e-8  # the solver's 1e-11, times what a whole impact makes of it

NOT_REPRODUCED = {
    # the square of e is meant
    *(("poisson", f"k_receding = {e} k_compressing, as printed: e") for e in (0.25, 0.5, 0.8)),
    ("fig8", "least F, held from x [N]"),  # the text's "outward" excludes this reading
    ("operations", "extra multiplications, hunt-crossley"),  # alpha in place of lambda
    ("cubes", "loss, k halved or doubled"),  # the loss of real tosses is flat in k: 0.994
}


def solve(force, v_in, m):
    """(e, greatest depth, greatest force, contact time) of one impact, by an adaptive method."""

    def slope(t, y):
        return [y[1], -force(y[0], y[1]) / m]

    def out(t, y):
        return y[0] if t > 0 else 1.0

    out.terminal, out.direction = True, -1
    kwargs = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-14, "dense_output": True}
    path = solve_ivp(slope, (0, 100), [0.0, v_in], events=out, max_step=0.05, **kwargs)
    t = np.linspace(0, path.t[-1], 20001)
    x, v = path.sol(t)
    return -path.y[1, -1] / v_in, x.max(), max(force(x, v)), path.t[-1]


@pytest.mark.parametrize("n", [1.0, 1.5, 2.0])
@pytest.mark.parametrize(("alpha", "v_in", "m", "k"), [(0.4, 1, 1, 1e4), (0.5, 5, 50, 3e4)])
def test_closed_forms_solve_the_equation_of_motion(alpha, v_in, m, k, n):
    e, depth, force, time = solve(
        lambda x, v: k * np.maximum(x, 0) ** n * (1 + 1.5 * alpha * v), v_in, m
    )
    assert closed_form.restitution(alpha, v_in) == pytest.approx(e, rel=ADAPTIVE)
    # maxima over 20001 samples: relative (pi / 20000)^2 / 8
    assert closed_form.depth_max(alpha, v_in, m, k, n) == pytest.approx(depth, rel=2e-8)
    assert closed_form.force_max(alpha, v_in, m, k, n) == pytest.approx(force, rel=2e-8)
    assert closed_form.contact_time(alpha, v_in, m, k, n) == pytest.approx(time, rel=ADAPTIVE)


@pytest.mark.parametrize("alpha_out", [0.05, 0.5, 2.0])
def test_two_alphas_solve_the_equation_of_motion(alpha_out):
    def force(x, v):
        return 1e4 * np.maximum(x, 0) * (1 + 1.5 * np.where(v > 0, 0.5, alpha_out) * v)

    e = solve(force, 2.0, 1.0)[0]
    assert closed_form.restitution_two(0.5, alpha_out, 2.0) == pytest.approx(e, rel=1e-7)


@pytest.mark.parametrize("b", [10, 50, 100, 150])
def test_linear_restitution_solves_the_equation_of_motion(b):
    m, k = 1.0, 1e4
    laws = {
        "tension": lambda x, v: k * x + b * v,
        "zeroed": lambda x, v: np.maximum(k * x + b * v, 0),
        "compression": lambda x, v: k * x + b * np.maximum(v, 0),
    }
    for rule, law in laws.items():
        e = solve(law, 1.0, m)[0]
        # the kink where tension is zeroed, or damping ends, costs the solver some digits
        assert closed_form.linear_restitution(m, k, b, rule) == pytest.approx(e, rel=1e-6)


@pytest.mark.parametrize("z", [1e-6, 1e-3, 0.1, 1.0, 10.0, 100.0])
def test_restitution_keeps_its_digits(z):
    """W_0 near -1/e has half of them; the closed form must not."""
    with mpmath.workdps(50):
        u = 1 + mpmath.mpf(1.5) * mpmath.mpf(z)
        exact = float((1 + mpmath.lambertw(-u * mpmath.exp(-u))) / (u - 1))
    assert closed_form.restitution(z, 1.0) == pytest.approx(exact, rel=1e-12)


def test_restitution_table():
    """Rows of e(v_i) that others worked out, to their six digits; equal products, equal entries."""
    e = closed_form.restitution([0.01, 0.1, 0.5], [[0.1], [1.0], [5.0]])
    table = [
        [0.999001, 0.990099, 0.952370],
        [0.990099, 0.909016, 0.662962],
        [0.952370, 0.662962, 0.255228],
    ]
    assert np.abs(e - table).max() < 6e-7


def test_states_off_a_contour_are_seen():
    """The distance from (19) is that of a state moved off it on purpose."""
    v = np.linspace(-0.6, 0.9, 31)
    args = (1.0, 0.4, 1.0, 1e4)
    x = closed_form.depth(v, *args)
    assert closed_form.off_contour(x, v, *args).max() < 1e-12
    moved = closed_form.off_contour(x + 1e-3 * x.max(), v, *args)
    assert 1e-4 < moved.max() < 1.1e-3


def test_reference_foot():
    """The foot's landing and lift against numbers worked out by other hands, to their digits."""
    landing = reference.landing()
    assert landing.force_max == pytest.approx(2323.927, abs=1e-3)
    assert landing.force_max_at == pytest.approx(16.164e-3, abs=1e-6)
    assert landing.depth_max == pytest.approx(32.7044e-3, abs=1e-7)
    assert landing.rate_end == pytest.approx(0.293171, abs=1e-6)
    assert landing.impulse == pytest.approx(128.794, abs=1e-3)
    for load, from_actual, t, rate in [
        (500, False, 0.570659, -1.20023),
        (1000, True, 0.532143, -1.20108),
        (None, True, 0.535764, -1.44202),
    ]:
        lift = reference.lift(Variant("", load, from_actual))
        assert lift.t == pytest.approx(t, abs=1e-6)
        assert lift.rate == pytest.approx(rate, abs=1e-5)


@pytest.mark.parametrize("name", list(paper("marhefka1996").items))
def test_item(name):
    """All rows of a figure reproduce, but those that are known not to."""
    if name == "cubes":
        data_file(FILE)  # skips without the measured tosses
    result = paper("marhefka1996").run(name)
    assert result.name == name
    failed = {(name, row.quantity) for row in result.rows if row.holds is False}
    assert failed == {known for known in NOT_REPRODUCED if known[0] == name}
    quantities = [row.quantity for row in result.rows]
    assert len(set(quantities)) == len(quantities)
    json.dumps(result.as_dict(), allow_nan=False)
    assert all(np.isfinite(row.ours) for row in result.rows if row.ours is not None)


def test_a_wrong_law_is_noticed():
    """The rows can fail: with the damping of alpha = 0.41 in place of 0.4, e is off by 5e-3."""
    import heelstrike as hs

    run = impacts(hs.HuntCrossley(k=1e4, alpha=0.41), 1.0, m=1.0, dt=1e-5, steps=4000)
    assert not near("e", run.e[0], float(closed_form.restitution(0.4, 1.0)), 1e-3).holds


def test_nan_never_reproduces():
    assert not near("x", np.nan, 1.0, 1e9).holds
    assert not below("x", np.nan, 1e9).holds
    assert near("x", np.nan, 1.0, 1e9).as_dict()["ours"] is None
