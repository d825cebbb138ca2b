"""Summary of a run: what was simulated, its speed, failures, peaks and energy balance.

    residual = change of (kinetic + potential) - sum of the works          [J]

The residual vanishes with dt as the integrator's order says; of several worlds the largest is
reported.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.record.provenance import decode_attributes
from heelstrike.step.inputs import WORKS

if TYPE_CHECKING:
    import xarray as xr

WIDTH = 80
MARGIN = 14
LEFT_OUT = ("kind", "source", "reference")
"""Parts of a law or of a control that the summary leaves out."""
AT_REST = 1e-3
"""Largest |v| of a robot at rest [rad/s, m/s]."""


class Shown:
    """Table of values that prints itself; `as_dict()` returns them for other programs."""

    def __init__(self, values: dict[str, Any], lines: Iterable[tuple[str, str]]) -> None:
        """Take the values, and the rows of the table as (name, text)."""
        self._values = values
        self._text = "\n".join(row(name, text) for name, text in lines)

    def as_dict(self) -> dict[str, Any]:
        """Return numbers, strings, lists and dicts, ready for JSON, of all that was recorded."""
        return dict(self._values)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


class Summary(Shown):
    """Summary of a recording."""

    def __init__(self, data: xr.Dataset) -> None:
        """Take the dataset of a recording."""
        values = _run(data) | _worst(data) | _end(data)
        super().__init__(values, _lines(values))


def _run(data: xr.Dataset) -> dict[str, Any]:
    """Return what was simulated, and the speed."""
    info = decode_attributes(data)
    worlds = data.sizes["world"]
    steps = data["steps"].values if "steps" in data else np.full(worlds, info["steps"])
    # nominal, or each world's own
    dt = np.ravel(info["varied"].get("dt", info["dt"]))
    simulated = float(np.sum(steps * dt))
    wall = info["wall_time"]
    failed = data["failed"].values if "failed" in data else np.full(worlds, -1)
    return {
        "robot": info["robot"],
        "laws": info["laws"],
        "bodies": _with_laws(data),
        "control": info["control"],
        "dt": info["dt"],
        "integrator": info["integrator"],
        "dtype": info["dtype"],
        "worlds": worlds,
        "varied": list(info["varied"]),
        "steps": info["steps"],
        "duration": info["duration"],
        "simulated": simulated,
        "wall_time": wall,
        "real_time_factor": simulated / wall if wall else None,
        "failures": [
            {"world": int(data["world"][i]), "step": int(failed[i])}
            for i in np.flatnonzero(failed >= 0)
        ],
    }


def _with_laws(data: xr.Dataset) -> list[str]:
    """Return the bodies, or bodies on surfaces, that have a law of their own."""
    if "point_law" not in data.coords:
        return []
    return sorted(set(data["point_law"].values.tolist()) - set(data["surface"].values.tolist()))


def _worst(data: xr.Dataset) -> dict[str, Any]:
    """Return the largest force and depth of a contact, and where they occurred."""
    found: dict[str, Any] = {}
    for name, series in (("peak_force", "normal_force"), ("peak_depth", "depth")):
        if name in data:
            values = data[name]
        elif series in data and "time" in data[series].dims:
            values = data[series].max("time")
        else:
            continue
        array = np.nan_to_num(values.values, nan=-np.inf)
        if array.size == 0 or array.max() <= 0.0:
            found[name] = {"value": 0.0}
            continue
        world, point = np.unravel_index(array.argmax(), array.shape)
        place = {
            "point": str(data["point"].values[point]),
            "surface": str(data["surface"].values[point]) if "surface" in data.coords else "",
            "world": int(data["world"][world]),
        }
        found[name] = {"value": float(array[world, point]), **place}
    return found


def _end(data: xr.Dataset) -> dict[str, Any]:
    """Return height, speed and energy balance at the end."""
    found: dict[str, Any] = {}
    if "com" in data:
        height = _last(data["com"]).sel(axis="z").values
        found["com_height"] = {"least": float(np.min(height)), "most": float(np.max(height))}
    if "v" in data:
        speed = np.abs(_last(data["v"]).values)
        found["speed"] = float(np.max(speed)) if speed.size else 0.0
        found["at_rest"] = bool(found["speed"] < AT_REST)
    if (ledger := energy(data)) is not None:
        worst = int(np.argmax(np.nan_to_num(np.abs(ledger["residual"]), nan=np.inf)))
        found["energy"] = {name: float(values[worst]) for name, values in ledger.items()} | {
            "world": int(data["world"][worst])
        }
    return found


def energy(data: xr.Dataset) -> dict[str, np.ndarray] | None:
    """Return change of energy, work and residual of each world over the recording [J].

    `exchanged`, the sum of the ranges of energies and works, is a scale for the residual. The
    result is None unless both energies and every work were recorded over time.
    """
    needed = ["kinetic", "potential", *WORKS]
    if any(name not in data or "time" not in data[name].dims for name in needed):
        return None
    gained = {name: (data[name][:, -1] - data[name][:, 0]).values for name in needed}
    change = gained["kinetic"] + gained["potential"]
    work = sum(gained[name] for name in WORKS)
    exchanged = sum(np.ptp(data[name].values, axis=1) for name in needed)
    return {"change": change, "work": work, "residual": change - work, "exchanged": exchanged}


def describe(law: object) -> str:
    """Return a law in one line: Elastic(HuntCrossley(k=50000, alpha=0.4), Kinetic(mu=0.6))."""
    if isinstance(law, list) and len(law) == 1:  # a parameter of a running simulator
        law = law[0]
    if not isinstance(law, dict):
        return f"{law:g}" if isinstance(law, float) else str(law)
    parts = [
        describe(value) if isinstance(value, dict) else f"{name}={describe(value)}"
        for name, value in law.items()
        if name not in LEFT_OUT and value is not None and value is not False
    ]
    return f"{law.get('kind', '')}({', '.join(parts)})"


def _last(values: xr.DataArray) -> xr.DataArray:
    return values.isel(time=-1) if "time" in values.dims else values


def _lines(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the rows of the table, (name, text)."""
    lines = [("robot", str(values["robot"]))]
    for name, law in values["laws"].items():
        owner = "body" if name in values["bodies"] else "surface"
        lines.append((owner, f"{name}: {describe(law)}"))
    if values["control"] is not None:
        lines.append(("control", describe(values["control"])))
    span = f"{values['duration']:g} s"
    if "dt" in values["varied"]:
        span = f"{values['simulated']:g} s in all {values['worlds']} worlds together"
    elif values["worlds"] > 1:
        span += f" in each of {values['worlds']} worlds"
    lines.append(("simulated", f"{span}, {values['steps']} steps"))
    if values["varied"]:
        lines.append(("varied", ", ".join(values["varied"])))
    step = "varied" if "dt" in values["varied"] else f"{values['dt'] * 1e3:g} ms"
    lines.append(("step", f"{step}, {values['integrator']}, {values['dtype']}"))
    factor = values["real_time_factor"]
    speed = "" if factor is None else f", {_counted(factor)} times real time"
    if values["wall_time"] is not None:
        lines.append(("wall time", f"{values['wall_time']:.3g} s{speed}"))
    lines.append(("failed", _failures(values["failures"])))
    many_worlds = values["worlds"] > 1
    if "peak_force" in values:
        lines.append(("peak force", _peak(values["peak_force"], "N", 1.0, many_worlds)))
    if "peak_depth" in values:
        lines.append(("deepest", _peak(values["peak_depth"], "mm", 1e3, many_worlds)))
    return lines + _end_lines(values)


