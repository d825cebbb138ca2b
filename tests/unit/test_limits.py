"""Torque limits, stops and dry friction of joints that act on each other, on random numbers.

Oracles: the equation of motion with each row's own torque, H a + b = sum of tau(a), whose solution
is unique since every tau falls with a; and daqp on the dual problem, a quadratic program in the
torques t within their bounds,

    min  (sum t - b)^T H^-1 (sum t - b) / 2 + sum t^2 / (2 slope) - t now / slope
"""

from __future__ import annotations

from functools import cache

import casadi as ca
import daqp
import numpy as np
import pytest

from heelstrike.contact.solver.joint_rows import SLACK, Bounded, Clamp, DryFriction, RangeStop
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program
from heelstrike.step.limits import ROUNDS, solve_limited
from heelstrike.step.torque import Torque

COUNT = 2000
"""Problems of each size."""
DT = 1e-3
HALF = 0.01
"""Half the range of a joint [rad]."""
STEEP = 1e4
"""Slope of dry friction, in inertias of its joint, as in a step of 1 ms (step/joints.py)."""


def problems(joints: int) -> dict[str, np.ndarray]:
    """Joints with inertias of ratios up to 1000; most rows are near their kinks."""
    rng = np.random.default_rng(joints)

    def normal(size: float) -> np.ndarray:
        return size * rng.normal(size=(COUNT, joints))

    def spread(low: float, high: float) -> np.ndarray:
        return 10 ** rng.uniform(low, high, (COUNT, joints))

    chain = np.eye(joints) + np.tril(rng.normal(size=(COUNT, joints, joints)), -1)
    inertia = np.einsum("wki,wk,wkj->wij", chain, spread(-3, 0), chain)
    own = np.einsum("wii->wi", inertia)
    v = normal(0.01) * (rng.random((COUNT, joints)) < 0.5)
    side = np.sign(normal(1))
    steep, stop = STEEP * own, spread(-3, 0)
    return {
        "inertia": inertia,
        "bias": normal(10),
        "servo": normal(10),
        "servo slope": spread(-3, 0),
        "servo limit": spread(-1, 1),
        "friction": -steep * v / DT,
        "friction slope": steep,
        "friction limit": spread(-2, 0.5),
        "friction guess": -np.sign(v),
        "stop": stop * normal(100),
        "stop slope": stop,
        "side": side,
    }


@cache
def kernel(joints: int, dtype: str = "float64"):
    """Solves such problems as a step does."""
    p = Program("limits")
    given = {
        name: p.input(name, joints**2 if name == "inertia" else joints) for name in problems(joints)
    }
    inertia = ca.reshape(given["inertia"], joints, joints)

    def rows(kind, *names, **more):
        columns = [given[name] for name in names]
        return {i: (kind(*(x[i] for x in columns), **more),) for i in range(joints)}

    none = ca.SX(ca.DM.zeros(joints))
    servo = rows(Clamp, "servo", "servo slope", "servo limit")
    friction = rows(DryFriction, *(f"friction{x}" for x in ("", " slope", " limit", " guess")))
    stops = {i: (stop(given, i),) for i in range(joints)}

    def solve(tau, slope):
        with p.block("solve"):
            found = eliminated(inertia + ca.diag(slope), tau - given["bias"])
            return p.let("a", found), ca.SX(1)

    torques = [Torque(none, none, own) for own in (servo, friction, stops)]
    limbs = [("all", range(joints))]
    found = solve_limited(p, limbs, torques, solve, counts=1)
    with p.block("results"):
        p.output("a", found.a)
        p.output("sliding", found.sliding)
        p.output("rounds", found.counted)
        for name, torque in zip(("servo", "friction", "stop"), found.applied, strict=True):
            p.output(f"torque of {name}", torque)
    return compile_program(p, dtype=dtype)


def stop(given, i: int) -> RangeStop:
    """The stop at an end of the range +-HALF, which joint i gets beyond by -now / k."""
    now, slope, side = (given[name][i] for name in ("stop", "stop slope", "side"))
    reached = side * HALF - now * DT**2 / slope
    guess = ca.if_else(side * now < 0, 1, -1)
    return RangeStop(now, slope, side, guess, -HALF, HALF, reached, ca.SX(DT))


def eliminated(matrix: ca.SX, right: ca.SX) -> ca.SX:
    """Gauss's elimination; the matrix is positive definite."""
    rows, n = ca.horzcat(matrix, right), matrix.shape[0]
    for k in range(n):
        rows[k, k:] = rows[k, k:] / rows[k, k]
        for i in (i for i in range(n) if i != k):
            rows[i, k:] = rows[i, k:] - rows[i, k] * rows[k, k:]
    return rows[:, n]


def own_torques(given: dict[str, np.ndarray], a: np.ndarray) -> dict[str, np.ndarray]:
    """Torques of the rows at accelerations."""
    z = {name: given[name] - given[f"{name} slope"] * a for name in ("servo", "friction", "stop")}
    pushes = given["side"] * z["stop"] < 0
    clamp = {x: np.clip(z[x], -given[f"{x} limit"], given[f"{x} limit"]) for x in z if x != "stop"}
    return clamp | {"stop": np.where(pushes, z["stop"], 0)}


