"""The coupled problem on random numbers: its solutions obey Signorini's and Coulomb's laws.

Oracles: the conditions themselves, point by point; scipy's nnls where there is no friction; for one
point the roots of its own equation in the direction of slip.

Tolerances are those at which the passes end, as shares of the largest free velocity: SETTLED for
what a pass still changes, STICKS for the slip of a point that sticks, TURNING for the direction of
one that slides.
"""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import brentq, nnls

from heelstrike.contact.solver.criteria import USUAL, Accuracy
from heelstrike.contact.solver.operational.coupled import solve
from heelstrike.contact.solver.rows import Arm, Row
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program

RUBBING, SETTLED, STICKS, TURNING = USUAL.rubbing, USUAL.settled, USUAL.sticks, USUAL.turning
SINGLE = ("active", "slid", "mu_s", "mu_k", "smoothing")
INPUTS = {"target": 3, "past": 3, "levers": 3, "axes": 9} | dict.fromkeys(SINGLE, 1)
"""Inputs of the problem: numbers per point."""
SCALARS = ("rounds", "unfinished", "residual")
MANY = Accuracy(rounds=1000)
"""Enough rounds for all passes to converge; another test counts how many they need."""


@cache
def kernel(bodies, points, accuracy=MANY, tolerance=1e-9, soft=False, pair=False):
    """Compile the problem; points belong to bodies in turn, of a pair all to the first two."""
    p, n, size = Program("coupled"), points, 6 * bodies
    inverse, free = p.input("inverse", size**2), p.input("free", size)
    x = {name: p.input(name, k * n) for name, k in INPUTS.items()}
    compliance = p.input("compliance", 1) if soft else None
    rows = []
    for j in range(n):
        own = {name: x[name][k * j : k * (j + 1)] for name, k in INPUTS.items()}
        lever = own.pop("levers")
        arms = (Arm(0, lever), Arm(1, lever, -1.0)) if pair else (Arm(j % bodies, lever),)
        axes = ca.reshape(own.pop("axes"), 3, 3).T
        rows.append(Row(arms=arms, axes=axes, compliance=compliance, **own))
    problem = ca.reshape(inverse, size, size), free, ca.SX(tolerance)
    s = solve(p, rows, *problem, accuracy=accuracy)
    with p.block("out"):
        p.output("f", ca.horzcat(*s.impulses).T)
        p.output("slides", ca.vertcat(*s.slides))
        for name in ("twists", "wrenches", *SCALARS):
            p.output(name, getattr(s, name))
    return compile_program(p)


def solved(problem, **options):
    """Solve all problems; return impulses and the other results."""
    worlds, points = problem["active"].shape
    bodies = problem["free"].shape[1] // 6
    inputs = {k: v.reshape(worlds, -1) for k, v in problem.items() if k not in ("maps", "own")}
    out = kernel(bodies, points, **options)(**inputs)
    return out | {name: out[name].reshape(worlds) for name in SCALARS}


def skew(x):
    return np.cross(np.eye(3), x)


def rotation(rng):
    q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return q * np.linalg.det(q)