def _end_lines(values: dict[str, Any]) -> list[tuple[str, str]]:
    lines = []
    if "com_height" in values:
        least, most = values["com_height"]["least"], values["com_height"]["most"]
        span = f"{least:.4g} m" if least == most else f"{least:.4g} to {most:.4g} m"
        lines.append(("com height", f"{span} at the end"))
    if "speed" in values:
        rest = "at rest" if values["at_rest"] else "moving"
        lines.append(("at the end", f"{rest}, largest |v| {values['speed']:.2g} rad/s or m/s"))
    if "energy" in values:
        e = values["energy"]
        share = ""
        if e["exchanged"]:
            share = f" ({abs(e['residual']) / e['exchanged']:.1e} of the energy exchanged)"
        where = f", world {e['world']}" if values["worlds"] > 1 else ""
        text = f"change {e['change']:.4g} J, work {e['work']:.4g} J, residual {e['residual']:.2g} J"
        lines.append(("energy", text + share + where))
    return lines


def _failures(failures: list[dict[str, int]]) -> str:
    if not failures:
        return "none"
    first = ", ".join(f"world {f['world']} at step {f['step']}" for f in failures[:4])
    return first if len(failures) <= 4 else f"{len(failures)} worlds: {first}, ..."


def _counted(number: float) -> str:
    """Return a number with three digits and separated thousands."""
    return f"{number:.3g}" if number < 1e3 else f"{float(f'{number:.3g}'):,.0f}"


def _peak(peak: dict[str, Any], unit: str, scale: float, many: bool) -> str:
    if "point" not in peak:
        return "nothing touched a surface"
    where = f", world {peak['world']}" if many else ""
    return f"{peak['value'] * scale:.4g} {unit} at {peak['point']}{where}"


def row(name: str, text: str) -> str:
    """Return a row of a table: a name, and a text that is wrapped beside it."""
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=f"{name:<{MARGIN}}",
        subsequent_indent=" " * MARGIN,
        break_on_hyphens=False,
    )
