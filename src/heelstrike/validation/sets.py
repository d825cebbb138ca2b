"""The data sets by name; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from heelstrike.errors import FileError, UnknownNameError
from heelstrike.validation.measured_set import MeasuredSet

SETS = {
    "cube": "cube:Cube",
    "square": "square:Square",
    "elbow": "elbow:Elbow",
    "icub-walking": "icub:Walking",
    "icub-sway": "icub:Swaying",
    "cassie": "cassie:Cassie",
}
"""Module and class of each set."""


def measured_set(name: str) -> MeasuredSet:
    """Return a data set; raise UnknownNameError if there is none of this name."""
    if not isinstance(name, str) or name not in SETS:
        raise UnknownNameError("data set", name, SETS)
    module, _, kind = SETS[name].partition(":")
    made: MeasuredSet = getattr(import_module(f"heelstrike.validation.{module}"), kind)()
    return made


def sets_in(data: Path) -> list[str]:
    """Return the sets that a folder, or a file by its name, holds measurements of."""
    own = [data.name] if data.is_file() else [path.name for path in data.glob("*.npz")]
    stems = {name: measured_set(name).stem for name in SETS}
    found = [name for name, stem in stems.items() if any(one.startswith(stem) for one in own)]
    if not found:
        raise FileError(
            f"'{data}' holds no file of a data set; names begin with {', '.join(stems.values())}",
            path=str(data),
            remedy="name the folder of the data, or the set that a file belongs to",
        )
    return found
