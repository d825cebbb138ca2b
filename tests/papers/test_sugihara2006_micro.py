"""[Sugihara2006], the micro part, item by item.

Oracles: the inequalities of closed_form.py are checked against the eigenvalues of the step's
matrix, written out here, and against ORACLE.md's numbers. Then every row of every item is judged by
its own tolerance, and exactly the rows known not to hold as the paper states them may fail.
"""

import json

import numpy as np
import pytest

from heelstrike.papers import paper
from heelstrike.papers.sugihara2006 import closed_form
from heelstrike.papers.sugihara2006.drop import (
    VARIANTS,
    drops,
    felt,
    heights,
    poses,
    simulator,
)
from heelstrike.papers.sugihara2006.light import landing
from heelstrike.papers.sugihara2006.maps import MASS_GRID, grid, limit, mass_map
from heelstrike.papers.sugihara2006.stability import GAMMA, KAPPA, MARGIN, grows
from tests.rows import item_holds

NOT_AS_STATED = {
    "rebound": {
        "(14) symplectic, gamma 1, kappa 0.6: e",
        "(14) symplectic, gamma 1.9, kappa 0.1: e",
        "share of the plane where only (13) gains",
        "share where only (14) gains",
    },
    "stability": {"stable area of (14) / of (13), symplectic"},
    "points": {
        "1 ms: fewest points that throw it up, (14)",
        "2.5 ms: fewest points that throw it up, (14)",
    },
    "maps": {
        "mass: stable cells of (14) / of (13)",
        "hoap1: stable cells of (14) / of (13)",
        "hoap1, 1 ms: stands up to k = [N/m], (14)",
    },
}
"""Rows in which (14) is no better than (13), as ORACLE.md finding 3 says."""


def matrix(equation, scheme, kappa, gamma):
    """Of (d, w) over one step in which the damper works."""
    push = np.array([kappa, gamma + kappa * (equation == 14)])  # w+ = w - push . (d, w)
    w = np.array([0.0, 1.0]) - push
    return np.array([np.array([1.0, 0.0]) + (w if scheme == "symplectic" else [0, 1]), w])


@pytest.mark.parametrize("scheme", ["symplectic", "euler"])
@pytest.mark.parametrize("equation", [13, 14])
def test_regions_are_those_of_the_eigenvalues(equation, scheme):
    rng = np.random.default_rng(0)
    for kappa, gamma in rng.uniform(0, [5, 3], (2000, 2)):
        largest = np.abs(np.linalg.eigvals(matrix(equation, scheme, kappa, gamma))).max()
        assert closed_form.radius(equation, scheme, kappa, gamma) == pytest.approx(
            largest, abs=1e-7
        )
        if abs(largest - 1) > 1e-6:
            assert closed_form.stable(equation, scheme, kappa, gamma) == (largest < 1)
    edge = closed_form.stable_out(equation, scheme)
    for kappa in (0.99 * edge, 1.01 * edge + 0.01):
        largest = np.abs(np.linalg.eigvals(matrix(equation, scheme, kappa, 0.0))).max()
        assert (largest <= 1 + 1e-9) == (kappa <= edge)


def test_number_of_points_at_which_the_damper_alone_is_unstable():
    """gamma = 2 at n = 35.5 and 14.2 points of 5 kg: near the limits of both laws."""
    for dt, n in ((1e-3, 35.5), (2.5e-3, 14.2)):
        assert 2 * closed_form.MASS / (closed_form.C * dt) == pytest.approx(n, abs=0.05)
        for equation in (13, 14):
            assert closed_form.largest_step(equation, 0.93 * n) > dt
            assert closed_form.largest_step(equation, n) < dt


LONG = [
    pytest.param(name, marks=[pytest.mark.nightly] if name in ("maps", "points") else [])
    for name in NOT_AS_STATED
]


@pytest.mark.parametrize("name", LONG)
def test_rows_hold_but_for_those_known(name):
    item_holds("sugihara2006", name, NOT_AS_STATED[name])