def feet(rng, bodies, points, mu_s, mu_k, fresh=True, flat=True, rank=None):
    """Return bodies in a tree of `rank` joints that land on points, flat or in any direction."""
    size = 6 * bodies
    units = np.where(np.arange(size) % 6 < 3, 1, 5)[:, None]
    j = rng.normal(size=(size, rank or size + 2)) * units
    inverse, free = j @ j.T * 10 ** rng.uniform(-1, 1), j @ rng.normal(size=j.shape[1])
    turns = [rotation(rng)] * points if flat else [rotation(rng) for _ in range(points)]
    levers = rng.normal(size=(points, 3)) * 0.1
    if flat:
        levers[:, 2] = -0.05
        levers = levers @ turns[0]
    maps = np.zeros((points, 3, size))
    for k, axes in enumerate(turns):
        b = 6 * (k % bodies)
        maps[k, :, b : b + 6] = np.hstack([axes, -axes @ skew(levers[k])])
    free = free * -np.sign((maps @ free)[:, 2].mean())
    approach = np.abs((maps @ free)[:, 2])
    active = rng.random(points) < 0.85
    targets = np.zeros((points, 3))
    targets[:, 2] = rng.choice([0, 1]) * rng.uniform(0, 0.5, points) * approach
    own = np.einsum("jab,bc,jac->j", maps, inverse, maps) / 3
    past, slid = np.zeros((points, 3)), np.zeros(points)
    if not fresh:
        normal = rng.uniform(0, 1 / points, points) * approach / (own + 1e-12) * active
        angle, share = rng.uniform(0, 2 * np.pi, points), rng.uniform(0, mu_s, points)
        past = np.array([share * np.cos(angle), share * np.sin(angle), np.ones(points)]).T
        past, slid = past * normal[:, None], (rng.random(points) < 0.3) * active
    same = np.ones(points)
    return {
        **{"inverse": inverse, "free": free, "levers": levers, "axes": np.array(turns)},
        **{"target": targets, "past": past, "active": active, "slid": slid, "own": own},
        **{"mu_s": mu_s * same, "mu_k": mu_k * same, "smoothing": 1e-2 * same, "maps": maps},
    }


def stacked(problems):
    return {k: np.array([x[k] for x in problems], float) for k in problems[0]}


def judged(p, out):
    """Return the violation of each condition, relative to what the passes leave: at most 1."""
    active, f, slides = p["active"] > 0, out["f"], out["slides"] > 0
    left = np.einsum("ijab,ib->ija", p["maps"], out["twists"]) - p["target"]
    before = np.einsum("ijab,ib->ija", p["maps"], p["free"])
    speeds = np.maximum(np.abs(before).max(-1), np.abs(p["target"]).max(-1)) * active
    scale = np.maximum(speeds.max(1), 1e-9)[:, None]
    normal, tangent = f[..., 2], np.linalg.norm(f[..., :2], axis=-1)
    slip = np.linalg.norm(left[..., :2], axis=-1)
    pressed, rho = active & (normal > 0), p["smoothing"] * p["own"]
    mu = np.where(slides, p["mu_k"], np.maximum(p["mu_s"], p["mu_k"]))
    edge = mu * normal
    sliding, sticks = pressed & slides & (tangent > 0), pressed & ~slides
    against = left[..., :2] + slip[..., None] * f[..., :2] / np.maximum(tangent, 1e-300)[..., None]
    ends = SETTLED * scale  # velocity
    loose = RUBBING * edge + ends / p["own"]  # impulse
    turning = 2 * (ends + rho * (TURNING * edge + loose))
    deepest = ends + sticks * mu * STICKS * scale
    wrenches = np.einsum("ijab,ija->ib", p["maps"], f)
    met = out["twists"] - p["free"] - np.einsum("iab,ib->ia", p["inverse"], wrenches)
    shares = {
        "no force where it does not touch": np.abs(f).max(-1) / 1e-300 * ~active,
        "no pull": -normal / 1e-300,
        "inside the cone": (tangent - edge) / (loose + 1e-12 * edge) * active,
        "nothing goes in": -left[..., 2] / deepest * active,
        "pressed or leaving": np.abs(left[..., 2]) / deepest * pressed,
        "sticks": slip / (STICKS * scale) * sticks,
        "friction opposes slip": np.linalg.norm(against, axis=-1) / turning * sliding,
        "all of it": (edge - tangent) / loose * (sliding & (slip > turning)),
        "velocities follow from impulses": np.abs(met).max(1, keepdims=True) / ends,
    }
    return {name: np.broadcast_to(x, active.shape) for name, x in shares.items()}


SHAPES = [(1, 1), (1, 4), (1, 16), (2, 8), (3, 6), (4, 4), (2, 3)]
"""Numbers of bodies and points; a body with one point has three coordinates, else six."""


