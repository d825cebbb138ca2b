"""The literal rule of [Rengifo2009], (18) to (20), on a thousand random problems.

Oracle: W of (18), one row a component of a touching point, built with numpy, and numpy's
pseudo-inverse (rcond 1e-10); saturation by (19) and the radial cut. Forces are compared within 1e-8
of the largest before saturation, where the rank is clear: no singular value of W lies between 1e-12
and 1e-6 of the largest. Measured: 2e-10 at worst. Random inertias are made of whole eighths, so
that their rank is exact.
"""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest

from heelstrike.contact.solver.literal.least_norm import solve_least_norm
from heelstrike.contact.solver.rows import Arm, Row
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program

INPUTS = {"levers": 3, "axes": 9, "active": 1, "target": 3, "mu_k": 1}
CASES = {"1 body": (1, 8, False), "2 bodies": (2, 8, False), "3 bodies": (3, 9, False)}
CASES |= {"a pair": (2, 3, True)}
TOLERANCE = {"float64": 1e-9, "float32": 1e-5}
"""As the simulator has it."""


@cache
def kernel(bodies, points, pair, dtype):
    """Points are dealt out to bodies in turn; a pair: every point is between the first two."""
    p, size = Program("least_norm"), 6 * bodies
    inverse, free = p.input("inverse", size**2), p.input("free", size)
    tolerance = p.input("tolerance", 1)
    x = {name: p.input(name, k * points) for name, k in INPUTS.items()}
    rows = []
    for j in range(points):
        own = {name: x[name][k * j : k * (j + 1)] for name, k in INPUTS.items()}
        lever = own.pop("levers")
        arms = (Arm(0, lever), Arm(1, lever, -1.0)) if pair else (Arm(j % bodies, lever),)
        axes = ca.reshape(own.pop("axes"), 3, 3).T
        none = {"smoothing": ca.SX(0), "past": ca.SX(ca.DM.zeros(3)), "slid": ca.SX(0)}
        rows.append(Row(arms=arms, axes=axes, mu_s=own["mu_k"], **own, **none))
    s = solve_least_norm(p, rows, ca.reshape(inverse, size, size), free, tolerance)
    with p.block("out"):
        p.output("f", ca.horzcat(*s.impulses).T)
        p.output("slides", ca.vertcat(*s.slides))
        p.output("twists", s.twists)
    return compile_program(p, dtype=dtype)


def solved(problems, case, dtype="float64"):
    names = (*INPUTS, "inverse", "free")
    given = {name: [problem[name].ravel() for problem in problems] for name in names}
    given["tolerance"] = np.full((len(problems), 1), TOLERANCE[dtype])
    arrays = {name: np.asarray(value, dtype) for name, value in given.items()}
    return kernel(*CASES[case], dtype)(**arrays)


def skew(x):
    return np.cross(np.eye(3), x)


def problem(rng, case):
    """Feet of a robot of 1 to 8 free coordinates a body, any of their points touching."""
    bodies, points, _ = CASES[case]
    size = 6 * bodies
    units = np.where(np.arange(size) % 6 < 3, 1, 5)[:, None]
    j = rng.integers(-8, 9, size=(size, rng.integers(1, size + 3))) / 8 * units
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    levers = rng.uniform(-0.1, 0.1, (points, 3)) * [1, 1, 0.2] @ turn
    if rng.random() < 0.5:  # a foot: coplanar
        levers[:] = rng.uniform(-0.1, 0.1, (points, 2)) @ turn[:2] - 0.05 * turn[2]
    made = {
        "inverse": j @ j.T * 2.0 ** rng.integers(-6, 7),
        "free": j @ rng.normal(size=j.shape[1]),
        "levers": levers,
        "axes": np.tile(turn, (points, 1, 1)),
        "active": (rng.random(points) < rng.uniform(0.2, 1)) * 1.0,
        "target": rng.normal(size=(points, 3)) * rng.choice([0, 0.3]),
        "mu_k": rng.uniform(0, 1.5, points),
    }
    made["active"][rng.integers(points)] = 1
    made["target"][made["active"] == 0] = np.nan  # of what does not touch nothing may be read
    return made


def oracle(made, case):
    """Least forces, those after saturation, all zero where nothing touches, and how clear the
    rank is.
    """
    bodies, points, pair = CASES[case]
    maps, touching = [], np.flatnonzero(made["active"])
    for j in touching:
        arm = made["axes"][j] @ np.hstack([np.eye(3), -skew(made["levers"][j])])
        g = np.zeros((3, 6 * bodies))
        for body, sign in ((0, 1), (1, -1)) if pair else ((j % bodies, 1),):
            g[:, 6 * body : 6 * body + 6] += sign * arm
        maps.append(g)
    g = np.vstack(maps)
    w = g @ made["inverse"] @ g.T
    f = np.linalg.pinv(w, rcond=1e-10, hermitian=True) @ (
        made["target"][touching].ravel() - g @ made["free"]
    )
    least = np.zeros((points, 3))
    least[touching] = f.reshape(-1, 3)
    cut = least.copy()
    cut[:, 2] = np.maximum(cut[:, 2], 0)
    rubbing = np.linalg.norm(cut[:, :2], axis=1)
    most = made["mu_k"] * cut[:, 2]
    cut[:, :2] *= np.minimum(1, most / np.where(rubbing > 0, rubbing, 1))[:, None]
    sizes = np.linalg.svd(w, compute_uv=False)
    sizes /= sizes[0]
    return least, cut, not ((sizes > 1e-12) & (sizes < 1e-6)).any()


