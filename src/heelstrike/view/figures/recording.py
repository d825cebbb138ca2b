"""The figure of a recording: the usual panels, or chosen variables.

Over time, for one world: height, normal force, penetration, slip, ground plane, energy, torque.
Without time, one value per world: over the parameter that was varied, or as a distribution if none
or several were.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.step.inputs import WORKS
from heelstrike.view import plot
from heelstrike.view.figures.ground_panel import ground, has_ground
from heelstrike.view.figures.worlds import FINAL_VALUES, panel_over_worlds

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_LAW, MAX_LAWS = 110, 3
"""Letters of a law, and laws, in the title, at most."""
MAX_LINES = 12
"""Largest number of labelled lines in a panel."""
TIME = "time [s]"
"""Label of time axes."""

Panel = Callable[["Axes"], None]


def draw(
    data: xr.Dataset,
    variables: str | Sequence[str] | None = None,
    world: int = 0,
    path: str | os.PathLike[str] | None = None,
) -> Figure:
    """Return the figure of a recording; write it if a path is passed."""
    names = [variables] if isinstance(variables, str) else variables
    shown = plot.of_world(data, world)
    panels = _usual(data, shown) if names is None else [_named(data, shown, n) for n in names]
    if not panels:
        raise HeelstrikeError(
            "this recording holds none of the variables that are plotted by default",
            remedy=f"choose variables among {', '.join(map(str, data))}",
        )
    columns = 1 if len(panels) == 1 else 2
    figure, axes = plot.figure(-(-len(panels) // columns), columns, window=path is None)
    for ax, panel in zip(axes, panels, strict=False):
        panel(ax)
        if ax.get_xlabel().startswith(TIME) and shown.sizes["time"] > 1:
            ax.set_xlim(*shown["time"].values[[0, -1]])
    if len(axes) > len(panels):  # the last panel fills its row
        figure.delaxes(axes[-1])
        last = axes[len(panels) - 1]
        last.set_subplotspec(last.get_gridspec()[-1, :])
    figure.suptitle(_title(data, world), fontsize=10, color=plot.INK)
    if path is not None:
        plot.save(figure, path)
    return figure


def _title(data: xr.Dataset, world: int) -> str:
    from heelstrike.record.provenance import decode_attributes
    from heelstrike.record.summary import describe

    info, worlds = decode_attributes(data), data.sizes["world"]
    which = f", world {data['world'].values[world]} of {worlds}" if worlds > 1 else ""
    if "time" not in data.dims:
        which = f", {worlds} worlds"
    varied = info["varied"].get("dt")
    dt = info["dt"] if varied is None or "time" not in data.dims else varied[world]
    laws = [f"{name}: {describe(law)}" for name, law in info["laws"].items()]
    shown = [textwrap.shorten(law, MAX_LAW, placeholder=" ...") for law in laws[:MAX_LAWS]]
    if len(laws) > MAX_LAWS:
        shown.append(f"and {len(laws) - MAX_LAWS} more laws")
    if "touching" in data and "time" in data.dims and not data["touching"].values[world].any():
        shown.append("nothing touched a surface")
    head = f"{info['robot']}{which}, dt = {dt * 1e3:g} ms, {info['integrator']}"
    return "\n".join([head, *shown])


def _usual(data: xr.Dataset, shown: xr.Dataset) -> list[Panel]:
    """Return the usual panels of the variables that were recorded."""
    if "time" not in data.dims:
        names = [name for name in FINAL_VALUES if name in data and data[name].size]
        return [panel_over_worlds(data, name) for name in names]
    timed = {str(name) for name in shown if "time" in shown[name].dims and shown[name].size}
    moved = "torque" in timed and bool(np.any(shown["torque"].values))
    touched = "touching" in timed and bool(shown["touching"].values.any())
    candidates: list[tuple[bool, Callable[[Axes, xr.Dataset], None]]] = [
        ("com" in timed or "q" in timed, height),
        (touched and "normal_force" in timed, normal_force),
        (touched and "depth" in timed, penetration),
        (touched and "slip" in timed, slip),
        (touched and has_ground(shown), ground),
        ({"kinetic", "potential", *WORKS} <= timed, energy),
        (moved, torque),
    ]
    return [_bound(panel, shown) for recorded, panel in candidates if recorded]


def _bound(panel: Callable[[Axes, xr.Dataset], None], shown: xr.Dataset) -> Panel:
    return lambda ax: panel(ax, shown)


def _named(data: xr.Dataset, shown: xr.Dataset, name: str) -> Panel:
    if name not in data:
        raise UnknownNameError("variable", name, map(str, data), path="record")
    if "time" not in data[name].dims:
        return panel_over_worlds(data, name)
    return lambda ax: variable(ax, shown[name])


def height(ax: Axes, shown: xr.Dataset) -> None:
    """Draw the heights of the centre of mass and of floating bases."""
    time = shown["time"].values
    if "com" in shown:
        ax.plot(time, shown["com"].sel(axis="z").values, label="centre of mass")
    if "q" in shown:
        names = [name for name in shown["coordinate"].values if name.endswith(".z")]
        for name in names[:MAX_LINES]:
            ax.plot(time, shown["q"].sel(coordinate=name).values, label=name)
    plot.label(ax, "Height", TIME, "height [m]")
    plot.widen(ax, 1e-3)


def normal_force(ax: Axes, shown: xr.Dataset) -> None:
    """Draw the normal force of each body, summed over its points."""
    force = shown["normal_force"]
    if "point_body" in force.coords:
        bodies = force["point_body"].values
        rows = {name: force.values[:, bodies == name].sum(1) for name in dict.fromkeys(bodies)}
    else:
        rows = {"all points": force.values.sum(1)}
    rows = {name: row for name, row in rows.items() if np.any(row)}  # those that touch
    _lines(ax, shown["time"].values, rows)
    plot.label(ax, "Normal force", TIME, "sum over a body's points [N]")
    plot.widen(ax, 1e-3)
    if rows:
        _mark_peak(ax, shown["time"].values, max(rows.values(), key=lambda row: np.nanmax(row)))


def _mark_peak(ax: Axes, time: np.ndarray, row: np.ndarray) -> None:
    """Write the largest value of a line above its peak."""
    at = int(np.nanargmax(row))
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.06 * (high - low))  # space for the words
    ax.annotate(
        f"{row[at]:.4g} N at {time[at]:.3g} s",
        (time[at], row[at]),
        xytext=(0, 3),
        textcoords="offset points",
        ha="left" if at < len(time) / 2 else "right",
        va="bottom",
        fontsize=7,
        color=plot.INK,
    )


def penetration(ax: Axes, shown: xr.Dataset) -> None:
    """Draw the depth of the deepest point on each surface; 0 without contact."""
    depth = np.maximum(shown["depth"].values, 0.0) * 1e3
    surfaces = shown["surface"].values if "surface" in shown.coords else np.full(depth.shape[1], "")
    rows = {name: depth[:, surfaces == name].max(1) for name in dict.fromkeys(surfaces)}
    _lines(ax, shown["time"].values, rows)
    plot.label(ax, "Penetration", TIME, "deepest point [mm]")
    plot.widen(ax, 1e-3)


def slip(ax: Axes, shown: xr.Dataset) -> None:
    """Draw the slip speed of the fastest active contact."""
    speed = np.linalg.norm(shown["slip"].values, axis=-1) * 1e3
    fastest = np.where(shown["touching"].values, speed, 0.0).max(1)
    ax.plot(shown["time"].values, np.where(shown["touching"].values.any(1), fastest, np.nan))
    plot.label(ax, "Slip", TIME, "fastest active contact [mm/s]")
    plot.widen(ax, 1e-2)


def energy(ax: Axes, shown: xr.Dataset) -> None:
    """Draw energies and works since the start, and the residual of their balance."""
    time = shown["time"].values
    gained = {name: shown[name].values - shown[name].values[0] for name in ("potential", *WORKS)}
    kinetic = shown["kinetic"].values
    total = kinetic - kinetic[0] + gained["potential"]
    ax.plot(time, kinetic, label="kinetic")
    ax.plot(time, gained["potential"], label="potential, since the start")
    for name in WORKS:
        if np.any(gained[name]):
            ax.plot(time, gained[name], label=f"work of {name.removeprefix('work_')}")
    residual = total - sum(gained[name] for name in WORKS)
    name = f"residual, {residual[-1]:.1e} J"
    ax.plot(time, residual, "-", color=plot.GREY, linewidth=3, zorder=1, label=name)
    plot.label(ax, "Energy and work", TIME, "energy [J]")
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.4 * (high - low))  # space for the legend
    ax.legend(fontsize=7, ncols=2, frameon=False, loc="upper right")


def torque(ax: Axes, shown: xr.Dataset) -> None:
    """Draw the band between the smallest and the largest torque, and the three largest joints."""
    values, time = shown["torque"].values, shown["time"].values
    driven = np.flatnonzero(np.any(values, axis=0))
    band = values[:, driven]
    if len(driven) > 3:
        name = f"all {len(driven)} joints"
        ax.fill_between(time, band.min(1), band.max(1), color="#e0e0e0", linewidth=0, label=name)
    order = driven[np.argsort(-np.abs(band).max(0), kind="stable")]
    for i in order[:3]:
        ax.plot(time, values[:, i], label=str(shown["joint"].values[i]))
    plot.label(ax, "Control torque", TIME, f"torque [{_unit(shown['torque'])}]")
    plot.widen(ax, 1e-6)


def variable(ax: Axes, values: xr.DataArray) -> None:
    """Draw every entry of a variable over time."""
    time = values["time"].values
    dims = [dim for dim in values.dims if dim != "time"]
    flat = values.transpose("time", *dims).values.reshape(len(time), -1)
    names = [""]
    for dim in dims:
        labels = values[dim].values if dim in values.coords else range(values.sizes[dim])
        names = [f"{name} {entry}".strip() for name in names for entry in labels]
    title = f"{values.name}: {str(values.attrs.get('long_name', '')).split(',')[0]}"
    rows = dict(zip(names, flat.T, strict=True))
    if values.dtype == bool:
        _bars(ax, time, rows)
        plot.label(ax, title, TIME)
        return
    labelled = _lines(ax, time, rows)
    note = f"; labelled: the {labelled} of {len(names)} that vary most"
    plot.label(ax, title, TIME + (note if labelled < len(names) else ""), f"[{_unit(values)}]")


def _unit(values: xr.DataArray) -> str:
    """Return the unit of a variable, or the units of its entries that are not always zero."""
    if "units" in values.attrs or values.attrs.get("units_from") not in values.coords:
        return plot.unit(values.attrs.get("units", ""))
    units = values[values.attrs["units_from"]].values
    used = units[np.any(values.values, axis=0)]
    return " or ".join(plot.unit(unit) for unit in dict.fromkeys(used if len(used) else units))


def _bars(ax: Axes, time: np.ndarray, rows: dict[str, np.ndarray]) -> None:
    """Draw flags as rows that are filled while the flag holds, the first on top."""
    ends = np.append(time, time[-1])
    for i, on in enumerate(rows.values()):
        first, after = np.flatnonzero(np.diff(np.concatenate([[0], on, [0]]))).reshape(-1, 2).T
        bars = list(zip(ends[first], ends[after] - ends[first], strict=True))
        ax.broken_barh(bars, (i - 0.4, 0.8), color=plot.COLOURS[0], linewidth=0)
    shown = np.arange(0, len(rows), -(-len(rows) // (2 * MAX_LINES)))
    ax.set_yticks(shown, [list(rows)[i] for i in shown])
    ax.set_ylim(len(rows) - 0.5, -0.5)


def _lines(ax: Axes, time: np.ndarray, rows: dict[str, np.ndarray]) -> int:
    """Draw lines and return how many have labels.

    If there are more than MAX_LINES, those that vary most have labels and the others are grey.
    """
    chosen = set(rows)
    if len(rows) > MAX_LINES:
        span = {name: _span(row) for name, row in rows.items()}
        moving = sorted((name for name in rows if span[name] > 0), key=lambda name: -span[name])
        chosen = set(moving[:MAX_LINES])
    for name, row in rows.items():
        if name in chosen:
            ax.plot(time, row, label=name or None)
    for name, row in rows.items():
        if name not in chosen:
            ax.plot(time, row, "-", color=plot.GREY, linewidth=0.5, alpha=0.6, zorder=1)
    return len(chosen)


def _span(row: np.ndarray) -> float:
    finite = row[np.isfinite(row)]
    return float(np.ptp(finite)) if finite.size else 0.0
