"""The exact complementarity problem on random numbers.

Oracles: Pinocchio's ADMM solver on the same problem; the conditions of de Saxce's form, by their
own projections in numpy: f in the cone, u + Gamma in its dual, the two at right angles.

A problem may have no solution (targets that friction jams) or several; both solvers must then be
allowed to differ.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.contact.solver.criteria import EXACT, Accuracy
from tests.unit.test_swept import feet, solved, stacked

EXACTLY = 1e-8
"""Of the largest free velocity: what EXACT promises; 2e-9 was the worst of thousands."""
WORLDS = 100


def drawn(bodies, points, targets):
    """Inactive points, fewer joints than directions, mu 0 to 1.2, any memory."""
    rng = np.random.default_rng(100 * bodies + points)
    problems = []
    for _ in range(WORLDS):
        mu, rank = rng.uniform(0, 1.2), rng.integers(3, 6 * bodies + 7)
        fresh, flat = rng.random(2) < (0.5, 0.7)
        problems.append(feet(rng, bodies, points, mu, mu, fresh, flat, rank))
    p = stacked(problems)
    p["target"] *= targets
    return p, solved(p, accuracy=EXACT, tolerance=1e-11)


def given(p, i):
    """Delassus matrix, velocities without impulses, mu, and numbers of a world's active points."""
    active = np.flatnonzero(p["active"][i])
    maps = p["maps"][i, active].reshape(-1, p["maps"].shape[-1])
    free = maps @ p["free"][i] - p["target"][i, active].ravel()
    return maps @ p["inverse"][i] @ maps.T, free, p["mu_k"][i, active], active


def residual(delassus, free, mu, f):
    """f - P(f - (u + Gamma) / a), as a velocity, over the largest free one."""
    u = (delassus @ f + free).reshape(-1, 3)
    own = np.diag(delassus).reshape(-1, 3).mean(axis=1, keepdims=True)
    scale = np.where(own > 0, own, 1)
    lifted = u + np.outer(mu * np.linalg.norm(u[:, :2], axis=1), [0, 0, 1])
    z = f.reshape(-1, 3) - lifted / scale
    size, mu = np.linalg.norm(z[:, :2], axis=1)[:, None], mu[:, None]
    height = (mu * size + z[:, 2:]) / (mu**2 + 1)
    edge = height * np.hstack([mu * z[:, :2] / np.maximum(size, 1e-300), np.ones((len(z), 1))])
    near = np.where(size <= mu * z[:, 2:], z, np.where(mu * size <= -z[:, 2:], 0, edge))
    return np.abs(scale * (f.reshape(-1, 3) - near)).max() / max(np.abs(free).max(), 1e-9)


def admm(delassus, free, mu):
    """Impulses by Pinocchio, or None where its iterations do not end."""
    models, data = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for value in mu:
        contact = pin.PointContactConstraintModel(pin.Model(), 0)
        contact.setFriction(float(value))
        contact.setCompliance(np.zeros(3))
        models.append(pin.ConstraintModel(contact))
        data.append(models[-1].createData())
    settings, result = pin.ADMMSolverSettings(), pin.ADMMSolverResult()
    settings.max_iterations, settings.solve_ncp = 5000, True
    settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = 1e-11
    settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0.0
    operator = pin.DelassusOperatorDense(delassus)
    solver = pin.ADMMConstraintSolver(len(free))
    ended = solver.solve(operator, free, models, data, settings, result)
    return result.retrieveConstraintImpulses() if ended else None


@pytest.mark.parametrize("targets", [0, 1])
@pytest.mark.parametrize(("bodies", "points"), [(1, 1), (1, 4), (2, 8), (3, 6)])
def test_against_admm(bodies, points, targets):
    """Solves what ADMM solves, and to the same velocities where those are the only ones."""
    p, out = drawn(bodies, points, targets)
    met, apart = [], []
    for i in range(WORLDS):
        delassus, free, mu, active = given(p, i)
        if not len(active):
            continue
        f = out["f"][i, active].ravel()
        good = residual(delassus, free, mu, f) < EXACTLY
        assert good or out["unfinished"][i]
        other = admm(delassus, free, mu)
        if other is not None:
            met.append(good)
        if good and other is not None and residual(delassus, free, mu, other) < EXACTLY:
            apart.append(np.abs(delassus @ (f - other)).max() / np.abs(free).max())
    assert np.mean(met) > 0.97
    assert len(apart) > WORLDS / 2
    # both good to 1e-8; the rest has several solutions, of which each found one
    assert np.mean(np.array(apart) < 10 * EXACTLY) > 0.9


def test_residual_is_that_of_the_conditions():
    """What the program tells of itself, against the conditions on its impulses: the two forms of
    the same zero differ by a factor of the cone's angle.
    """
    p, _ = drawn(1, 4, 1)
    out = solved(p, accuracy=Accuracy(rounds=20))  # most are far from done
    assert np.median(out["residual"]) > 1e-3
    for i in range(WORLDS):
        delassus, free, mu, active = given(p, i)
        if not len(active):
            continue
        scale = max(np.abs(free).max(), 1e-9)
        checked = residual(delassus, free, mu, out["f"][i, active].ravel())
        told = out["residual"][i] / scale
        assert checked / 4 - 1e-12 < told < 4 * checked + 1e-12


def test_a_solution_exists_without_targets():
    """Bodies that only have to stop can always do so; nearly all are found in the rounds of a
    step, and most in a tenth of them.
    """
    _, out = drawn(1, 4, 0)
    assert (out["unfinished"] == 0).mean() >= 0.98
    assert np.median(out["rounds"]) < EXACT.rounds / 10


def test_refused():
    with pytest.raises(hs.HeelstrikeError, match=r"one coefficient.*hs.Coulomb\(0.4, 0.4\)"):
        hs.Signorini(hs.Coulomb(1.0, 0.4))
    with pytest.raises(hs.HeelstrikeError, match=r"hs\.Kinetic and hs\.Bristle belong"):
        hs.Signorini(hs.Kinetic())
    floor, wall = hs.Plane(hs.Signorini(), "floor"), hs.Box(hs.Rigid(), "wall")
    with pytest.raises(hs.HeelstrikeError, match="rule is 'consistent' and 'exact'"):
        hs.Simulator(hs.Scene(hs.load("box"), floor, wall))
    with pytest.raises(hs.HeelstrikeError):
        hs.Simulator(hs.Scene(hs.load("box"), floor), integrator="rk4")
