"""Datasets with labels and units, and the names of their coordinates in NetCDF files.

In a NetCDF file a slash would make a group and a space would end the name of a coordinate: paths of
parameters are written with other characters there, and the attribute `path` holds the original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.record.provenance import encode_attributes
from heelstrike.record.variables import AXES
from heelstrike.record.variables import variable as variable_of
from heelstrike.step.elements import RAY

if TYPE_CHECKING:
    import xarray as xr

Labels: TypeAlias = Mapping[str, Sequence[str] | Sequence[float] | np.ndarray]
"""Labels along dimensions, by name of the coordinate."""
PATH = "path"
"""Attribute of a coordinate that a file holds under another name."""
FIXED: dict[str, tuple[str, ...]] = {
    "axis": AXES,
    "frame_axis": AXES,
    "twist": ("vx", "vy", "vz", "wx", "wy", "wz"),
}
"""Labels of dimensions that are the same in every scene."""
ENTRY = ".entry"
"""Suffix of the dimension of a vector that was varied, after its path."""


@dataclass(frozen=True)
class Coordinate:
    """Labels along dimensions: text, or numbers if they have units."""

    dims: tuple[str, ...]
    long_name: str
    units: str = ""


COORDINATES: dict[str, Coordinate] = {
    "world": Coordinate(("world",), "index of a world", "1"),
    "time": Coordinate(("time",), "time since the start", "s"),
    "world_time": Coordinate(("world", "time"), "time since the start, in each world", "s"),
    "coordinate": Coordinate(("coordinate",), "entry of q"),
    "joint": Coordinate(("joint",), "entry of v"),
    "point": Coordinate(("point",), "contact point"),
    "body": Coordinate(("body",), "body that may touch"),
    "slot": Coordinate(("slot",), "place of two shapes that touch"),
    "shape_pair": Coordinate(("shape_pair",), "two shapes that may touch"),
    "constraint": Coordinate(("constraint",), "equality constraint"),
    "constraint_row": Coordinate(("constraint_row",), "row of an equality constraint"),
    "constraint_unit": Coordinate(("constraint_row",), "unit of the force of a row"),
    "spring": Coordinate(("spring",), "spring between bodies, or spatial tendon"),
    "axis": Coordinate(("axis",), "axis of the world or of a body"),
    "frame_axis": Coordinate(("frame_axis",), "axis of a frame"),
    "twist": Coordinate(("twist",), "entry of a twist, linear, then angular"),
    "coordinate_unit": Coordinate(("coordinate",), "unit of an entry of q"),
    "joint_unit": Coordinate(("joint",), "unit of a joint's motion"),
    "velocity_unit": Coordinate(("joint",), "unit of an entry of v"),
    "torque_unit": Coordinate(("joint",), "unit of an entry of torque"),
    "surface": Coordinate(("point",), "surface that a point may touch"),
    "point_body": Coordinate(("point",), "body that carries a point"),
    "point_law": Coordinate(("point",), "surface or body whose law holds at a point"),
}


def dataset(
    series: Mapping[str, np.ndarray],
    finals: Mapping[str, np.ndarray],
    coords: Labels,
    attrs: Mapping[str, object],
) -> xr.Dataset:
    """Return arrays as a dataset with labelled axes, units and provenance.

    Args:
        series: variables with a time, (world, time, ...).
        finals: variables without a time, (world, ...).
        coords: labels of every dimension that occurs; axis and, unless passed, world are added. A
            `time` of shape (world, time), where worlds have steps of their own, becomes the
            coordinate `world_time`.
        attrs: attributes of provenance.py; each parameter that was varied becomes a coordinate of
            the world under its path.
    """
    import xarray as xr

    worlds = len(next(iter([*series.values(), *finals.values()]), ()))
    fixed = _fixed_labels([*series, *finals])
    coords = {"world": np.arange(worlds), **fixed, **units_of_joints(coords), **coords}
    sizes = {name: len(values) for name, values in coords.items()}
    coords = {name: values for name, values in coords.items() if not name.endswith(f".{RAY}")}
    if np.ndim(coords.get("time", ())) == 2:
        sizes["time"] = np.shape(coords["time"])[1]
        coords["world_time"] = coords.pop("time")
    found: dict[str, Any] = {}
    for name, array in [*series.items(), *finals.items()]:
        timed = name in series
        if name in found or (timed and variable_of(name).final):
            raise HeelstrikeError(f"'{name}' is a value at the end and cannot have a time as well")
        found[name] = _variable(name, array, timed, sizes, coords)
    varied: Mapping[str, Any] = attrs.get("varied") or {}  # type: ignore[assignment]
    extra = {path: _varied(path, values) for path, values in varied.items()}
    names = [name for name in coords if name in COORDINATES and not COORDINATES[name].units]
    numbers = {name: values for name, values in coords.items() if name not in names}
    text = _text_coordinates(
        tuple((name, tuple(map(str, coords[name])), sizes[name]) for name in names)
    )
    made = _joined(found, text, xr.Coordinates(_coordinates(numbers, sizes) | extra))
    made.attrs = encode_attributes(attrs)
    return made


def _joined(found: Mapping[str, Any], *coords: xr.Coordinates) -> xr.Dataset:
    """Return a dataset of variables and coordinates that fit together.

    The constructor of a dataset aligns and merges them, which takes several times as long.
    """
    import xarray as xr

    variables: dict[Any, xr.Variable] = {
        name: xr.Variable(dims, values, attrs, fastpath=True)
        for name, (dims, values, attrs) in found.items()
    }
    indexes: dict[Any, Any] = {}
    for some in coords:
        variables.update(some.variables)
        indexes.update(some.xindexes)
    return xr.Coordinates(variables, indexes=indexes).to_dataset().reset_coords(list(found))


def _fixed_labels(names: Sequence[str]) -> Labels:
    """Return the labels of the world's axes, and those that these variables need besides."""
    used = {"axis", *(dim for name in names for dim in variable_of(name).dims)}
    return {dim: labels for dim, labels in FIXED.items() if dim in used}