@pytest.mark.parametrize(("bodies", "points"), SHAPES)
def test_signorini_and_coulomb(bodies, points):
    """Inactive points, fewer joints than directions, mu 0 to 1.5, mu_s <, =, > mu_k, any memory."""
    rng = np.random.default_rng(points)
    problems = []
    for _ in range(300):
        mu_s, rank = rng.uniform(0, 1.5), rng.integers(1, 6 * bodies + 7)
        mu_k = mu_s * rng.choice([0.5, 1, 1.3])
        fresh, flat = rng.random(2) < (0.5, 0.7)
        problems.append(feet(rng, bodies, points, mu_s, mu_k, fresh, flat, rank))
    p = stacked(problems)
    out = solved(p)
    ended = out["unfinished"] == 0
    assert np.isfinite(out["f"]).all()
    assert np.isfinite(out["twists"]).all()
    # the rest is jammed: friction as strong as the normal impulse that it makes, or nearly
    assert ended.mean() > 0.75
    for name, share in judged(p, out).items():
        assert share[ended].max() <= 1, name
    assert 0.1 < (out["slides"] > 0)[ended].mean() < 0.9


def test_inelastic_landing_never_gains_energy():
    """With targets of 0 the twists that are left have no more kinetic energy than the free ones."""
    rng = np.random.default_rng(5)
    p = stacked([feet(rng, 1, 4, *rng.uniform(0, 1.2, 2), rng.random() < 0.5) for _ in range(300)])
    p["target"] *= 0
    out = solved(p)
    inertia = np.linalg.inv(p["inverse"])
    free, left = (np.einsum("ia,iab,ib->i", v, inertia, v) for v in (p["free"], out["twists"]))
    # 2 SETTLED of the fastest point's speed at most
    assert (left / free)[out["unfinished"] == 0].max() < 1 + 4 * SETTLED


@pytest.mark.parametrize("points", [4, 16])
def test_without_friction_it_is_a_quadratic_program(points):
    """min |L^T G^T f + c|^2 over f >= 0, L c = V_free - (targets of one rigid motion), by nnls."""
    rng = np.random.default_rng(points)
    p = stacked([feet(rng, 1, points, 0, 0, rng.random() < 0.5, flat=False) for _ in range(200)])
    wanted = p["free"] * -0.3
    p["target"] = np.einsum("ijab,ib->ija", p["maps"], wanted) * [0, 0, 1]
    out = solved(p)
    assert (out["unfinished"] == 0).all()
    errors = []
    for i in range(200):
        normals = p["maps"][i, p["active"][i] > 0, 2]
        root = np.linalg.cholesky(p["inverse"][i])
        offset = np.linalg.solve(root, p["free"][i] - wanted[i])
        f, _ = nnls(root.T @ normals.T, -offset)
        twist = p["free"][i] + p["inverse"][i] @ normals.T @ f
        scale = np.abs(p["maps"][i, :, 2] @ p["free"][i]).max()
        errors.append(np.abs(normals @ (out["twists"][i] - twist)).max(initial=0) / scale)
    # passes end when they change less than SETTLED; a slow one may still be 50 of these away
    assert np.median(errors) < SETTLED
    assert np.max(errors) < 100 * SETTLED


def sliding_roots(a, left, mu):
    """Return impulses of one sliding point: f_n > 0 stops it, friction opposes the slip left."""
    angles = np.linspace(-np.pi, np.pi, 721)

    def impulse(angle):
        way = np.array([-mu * np.cos(angle), -mu * np.sin(angle), 1])
        return way * -left[2] / (a[2] @ way)

    def across(angle):
        slip = (left + a @ impulse(angle))[:2]
        return slip[1] * np.cos(angle) - slip[0] * np.sin(angle)

    found = []
    values = [across(x) for x in angles]
    for x, y, one, other in zip(angles, angles[1:], values, values[1:], strict=False):
        if one * other <= 0:
            angle = brentq(across, x, y, xtol=1e-13)
            f = impulse(angle)
            slip = (left + a @ f)[:2]
            if f[2] > 0 and slip @ [np.cos(angle), np.sin(angle)] >= 0:
                found.append(f)
    return found


