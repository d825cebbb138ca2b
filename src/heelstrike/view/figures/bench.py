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
    """Return a figure of the time per step over the number of joints, points and worlds."""
    drawn, axes = plot.figure(1, 2, size=(9.2, 3.2))
    for ax, names, title in (
        (axes[0], ("joints", "points", "points, rigid"), "Joints and contact points"),
        (axes[1], ("worlds",), "Worlds, all cores"),
    ):
        curves = {name: found[name]["curve"] for name in names if name in found}
        for k, (name, curve) in enumerate(curves.items()):
            x, y = ([point[key] for point in curve] for key in ("count", "us"))
            label = name if len(names) > 1 else None
            ax.plot(x, y, label=label, marker=plot.MARKS[k], markersize=4, **plot.line(k))
        points = [point for curve in curves.values() for point in curve]
        counts = sorted({point["count"] for point in points})
        ax.set(xscale="log", yscale="log")
        ax.set_xticks(counts, [f"{count:g}" for count in counts])
        ax.xaxis.minorticks_off()
        _log_ticks(ax, [point["us"] for point in points], "y")
        plot.label(ax, title, "count", "time per world and step [us]")
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
