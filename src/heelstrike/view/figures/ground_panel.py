"""The ground plane from above: centre of pressure, zero moment point and the support polygon."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.view import plot

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

NEEDED = {"contact_position", "touching", "normal_force", "zmp"}
"""Variables that the panel is drawn from."""


def has_ground(shown: xr.Dataset) -> bool:
    """Return whether a recording has a support polygon: three points that touch at one time."""
    return set(map(str, shown)) >= NEEDED and bool((shown["touching"].values.sum(1) >= 3).any())


def ground(ax: Axes, shown: xr.Dataset) -> None:
    """Draw the paths of CoP and ZMP, and the polygon of the points that touch last."""
    touching, places = shown["touching"].values, shown["contact_position"].values[..., :2]
    last = int(np.flatnonzero(touching.sum(1) >= 3)[-1])
    corners = _hull(places[last][touching[last]])
    time = float(shown["time"].values[last])
    ax.fill(*corners.T, color="#e0e0e0", zorder=0, label=f"support polygon at {time:.3g} s")
    force = np.maximum(np.where(touching, shown["normal_force"].values, 0.0), 0.0)
    total = force.sum(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        cop = np.einsum("tp,tpx->tx", force, np.nan_to_num(places)) / total[:, None]
    zmp = np.where(total[:, None] > 0, shown["zmp"].values[:, :2], np.nan)
    for k, (name, path) in enumerate((("centre of pressure", cop), ("ZMP", zmp))):
        width, style = 1.5 - 0.5 * k, plot.line(k)
        ax.plot(path[:, 0], path[:, 1], linewidth=width, label=name, zorder=2 + k, **style)
        if np.isfinite(path[last]).all():
            ax.plot(*path[last], "o", markersize=6 - 2 * k, zorder=4 + k, color=style["color"])
    middle, span = corners.mean(0), max(float(np.ptp(corners, axis=0).max()), 1e-3)
    ax.set_xlim(middle[0] - span, middle[0] + span)
    ax.set_ylim(middle[1] - span, middle[1] + span)
    ax.set_aspect("equal", anchor="W")
    plot.label(ax, "Ground plane from above", "x [m]", "y [m]")
    legend = ax.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.02))
    legend.set_in_layout(False)  # beside a square panel is space


def _hull(places: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull of places (n, 2), or the places if they are a line."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return places[ConvexHull(places).vertices]
    except QhullError:
        return places