@pytest.mark.parametrize(("mu_s", "mu_k"), [(0.5, 0.5), (0.9, 0.4), (0.0, 0.3)])
def test_one_point(mu_s, mu_k):
    """Sticks if that impulse is in the cone; slides by a root of its own equation otherwise."""
    rng = np.random.default_rng(8)
    p = stacked([feet(rng, 1, 1, mu_s, mu_k) for _ in range(200)])
    p["active"][:] = 1
    out = solved(p)
    kinds = []
    for i in np.flatnonzero(out["unfinished"] == 0):
        g = p["maps"][i, 0]
        a, left = g @ p["inverse"][i] @ g.T, g @ p["free"][i] - p["target"][i, 0]
        stuck = -np.linalg.solve(a, left)
        if left[2] >= 0 and not out["f"][i].any():
            kinds.append("apart")
        elif np.linalg.norm(stuck[:2]) <= max(mu_s, mu_k) * stuck[2]:
            kinds.append("sticks")
            assert np.abs(out["f"][i, 0] - stuck).max() < 1e-3 * np.abs(stuck).max()
            assert np.abs(a @ (out["f"][i, 0] - stuck)).max() < STICKS * np.abs(left).max()
        else:
            kinds.append("slides")
            roots = sliding_roots(a, left, mu_k)
            errors = [np.abs(a @ (out["f"][i, 0] - f)).max() for f in roots]
            # the smoothing of 1e-2 times what may still turn, 1e-3, of a velocity of this size
            assert min(errors) < 1e-4 * np.abs(left).max()
    assert {"sticks", "slides"} <= set(kinds)


def test_between_two_bodies():
    """Impulses are equal and opposite: momentum and angular momentum are conserved."""
    rng = np.random.default_rng(9)
    p = stacked([feet(rng, 2, 4, 0.8, 0.5) for _ in range(50)])
    maps = np.zeros_like(p["maps"])
    for i, j in np.ndindex(50, 4):
        axes = p["axes"][i, j]
        own = np.hstack([axes, -axes @ skew(p["levers"][i, j])])
        maps[i, j] = np.hstack([own, -own])
    p["maps"], p["own"] = maps, np.einsum("ijab,ibc,ijac->ij", maps, p["inverse"], maps) / 3
    out = solved(p, pair=True)
    ended = out["unfinished"] == 0
    assert ended.mean() > 0.9
    for name, share in judged(p, out).items():
        assert share[ended].max() <= 1, name
    assert out["f"].any()
    assert np.abs(out["wrenches"][:, :6] + out["wrenches"][:, 6:]).max() < 1e-12


def test_soft_normal():
    """A compliance c of its own, without friction, one point: f = -(u - target) / (A + c)."""
    rng = np.random.default_rng(10)
    p = stacked([feet(rng, 1, 1, 0, 0) for _ in range(50)])
    p["active"][:] = 1
    for c in (1e-4, 1.0, 1e6):
        out = solved(p | {"compliance": np.full((50, 1), c)}, soft=True)
        g = p["maps"][:, 0, 2]
        a = np.einsum("ia,iab,ib->i", g, p["inverse"], g)
        left = np.einsum("ia,ia->i", g, p["free"]) - p["target"][:, 0, 2]
        f = np.maximum(-left, 0) / (a + c)
        assert np.allclose(out["f"][:, 0, 2], f, rtol=1e-8, atol=0)  # Newton ends at 1e-9


@pytest.mark.parametrize(("mu_s", "mu_k", "allowed"), [(0.3, 0.3, 0.06), (1.0, 0.4, 0.12)])
def test_rounds(mu_s, mu_k, allowed):
    """A foot of four points that lands at random is rarely unfinished after a step's rounds."""
    rng = np.random.default_rng(11)
    p = stacked([feet(rng, 1, 4, mu_s, mu_k) for _ in range(300)])
    out = solved(p, accuracy=USUAL)
    assert out["unfinished"].mean() < allowed
    assert ((out["rounds"] == USUAL.rounds) >= out["unfinished"]).all()
