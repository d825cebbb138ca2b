"""Fig 3: restitution against impact speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.marhefka1996 import closed_form
from heelstrike.papers.marhefka1996.impact import impacts
from heelstrike.papers.report import Result, Row, below, near, shown, worst

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALPHAS = (0.01, 0.02, 0.04, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
"""[s/m], fig 3, top to bottom."""
SPEEDS = (0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
"""[m/s], ours: fig 3 is a curve."""
MASS, STIFFNESS = 1.0, 1e4
"""[kg], [N/m], of fig 4: fig 3 states none, e depends on neither."""
STEPS = {1e-3: 1.6e-3, 1e-4: 1.4e-5, 1e-5: 1.6e-7}
"""Time step [s]: largest |e error|. Second order, for force is zero at both ends of the contact:
twice what the symplectic scheme gives at alpha 0.4, v 1, over all phases of the first touch."""
FINEST = 1e-5
PHASES = 8


def fig3() -> Result:
    """e(v_i) for ten alphas, at three time steps, over eight phases of the first touch."""
    grid = np.meshgrid(ALPHAS, SPEEDS, np.arange(PHASES) / PHASES, indexing="ij")
    alpha, v, early = (x.ravel() for x in grid)
    shape = grid[0].shape
    exact = closed_form.restitution(alpha, v)
    made = {}
    for dt in STEPS:
        run = impacts(
            hs.HuntCrossley(),
            v,
            m=MASS,
            dt=dt,
            steps=round(0.06 / dt),
            vary={"alpha": alpha, "k": STIFFNESS},
            early=early,
        )
        made[dt] = run.e
    e = made[FINEST].reshape(shape)
    rows = [*_errors(made, exact), *_alphas(e, exact.reshape(shape)), *_words(e[..., 0])]
    return Result(
        "fig3",
        "restitution against impact speed",
        "e falls as 1 - alpha v_i at low speed (5), and levels out before it reaches zero.",
        tuple(rows),
        lambda: _draw(e),
    )


def _errors(made: dict[float, np.ndarray], exact: np.ndarray) -> list[Row]:
    """One row a time step."""
    return [
        below(
            f"worst error of e, dt {1e3 * dt:g} ms",
            worst(e - exact),
            STEPS[dt],
            remark="Over 10 alphas, 7 speeds and 8 phases of the first touch within a step.",
        )
        for dt, e in made.items()
    ]


def _alphas(e: np.ndarray, exact: np.ndarray) -> list[Row]:
    """One row an alpha, at 1 m/s and the finest step; the worst phase."""
    at = SPEEDS.index(1.0)
    rows = []
    for alpha, phases, form in zip(ALPHAS, e[:, at], exact[:, at, 0], strict=True):
        ours = phases[np.argmax(np.abs(phases - form))]
        rows.append(near(f"e at 1 m/s, alpha {alpha:g}", ours, form, STEPS[FINEST]))
    return rows


def _words(e: np.ndarray) -> list[Row]:
    """Check the statements of the text about the curves (alpha, v)."""
    alphas, speeds = np.array(ALPHAS), np.array(SPEEDS)
    low = (1 - e[:, 0]) / (alphas * speeds[0])
    exact = (1 - closed_form.restitution(alphas, speeds[0])) / (alphas * speeds[0])
    over_v = np.diff(e, axis=1) / np.diff(speeds)
    over_alpha = np.diff(e, axis=0) / np.diff(alphas)[:, None]
    levels = float(np.max(over_v[:, -1] / over_v[:, 0]))
    remark = "The worst alpha, 0.5. (5) is the limit of low speed; the next order is alpha v_i."
    return [
        near("(1 - e)/(alpha v_i) at 0.1 m/s", low[-1], exact[-1], 1e-3, "1: (5)", remark),
        shown("largest de/dv [s/m]", over_v.max(), over_v.max() < 0, "decreases"),
        shown("largest de/dalpha [m/s]", over_alpha.max(), over_alpha.max() < 0, "decreases"),
        shown(
            "de/dv at 4 to 5 over 0.1 to 0.5 m/s",
            levels,
            levels < 1 and bool(e.min() > 0),
            "levels out",
            "The largest over the alphas; the least e is above 0.",
        ),
    ]


def _draw(e: np.ndarray) -> Figure:
    from heelstrike.view import plot

    figure, (ax,) = plot.figure(size=(6.4, 4.6))
    v = np.linspace(1e-3, 5, 400)
    for alpha, ours in zip(ALPHAS, e[:, :, 0], strict=True):
        ax.plot(v, closed_form.restitution(alpha, v), "-", color=plot.GREY, linewidth=1)
        ax.plot(SPEEDS, ours, "o", color=plot.COLOURS[0], markersize=4)
        ax.annotate(
            f"{alpha:g}",
            (5, float(closed_form.restitution(alpha, 5.0))),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    ax.plot([], [], "-", color=plot.GREY, linewidth=1, label="closed form, (19) at x = 0")
    ax.plot([], [], "o", color=plot.COLOURS[0], label="simulated, dt = 0.01 ms")
    ax.set(xlim=(0, 5.35), ylim=(0, 1.02))
    title = "Restitution against impact speed, by alpha [s/m]"
    plot.label(ax, title, "impact speed $v_i$ [m/s]", "e [-]")
    ax.legend(loc="lower left", fontsize=8, frameon=False)
    return figure
