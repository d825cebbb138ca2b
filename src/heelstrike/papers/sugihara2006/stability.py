"""Stability of a step by (13) and by (14), simulated over (kappa, gamma).

The damper of (13) works on the way in only, so the law has two matrices. Each is simulated by
itself: going in with a damper that works both ways, coming out with none, and tension kept, so that
the step stays linear. Gravity holds the mass 1 m deep; it starts 1 um off, and after 3000 steps it
is nearer than 1 mm or it is not. Cells whose eigenvalue is within 0.005 of the unit circle grow or
decay too slowly for that and are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heelstrike.papers.report import Result, Row, below, near, shown
from heelstrike.papers.sugihara2006 import closed_form
from heelstrike.papers.sugihara2006.slide import (
    EQUATIONS,
    NAMES,
    SCHEMES,
    parameter,
    run,
    simulator,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DT, OFF, GROWTH, STEPS, MARGIN = 1e-3, 1e-6, 1e3, 3000, 5e-3
"""Step [s], start off rest [m], growth that counts as unstable, steps, margin of the eigenvalue."""
KAPPA = (np.arange(72) + 0.5) * (4.5 / 72)
GAMMA = (np.arange(60) + 0.5) * (2.5 / 60)
OUT = (np.arange(90) + 0.5) / 20
"""kappa for coming out, up to 4.5."""

Map = NDArray[np.bool_]


def stability() -> Result:
    """Maps of going in, lines of coming out, and how much of the plane each law may use."""
    maps = {(s, e): grows(e, s, *np.meshgrid(KAPPA, GAMMA)) for s in SCHEMES for e in EQUATIONS}
    rows = [_going_in(scheme, equation, ~grown) for (scheme, equation), grown in maps.items()]
    rows += [_coming_out(scheme, equation) for scheme, equation in maps]
    area = {key: float((~grown).mean() * 4.5 * 2.5) for key, grown in maps.items()}
    rows += _claims(area)
    return Result(
        "stability",
        "stability of (13) and (14)",
        "(14) prevents the divergence of (13) at large steps (III-A), and reduces its risk (IV-B).",
        tuple(rows),
        lambda: _draw({key: ~grown for key, grown in maps.items()}),
    )


def grows(equation: int, scheme: str, kappa: np.ndarray, gamma: np.ndarray) -> Map:
    """Return whether a start 1 um off rest has grown a thousandfold, one world per cell."""
    k, c = kappa.ravel() / DT**2, gamma.ravel() / DT
    worlds = len(k)
    pull = np.zeros((worlds, 3))
    pull[:, 2] = -k  # of 1 kg: rests 1 m deep
    vary = {
        parameter(equation, "k"): k,
        parameter(equation, "c"): c,
        "foot.mass": np.ones(worlds),
        "gravity": pull,
        "dt": np.full(worlds, DT),
    }
    sim = simulator(equation, scheme, linear=True)
    depth = np.full(worlds, 1 + OFF)
    found = run(sim, depth, np.zeros(worlds), STEPS, vary).data
    off = np.hypot(found.q.values[:, 0] + 1, DT * found.v.values[:, 0])
    return np.asarray(((off > GROWTH * OFF) | (found.failed.values >= 0)).reshape(kappa.shape))


def _going_in(scheme: str, equation: int, ours: Map) -> Row:
    kappa, gamma = np.meshgrid(KAPPA, GAMMA)
    theirs = closed_form.stable(equation, scheme, kappa, gamma)
    clear = np.abs(closed_form.radius(equation, scheme, kappa, gamma) - 1) > MARGIN
    wrong = int(np.count_nonzero((ours != theirs) & clear))
    return below(
        f"{NAMES[scheme]} ({equation}), in: cells off",
        wrong,
        0,
        remark=f"Of 4320 cells, kappa to 4.5 and gamma to 2.5; within {MARGIN:g} of the unit "
        "circle a cell is not counted.",
    )


def _coming_out(scheme: str, equation: int) -> Row:
    """c = 0: the largest kappa below which nothing grows."""
    grown = grows(equation, scheme, OUT, np.zeros_like(OUT))
    ours = float(OUT[grown][0]) if grown.any() else np.inf
    limit = closed_form.stable_out(equation, scheme)
    return near(
        f"{NAMES[scheme]} ({equation}), out: kappa grows from",
        ours,
        limit,
        0.05,
        remark="To the next of 90 values, 0.05 apart.",
    )


def _claims(area: dict[tuple[str, int], float]) -> list[Row]:
    kept = area["symplectic", 14] / area["symplectic", 13]
    gained = area["euler", 14] / max(area["euler", 13], 1e-9)
    return [
        Row(
            "stable area of (14) / of (13), symplectic",
            kept,
            kept > 1,
            "> 1",
            1 / 3,
            0.01,
            "Does not hold as stated: under the symplectic integration that the paper uses, (14) "
            "is stable in a third of (13)'s region, 3 kappa + 2 gamma < 4 against kappa + 2 gamma "
            "< 4. Fig 2 argues for explicit integration.",
        ),
        shown(
            "the same, explicit",
            gained,
            bool(gained > 1),
            "> 1",
            "Explicit: (13) gains on the way out at every step, kappa > 0; (14) has the region "
            "that (13) has under symplectic integration.",
        ),
    ]


def _draw(maps: dict[tuple[str, int], Map]) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(2, 2, size=(9.2, 7.0))
    for ax, ((scheme, equation), ours) in zip(axes, maps.items(), strict=True):
        _panel(ax, scheme, equation, ours)
        plot.label(
            ax,
            f"{NAMES[scheme].capitalize()}, ({equation})",
            r"$\kappa = n k \Delta t^2 / m$",
            r"$\gamma = n c \Delta t / m$",
        )
        ax.legend(fontsize=7, frameon=True, framealpha=0.9, edgecolor="none", loc="upper right")
    return figure


def _panel(ax: Axes, scheme: str, equation: int, ours: Map) -> None:
    from matplotlib.colors import ListedColormap

    from heelstrike.view import plot

    ax.grid(False)
    shades = ListedColormap(["#f3f3f3", "#9fc8e3"])
    ax.pcolormesh(KAPPA, GAMMA, ours.astype(float), cmap=shades, vmin=0, vmax=1)
    kappa, gamma = np.meshgrid(np.linspace(0, 4.5, 901), np.linspace(0, 2.5, 501))
    region = closed_form.stable(equation, scheme, kappa, gamma).astype(float)
    ax.contour(kappa, gamma, region, [0.5], colors=plot.COLOURS[1], linewidths=1.2)
    ax.plot([], [], "s", color="#9fc8e3", label="simulated: stable going in")
    ax.plot([], [], "-", color=plot.COLOURS[1], label="closed form")
    out = closed_form.stable_out(equation, scheme)
    name = r"coming out: $\kappa <$" + f" {out:.3g}" if out else "coming out: never"
    ax.plot([out, out], [0, 2.5], "--", color=plot.COLOURS[2], label=name)
    for k, dt in zip((3, 6), closed_form.STEPS, strict=True):
        n = np.array([4, 8, 16, 32])
        place = (
            n * closed_form.K * dt**2 / closed_form.MASS,
            n * closed_form.C * dt / closed_form.MASS,
        )
        inside = place[1] < 2.5
        ax.plot(place[0][inside], place[1][inside], markersize=4, **plot.dots(k))
        for x, y, count in zip(place[0][inside], place[1][inside], n[inside], strict=True):
            ax.annotate(f"{count}", (x, y), (4, -2), textcoords="offset points", fontsize=7)
        name = f"5 kg on n points, {1e3 * dt:g} ms"
        ax.plot([], [], markersize=4, label=name, **plot.dots(k))
    ax.set(xlim=(0, 4.5), ylim=(0, 2.5))
