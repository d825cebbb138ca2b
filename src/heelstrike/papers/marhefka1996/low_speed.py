"""(16) and (17): the damping that gives e = 1 - alpha v_i (5).

    Lambda = 3 alpha K (2 - z) / (2 (2 - 3 z + 3 z^2 - z^3)),     z = alpha v_i            (16)
    Lambda = 3/2 alpha K     where z is small                                              (17)

(16) solves (15), a Taylor series to the third order, so that e by it is off from (5) by z^3; (17)
is its limit, off by z^2. Impacts are simulated with each damping.
"""

from __future__ import annotations

import numpy as np

import heelstrike as hs
from heelstrike.papers.marhefka1996.impact import impacts, time_scale
from heelstrike.papers.report import Result, Row, near

MASS, STIFFNESS, SPEED = 1.0, 1e4, 1.0
"""[kg], [N/m], [m/s] of fig 4."""
LOSSES = np.array([0.02, 0.05, 0.1, 0.2])
"""z = alpha v_i, ours."""
STEPS = 2000
"""In the time scale of an impact."""
SECOND = 1.1
"""Bound of the second-order term of e: e = 1 - z + z^2 - 1.1 z^3 + ..."""


def by_16(loss: np.ndarray) -> np.ndarray:
    """lambda of (16) over that of (17)."""
    return np.asarray((2 - loss) / (2 - 3 * loss + 3 * loss**2 - loss**3))


def low_speed() -> Result:
    """e by both dampings, beside (5)."""
    dt = time_scale(SPEED, MASS, STIFFNESS) / STEPS
    rows: list[Row] = []
    for name, factor, power, scale in (
        ("(16)", by_16(LOSSES), 3, 1.0),
        ("(17)", np.ones(len(LOSSES)), 2, SECOND),
    ):
        run = impacts(
            hs.HuntCrossley(adhesive=True),
            SPEED,
            m=MASS,
            dt=dt,
            steps=4 * STEPS,
            vary={"alpha": factor * LOSSES / SPEED, "k": STIFFNESS},
            integrator="rk4",
        )
        rows += [
            near(
                f"e by {name}, alpha v_i {loss:g}",
                ours,
                None,
                scale * loss**power,
                float(1 - loss),
                f"Theirs: (5). Within (alpha v_i)^{power}, the first order that it leaves out.",
            )
            for loss, ours in zip(LOSSES, run.e, strict=True)
        ]
    return Result(
        "eq16",
        "the damping of low speeds",
        "(16) gives e = 1 - alpha v_i (5) where alpha v_i is small, and (17) is its limit.",
        tuple(rows),
    )