def solved(given: dict[str, np.ndarray], dtype: str = "float64") -> dict[str, np.ndarray]:
    inputs = given | {"inertia": given["inertia"].reshape(COUNT, -1)}
    return kernel(given["bias"].shape[1], dtype)(**inputs)


@pytest.mark.parametrize("kind", ["servo", "friction", "motor"])
def test_a_row_that_misses_its_piece_never_passes_the_quick_test(kind):
    """Accelerations lie around the kinks of each row, half of them within its slack."""
    now, slope, limit, guess, a = (ca.SX.sym(x) for x in ("now", "slope", "limit", "guess", "a"))
    row = {
        "servo": Clamp(now, slope, limit),
        "friction": DryFriction(now, slope, limit, guess, still=3e-3),
        "motor": Bounded(now, slope, -limit, 2 * limit, 0.2 * slope, 0.1 * slope, limit),
    }[kind]
    numbers = now, slope, limit, guess, a
    tests = ca.Function("tests", [*numbers], [row.excess(a), row.misses(ca.SX(row.guess), a)])
    rng, count = np.random.default_rng(3), 20_000
    slopes, limits = 10 ** rng.uniform(-3, 3, (2, count))
    z = rng.choice([-1, 1, 2], count) * limits * (1 + rng.choice([1e-7, 1e-5, 1], count))
    z *= rng.choice([0.999, 1, 1.001], count)
    speed = rng.normal(size=count)
    guesses = rng.integers(-1, 2, count)
    given = z + slopes * speed, slopes, limits, guesses, speed
    excess, misses = (np.array(x).ravel() for x in tests.map(count)(*(x[None] for x in given)))
    assert ((excess > 0) | (misses == 0)).all()
    assert 0.2 < misses.mean() < 0.9


@pytest.mark.parametrize("joints", [3, 6, 10])
def test_every_problem_is_solved(joints):
    """The torques that acted are those of the rows, and cause the accelerations."""
    given = problems(joints)
    found = solved(given)
    wanted = own_torques(given, found["a"])
    for name, torque in wanted.items():
        size = given["stop slope" if name == "stop" else f"{name} limit"]
        assert (np.abs(found[f"torque of {name}"] - torque) / size).max() <= 1.1 * SLACK
    moved = np.einsum("wij,wj->wi", given["inertia"], found["a"])
    # rounding of friction's steep slopes: 1.5e-9 measured, of torques of 10 N m
    assert np.abs(moved + given["bias"] - sum(wanted.values())).max() < 1e-8
    assert found["rounds"].max() < ROUNDS
    assert (found["rounds"] > 2).mean() > 0.5  # the problems are no easy ones


@pytest.mark.parametrize("joints", [3, 6, 10])
def test_the_solution_is_that_of_a_quadratic_program(joints):
    given = problems(joints)
    found = solved(given)["a"]
    scale = np.abs(found).max(axis=1, keepdims=True)
    wanted = np.array([by_daqp({name: x[w] for name, x in given.items()}) for w in range(COUNT)])
    # daqp's torques miss the equation of motion by up to 1e-2 N m; 2e-8 measured
    assert (np.abs(found - wanted) / scale).max() < 1e-7


@pytest.mark.parametrize("joints", [3, 6, 10])
def test_single_precision_ends_at_the_same_pieces(joints):
    """Friction that stops a joint leaves float32 few digits, and rounds may not find its piece."""
    given = problems(joints)
    found, exact = solved(given, "float32"), solved(given)
    assert (found["rounds"] == ROUNDS).mean() <= 0.002  # 2 of 2000 problems of 10 joints
    off = np.abs(found["a"] - exact["a"]).max(axis=1) / np.abs(exact["a"]).max(axis=1)
    assert np.percentile(off, 99) < 1e-3  # 1.5e-4 measured: inertias of ratios up to 1000


def by_daqp(given: dict[str, np.ndarray]) -> np.ndarray:
    """Accelerations by the dual problem."""
    n, names = len(given["bias"]), ("servo", "friction", "stop")
    inverse = np.linalg.inv(given["inertia"])
    slope = np.concatenate([given[f"{name} slope"] for name in names])
    now = np.concatenate([given[name] for name in names])
    free = np.full(n, 1e30)
    low = [-given["servo limit"], -given["friction limit"], np.where(given["side"] > 0, -free, 0)]
    high = [given["servo limit"], given["friction limit"], np.where(given["side"] > 0, 0, free)]
    hessian = np.tile(inverse, (3, 3)) + np.diag(1 / slope)
    linear = -np.tile(inverse @ given["bias"], 3) - now / slope
    unit = 1 / np.sqrt(np.diag(hessian))  # daqp's tolerances are absolute
    bounds = np.concatenate(high) / unit, np.concatenate(low) / unit
    scaled = hessian * np.outer(unit, unit), linear * unit
    t, _, flag, _ = daqp.solve(*scaled, np.zeros((0, 3 * n)), *bounds)
    assert flag == 1
    return inverse @ ((unit * t).reshape(3, n).sum(axis=0) - given["bias"])
