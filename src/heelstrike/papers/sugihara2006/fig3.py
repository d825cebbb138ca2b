"""Fig 3: the two terms of (33) against lambda, for the robot standing on the bare rigid floor.

    r = |A f - v|^2 / 2,   w = |f|^2 / 2,   r + lambda w -> minimum                          (33)

One step from rest, a world for every lambda. Of a point at rest A f - v is its velocity after the
step (25), so both terms can be read off a recording. Checks: r grows, w falls; the minimum obeys
d(r + lambda w)/d lambda = w; and n points carry 1 / (1 + lambda (m/n)^2) of the weight, half of it
at lambda = (n/m)^2, which a robot of 21 bodies does too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.papers.report import Result, Row, below, near, shown, worst
from heelstrike.papers.sugihara2006.closed_form import MASS, G
from heelstrike.papers.sugihara2006.stand import DT, LAMBDAS, POINTS, parameter, simulator

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRIED = np.geomspace(1e-5, 1e4, 361)
"""lambda [1/kg^2]; below 1e-5 the velocities are those of rounding."""
SMOOTHINGS = np.geomspace(1e-5, 1.0, 11)
DEEP = 1e-6
"""Of the soles at the start [m]."""


@dataclass(frozen=True)
class Terms:
    """Return the curve of one step against lambda or smoothing."""

    values: np.ndarray
    residual: np.ndarray
    """|A f - v|^2 / 2 [m^2/s^2]."""
    norm: np.ndarray
    """|f|^2 / 2 [N^2 s^2]."""
    support: np.ndarray
    """Share of the weight that is carried."""


@cache
def terms(rule: str = "paper") -> Terms:
    """Return the robot standing at rest, one step for each value."""
    values = TRIED if rule == "paper" else SMOOTHINGS
    sim = simulator(rule, "bare")
    q0 = sim.robot.pose("stance").copy()
    q0[2] -= DEEP
    data = sim.run(
        steps=1,
        q0=q0,
        v0=np.zeros(sim.robot.nv),
        worlds=len(values),
        vary={parameter("bare", "lam" if rule == "paper" else "smoothing"): values},
        record=("force", "slip", "depth_rate"),
        progress=False,
        check=False,
    ).data
    force, slip, rate = (data[name].values for name in ("force", "slip", "depth_rate"))
    return Terms(
        values,
        residual=((slip[:, 1] ** 2).sum(axis=(1, 2)) + (rate[:, 1] ** 2).sum(axis=1)) / 2,
        norm=((force[:, 0] * DT) ** 2).sum(axis=(1, 2)) / 2,
        support=force[:, 0, :, 2].sum(axis=1) / (MASS * G),
    )


def fig3() -> Result:
    """Both terms against lambda, and what the consistent rule leaves beside them."""
    paper, ours = terms(), terms("consistent")
    return Result(
        "fig3",
        "the two terms of (33) against lambda",
        "The larger lambda, the smaller the forces and the larger the residual: beyond a tiny "
        "lambda the forces leave the solutions of (32).",
        tuple(_rows(paper, ours)),
        lambda: _draw(paper, ours),
    )


def _rows(paper: Terms, ours: Terms) -> list[Row]:
    lam, r, w = paper.values, paper.residual, paper.norm
    value = r + lam * w
    steps = np.diff(value) / (np.diff(lam) * (w[1:] + w[:-1]) / 2)
    half = float(np.exp(np.interp(-0.5, -paper.support, np.log(lam))))
    grows, falls = np.diff(r) > 0, np.diff(w) < 0
    tried = "Of 360 steps over 9 decades of lambda."
    rows = [
        shown(
            "share of steps in which the residual grows",
            grows.mean(),
            bool(grows.all()),
            "1",
            tried,
        ),
        shown(
            "share of steps in which the forces fall", falls.mean(), bool(falls.all()), "1", tried
        ),
        below(
            "d(r + lambda w)/d lambda over w, less 1",
            worst(steps - 1),
            2e-3,
            remark="That the forces are the minimum of (33). By the trapezoid rule, which is off "
            "where w falls as 1 / lambda^2.",
        ),
        near(
            "lambda at which half the weight is carried [1/kg^2]",
            half,
            (POINTS / MASS) ** 2,
            0.05,
            remark="(n/m)^2: one body on 8 symmetric points.",
        ),
    ]
    for one in LAMBDAS:
        support = float(np.interp(np.log(one), np.log(lam), paper.support))
        rows.append(
            near(
                f"lambda {one:g}: share of the weight carried in the first step",
                support,
                1 / (1 + one * (MASS / POINTS) ** 2),
                0.025,
                remark="Joints give way a little in a step from rest.",
            )
        )
    rows.append(
        below(
            "consistent rule: speed left to the points, |A f - v| [um/s]",
            1e6 * float(np.sqrt(2 * ours.residual.max())),
            0.1,
            remark="Largest for smoothing from 1e-5 to 1; the literal rule leaves "
            f"{1e6 * float(np.sqrt(2 * np.interp(1.0, lam, r))):.0f} um/s at lambda = 1.",
        )
    )
    return rows


def _draw(paper: Terms, ours: Terms) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(1, 2, size=(10.0, 3.6))
    lam = paper.values
    axes[0].loglog(lam, paper.residual, color=plot.COLOURS[0], label=r"$|A f - v|^2 / 2$")
    axes[0].loglog(lam, lam * paper.norm, color=plot.COLOURS[1], label=r"$\lambda |f|^2 / 2$")
    left = np.maximum(ours.residual, 1e-22)
    label = r"$|A f - v|^2 / 2$, consistent rule, against smoothing"
    axes[0].loglog(ours.values, left, "o--", markersize=3, color=plot.COLOURS[2], label=label)
    for one in LAMBDAS:
        axes[0].axvline(one, color=plot.GREY, linewidth=0.6)
    plot.label(axes[0], "Terms of (33), robot standing", r"$\lambda$ [1/kg$^2$]", "")
    form = 1 / (1 + lam * (MASS / POINTS) ** 2)
    axes[1].semilogx(lam, paper.support, color=plot.COLOURS[0], label="robot")
    axes[1].semilogx(lam, form, "--", color=plot.INK, label=r"$1 / (1 + \lambda (m/n)^2)$")
    size = np.sqrt(paper.norm / paper.norm[0])
    axes[1].semilogx(lam, size, ":", color=plot.COLOURS[1], label=r"$|f|$ over that at $10^{-5}$")
    plot.label(axes[1], "Share of the weight carried", r"$\lambda$ [1/kg$^2$]", "")
    return figure
