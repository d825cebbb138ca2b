"""Curves of a comparison: ground force and height over time, of all laws together and of each."""

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
HEADROOM = 1.6
"""Upper end of the force axis over the largest force."""


def small_multiples(comparison: LawComparison) -> Figure | None:
    """Return a figure whose rows share their axes; time steps of one law are lines of one panel.

    The first row has the first time step of all laws. Forces are linear up to the force at rest and
    logarithmic above, so that no peak is cut.

    Return None if no law ran.
    """
    laws: dict[str, list[Column]] = {}
    for column in comparison.columns:
        if column.run is not None:
            laws.setdefault(column.law, []).append(column)
    if not laws:
        return None
    size = (9.0, ROW_HEIGHT * (len(laws) + 2) + 0.4)
    figure, axes = plot.figure(len(laws) + 1, 2, size=size)
    grid = axes.reshape(len(laws) + 1, 2)
    grid[0, 0].get_gridspec().set_height_ratios([2] + [1] * len(laws))
    for law, columns in laws.items():
        _lines(grid[0, 0], grid[0, 1], columns[0], law)
    plot.label(grid[0, 0], "all laws", "", "force [N]")
    plot.label(grid[0, 1], "", "", "height [m]")
    grid[0, 1].legend(fontsize=7, frameon=False)
    if grid[0, 0].get_legend() is not None:
        grid[0, 0].get_legend().remove()
    for (force, height), (law, columns) in zip(grid[1:], laws.items(), strict=True):
        for column in columns:
            _lines(force, height, column)
        plot.label(force, law, "", "force [N]")
        plot.label(height, "", "", "height [m]")
        for ax in (force, height):
            legend = ax.get_legend()
            if legend is not None and (ax is height or len(columns) == 1):
                legend.remove()
    shown = [column for columns in laws.values() for column in columns]
    top = HEADROOM * max(float(np.nanmax(_total(column), initial=1.0)) for column in shown)
    rest = max(float(np.median([_total(column)[-1] for column in shown])), 1e-3 * top)
    for force, height in grid:
        force.set_yscale("symlog", linthresh=rest, linscale=1)
        force.set_ylim(0, top)
        force.minorticks_off()
        height.sharey(grid[0, 1])
        for ax in (force, height):
            ax.sharex(grid[0, 0])
            ax.tick_params(labelbottom=force is grid[-1, 0])
    for ax in grid[-1]:
        ax.set_xlabel("time [s]", fontsize=9, color=plot.INK)
    return figure


def _lines(force: Axes, height: Axes, column: Column, name: str = "") -> None:
    assert column.run is not None
    data = column.run.data.isel(world=0)
    time, name = data["time"].values, name or f"{1e3 * column.dt:g} ms"
    force.plot(time, _total(column), label=name)
    height.plot(time, data["com"].sel(axis="z").values, label=name)


def _total(column: Column) -> np.ndarray:
    """Return the normal force of the fixed surfaces over time [N]."""
    assert column.run is not None
    data, info = column.run.data.isel(world=0), column.run.info
    fixed = {s["name"] for s in info["scene"]["surfaces"] if s["body"] is None}
    ground = [name in fixed for name in data["surface"].values]
    return np.asarray(data["normal_force"].values[:, ground].sum(axis=1))
