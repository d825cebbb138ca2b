"""What a file must hold to be a recording: attributes of known types, variables of known shapes."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.errors import FileError
from heelstrike.files import PathLike
from heelstrike.netcdf import FileKind
from heelstrike.record.dataset import COORDINATES
from heelstrike.record.provenance import ATTRIBUTES, FORMAT, OPTIONAL_ATTRIBUTES, VERSION
from heelstrike.record.variables import VARIABLES

if TYPE_CHECKING:
    import xarray as xr

KIND = FileKind(
    FORMAT,
    VERSION,
    "a Heelstrike recording",
    "Recording.save",
    "read it with xarray.open_dataset",
)
NUMBER, COUNT, TEXT, NOTHING = (int, float), (int,), (str,), (type(None),)
TYPES: dict[str, tuple[type, ...]] = {
    "robot": TEXT,
    "scene": (dict, list, *TEXT),
    "laws": (dict,),
    "parameters": (dict,),
    "control": (dict, *NOTHING),
    "dt": NUMBER,
    "integrator": TEXT,
    "dtype": TEXT,
    "device": TEXT,
    "duration": NUMBER,
    "steps": COUNT,
    "every": COUNT,
    "seed": (*COUNT, *NOTHING),
    "wall_time": (*NUMBER, *NOTHING),
    "created": (*TEXT, *NOTHING),
    "versions": (dict,),
    "varied": (list,),
    "math": TEXT,
    "accuracy": NUMBER,
}
"""Types of the attributes' values; those that are not named here may have any."""


def check_recording(path: PathLike, data: xr.Dataset) -> None:
    """Raise FileError if a dataset lacks what a recording has, or has it in another form."""
    for problem in _problems(data):
        raise FileError(
            f"'{path}' is damaged: {problem}",
            path=os.fspath(path),
            allowed=f"a file that {KIND.writer} wrote",
        )


def _problems(data: xr.Dataset) -> list[str]:
    if missing := [name for name in ATTRIBUTES if name not in data.attrs]:
        return [f"it lacks the attributes {', '.join(missing)}"]
    if "world" not in data.dims:
        return ["it has no worlds"]
    found = [_attribute_problem(name, data.attrs.get(name)) for name in TYPES if name in data.attrs]
    found += [
        f"the attribute '{name}' is not text"
        for name in OPTIONAL_ATTRIBUTES
        if not isinstance(data.attrs.get(name, ""), str)
    ]
    found += [_variable_problem(str(name), x) for name, x in data.variables.items()]
    return [problem for problem in found if problem]


def _attribute_problem(name: str, text: Any) -> str:
    """Return what is wrong with an attribute; empty if nothing is."""
    try:
        value = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return f"the attribute '{name}' is not JSON"
    if not isinstance(value, TYPES[name]) or isinstance(value, bool):
        return f"the attribute '{name}' is {value!r:.40}"
    return ""


def _variable_problem(name: str, variable: xr.Variable) -> str:
    """Return what is wrong with a variable or a coordinate; empty if nothing is."""
    kind = variable.dtype.kind
    if name in VARIABLES:
        dims = VARIABLES[name].dims
        allowed = [("world", *dims), ("world", "time", *dims)]
        if tuple(variable.dims) not in allowed:
            return f"'{name}' has the dimensions {', '.join(map(str, variable.dims))}"
        if kind not in "fiub":
            return f"'{name}' does not hold numbers"
    elif name in COORDINATES:
        coordinate = COORDINATES[name]
        if tuple(variable.dims) != coordinate.dims:
            return f"'{name}' has the dimensions {', '.join(map(str, variable.dims))}"
        if bool(coordinate.units) != (kind in "fiub"):
            return f"'{name}' holds {'text' if coordinate.units else 'numbers'}"
        if coordinate.units and not np.all(np.isfinite(variable.values)):
            return f"'{name}' is not finite"
    return ""