def errors(problems, out, case):
    found = []
    for made, f in zip(problems, out["f"], strict=True):
        least, cut, clear = oracle(made, case)
        if clear:
            found.append(np.abs(f.reshape(-1, 3) - cut).max() / max(np.abs(least).max(), 1e-12))
    return np.array(found)


@pytest.mark.parametrize(
    "case", [pytest.param(x, marks=pytest.mark.nightly) if x == "3 bodies" else x for x in CASES]
)
def test_forces_are_those_of_numpys_pseudo_inverse(case):
    rng = np.random.default_rng(1)
    problems = [problem(rng, case) for _ in range(300)]
    wrong = errors(problems, solved(problems, case), case)
    assert len(wrong) > 250
    assert wrong.max() < 1e-8


def test_unsaturated_forces_leave_numpys_residual():
    """Where nothing is cut, the velocity left over is that of least squares."""
    rng = np.random.default_rng(2)
    problems = [problem(rng, "1 body") for _ in range(300)]
    for made in problems:
        made["mu_k"][:] = 1e6
    out = solved(problems, "1 body")
    checked = 0
    for made, f, twists in zip(problems, out["f"], out["twists"], strict=True):
        least, cut, clear = oracle(made, "1 body")
        if not clear or np.abs(least - cut).max() > 0:
            continue
        checked += 1
        assert twists == pytest.approx(after(made, least), abs=1e-8 * np.abs(made["free"]).max())
        assert twists == pytest.approx(after(made, f.reshape(-1, 3)), abs=1e-12)
    assert checked > 5


def after(made, forces):
    """Twists of one body that these forces act on."""
    wrench = np.zeros(6)
    for axes, lever, f in zip(made["axes"], made["levers"], forces, strict=True):
        wrench += np.r_[axes.T @ f, np.cross(lever, axes.T @ f)]
    return made["free"] + made["inverse"] @ wrench


def test_friction_keeps_its_direction():
    """(20) as printed gives (3, 8) for (3, -4) and mu f_n = 10; the radial cut leaves it alone."""
    made = problem(np.random.default_rng(3), "1 body")
    made |= {"inverse": np.eye(6), "axes": np.tile(np.eye(3), (8, 1, 1))}
    made["active"][:], made["levers"][:] = 0, 0
    made["active"][0] = 1
    for mu, expected in ((1.0, (3, -4, 10)), (0.4, (2.4, -3.2, 10)), (0.0, (0, 0, 10))):
        made["free"] = np.array([-3.0, 4, -10, 0, 0, 0])
        made["target"], made["mu_k"] = np.zeros((8, 3)), np.full(8, mu)
        assert solved([made], "1 body")["f"][0].ravel()[:3] == pytest.approx(expected, abs=1e-12)
    made["free"] = np.array([-3.0, 4, 10, 0, 0, 0])  # it would have to pull
    assert np.abs(solved([made], "1 body")["f"]).max() == 0


def test_an_edge_at_any_angle():
    """Two vertices leave a rank of five whatever axis their edge is next to."""
    rng = np.random.default_rng(5)
    problems = []
    for turn in np.r_[0, 10.0 ** np.arange(-12, 0)]:
        for way in np.eye(3):
            made = problem(rng, "1 body")
            made["inverse"] = np.diag([0.5, 0.5, 0.5, 30, 20, 40])
            made["free"], made["mu_k"] = np.array([0.1, 0, -1, 0.2, 0.1, 0]), np.full(8, 1e6)
            made["active"] = np.arange(8) < 2
            made["axes"], made["target"] = np.tile(np.eye(3), (8, 1, 1)), np.zeros((8, 3))
            along = 0.05 * (way + turn * np.roll(way, 1))
            made["levers"][0], made["levers"][1] = np.array([0.03, 0.02, -0.05]) + np.outer(
                [1, -1], along
            )
            problems.append(made)
    wrong = errors(problems, solved(problems, "1 body"), "1 body")
    assert len(wrong) == len(problems)
    assert wrong.max() < 1e-8


def test_float32():
    """The median error is that of the numbers; single problems are far worse."""
    rng = np.random.default_rng(4)
    problems = [problem(rng, "2 bodies") for _ in range(200)]
    wrong = errors(problems, solved(problems, "2 bodies", "float32"), "2 bodies")
    assert np.median(wrong) < 1e-4