def test_map_of_a_mass():
    """1 kg, critically damped: dt sqrt(k) < 2 sqrt(2) - 2 by (13), 2/3 by (14), any implicitly."""
    k, dt = grid(MASS_GRID)
    for name, most in (("(13)", 2 * 2**0.5 - 2), ("(14)", 2 / 3), ("implicit", np.inf)):
        ratio = dt * np.sqrt(k) / most
        clear = np.abs(ratio - 1) > 0.01
        assert (mass_map(name) == (ratio > 1))[clear].all()
        assert name == "implicit" or limit(name, 1.0, 1.0) == pytest.approx(most)


def test_maps_leave_out_few_cells():
    """The margin of the eigenvalue does not hide the boundary: 2 % of the cells or less."""
    kappa, gamma = np.meshgrid(KAPPA, GAMMA)
    for scheme in ("symplectic", "euler"):
        for equation in (13, 14):
            radius = closed_form.radius(equation, scheme, kappa, gamma)
            assert (np.abs(radius - 1) <= MARGIN).mean() < 0.02


def test_stability_is_simulated():
    """A cell on either side of the boundary of (14), 2 % away."""
    kappa = np.array([0.98, 1.02]) * 4 / 3
    assert grows(14, "symplectic", kappa, np.full(2, 1e-3)).tolist() == [False, True]


@pytest.mark.nightly
def test_robot_stays_on_the_floor_by_both_laws():
    """Fig 6 with rotors: what the paper says of (14) holds of (13) too, all points touching."""
    variant = VARIANTS[0]
    sim = simulator(variant)
    assert len(sim.robot.points) > 100
    q0 = poses(sim.robot, 6)
    assert [heights(sim.robot, q).min() for q in q0] == pytest.approx([0.05] * 6)
    for dt in (1e-3, 2.5e-3):
        made = drops(sim, dt, q0)
        assert not made.thrown.any()
        assert made.peak.max() < -0.045
        landed = landing(sim, variant, dt, q0[:2])
        # heavier than c dt / 2, so that steps are stable, and no landing gains
        assert landed.mass.min() > closed_form.C * dt / 2
        assert landed.radius.max() < 1
        assert not landed.gained.any()
    limits = [closed_form.largest_step(equation, 1, felt(sim)) for equation in (13, 14)]
    assert limits == pytest.approx([3.92e-3, 3.72e-3], abs=1e-5)
    bare = drops(sim, 2.5e-3, q0[[0, 0]], np.array([0.0, closed_form.C]))
    rise = bare.peak[0] - bare.peak[1]
    assert rise[0] > 0.01  # without a damper (13) rebounds by as much more than (14)
    assert abs(rise[1]) < 1e-3


@pytest.mark.nightly
def test_without_rotors_both_laws_throw_it_up():
    """Fig 6: corners feel grams, every step is unstable, and neither law keeps it on the floor."""
    variant = VARIANTS[2]
    assert (variant.rotors, variant.implicit) == (False, True)
    sim = simulator(variant)
    made = drops(sim, 2.5e-3, poses(sim.robot, 64))
    one, other = made.thrown
    assert min(one.sum(), other.sum()) > 16
    # which of them throws a pose up is luck: within three standard deviations of a coin
    alone = np.array([(one & ~other).sum(), (other & ~one).sum()])
    assert abs(alone[0] - alone[1]) <= 3 * np.sqrt(alone.sum())
    assert (landing(sim, variant, 2.5e-3, poses(sim.robot, 4)).radius > 1).all()


@pytest.mark.nightly
def test_fig6():
    """Exactly the leap of (13), where rotors or luck do not make it, and (14) beside it fail."""
    result = paper("sugihara2006").run("fig6")
    wrong = {row.quantity for row in result.rows if not row.holds}
    for servo in ("implicit", "explicit"):
        assert f"rotors, {servo} servo, 2.5 ms, (13): thrown up, of 64 poses" in wrong
    assert "thrown up by (13) alone over by (14) alone, all cells" in wrong
    for servo in ("implicit", "explicit"):
        assert f"rotors, {servo} servo, (13): largest step without a leap [ms]" in wrong
    assert not any(name.startswith(("without rotor inertia", "explicit servo:")) for name in wrong)
    json.dumps(result.as_dict(), allow_nan=False)
    assert result.draw() is not None
