"""Fig 2: the phase diagram, contours of (19)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

import heelstrike as hs
from heelstrike.papers.marhefka1996 import closed_form
from heelstrike.papers.marhefka1996.impact import Impacts, impacts
from heelstrike.papers.report import Result, below, near, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MASS, STIFFNESS, ALPHA = 50.0, 50e3, 0.4
"""[kg], [N/m], [s/m], fig 2; n = 1."""
SPEEDS = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
"""Impact speeds [m/s], ours."""
LEAVING = (-1.8, -2.2, -3.0, -4.0)
"""Rates at which contours below the line meet the surface [m/s], ours."""
START = 0.15
"""Where those begin [m], ours."""
DT, STEPS, EVERY = 2e-5, 9000, 10
"""[s]; the longest impact lasts 0.13 s."""
LIMIT = float(closed_form.sticky_speed(ALPHA))


def fig2() -> Result:
    """Impacts, and exits that something else has made faster than (22)."""
    inward = _run(np.array(SPEEDS), 0.0)
    begins = [brentq(lambda v, end=end: _depth(v, end) - START, -20, end) for end in LEAVING]
    outward = _run(np.array(begins), START)
    lowest = min(float(rate.min()) for _, rate in _paths(inward))
    highest = max(float(rate.max()) for _, rate in _paths(outward))
    rows = [
        near(f"v_out [m/s], v_i {v:g}", out, float(closed_form.speed_out(ALPHA, v)), 1e-6)
        for v, out in zip(SPEEDS, inward.v_out, strict=True)
    ]
    rows += [
        below(
            "worst distance from (19)",
            max(_distances(inward, SPEEDS)),
            1e-6,
            "contours of (19)",
            "Every recorded state, in units of each contour's largest depth and rate.",
        ),
        shown("lowest v of impacts [m/s]", lowest, lowest > LIMIT, f"above {LIMIT:.6g}"),
        shown(
            "highest v, begun below (22)",
            highest,
            highest < LIMIT,
            f"below {LIMIT:.6g}",
            "Unclamped law, started at 0.15 m faster than (22), as by an external force.",
        ),
        below("worst distance from (19) then", max(_distances(outward, LEAVING)), 1e-6),
        shown(
            "least loss of speed then [m/s]",
            float(np.min(outward.v_out - outward.v_in)),
            bool(np.all(outward.v_out > outward.v_in)),
            "decreasing velocity",
        ),
    ]
    return Result(
        "fig2",
        "phase diagram",
        "Contours converge to the exit speed -2/(3 alpha); no impact goes below it.",
        tuple(rows),
        lambda: _draw(inward, outward),
    )


def _run(v: np.ndarray, depth: float) -> Impacts:
    law = hs.HuntCrossley(k=STIFFNESS, alpha=ALPHA, adhesive=True)
    return impacts(law, v, m=MASS, dt=DT, steps=STEPS, depth=depth, integrator="rk4", every=EVERY)


def _depth(v: np.ndarray | float, surface: float) -> np.ndarray:
    """(19) at this set-up."""
    return closed_form.depth(v, surface, ALPHA, MASS, STIFFNESS)


def _paths(run: Impacts) -> list[tuple[np.ndarray, np.ndarray]]:
    """Depth and rate of every world, while it touches."""
    assert run.curves is not None
    pairs = zip(run.curves.depth, run.curves.rate, strict=True)
    return [(depth[depth > 0], rate[depth > 0]) for depth, rate in pairs]


def _distances(run: Impacts, surfaces: tuple[float, ...]) -> list[float]:
    return [
        float(closed_form.off_contour(x, v, at, ALPHA, MASS, STIFFNESS).max())
        for (x, v), at in zip(_paths(run), surfaces, strict=True)
    ]


def _draw(inward: Impacts, outward: Impacts) -> Figure:
    from heelstrike.view import plot

    figure, (ax,) = plot.figure(size=(6.4, 5.2))
    for v_in in SPEEDS:
        v_out = float(closed_form.speed_out(ALPHA, v_in))
        share = (0.5 - 0.5 * np.cos(np.linspace(0, np.pi, 400))) ** 4
        _contour(ax, v_out + (v_in - v_out) * share, v_in)  # dense where x runs along the line
    for end in LEAVING:
        _contour(ax, np.linspace(-12, end, 800), end)
    for k, runs in enumerate((inward, outward)):
        for depth, rate in _paths(runs):
            pick = np.unique(np.linspace(0, len(depth) - 1, 24).astype(int))
            ax.plot(1e3 * depth[pick], rate[pick], markersize=3.2, **plot.dots(k))
    ax.axhline(LIMIT, color=plot.COLOURS[7], linewidth=1, linestyle=(0, (6, 3)))
    ax.annotate("$v = -2/(3\\alpha)$", (-150, LIMIT), xytext=(0, 4), textcoords="offset points")
    ax.plot(
        [], [], "-", color=plot.GREY, linewidth=1, label="(19); dotted where there is no contact"
    )
    for k, name in enumerate(("simulated impacts", "begun below (22), unclamped")):
        ax.plot([], [], markersize=4, label=name, **plot.dots(k))
    ax.set(xlim=(-160, 200), ylim=(-5.2, 13))
    plot.label(ax, "Phase diagram", "depth x [mm]", "depth rate v [m/s]")
    ax.legend(loc="upper left", fontsize=8, frameon=False)
    return figure


def _contour(ax: Axes, v: np.ndarray, surface: float) -> None:
    from heelstrike.view import plot

    x = 1e3 * _depth(v, surface)
    ax.plot(x, v, "-", color=plot.GREY, linewidth=1)
    ax.plot(-x, v, ":", color=plot.GREY, linewidth=0.9)
