"""Fast take-off: an external force pulls a foot off faster than -2/(3 alpha).

Section I: the law of [Marhefka1996] "arises sticking forces when an external force separates the
objects at high velocity", as when a stance foot takes off. The same mass, 50 kg at rest in the
ground, is pulled by 1 to 100 kN under that law as printed, under it clamped at zero (as ours is),
and under the imposed acceleration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.pulled import ALPHA, DEPTH, MASS, STIFFNESS, pulled_off
from heelstrike.papers.report import Result, Row, meets, shown

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

PULLS = np.geomspace(1e3, 1e5, 24)
"""[N], ours."""
STEPS, EVERY = 8000, 5
LIMIT = -2 / (3 * ALPHA)
"""Depth rate below which (6) of [Marhefka1996] pulls [m/s]."""
UNCLAMPED, CLAMPED = "Hunt-Crossley, unclamped", "Hunt-Crossley, clamped"


def laws() -> dict[str, hs.Elastic | hs.FeedbackLinearized]:
    """Return the laws by their names."""
    as_printed = hs.HuntCrossley(k=STIFFNESS, alpha=ALPHA, adhesive=True)
    return {
        UNCLAMPED: hs.Elastic(as_printed, friction=None),
        CLAMPED: hs.Elastic(hs.HuntCrossley(STIFFNESS, ALPHA), friction=None),
        "imposed acceleration": hs.FeedbackLinearized(
            epsilon=0.0, rule="paper", form="acceleration"
        ),
    }


def takeoff() -> Result:
    """Return the least force under each law, and how fast the foot leaves."""
    made = {name: pulled_off(law, PULLS, STEPS, EVERY) for name, law in laws().items()}
    rows: list[Row] = []
    for name, data in made.items():
        rate = data.depth_rate.values[..., 0]
        inside = data.depth.values[..., 0] > 0
        if name == UNCLAMPED:  # the force of the others is not negative whatever happens
            least = float(data.normal_force.values.min()) * 1e-3
            rows.append(shown(f"{name}: least force [kN]", least, least < 0, "sticks", fault=True))
        fast = inside & (rate < LIMIT)
        rows.append(meets(f"{name}: samples beyond -2/(3 alpha)", float(fast.sum()), least=1))
    speeds = {name: _leaves(data) for name, data in made.items()}
    free = np.sqrt(2 * PULLS * DEPTH / MASS)
    freely = float((speeds["imposed acceleration"] / free).min())
    rows.append(
        shown(
            "imposed: least speed on leaving over that without ground",
            freely,
            freely >= 1 - 1e-3,
            "no sticking force",
            "It lets go at once where the pull outweighs what kp asks for.",
        )
    )
    held = float((speeds[UNCLAMPED] / speeds[CLAMPED]).min())
    remark = "The pull of the law as printed holds the foot back; clamped at zero, it lets go."
    rows.append(
        meets("unclamped over clamped: least speed on leaving", held, most=1 - 1e-3, remark=remark)
    )
    return Result(
        "takeoff",
        "fast take-off",
        "Sticking forces arise with the nonlinear law when an external force separates the objects "
        "at high velocity; the proposed one has none.",
        tuple(rows),
        lambda: _draw(made),
    )


def _leaves(data: xr.Dataset) -> np.ndarray:
    """Speed at the first sample out of the ground [m/s]."""
    depth, rate = data.depth.values[..., 0], data.depth_rate.values[..., 0]
    out = np.argmax(depth <= 0, axis=1)
    return np.array([-rate[i, k] for i, k in enumerate(out)])


def _draw(made: dict[str, xr.Dataset]) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(1, 3, size=(12.0, 3.9))
    for ax, (name, data) in zip(axes, made.items(), strict=True):
        for colour, i in zip(plot.COLOURS, (0, 8, 16, 23), strict=False):
            inside = data.depth.values[i, :, 0] > 0
            d, f = data.depth.values[i, inside, 0], data.normal_force.values[i, inside, 0]
            ax.plot(1e3 * d, f, "-", color=colour, label=f"{1e-3 * PULLS[i]:.3g} kN")
        ax.axhline(0, color=plot.INK, linewidth=0.8)
        ax.set(ylim=(-900, 550))
        plot.label(ax, name, "depth [mm]", "force [N]")
    return figure
