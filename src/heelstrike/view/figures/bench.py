"""The figures of `heelstrike bench`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.view import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NICE = (1, 2, 5)
"""Digits at which a logarithmic axis begins, ends and has ticks."""

SPACING = 0.18
"""Distance between the markers of one row."""


def against_peer(ratios: Mapping[str, Mapping[str, float]]) -> Figure:
    """Return a figure of MuJoCo's time over ours: a row per way to step, a marker per robot."""
    ways = list(dict.fromkeys(way for own in ratios.values() for way in own))[::-1]
    drawn, (ax,) = plot.figure(size=(7.0, 1.0 + 0.28 * len(ways)))
    ax.axvline(1, color=plot.INK, linewidth=1)
    for k, (robot, own) in enumerate(ratios.items()):
        shift = SPACING * ((len(ratios) - 1) / 2 - k)
        rows = [ways.index(way) + shift for way in own]
        ax.plot(list(own.values()), rows, label=robot, **plot.dots(k))
    ax.set(xscale="log")
    ax.set_yticks(range(len(ways)), ways)
    _log_ticks(ax, [1.0, *(x for own in ratios.values() for x in own.values())], "x")
    plot.label(ax, "Speed relative to MuJoCo", "MuJoCo's time over ours, on as many threads")
    return drawn


def growth(found: Mapping[str, Any]) -> Figure:
    """Return a figure of the times of a step and of compiling over the count, a line per curve."""
    drawn, axes = plot.figure(1, 2, size=(9.2, 3.4))
    for ax, key, title, unit in (
        (axes[0], "us", "Step", "time per world and step [us]"),
        (axes[1], "compile_s", "Compiling", "CPU time [s]"),
    ):
        values: list[float] = []
        for k, (name, each) in enumerate(found.items()):
            points = [(point["count"], point[key]) for point in each["curve"] if key in point]
            if points:
                x, y = zip(*points, strict=True)
                ax.plot(x, y, label=name, marker=plot.MARKS[k], markersize=4, **plot.line(k))
                values += y
        ax.set(xscale="log", yscale="log")
        _log_ticks(ax, values, "y")
        plot.label(ax, title, "count", unit)
    return drawn


def _log_ticks(ax: Axes, values: Sequence[float], which: str) -> None:
    """End a logarithmic axis at round numbers around the values, with ticks at round numbers."""
    if not values:
        return
    powers = np.arange(np.floor(np.log10(min(values))), np.ceil(np.log10(max(values))) + 1)
    marks = np.sort(np.outer(10.0**powers, NICE).ravel())
    low = marks[marks <= min(values)].max()
    high = marks[marks >= max(values)].min()
    ticks = [float(x) for x in marks if low <= x <= high]
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.minorticks_off()
    axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    (ax.set_xlim if which == "x" else ax.set_ylim)(0.93 * low, 1.07 * high)
