"""Provenance of a recording: everything needed to reproduce its run, as attributes in JSON.

Each attribute of a file is a string of JSON, in which Python's NaN and Infinity may occur. Values
that were varied are kept in full precision as coordinates of the world; the attribute `varied`
lists their paths.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

import heelstrike
from heelstrike.errors import HeelstrikeError
from heelstrike.scene.actuators import ActuatorPlan
from heelstrike.scene.controller import Controller
from heelstrike.scene.surfaces import Surface
from heelstrike.step.control import Direct
from heelstrike.step.plan import StepPlan

if TYPE_CHECKING:
    import xarray as xr

FORMAT = "heelstrike_recording"
"""Attribute that marks a recording; its value is the version of the format."""
VERSION = 2
"""1: without a checksum; 2: with one (heelstrike/netcdf.py)."""
PACKAGES = ("casadi", "llvmlite", "numpy", "pin")
"""Packages whose versions decide over the numbers of a run."""

ATTRIBUTES: dict[str, str] = {
    "robot": "name or file of the robot",
    "scene": "surfaces and gravity",
    "laws": "laws of surfaces by name, of bodies by theirs",
    "parameters": "every run-time parameter by its path",
    "control": "what drives the joints; null for none",
    "dt": "time step [s]",
    "integrator": "symplectic, euler or rk4",
    "dtype": "number type of the computation",
    "device": "cpu, cuda, or GPUs by number as in cuda:0,1",
    "duration": "simulated time [s]",
    "steps": "number of steps",
    "every": "steps from one record to the next",
    "seed": "seed of the random numbers; null where none were drawn",
    "wall_time": "time that the run took [s]; null of a sweep",
    "created": "when, in UTC, as ISO 8601 writes it; null of a sweep",
    "versions": "of Heelstrike, Python and the packages that decide over the numbers",
}
"""Attributes that every recording has, and their meanings."""
OPTIONAL_ATTRIBUTES: dict[str, str] = {
    "varied": "{path: a value for each world}",
    "robot_source": "where the robot was loaded from",
    "math": "exact or fast",
    "gpus": "{number: name} of the GPUs of a run",
    "sweep": "what a sweep varied and where its worlds began",
    "accuracy": "error of a window of dt, where the steps in it follow an estimate of their error",
}


@runtime_checkable
class WrittenAsFunction(Protocol):
    """A law that a user wrote as a function."""

    source: str
    """Text of the function."""

    @property
    def traced(self) -> Named: ...

    def own_parameters(self) -> Mapping[str, Any]: ...


class Named(Protocol):
    """An object with a name."""

    @property
    def name(self) -> str: ...


def describe_plan(plan: StepPlan) -> dict[str, Any]:
    """Return the attributes that a plan decides: robot, scene, laws, control and integrator."""
    scene = plan.scene
    return {
        "robot": plan.robot.name,
        "robot_source": plan.robot.source,
        "scene": {
            "gravity": scene.gravity,
            "surfaces": [describe_surface(surface) for surface in scene.surfaces],
            "points": [pair.name for pair in scene.pairs],
            "world_points": [[*point.position, point.radius] for point in scene.points],
        },
        "laws": scene.laws,
        "control": _describe_control(plan),
        "integrator": plan.integrator,
    }


def describe_surface(surface: Surface) -> dict[str, Any]:
    """Return the kind of a surface and its fields but for the law."""
    own = {f.name: getattr(surface, f.name) for f in fields(surface) if f.name != "law"}
    return {"kind": type(surface).__name__, **own}


def describe_run(parameters: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return the attributes of a run at this moment: parameters, time of day and versions."""
    return {
        "parameters": {path: value.tolist() for path, value in parameters.items()},
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "heelstrike": heelstrike.__version__,
            "python": platform.python_version(),
            **{name: _version(name) for name in PACKAGES},
        },
    }


def encode_attributes(attrs: Mapping[str, object]) -> dict[str, str | int]:
    """Return attributes as a file holds them; raise if one is missing or unknown."""
    missing = [name for name in ATTRIBUTES if name not in attrs]
    unknown = [name for name in attrs if name not in ATTRIBUTES | OPTIONAL_ATTRIBUTES]
    if missing:
        raise HeelstrikeError(f"a recording lacks the attributes {', '.join(missing)}")
    if unknown:
        raise HeelstrikeError(f"a recording has no attributes {', '.join(unknown)}")
    varied: Any = attrs.get("varied") or {}
    values = {**attrs, "varied": list(varied)}
    return {FORMAT: VERSION} | {name: _json(name, value) for name, value in values.items()}


def decode_attributes(data: xr.Dataset) -> dict[str, Any]:
    """Return the attributes of a dataset as values; text that is no JSON is returned as it is."""
    info = {name: _value(text) for name, text in data.attrs.items() if name != FORMAT}
    paths = [name for name in info.get("varied", ()) if name in data.coords]
    return info | {"varied": {path: np.asarray(data[path].values) for path in paths}}


def to_json(value: object) -> object:
    """Return a JSON value for an array, a path, or a dataclass, which gets its class as `kind`."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, WrittenAsFunction):
        return {"kind": value.traced.name, **value.own_parameters(), "source": value.source}
    if is_dataclass(value) and not isinstance(value, type):
        return {"kind": type(value).__name__} | {
            f.name: getattr(value, f.name) for f in fields(value)
        }
    raise TypeError(f"JSON has no form for {type(value).__name__} {value!r}")


def _json(name: str, value: object) -> str:
    try:
        return json.dumps(value, default=to_json)
    except (TypeError, ValueError) as error:
        raise HeelstrikeError(f"the attribute '{name}' cannot be written: {error}") from error


def _value(text: object) -> Any:
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _describe_control(plan: StepPlan) -> dict[str, Any] | None:
    control = plan.control
    if isinstance(control, Direct):
        return None
    held = {"control_every": control.control_every} if control.control_every > 1 else {}
    if isinstance(control, Controller):
        code = {"source": control.source} if control.source else {}
        return {"kind": "controller", "name": control.function.__name__, **held, **code}
    if isinstance(control, ActuatorPlan):
        return {"kind": "actuators"}
    late = {"late": control.delay_periods} if control.delay_periods else {}
    table = {} if control.table is None else {"reference": control.table}
    kind = "servo" if control.implicit else "explicit servo"
    return {"kind": kind, **held, **late, **table}


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
