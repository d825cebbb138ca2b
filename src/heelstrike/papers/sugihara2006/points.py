"""The "burst of the number of contact points" (IV-B): 5 kg on n points of the paper's floor.

n points are a spring and a damper n times as strong, so a step that is stable on a few points is
not on many. Two things are simulated for n = 1 to 40, both laws: the largest stable step, by the
linear law at rest (stability.py), and the law itself when the mass is dropped from 0.05 m.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import heelstrike as hs
from heelstrike.papers.report import Result, Row, near, shown, worst
from heelstrike.papers.sugihara2006 import closed_form
from heelstrike.papers.sugihara2006.closed_form import HEIGHT, MASS, STEPS, C, G, K
from heelstrike.papers.sugihara2006.slide import EQUATIONS, run, simulator

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N = np.arange(1, 41)
DT = np.geomspace(0.5e-3, 40e-3, 178)
"""Steps tried [s], 2.5 % apart."""
FAR = -1e3
"""Height of a plane that is out of the way [m]."""


def points() -> Result:
    """Largest steps, and what becomes of a drop, against the number of points."""
    limits = {equation: largest_steps(equation) for equation in EQUATIONS}
    heights = {equation: rebounds(equation) for equation in EQUATIONS}
    rows = [
        near(
            f"({equation}): worst distance of the largest step [%]",
            100 * worst(limits[equation] / closed_form.largest_step(equation, N) - 1),
            0.0,
            2.6,
            remark="From n (k dt^2 + 2 c dt) = 4 m by (13), n (3 k dt^2 + 2 c dt) = 4 m by (14), "
            "n = 1 to 40; to the next step tried.",
        )
        for equation in EQUATIONS
    ]
    rows += [_most(equation, dt, limits[equation]) for dt in STEPS for equation in EQUATIONS]
    rows += _drops(heights)
    return Result(
        "points",
        "the burst of the number of contact points",
        "The excess force comes of a burst of contact points; (14) lessens the risk of "
        "divergence, but cannot resolve this.",
        tuple(rows),
        lambda: _draw(limits, heights),
    )


@cache
def _simulator(equation: int, linear: bool) -> hs.Simulator:
    return simulator(equation, linear=linear, planes=len(N))


def _worlds(n: np.ndarray, dt: np.ndarray) -> dict[str, Any]:
    """n planes at height 0, the others far below."""
    vary: dict[str, Any] = {"foot.mass": np.full(len(n), MASS), "dt": dt}
    for plane in N:
        place = np.zeros((len(n), 3))
        place[:, 2] = np.where(plane <= n, 0.0, FAR)
        vary[f"floor {plane}.point"] = place
    return vary


def largest_steps(equation: int) -> np.ndarray:
    """Return the last step below which no start 1e-6 off rest grows a thousandfold, for each n
    [s].
    """
    n, dt = (x.ravel() for x in np.meshgrid(N, DT, indexing="ij"))
    rest = MASS * G / (n * K)
    off = 1e-6 * rest
    found = run(_simulator(equation, True), rest + off, 0 * rest, 1000, _worlds(n, dt)).data
    size = np.hypot(found.q.values[:, 0] + rest, dt * found.v.values[:, 0])
    grown = ((size > 1e3 * off) | (found.failed.values >= 0)).reshape(len(N), len(DT))
    first = np.where(grown.any(axis=1), grown.argmax(axis=1), len(DT))
    return np.asarray(DT[np.maximum(first - 1, 0)])


def rebounds(equation: int) -> np.ndarray:
    """Return the rebound height over the drop height, (steps of the paper, n)."""
    n, dt = (x.ravel() for x in np.meshgrid(N, STEPS))
    start = np.full(len(n), -HEIGHT), np.zeros(len(n))
    record = ("q", "kinetic")
    found = run(_simulator(equation, False), *start, 1200, _worlds(n, dt), record).data
    height = found.q.values[:, :, 0]
    low = height.argmin(axis=1)
    return np.array([z[i:].max() for z, i in zip(height, low, strict=True)]).reshape(2, -1) / HEIGHT


def _most(equation: int, dt: float, limits: np.ndarray) -> Row:
    """Points that a step still carries."""
    a = 3 if equation == 14 else 1
    exact = np.floor(4 * MASS / (a * K * dt**2 + 2 * C * dt))
    ours = float(N[limits >= dt * (1 - 1e-9)].max())
    return near(f"({equation}), {1e3 * dt:g} ms: most points", ours, exact, 1)


def _drops(heights: dict[int, np.ndarray]) -> list[Row]:
    """Return the fewest points that throw the mass above the height that it fell from."""
    rows = []
    for i, dt in enumerate(STEPS):
        fewest = {e: float(N[heights[e][i] > 1].min(initial=99)) for e in EQUATIONS}
        rows.append(
            shown(
                f"{1e3 * dt:g} ms: fewest points that throw it up, (13)",
                fewest[13],
                fewest[13] < 99,
                "leaps",
                fault=True,
            )
        )
        rows.append(
            Row(
                f"{1e3 * dt:g} ms: fewest points that throw it up, (14)",
                fewest[14],
                fewest[14] > fewest[13],
                "more than (13)",
                remark="Does not hold as stated: (14) needs no more points than (13) to throw the "
                "mass higher than it fell. With gamma > 1 the mass turns round in one step, at "
                "e = gamma + kappa theta - 1 by (13), gamma + kappa (1 + theta) - 1 by (14).",
            )
        )
    return rows


def _draw(limits: dict[int, np.ndarray], heights: dict[int, np.ndarray]) -> Figure:
    from heelstrike.view import plot

    figure, (left, right) = plot.figure(1, 2, size=(10.4, 4.0))
    for colour, mark, equation in zip(plot.COLOURS, "ox", EQUATIONS, strict=False):
        exact = 1e3 * closed_form.largest_step(equation, N)
        left.plot(N, exact, color=colour, label=f"({equation}), closed form")
        ours = 1e3 * limits[equation]
        left.plot(N, ours, mark, color=colour, markersize=4, label=f"({equation}), simulated")
    for dt in STEPS:
        left.axhline(1e3 * dt, color=plot.GREY, linewidth=0.8)
        left.annotate(f"{1e3 * dt:g} ms", (40, 1e3 * dt), (-28, 3), textcoords="offset points")
    left.set_yscale("log")
    left.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    plot.label(left, "Largest stable step", "points that touch", "time step [ms]")
    _draw_rebounds(right, heights)
    return figure


def _draw_rebounds(ax: Axes, heights: dict[int, np.ndarray]) -> None:
    from heelstrike.view import plot

    for i, dt in enumerate(STEPS):
        for j, equation in enumerate(EQUATIONS):
            look = plot.line(2 * i + j)
            name = f"({equation}), {1e3 * dt:g} ms"
            ax.plot(N, np.maximum(heights[equation][i], 1e-3), label=name, **look)
    ax.axhline(1, color=plot.INK, linewidth=0.8)
    ax.set_yscale("log")
    plot.label(ax, "5 kg dropped from 0.05 m", "points that touch", "rise / fall [1]")
