"""The result of a sweep: its data, a summary and a figure."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.errors import FileError
from heelstrike.machine import peak_memory
from heelstrike.netcdf import opened
from heelstrike.progress import hours, with_prefix
from heelstrike.record.recording import Recording
from heelstrike.record.schema import KIND, check_recording
from heelstrike.record.summary import Shown
from heelstrike.sweeps.progress import Meter

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

BLOCK = 2**16
"""Number of worlds that are read at a time."""
ATTRIBUTES = ("varied", "sweep", "steps", "dt", "duration", "robot", "device", "dtype", "seed")
"""Attributes of the file that summary and figure need."""
PEAKS = {"peak_force": ("peak force", "N", 1.0), "peak_depth": ("deepest", "mm", 1e3)}


class Sweep:
    """The result of `hs.sweep`: the final state of every world."""

    def __init__(self, path: Path, meter: Meter) -> None:
        self.path: Path | None = path
        """Path of sweep.nc; None if the sweep had no folder."""
        self.meter = meter
        """Steps that this call made, and their time."""
        self._file = path

    @cached_property
    def recording(self) -> Recording:
        """The file as a recording of final states, read at the first access."""
        return Recording.load(self._file)

    @property
    def data(self) -> xr.Dataset:
        """All variables over worlds, with units and labels; varied parameters are coordinates."""
        return self.recording.data

    @property
    def info(self) -> dict[str, Any]:
        """The attributes of the recording; `sweep` holds the axes and the start."""
        return self.recording.info

    def in_memory(self) -> Sweep:
        """Read the data, and forget the file."""
        _ = self.recording
        self.path = None
        return self

    def summary(self) -> SweepSummary:
        """Return the number of worlds that failed and fell, and the extremes of the peaks."""
        return SweepSummary(columns(self.path or self.data), self.meter)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Return a figure of peaks and falls over the varied parameters; write it to `path`."""
        from heelstrike.view import plot
        from heelstrike.view.figures.sweep import draw

        figure = draw(columns(self.path or self.data), window=path is None)
        if path is not None:
            plot.save(figure, path)
        return figure


class Columns(dict[str, np.ndarray]):
    """One number per world, by name: peaks over all points, failed, fell, varied parameters."""

    info: dict[str, Any]
    """Attributes of the file."""
    units: dict[str, str]
    """Units of the varied parameters."""

    @property
    def worlds(self) -> int:
        """Number of worlds."""
        return len(self["failed"])

    @property
    def varied(self) -> dict[str, np.ndarray]:
        """Varied parameters by path."""
        return {path: self[path] for path in self.units}

    @property
    def bad(self) -> np.ndarray:
        """Mask of the worlds that diverged or fell."""
        failed = self["failed"] >= 0
        return failed | self["fell"] if "fell" in self else failed


def columns(source: Path | xr.Dataset) -> Columns:
    """Return the columns of a sweep's file, read a block at a time, or of its data."""
    if isinstance(source, Path):
        try:
            with opened(source, KIND) as data:
                check_recording(source, data)
                return columns(data)
        except FileError as error:
            raise FileError(
                f"'{source}' is damaged; remove it, and use --resume to compute it again",
                path=str(source),
            ) from error
    found = Columns()
    found.info = {
        name: json.loads(text) for name, text in source.attrs.items() if name in ATTRIBUTES
    }
    found.units = {p: source[p].attrs.get("units", "") for p in found.info["varied"]}
    for name in ("failed", "fell", *found.units):
        if name in source:
            found[name] = source[name].values
    for name in PEAKS:
        if name in source:
            blocks = range(0, source.sizes["world"], BLOCK)
            parts = [source[name][at : at + BLOCK].values.max(axis=1) for at in blocks]
            found[name] = np.concatenate(parts)
    return found


