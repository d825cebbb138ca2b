"""The figure of a sweep: peaks and falls over the parameters that were varied.

One grid axis, or random parameters: curves of the median over the worlds at a value (or in a bin)
with a band that holds four fifths of them. Two or more grid axes: maps of the median over the first
two. Worlds that diverged are left out of peaks.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.view import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from heelstrike.sweeps.outcome import Columns

BINS = 24
"""Largest number of bins, with equally many worlds, along a random parameter."""
MAX_COLUMNS = 3
"""Largest number of parameters that have a column of curves."""
BAND = (10, 90)
"""Percentiles at the ends of the band."""
PANELS = {
    "peak_force": ("Peak normal force of any point", "N", 1.0),
    "peak_depth": ("Deepest penetration of any point", "mm", 1e3),
}
SHORT_RANGE = 100.0
"""Ratio of the ends of a logarithmic axis below which its ticks are at 1, 2 and 5."""


def draw(found: Columns, window: bool = False) -> Figure:
    """Return maps over two grid axes, or curves over each of the first few parameters."""
    grid = [path for path, count in found.info["sweep"]["grid"].items() if count > 1]
    rows = [name for name in PANELS if name in found] + ["bad"]
    if len(grid) >= 2:
        figure, axes = plot.figure(1, len(rows), window=window)
        for ax, name in zip(axes, rows, strict=True):
            _map(ax, found, name, grid[0], grid[1])
        return figure
    paths = [path for path in found.varied if path in grid or np.ptp(found[path]) > 0][:MAX_COLUMNS]
    paths = paths or list(found.varied)[:1]
    figure, axes = plot.figure(len(rows), max(1, len(paths)), window=window)
    for k, ax in enumerate(axes):
        name = rows[k // max(1, len(paths))]
        _curve(ax, found, name, paths[k % len(paths)], paths[k % len(paths)] in grid)
    return figure


def _numbers(found: Columns, name: str) -> tuple[np.ndarray, str, str]:
    """Return one number per world, with title and unit; worlds that diverged have no peak."""
    if name == "bad":
        title = "Fell or failed" if "fell" in found else "Failed"
        return 100.0 * found.bad, title, "% of the worlds"
    title, unit, scale = PANELS[name]
    return np.where(found["failed"] < 0, scale * found[name], np.nan), title, unit


def _groups(values: np.ndarray, exact: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the values or bin centres along an axis, and the index of each world's group."""
    if exact:
        places, group = np.unique(values, return_inverse=True)
        return places, group
    count = int(np.clip(len(values) // 20, 1, BINS))
    edges = np.quantile(values, np.linspace(0, 1, count + 1))
    group = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, count - 1)
    middles = np.array([_middle(part) for part in _parts(values, group, count)])
    return middles, group


def _parts(numbers: np.ndarray, group: np.ndarray, count: int) -> list[np.ndarray]:
    """Return the numbers of each group."""
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(count + 1))
    return [numbers[order[a:b]] for a, b in pairwise(bounds)]


def _middle(values: np.ndarray) -> float:
    kept = values[np.isfinite(values)]
    return float(np.median(kept)) if len(kept) else np.nan


def _curve(ax: Axes, found: Columns, name: str, path: str, exact: bool) -> None:
    numbers, title, unit = _numbers(found, name)
    places, group = _groups(found[path], exact)
    members = _parts(numbers, group, len(places))
    marker = "o" if len(places) <= 2 * BINS else ""
    if name == "bad" and not found.bad.any():
        plot.label(ax, title)
        _say_none(ax, title, len(numbers))
        return
    if name == "bad":
        middle = np.array([part.mean() if len(part) else np.nan for part in members])
        ax.set_ylim(-3, 103)
    else:
        middle = np.array([_middle(part) for part in members])
        _band(ax, places, members)
    ax.plot(places, middle, marker=marker, markersize=2.5, linewidth=1.2)
    _spaced(ax, "x", found, path)
    plot.label(ax, title, _axis_label(found, path), f"[{unit}]" if name != "bad" else unit)


def _band(ax: Axes, places: np.ndarray, members: list[np.ndarray]) -> None:
    kept = [part[np.isfinite(part)] for part in members]
    if max(len(part) for part in kept) < 3:
        return
    ends = [np.percentile(part, BAND) if len(part) else (np.nan, np.nan) for part in kept]
    low, high = np.array(ends).T
    label = f"{BAND[0]} to {BAND[1]} % of the worlds"
    ax.fill_between(places, low, high, color=plot.COLOURS[0], alpha=0.2, linewidth=0, label=label)


def _map(ax: Axes, found: Columns, name: str, across: str, along: str) -> None:
    numbers, title, unit = _numbers(found, name)
    x, column = _groups(found[across], exact=True)
    y, line = _groups(found[along], exact=True)
    parts = _parts(numbers, line * len(x) + column, len(x) * len(y))
    number = np.mean if name == "bad" else _middle
    values = np.array([number(part) if len(part) else np.nan for part in parts])
    ax.grid(False)
    plot.label(ax, title, _axis_label(found, across), _axis_label(found, along))
    if name == "bad" and not found.bad.any():
        _say_none(ax, title, len(numbers))
        return
    look = {"cmap": "Oranges", "vmin": 0, "vmax": 100} if name == "bad" else {"cmap": "cividis"}
    shades = ax.pcolormesh(x, y, values.reshape(len(y), len(x)), **look)
    for axis, path in (("x", across), ("y", along)):
        _spaced(ax, axis, found, path)
    bar = ax.figure.colorbar(shades, ax=ax)
    bar.set_label(unit, fontsize=8)
    bar.ax.tick_params(labelsize=7)


def _say_none(ax: Axes, title: str, worlds: int) -> None:
    """Write that no world fell or failed, in place of a map or curve of zeros."""
    text = f"none of the {worlds:,} worlds\n{title.lower()}"
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=plot.INK)
    ax.set(xticks=[], yticks=[], xlabel="", ylabel="")


def _spaced(ax: Axes, axis: str, found: Columns, path: str) -> None:
    """Make an axis logarithmic if its values are, with plain numbers over a short range."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    if not _logarithmic(found, path):
        return
    (ax.set_xscale if axis == "x" else ax.set_yscale)("log")
    if found[path].max() < SHORT_RANGE * found[path].min():
        side = ax.xaxis if axis == "x" else ax.yaxis
        side.set_major_locator(LogLocator(subs=(1, 2, 5)))
        side.set_major_formatter(FormatStrFormatter("%g"))
        side.set_minor_formatter(NullFormatter())


def _logarithmic(found: Columns, path: str) -> bool:
    """Return whether values were drawn from a logarithmic distribution, or lie evenly on one."""
    drawn = found.info["sweep"]["random"].get(path)
    if drawn is not None:
        return bool(drawn[2] == "log")
    places = np.unique(found[path])
    if len(places) < 3 or places[0] <= 0:
        return False
    gaps = [np.diff(x) / np.ptp(x) for x in (places, np.log(places))]
    return bool(np.std(gaps[1]) < np.std(gaps[0]))


def _axis_label(found: Columns, path: str) -> str:
    unit = found.units[path]
    return f"{path} [{plot.unit(unit)}]" if unit not in ("", "1") else path
