"""A run in a few lines: what was simulated, how fast, what failed, what touched how hard, and
whether the energy adds up.

    residual = change of (kinetic + potential) - sum of the works          [J]

closes to the integrator's order; of several worlds the worst is told.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.record.attributes import decoded
from heelstrike.step.state import WORKS

if TYPE_CHECKING:
    import xarray as xr

WIDTH = 80
MARGIN = 14
LEFT_OUT = ("kind", "source", "reference")
"""Parts of a law or of a control that do not go into a line."""
AT_REST = 1e-3
"""Largest |v| of a robot that rests [rad/s, m/s]."""


class Shown:
    """Shows itself at a prompt and by print(); `as_dict()` holds the same as plain values."""

    def __init__(self, values: dict[str, Any], lines: Iterable[tuple[str, str]]) -> None:
        self._values = values
        self._text = "\n".join(row(name, text) for name, text in lines)

    def as_dict(self) -> dict[str, Any]:
        """Numbers, strings, lists and dicts, ready for JSON; what was not recorded is left out."""
        return dict(self._values)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


class Summary(Shown):
    """Of a recording."""

    def __init__(self, data: xr.Dataset) -> None:
        values = _run(data) | _worst(data) | _end(data)
        super().__init__(values, _lines(values))


def _run(data: xr.Dataset) -> dict[str, Any]:
    """What was simulated, and how fast."""
    info = decoded(data)
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
    """Bodies, or bodies on surfaces, whose own law holds somewhere."""
    if "point_law" not in data.coords:
        return []
    return sorted(set(data["point_law"].values.tolist()) - set(data["surface"].values.tolist()))


def _worst(data: xr.Dataset) -> dict[str, Any]:
    """The hardest and the deepest contact, and where."""
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
    """Where it ended: height, energy, motion."""
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
    """Change of energy, work and residual of each world from the first record to the last [J].

    `exchanged` adds up the range of each, a measure for the residual. None unless both energies
    and every work were recorded over time.
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
    """A law from its attributes: Elastic(HuntCrossley(k=50000, alpha=0.4), Kinetic(mu=0.6))."""
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
    """Rows of name and text."""
    lines = [("robot", str(values["robot"]))]
    for name, law in values["laws"].items():
        owner = "body" if name in values["bodies"] else "surface"
        lines.append((owner, f"{name}: {describe(law)}"))
    if values["control"] is not None:
        lines.append(("control", describe(values["control"])))
    span = f"{values['duration']:g} s"
    if "dt" in values["varied"]:
        span = f"{values['simulated']:g} s in {values['worlds']} worlds together"
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
            share = f" ({abs(e['residual']) / e['exchanged']:.1e} of what was exchanged)"
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
    """Three digits, and thousands told apart."""
    return f"{number:.3g}" if number < 1e3 else f"{float(f'{number:.3g}'):,.0f}"


def _peak(peak: dict[str, Any], unit: str, scale: float, many: bool) -> str:
    if "point" not in peak:
        return "nothing touched"
    where = f", world {peak['world']}" if many else ""
    return f"{peak['value'] * scale:.4g} {unit} at {peak['point']}{where}"


def row(name: str, text: str) -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=f"{name:<{MARGIN}}",
        subsequent_indent=" " * MARGIN,
        break_on_hyphens=False,
    )
