"""Values at the end of many worlds: against the parameter that was varied, or as a distribution.

A world that failed holds the values of its last good step; it is drawn as a cross, and left out of
distributions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.record.attributes import decoded
from heelstrike.view import plot

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

FEW = 60
"""Worlds up to which the dots of a sweep are joined by a line."""
DISTRIBUTED = 100
"""Worlds above which a distribution says more than a dot for each."""
FAILED = plot.COLOURS[1]


def largest(values: xr.DataArray) -> np.ndarray:
    """Of each world: the largest magnitude of any entry; vectors count by their length."""
    array = np.abs(values.values.astype(float)).reshape(values.sizes["world"], -1)
    if "axis" in values.dims:
        array = np.linalg.norm(array.reshape(len(array), -1, values.sizes["axis"]), axis=-1)
    return array.max(axis=1, initial=0.0)


END: dict[str, tuple[str, str, Callable[[xr.DataArray], np.ndarray]]] = {
    "peak_force": ("Peak normal force of any point", "N", largest),
    "peak_depth": ("Deepest penetration of any point", "mm", lambda depth: 1e3 * largest(depth)),
    "impulse": ("Impulse of contact", "N s", lambda impulse: largest(impulse.sum("body"))),
    "com": ("Height of the centre of mass at the end", "m", lambda com: com.values[..., 2]),
    "v": ("Largest |v| at the end", "rad/s or m/s", largest),
}
"""What is shown unless other variables are named: title, unit, one number of each world."""


def over_worlds(data: xr.Dataset, name: str) -> Callable[[Axes], None]:
    """A panel that shows one number of each world."""
    title, unit, number = END.get(name) or _other(data[name])
    values = number(data[name])
    failed = data["failed"].values >= 0 if "failed" in data else np.zeros(len(values), bool)
    varied = {path: v for path, v in decoded(data)["varied"].items() if v.ndim == 1}

    def panel(ax: Axes) -> None:
        if len(varied) == 1:
            ((path, at),) = varied.items()
            _against(ax, at, values, failed, "o-" if len(at) <= FEW else ".")
            if at.min() > 0 and at.max() > 100 * at.min():
                ax.set_xscale("log")
            plot.label(ax, title, path, f"[{unit}]")
            return
        if len(values) <= DISTRIBUTED:
            _against(ax, data["world"].values, values, failed, "o")
            ax.locator_params(axis="x", integer=True)
            plot.label(ax, title, "world", f"[{unit}]")
            return
        kept = values[~failed]
        ax.hist(kept[np.isfinite(kept)], bins=_bins(len(kept)), color=plot.COLOURS[0], alpha=0.85)
        left_out = f" ({failed.sum()} failed worlds left out)" if failed.any() else ""
        plot.label(ax, title, f"[{unit}]{left_out}", "worlds")

    return panel


def _other(values: xr.DataArray) -> tuple[str, str, Callable[[xr.DataArray], np.ndarray]]:
    """Any variable: its one value, or the largest of its entries."""
    title, unit = str(values.attrs.get("long_name", values.name)), values.attrs.get("units", "")
    unit = plot.unit(unit)
    if values.ndim == 1:
        return title[0].upper() + title[1:], unit, lambda one: one.values.astype(float)
    return f"Largest {title}", unit or "each in its own unit", largest


def _against(ax: Axes, at: np.ndarray, values: np.ndarray, failed: np.ndarray, form: str) -> None:
    """Values over something that each world has, in its order."""
    order = np.argsort(at, kind="stable")
    good = order[~failed[order]]
    ax.plot(at[good], values[good], form, markersize=3.0, linewidth=0.8)
    if failed.any():
        label = f"{failed.sum()} failed"
        ax.plot(at[failed], values[failed], "x", color=FAILED, markersize=4, label=label)


def _bins(count: int) -> int:
    return int(np.clip(np.sqrt(count), 10, 60))
