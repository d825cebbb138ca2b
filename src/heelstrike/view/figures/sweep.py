"""The picture of a sweep: peaks and falls over what was varied.

One grid axis, or what is random: curves, the median of the worlds at a value (or among those near
it) and the band that holds four fifths of them. Two or more grid axes: maps over the first two, the
median of each cell. Worlds that diverged are left out of peaks.
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
"""Groups of equally many worlds along what is random."""
MOST = 3
"""Columns of curves."""
BAND = (10, 90)
"""Percentiles."""
PANELS = {
    "peak_force": ("Peak normal force of any point", "N", 1.0),
    "peak_depth": ("Deepest penetration of any point", "mm", 1e3),
}
DECADES = 100.0
"""Range of a logarithmic axis below which it is labelled by 1, 2 and 5."""


def draw(found: Columns, window: bool = False) -> Figure:
    """Maps over two grid axes, else curves over each of the first few things varied."""
    grid = [path for path, count in found.info["sweep"]["grid"].items() if count > 1]
    rows = [name for name in PANELS if name in found] + ["bad"]
    if len(grid) >= 2:
        figure, axes = plot.figure(1, len(rows), window=window)
        for ax, name in zip(axes, rows, strict=True):
            _map(ax, found, name, grid[0], grid[1])
        return figure
    paths = [path for path in found.varied if path in grid or np.ptp(found[path]) > 0][:MOST]
    paths = paths or list(found.varied)[:1]
    figure, axes = plot.figure(len(rows), max(1, len(paths)), window=window)
    for k, ax in enumerate(axes):
        name = rows[k // max(1, len(paths))]
        _curve(ax, found, name, paths[k % len(paths)], paths[k % len(paths)] in grid)
    return figure


def _numbers(found: Columns, name: str) -> tuple[np.ndarray, str, str]:
    """One number a world, with title and unit; worlds that diverged have no peak."""
    if name == "bad":
        title = "Fell or failed" if "fell" in found else "Failed"
        return 100.0 * found.bad, title, "% of the worlds"
    title, unit, scale = PANELS[name]
    return np.where(found["failed"] < 0, scale * found[name], np.nan), title, unit


def _groups(values: np.ndarray, exact: bool) -> tuple[np.ndarray, np.ndarray]:
    """Places along an axis, and the group of each world."""
    if exact:
        places, group = np.unique(values, return_inverse=True)
        return places, group
    count = int(np.clip(len(values) // 20, 1, BINS))
    edges = np.quantile(values, np.linspace(0, 1, count + 1))
    group = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, count - 1)
    middles = np.array([_middle(part) for part in _parts(values, group, count)])
    return middles, group


def _parts(numbers: np.ndarray, group: np.ndarray, count: int) -> list[np.ndarray]:
    """The numbers of each group."""
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
    if name == "bad":
        middle = np.array([part.mean() if len(part) else np.nan for part in members])
        ax.set_ylim(-3, 103)
    else:
        middle = np.array([_middle(part) for part in members])
        _band(ax, places, members)
    ax.plot(places, middle, marker=marker, markersize=2.5, linewidth=1.2)
    _spaced(ax, "x", found, path)
    plot.label(ax, title, _named(found, path), f"[{unit}]" if name != "bad" else unit)


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
    limits = (0, 100) if name == "bad" else (None, None)
    shades = ax.pcolormesh(
        x, y, values.reshape(len(y), len(x)), cmap="cividis", vmin=limits[0], vmax=limits[1]
    )
    for axis, path in (("x", across), ("y", along)):
        _spaced(ax, axis, found, path)
    bar = ax.figure.colorbar(shades, ax=ax)
    bar.set_label(unit, fontsize=8)
    bar.ax.tick_params(labelsize=7)
    plot.label(ax, title, _named(found, across), _named(found, along))


def _spaced(ax: Axes, axis: str, found: Columns, path: str) -> None:
    """A logarithmic axis where it is one; with plain numbers where they are few decades."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    if not _logarithmic(found, path):
        return
    getattr(ax, f"set_{axis}scale")("log")
    if found[path].max() < DECADES * found[path].min():
        side = getattr(ax, f"{axis}axis")
        side.set_major_locator(LogLocator(subs=(1, 2, 5)))
        side.set_major_formatter(FormatStrFormatter("%g"))
        side.set_minor_formatter(NullFormatter())


def _logarithmic(found: Columns, path: str) -> bool:
    """Whether it was drawn so, or lies more evenly so."""
    drawn = found.info["sweep"]["random"].get(path)
    if drawn is not None:
        return bool(drawn[2] == "log")
    places = np.unique(found[path])
    if len(places) < 3 or places[0] <= 0:
        return False
    gaps = [np.diff(x) / np.ptp(x) for x in (places, np.log(places))]
    return bool(np.std(gaps[1]) < np.std(gaps[0]))


def _named(found: Columns, path: str) -> str:
    unit = found.units[path]
    return f"{path} [{plot.unit(unit)}]" if unit not in ("", "1") else path
