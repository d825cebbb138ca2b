"""IPOPT by CasADi, with a quasi-Newton Hessian: that of a traced robot is too large."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from heelstrike.interrupts import signals_raised_again

MAX_TIME = 120.0
"""Largest time of a search [s]; what it has found by then is judged like any other."""


def ipopt(
    problem: dict[str, Any],
    guess: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    least: np.ndarray,
    most_g: np.ndarray,
    iterations: int,
    begin: float = 1e-2,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the solution, the violation of each constraint, and the iterations."""
    options = {
        "ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes",
        "ipopt.max_iter": iterations, "ipopt.tol": 1e-4, "ipopt.constr_viol_tol": 1e-5,
        "ipopt.hessian_approximation": "limited-memory", "ipopt.acceptable_tol": 1e-3,
        "ipopt.acceptable_iter": 5, "ipopt.mu_init": begin, "error_on_fail": False,
        "ipopt.max_cpu_time": MAX_TIME,
    }  # fmt: skip
    solver = ca.nlpsol("plan", "ipopt", problem, options)
    with signals_raised_again():  # CasADi stops at a signal, but returns what it had
        made = solver(x0=np.clip(guess, low, high), lbx=low, ubx=high, lbg=least, ubg=most_g)
    g = np.array(made["g"]).ravel()
    missed = np.maximum(np.maximum(least - g, g - most_g), 0)
    count = int(solver.stats()["iter_count"])
    return np.array(made["x"]).ravel(), missed, count