def units_of_joints(coords: Labels) -> dict[str, list[str]]:
    """Return the units of v and of torque from those of the joints' motions, "rad" or "m"."""
    motions = list(coords.get("joint_unit", ()))
    if not motions:
        return {}
    return {
        "velocity_unit": [f"{unit} s-1" for unit in motions],
        "torque_unit": ["N" if unit == "m" else "N m" for unit in motions],
    }


def attributes_of(name: str, coords: Labels) -> dict[str, str]:
    """Return long_name and units of a variable.

    Where entries have units of their own, `units_from` names the coordinate that holds them, and
    `units` is set only if all are alike.
    """
    variable = variable_of(name)
    if variable.units_from is None:
        return {"long_name": variable.long_name, "units": variable.units}
    units = {str(unit) for unit in coords.get(variable.units_from, ())}
    alike = {"units": units.pop()} if len(units) == 1 else {}
    return {"long_name": variable.long_name, **alike, "units_from": variable.units_from}


def _variable(
    name: str, array: np.ndarray, timed: bool, sizes: Mapping[str, int], coords: Labels
) -> tuple[tuple[str, ...], np.ndarray, dict[str, str]]:
    """Return dimensions, values and attributes of one variable."""
    variable = variable_of(name)
    dims = ("world", *(("time",) if timed else ()), *variable.dims)
    expected = tuple(sizes.get(dim, 0) for dim in dims)
    if np.shape(array) != expected:
        raise HeelstrikeError(
            f"'{name}' has shape {np.shape(array)}, its labels {', '.join(dims)} make {expected}"
        )
    if variable.kind != "f":
        array = np.asarray(array).astype({"b": bool, "i": np.int64}[variable.kind])
    return dims, np.asarray(array), attributes_of(name, coords)


def _coordinates(coords: Labels, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return dimensions, values and attributes of coordinates; labels may be missing, not wrong."""
    made: dict[str, Any] = {}
    for name, values in coords.items():
        if name not in COORDINATES:
            raise UnknownNameError("coordinate", name, COORDINATES)
        kind = COORDINATES[name]
        if any(dim not in sizes for dim in kind.dims):
            continue
        expected = tuple(sizes[dim] for dim in kind.dims)
        if np.shape(values) != expected:
            raise HeelstrikeError(
                f"'{name}' has {np.shape(values)} labels, {', '.join(kind.dims)} has {expected}"
            )
        attrs = {"long_name": kind.long_name} | ({"units": kind.units} if kind.units else {})
        made[name] = (kind.dims, np.asarray(values, dtype=None if kind.units else str), attrs)
    return made


@lru_cache(maxsize=16)
def _text_coordinates(labels: tuple[tuple[str, tuple[str, ...], int], ...]) -> xr.Coordinates:
    """Return coordinates of text, with their indexes, from (name, labels, size) of each.

    Runs of one scene share them, since building them takes as long as all else. They cannot be
    written to.
    """
    import xarray as xr

    made = _coordinates({name: x for name, x, _ in labels}, {name: n for name, _, n in labels})
    for _, values, _ in made.values():
        values.flags.writeable = False
    return xr.Coordinates(made)


def _varied(path: str, values: np.ndarray) -> tuple[tuple[str, ...], np.ndarray, dict[str, str]]:
    """Return a varied parameter as a coordinate; vectors get a dimension of their own."""
    values = np.asarray(values)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    dims = ("world",) if values.ndim == 1 else ("world", f"{path}{ENTRY}")
    return dims, values, {"long_name": f"varied: {path}", "varied": "yes"}


# names in files


def file_name(path: str) -> str:
    """Return the path of a parameter as a name in a NetCDF file."""
    return path.replace("/", ":").replace(" ", "_")


def with_file_names(data: xr.Dataset) -> xr.Dataset:
    """Return a copy whose variables and coordinates have names that a NetCDF file may hold."""
    taken = {str(name) for name in (*data.variables, *data.dims)}
    renamed = {}
    for path in (str(name) for name in data.variables):
        name = file_name(path)
        if name == path:
            continue
        while name in taken:  # another's, or that of a path that looks the same
            name += "_"
        taken.add(name)
        renamed[path] = name
    made = data.rename(renamed | _entry_dims(data, renamed))
    for path, name in renamed.items():
        made[name].attrs[PATH] = path
    return made


def with_paths(data: xr.Dataset) -> xr.Dataset:
    """Return a dataset with the paths that `with_file_names` replaced."""
    found = {str(name): x.attrs.pop(PATH) for name, x in data.variables.items() if PATH in x.attrs}
    return data.rename(found | _entry_dims(data, found)) if found else data


def _entry_dims(data: xr.Dataset, renamed: dict[str, str]) -> dict[str, str]:
    """Return the new names of dimensions that are named after renamed coordinates."""
    dims = {old + ENTRY: new + ENTRY for old, new in renamed.items()}
    return {old: new for old, new in dims.items() if old in data.dims}
