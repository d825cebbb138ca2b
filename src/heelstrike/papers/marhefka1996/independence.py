"""Section 4.2: e is "completely independent of m, k, and n for all impact velocities".

Every impact has a step and a phase of its first touch of its own, drawn at random: with the step in
proportion to the impact's time scale, and no more, the numbers would agree by scaling alone.
"""

from __future__ import annotations

import numpy as np

import heelstrike as hs
from heelstrike.papers.marhefka1996 import closed_form
from heelstrike.papers.marhefka1996.impact import impacts, time_scale
from heelstrike.papers.report import Result, below, near

ALPHA = 0.5
"""[s/m], of figs 5 and 7."""
SPEEDS = (0.1, 0.5, 1.0, 2.0, 5.0)
MASSES, STIFFNESSES, EXPONENTS = (0.1, 1.0, 10.0, 100.0), (1e3, 1e4, 1e5, 1e6), (1.0, 1.5, 2.0)
"""[m/s], [kg], [N/m^n], [-], ours."""
STEPS = 3000
"""In an impact's time scale, at least; at most 1.5 times as many."""
CLOSE = 1e-6


def independence() -> Result:
    """e over three decades of m and of k, and three exponents."""
    grid = np.meshgrid(SPEEDS, MASSES, STIFFNESSES, indexing="ij")
    v, m, k = (x.ravel() for x in grid)
    random = np.random.default_rng(1996)
    found = []
    for n in EXPONENTS:
        run = impacts(
            hs.HuntCrossley(n=n),
            v,
            m=m,
            dt=time_scale(v, m, k, n) / (STEPS * random.uniform(1, 1.5, len(v))),
            steps=12 * STEPS,
            vary={"alpha": ALPHA, "k": k},
            early=random.uniform(0, 1, len(v)),
        )
        found.append(run.e.reshape(grid[0].shape))
    e = np.stack(found, axis=-1)
    remark = (
        "m 0.1 to 100 kg, k 1 to 1000 kN/m^n, n 1, 3/2, 2; alpha 0.5 s/m. Steps and phases at "
        f"random, at least {STEPS} steps in an impact's time scale."
    )
    rows = [
        below(f"spread of e over {what}", np.ptp(e, axis).max(), CLOSE, "independent", remark)
        for what, axis in (("m", 1), ("k", 2), ("n", 3), ("all three", (1, 2, 3)))
    ]
    exact = closed_form.restitution(ALPHA, SPEEDS)
    for speed, ours, form in zip(SPEEDS, e.mean(axis=(1, 2, 3)), exact, strict=True):
        rows.append(near(f"e at {speed:g} m/s, mean of all", ours, form, CLOSE))
    return Result(
        "independence",
        "restitution does not depend on m, k, n",
        '"e is completely independent of m, k, and n for all impact velocities" (4.2).',
        tuple(rows),
    )
