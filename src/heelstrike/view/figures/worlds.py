"""Panels with one value per world: over the parameter that was varied, or as a distribution.

A world that failed holds the values of its last valid step; it is drawn as a cross, and left out
of distributions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.record.provenance import decode_attributes
from heelstrike.view import plot

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

MAX_JOINED = 60
"""Largest number of worlds whose dots are joined by a line."""
MAX_DOTS = 100
"""Largest number of worlds that are drawn as dots; more are drawn as a distribution."""
FAILED_COLOUR = plot.COLOURS[1]


def largest(values: xr.DataArray) -> np.ndarray:
    """Return the largest magnitude of any entry in each world; vectors count by their length."""
    array = np.abs(values.values.astype(float)).reshape(values.sizes["world"], -1)
    if "axis" in values.dims:
        array = np.linalg.norm(array.reshape(len(array), -1, values.sizes["axis"]), axis=-1)
    return array.max(axis=1, initial=0.0)


FINAL_VALUES: dict[str, tuple[str, str, Callable[[xr.DataArray], np.ndarray]]] = {
    "peak_force": ("Peak normal force of any point", "N", largest),
    "peak_depth": ("Deepest penetration of any point", "mm", lambda depth: 1e3 * largest(depth)),
    "impulse": ("Contact impulse", "N s", lambda impulse: largest(impulse.sum("body"))),
    "com": ("Final height of the centre of mass", "m", lambda com: com.values[..., 2]),
    "v": ("Largest final |v|", "rad/s or m/s", largest),
}
"""Default panels: title, unit, and the function that returns one number per world."""


def panel_over_worlds(data: xr.Dataset, name: str) -> Callable[[Axes], None]:
    """Return a panel that draws one number per world."""
    title, unit, number = FINAL_VALUES.get(name) or _any_variable(data[name])
    values = number(data[name])
    failed = data["failed"].values >= 0 if "failed" in data else np.zeros(len(values), bool)
    varied = {path: v for path, v in decode_attributes(data)["varied"].items() if v.ndim == 1}

    def panel(ax: Axes) -> None:
        if len(varied) == 1:
            ((path, at),) = varied.items()
            _dots(ax, at, values, failed, "o-" if len(at) <= MAX_JOINED else ".")
            if at.min() > 0 and at.max() > 100 * at.min():
                ax.set_xscale("log")
            plot.label(ax, title, path, f"[{unit}]")
            return
        if len(values) <= MAX_DOTS:
            _dots(ax, data["world"].values, values, failed, "o")
            ax.locator_params(axis="x", integer=True)
            plot.label(ax, title, "world", f"[{unit}]")
            return
        kept = values[~failed]
        ax.hist(kept[np.isfinite(kept)], bins=_bins(len(kept)), color=plot.COLOURS[0], alpha=0.85)
        omitted = f" ({failed.sum()} failed worlds left out)" if failed.any() else ""
        plot.label(ax, title, f"[{unit}]{omitted}", "worlds")

    return panel


def _any_variable(values: xr.DataArray) -> tuple[str, str, Callable[[xr.DataArray], np.ndarray]]:
    """Return title, unit and number of any variable: its one value, or its largest entry."""
    title, unit = str(values.attrs.get("long_name", values.name)), values.attrs.get("units", "")
    unit = plot.unit(unit)
    if values.ndim == 1:
        return title[0].upper() + title[1:], unit, lambda one: one.values.astype(float)
    return f"Largest {title}", unit or "each in its own unit", largest


def _dots(ax: Axes, at: np.ndarray, values: np.ndarray, failed: np.ndarray, form: str) -> None:
    """Draw the values of all worlds over `at`; failed worlds are crosses."""
    order = np.argsort(at, kind="stable")
    good = order[~failed[order]]
    ax.plot(at[good], values[good], form, markersize=3.0, linewidth=0.8)
    if failed.any():
        label = f"{failed.sum()} failed"
        ax.plot(at[failed], values[failed], "x", color=FAILED_COLOUR, markersize=4, label=label)


def _bins(count: int) -> int:
    return int(np.clip(np.sqrt(count), 10, 60))
