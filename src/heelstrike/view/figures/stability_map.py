"""The figure of a stability map: simulated cells, and the limit of the closed form over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.view import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from heelstrike.measure.stability import StabilityMap

STABLE, UNSTABLE, UNSTABLE_DOT = "#9fc8e3", "#f3f3f3", "#999999"
RESTS, MOVES = "stays at rest in a simulation", "does not stay at rest"


def draw(found: StabilityMap, title: str, dt: float, k: float | None) -> Figure:
    """Return the map over stiffness and time step.

    It has the time step alone if the law has no stiffness. `dt` [s] and `k` [N/m] mark the scene.
    """
    figure, (ax,) = plot.figure(size=(6.4, 4.6) if len(found.k) else (6.4, 1.8))
    ax.grid(False)
    if not len(found.k):
        _draw_steps(ax, found, dt)
        plot.label(ax, title, "time step [ms]", "")
        return figure
    _draw_cells(ax, found)
    ax.plot([], [], "s", color=STABLE, label=RESTS)
    ax.plot([], [], "s", color=UNSTABLE, markeredgecolor=plot.GREY, label=MOVES)
    if np.isfinite(found.closed).any():
        name = f"limit of the closed form, effective mass {found.mass:.3g} kg"
        ax.plot(found.k, 1e3 * found.closed, label=name, **plot.line(1))
    if np.isfinite(found.bristle):
        ax.axhline(1e3 * found.bristle, label="limit of its friction, closed form", **plot.line(2))
    if k is not None:
        ax.plot([k], [1e3 * dt], label="this scene", **plot.dots(3))
    ax.set_ylim(1e3 * found.dt[0], 1e3 * found.dt[-1])
    plot.label(ax, title, "stiffness per contact point [N/m]", "time step [ms]")
    ax.legend(fontsize=7, loc="upper right", framealpha=0.9)
    return figure


def _draw_steps(ax: Axes, found: StabilityMap, dt: float) -> None:
    unstable = found.unstable[:, 0]
    for name, colour, those in ((RESTS, STABLE, ~unstable), (MOVES, UNSTABLE_DOT, unstable)):
        if those.any():
            ax.plot(1e3 * found.dt[those], 0 * found.dt[those], "s", color=colour, label=name)
    ax.set(xscale="log", ylim=(-1, 1), yticks=[])
    ax.spines["left"].set_visible(False)
    ax.axvline(1e3 * dt, label="this scene", **plot.line(2))


def _draw_cells(ax: Axes, found: StabilityMap) -> None:
    from matplotlib.colors import ListedColormap

    shades = ListedColormap([STABLE, UNSTABLE])
    unstable = found.unstable.astype(float)
    ax.pcolormesh(found.k, 1e3 * found.dt, unstable, cmap=shades, vmin=0, vmax=1)
    ax.set(xscale="log", yscale="log")
