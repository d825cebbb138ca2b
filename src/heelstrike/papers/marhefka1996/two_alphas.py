"""Section 6, "continuing work": another damping in restitution than in compression.

    G(s_out) = (alpha_out/alpha_in)^2 G(s_in),      s = 3/2 alpha v, G(s) = s - ln(1 + s)

"All of the main properties, such as independently setting parameters, still hold while sticking
contact forces may be virtually eliminated."
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.marhefka1996 import closed_form
from heelstrike.papers.marhefka1996.impact import impacts, time_scale
from heelstrike.papers.marhefka1996.sticking import lifted
from heelstrike.papers.pulled import ALPHA, STIFFNESS
from heelstrike.papers.report import Result, Row, below, near, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INWARD = 0.5
"""alpha on the way in [s/m], of figs 5 and 7."""
OUTWARD = (0.05, 0.2, 0.5, 1.0, 2.0)
"""alpha on the way out [s/m], ours."""
SPEEDS = (0.1, 0.5, 1.0, 2.0, 5.0)
MASSES, STIFFNESSES = (0.1, 1.0, 100.0), (1e3, 1e4, 1e6)
"""[kg], [N/m], ours."""
GENTLE = 0.05
"""alpha on the way out that all but ends sticking [s/m], ours."""
STEPS = 2000
"""In an impact's time scale, at least; at most 1.5 times as many."""


def two_alphas() -> Result:
    """e against its closed form, its independence, and what is left of the pull."""
    grid = np.meshgrid(OUTWARD, SPEEDS, MASSES, STIFFNESSES, indexing="ij")
    out, v, m, k = (x.ravel() for x in grid)
    random = np.random.default_rng(1996)  # else they agree by scaling alone
    run = impacts(
        hs.HuntCrossley(alpha=INWARD, alpha_restitution=INWARD),
        v,
        m=m,
        dt=time_scale(v, m, k) / (STEPS * random.uniform(1, 1.5, len(v))),
        steps=21 * STEPS,
        vary={"alpha": INWARD, "alpha_restitution": out, "k": k},
        early=random.uniform(0, 1, len(v)),
        integrator="rk4",
    )
    e = run.e.reshape(grid[0].shape)
    exact = closed_form.restitution_two(INWARD, *np.meshgrid(OUTWARD, SPEEDS, indexing="ij"))
    at = SPEEDS.index(1.0)
    rows = [
        near(f"e at 1 m/s, {INWARD:g} in, {a:g} out", e[i, at, 1, 1], exact[i, at], 1e-6)
        for i, a in enumerate(OUTWARD)
    ]
    rows += [
        below("worst error of e", np.abs(e - exact[..., None, None]).max(), 1e-6),
        below("spread of e over m and k", np.ptp(e, axis=(2, 3)).max(), 1e-6, "still hold"),
        *_pulls(),
    ]
    return Result(
        "two-alphas",
        "another damping on the way out",
        "Future work: the main properties still hold, sticking may be virtually eliminated.",
        tuple(rows),
        lambda: _draw(e[:, :, 1, 1]),
    )


def _pulls() -> list[Row]:
    """Return the worst pull on a mass that is pulled off, with one alpha and with two."""
    one = lifted(hs.HuntCrossley(k=STIFFNESS, alpha=ALPHA, adhesive=True))
    law = hs.HuntCrossley(k=STIFFNESS, alpha=ALPHA, alpha_restitution=GENTLE, adhesive=True)
    two = lifted(law)
    counts = [int(np.count_nonzero((force < 0).any(axis=1))) for _, _, force in (one, two)]
    remark = f"Of 48 lifts by 1 to 100 kN; {counts[0]} with one alpha of {ALPHA:g} s/m."
    return [
        shown(
            "lifts that stick, 0.05 out",
            counts[1],
            counts[1] < counts[0],
            "virtually eliminated",
            remark,
        ),
    ]


def _draw(e: np.ndarray) -> Figure:
    from heelstrike.view import plot

    figure, (ax,) = plot.figure(size=(6.4, 4.4))
    v = np.linspace(1e-2, 5, 300)
    for i, out in enumerate(OUTWARD):
        form = closed_form.restitution_two(INWARD, out, v)
        ax.plot(v, form, "-", color=plot.COLOURS[i], linewidth=1)
        ax.plot(SPEEDS, e[i], markersize=4, label=f"{out:g} s/m out", **plot.dots(i))
    title = "Restitution with alpha = 0.5 s/m on the way in"
    plot.label(ax, title, "impact speed $v_i$ [m/s]", "e [-]")
    ax.set(xlim=(0, 5.1), ylim=(0, 1.02))
    return figure
