"""What a recording says about its run: everything needed to repeat it, as JSON under fixed names.

Each attribute of the file is a string of JSON; Python's NaN and Infinity may stand in it. What was
varied is kept in full precision as coordinates of the world, the attribute lists its paths.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.errors import HeelstrikeError

if TYPE_CHECKING:
    import xarray as xr

FORMAT = "heelstrike_recording"
"""Attribute that marks a recording; its value is the version of the format."""
VERSION = 1

ATTRIBUTES: dict[str, str] = {
    "robot": "name or file of the robot",
    "scene": "surfaces and gravity",
    "laws": "laws of surfaces by name, of bodies by theirs",
    "parameters": "every run-time parameter by its path",
    "control": "what drives the joints; null for none",
    "dt": "time step [s]",
    "integrator": "symplectic, euler or rk4",
    "dtype": "number type of the computation",
    "device": "cpu or cuda",
    "duration": "simulated time [s]",
    "steps": "number of steps",
    "every": "steps from one record to the next",
    "seed": "seed of the random numbers; null where none were drawn",
    "wall_time": "time that the run took [s]; null of a sweep",
    "created": "when, in UTC, as ISO 8601 writes it; null of a sweep",
    "versions": "of Heelstrike, Python and the packages that decide over the numbers",
}
"""All are needed; a run may add `varied`, {path: a value for each world}, `robot_source`, `math`:
exact or fast, `sweep`: what a sweep varied and where its worlds began."""
ADDED = ("varied", "robot_source", "math", "sweep")


def encoded(attrs: Mapping[str, object]) -> dict[str, Any]:
    """Attributes as a file holds them."""
    missing = [name for name in ATTRIBUTES if name not in attrs]
    unknown = [name for name in attrs if name not in (*ATTRIBUTES, *ADDED)]
    if missing:
        raise HeelstrikeError(f"a recording lacks the attributes {', '.join(missing)}")
    if unknown:
        raise HeelstrikeError(f"a recording has no attributes {', '.join(unknown)}")
    varied: Any = attrs.get("varied") or {}
    values = {**attrs, "varied": list(varied)}
    return {FORMAT: VERSION} | {name: _json(name, value) for name, value in values.items()}


def decoded(data: xr.Dataset) -> dict[str, Any]:
    """Attributes as values; what somebody added and is no JSON comes as it is."""
    info = {name: _value(text) for name, text in data.attrs.items() if name != FORMAT}
    paths = [name for name in info.get("varied", ()) if name in data.coords]
    return info | {"varied": {path: np.asarray(data[path].values) for path in paths}}


def _json(name: str, value: object) -> str:
    try:
        return json.dumps(value, default=plain)
    except (TypeError, ValueError) as error:
        raise HeelstrikeError(f"the attribute '{name}' cannot be written: {error}") from error


def _value(text: object) -> Any:
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def plain(value: object) -> object:
    """A value of JSON for what is none: arrays, paths, and frozen dataclasses with their kind."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        law: Any = value
        if hasattr(law, "traced"):  # one that a user wrote as a function
            return {"kind": law.traced.name, **law.own_parameters(), "source": law.source}
        return {"kind": type(value).__name__} | {
            f.name: getattr(value, f.name) for f in fields(value)
        }
    raise TypeError(f"JSON has no form for {type(value).__name__} {value!r}")
