"""Small multiples of a comparison: ground force and height over time, one row per law."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.view import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from heelstrike.measure.laws import Column, LawComparison

ROW_HEIGHT = 1.5
"""Height of a row [inch]."""
PERCENTILE = 99.0
"""Percentile of the forces that sets the force axis, so that one impact does not hide the rest."""
HEADROOM = 1.6
"""Upper end of the force axis over that percentile."""


def small_multiples(comparison: LawComparison) -> Figure | None:
    """Return a figure whose rows share their axes; time steps of one law are lines of one panel.

    Return None if no law ran.
    """
    laws: dict[str, list[Column]] = {}
    for column in comparison.columns:
        if column.run is not None:
            laws.setdefault(column.law, []).append(column)
    if not laws:
        return None
    figure, axes = plot.figure(len(laws), 2, size=(9.0, ROW_HEIGHT * len(laws) + 0.4))
    grid = axes.reshape(len(laws), 2)
    for (force, height), (law, columns) in zip(grid, laws.items(), strict=True):
        for column in columns:
            _lines(force, height, column)
        plot.label(force, law, "", "force [N]")
        plot.label(height, "", "", "height [m]")
        for ax in (force, height):
            legend = ax.get_legend()
            if legend is not None and (ax is height or len(columns) == 1):
                legend.remove()
    top = HEADROOM * max(_high_force(column) for columns in laws.values() for column in columns)
    for force, height in grid:
        force.set_ylim(0, top)
        height.sharey(grid[0, 1])
        for ax in (force, height):
            ax.sharex(grid[0, 0])
            ax.tick_params(labelbottom=force is grid[-1, 0])
    for ax in grid[-1]:
        ax.set_xlabel("time [s]", fontsize=9, color=plot.INK)
    return figure


def _lines(force: Axes, height: Axes, column: Column) -> None:
    assert column.run is not None
    data = column.run.data.isel(world=0)
    time, name = data["time"].values, f"{1e3 * column.dt:g} ms"
    force.plot(time, _total(column), label=name)
    height.plot(time, data["com"].sel(axis="z").values, label=name)


def _total(column: Column) -> np.ndarray:
    """Return the normal force of the fixed surfaces over time [N]."""
    assert column.run is not None
    data, info = column.run.data.isel(world=0), column.run.info
    fixed = {s["name"] for s in info["scene"]["surfaces"] if s["body"] is None}
    ground = [name in fixed for name in data["surface"].values]
    return np.asarray(data["normal_force"].values[:, ground].sum(axis=1))


def _high_force(column: Column) -> float:
    total = _total(column)
    positive = total[total > 0]
    return float(np.percentile(positive, PERCENTILE)) if positive.size else 1.0