class SweepSummary(Shown):
    """The summary of a sweep; it prints itself."""

    def __init__(self, found: Columns, meter: Meter) -> None:
        info, failed = found.info, found["failed"]
        values: dict[str, Any] = {
            "robot": info["robot"],
            "worlds": found.worlds,
            "steps": info["steps"],
            "dt": info["dt"],
            "duration": info["duration"],
            "device": info["device"],
            "dtype": info["dtype"],
            "seed": info["seed"],
            "varied": {path: _span(found, path) for path in found.varied},
            "failed": _some(failed >= 0, found),
            "fell": _some(found["fell"], found) if "fell" in found else None,
        }
        if values["failed"]["count"]:
            first = values["failed"]["first"]["world"]
            values["failed"]["first"]["step"] = int(failed[first])
        good = np.flatnonzero(failed < 0)
        for name in PEAKS:
            if name in found:
                values[name] = _extremes(found, name, good)
        values |= {
            "computed": meter.made // meter.steps,
            "wall_time": meter.spent if meter.made else None,
            "rate": meter.rate if meter.made else None,
            "memory": peak_memory(),
        }
        super().__init__(values, _lines(values))


def _span(found: Columns, path: str) -> dict[str, Any]:
    values, count = found[path], found.info["sweep"]["grid"].get(path)
    return {
        "least": float(values.min()),
        "most": float(values.max()),
        "unit": found.units[path],
        "grid": count,
    }


def _some(those: np.ndarray, found: Columns) -> dict[str, Any]:
    where = np.flatnonzero(those)
    return {"count": len(where), "first": _world(found, int(where[0])) if len(where) else None}


def _world(found: Columns, world: int) -> dict[str, Any]:
    return {
        "world": world,
        "values": {path: float(values[world]) for path, values in found.varied.items()},
    }


def _extremes(found: Columns, name: str, good: np.ndarray) -> dict[str, Any] | None:
    """Return the smallest, median and largest value of the worlds that did not fail."""
    if not len(good):
        return None
    values = found[name][good]
    ends = {"least": good[values.argmin()], "largest": good[values.argmax()]}
    extremes: dict[str, Any] = {
        word: {"value": float(found[name][at]), **_world(found, int(at))}
        for word, at in ends.items()
    }
    return extremes | {"median": float(np.median(values))}


def _lines(values: dict[str, Any]) -> list[tuple[str, str]]:
    each = f"{values['duration']:g} s each, {values['steps']} steps of {1e3 * values['dt']:g} ms"
    where = f"{values['dtype']}, {values['device']}"
    lines = [("worlds", f"{values['worlds']:,}, {each}, {where}")]
    for path, span in values["varied"].items():
        unit = f" {span['unit']}" if span["unit"] not in ("", "1") else ""
        how = f"{span['grid']} values" if span["grid"] else f"random, seed {values['seed']}"
        lines.append(("varied", f"{path} {span['least']:.4g} to {span['most']:.4g}{unit}, {how}"))
    lines.append(("failed", _count_and_first(values["failed"], values["worlds"])))
    if values["fell"] is not None:
        lines.append(("fell", _count_and_first(values["fell"], values["worlds"])))
    for name, (word, unit, scale) in PEAKS.items():
        if found := values.get(name):
            low, high = (scale * found[end]["value"] for end in ("least", "largest"))
            middle = f"median {scale * found['median']:.4g} {unit}"
            lines.append((word, f"{low:.4g} to {high:.4g} {unit}, {middle}"))
            lines += [(f"  {end}", _named(found[end])) for end in ("least", "largest")]
    if values["rate"] is not None:
        rate = f"{with_prefix(values['rate'])} world-steps/s"
        lines.append(("wall time", f"{hours(values['wall_time'])}, {rate}"))
    lines.append(("peak memory", f"{values['memory'] / 1e6:.0f} MB"))
    return lines


def _count_and_first(some: dict[str, Any], worlds: int) -> str:
    if not some["count"]:
        return "none"
    first = some["first"]
    step = f" at step {first['step']}" if "step" in first else ""
    share = 100 * some["count"] / worlds
    return f"{some['count']:,} ({share:.2g} %), first {_named(first)}{step}"


def _named(world: dict[str, Any]) -> str:
    inside = ", ".join(f"{path} {value:.4g}" for path, value in world["values"].items())
    return f"world {world['world']} ({inside})" if inside else f"world {world['world']}"
