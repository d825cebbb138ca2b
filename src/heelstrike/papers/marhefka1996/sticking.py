"""Depth rates at which the force of (6) pulls: below -2/(3 alpha), (20) to (22)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.marhefka1996 import closed_form
from heelstrike.papers.marhefka1996.impact import impacts, time_scale
from heelstrike.papers.pulled import ALPHA, STIFFNESS, pulled_off
from heelstrike.papers.report import Result, below, near, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PULLS = np.geomspace(1e3, 1e5, 48)
"""External forces that lift the mass [N], ours."""
STEPS, EVERY = 6000, 10


def lifted(law: hs.HuntCrossley) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Depth, depth rate and force of a mass that is pulled off the ground, (pull, time)."""
    data = pulled_off(hs.Elastic(law, friction=None), PULLS, STEPS, EVERY)
    series = (data.depth, data.depth_rate, data.normal_force)
    depth, rate, force = (x.values[..., 0] for x in series)
    return depth, rate, force


def sticking() -> Result:
    """Impacts alone, and a mass that an external force pulls off."""
    random = np.random.default_rng(1996)
    worlds = 512
    v, alpha = random.uniform(0.1, 10, worlds), random.uniform(0.01, 1, worlds)
    m, k = 10 ** random.uniform(-1, 2, worlds), 10 ** random.uniform(3, 6, worlds)
    law = hs.HuntCrossley(k=STIFFNESS, alpha=ALPHA, adhesive=True)
    dt = time_scale(v, m, k) / 500
    vary = {"alpha": alpha, "k": k}
    free = impacts(law, v, m=m, dt=dt, steps=20_000, vary=vary, integrator="rk4", every=20)
    assert free.curves is not None
    least = float((free.curves.force.min(axis=1) / free.force_max).min())
    touching = free.curves.depth > 0
    margin = np.where(touching, free.curves.rate - closed_form.sticky_speed(alpha)[:, None], np.inf)
    depth, rate, force = lifted(law)
    limit = float(closed_form.sticky_speed(ALPHA))
    pulls = force < 0
    fast = (rate < limit) & (depth > 0)
    edge = np.where(pulls, rate, -np.inf).max()
    rows = [
        shown(
            "least F / F_max, 512 impacts",
            least,
            least >= 0,
            "never sticky",
            "Unclamped; v_i 0.1 to 10 m/s, alpha 0.01 to 1, m 0.1 to 100 kg, k 1 to 1000 kN/m.",
        ),
        shown(
            "least distance from (22) [m/s]",
            float(margin.min()),
            bool(margin.min() > 0),
            "> 0",
        ),
        below(
            "samples that break the rule",
            float(np.count_nonzero(pulls != fast)),
            0,
            "sticky iff (22)",
            "Pull and v < -2/(3 alpha) differ. 48 external forces, 1 to 100 kN, on a mass 10 mm "
            f"deep; {np.count_nonzero(pulls)} samples pull.",
        ),
        near("highest v with a pull [m/s]", edge, limit, 0.05, limit, "To the next sample."),
        shown(
            "least lift that sticks [kN]",
            1e-3 * float(PULLS[pulls.any(axis=1)].min()),
            bool(pulls.any() and not pulls[0].any()),
            "high velocity",
        ),
    ]
    return Result(
        "sticking",
        "when the force pulls",
        "Sticky for v < -2/(3 alpha) only (22): never in a collision, only where an external force "
        "separates the bodies at high velocity.",
        tuple(rows),
        lambda: _draw(depth, rate, force),
    )


def _draw(depth: np.ndarray, rate: np.ndarray, force: np.ndarray) -> Figure:
    from heelstrike.view import plot

    figure, (ax,) = plot.figure(size=(6.4, 4.4))
    limit = float(closed_form.sticky_speed(ALPHA))
    for k, i in enumerate(np.linspace(0, len(PULLS) - 1, 6).astype(int)):
        inside = np.flatnonzero(depth[i] > 0)
        name = f"{1e-3 * PULLS[i]:.3g} kN"
        ax.plot(1e3 * depth[i][inside], force[i][inside], label=name, **plot.line(k))
        fast = inside[rate[i][inside] < limit]
        if len(fast):
            colour = plot.COLOURS[k]
            ax.plot(1e3 * depth[i][fast[0]], force[i][fast[0]], "o", color=colour, markersize=5)
    ax.plot([], [], "o", color=plot.GREY, label="$v$ passes $-2/(3\\alpha)$")
    ax.axhline(0, color=plot.INK, linewidth=0.8)
    plot.label(
        ax, "Force on a mass that is lifted by 1 to 100 kN", "depth [mm]", "force of the ground [N]"
    )
    ax.legend(loc="lower left", fontsize=8, frameon=False)
    return figure
