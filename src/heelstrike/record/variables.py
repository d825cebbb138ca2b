"""Every recorded variable: its dimensions, its unit, its meaning. One table, and what labels arrays
by it.

Units are written as UDUNITS and the CF conventions write them: "m s-1". Angles and lengths share
`q`, `v` and `torque`; their units stand beside their entries, in the coordinate that the attribute
`units_from` names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.record.attributes import encoded
from heelstrike.record.file_names import ENTRY

if TYPE_CHECKING:
    import xarray as xr

AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Variable:
    """What is recorded under a name."""

    dims: tuple[str, ...]
    """After world, and time."""
    units: str
    """Or, with a leading @, the coordinate that holds the unit of each entry."""
    long_name: str
    final: bool = False
    """Known at the end only: has no time."""
    kind: str = "f"
    """numpy's letter: f floating, i integer, b boolean."""


VARIABLES: dict[str, Variable] = {
    "q": Variable(("coordinate",), "@coordinate_unit", "coordinates of the joints"),
    "v": Variable(("joint",), "@velocity_unit", "velocities of the joints"),
    "torque": Variable(("joint",), "@torque_unit", "torque or force applied by the control"),
    "contact_position": Variable(("point", "axis"), "m", "position of a contact point"),
    "depth": Variable(("point",), "m", "penetration, negative above the surface"),
    "depth_rate": Variable(("point",), "m s-1", "rate of penetration, positive when approaching"),
    "force": Variable(("point", "axis"), "N", "contact force on the robot, world axes"),
    "normal_force": Variable(("point",), "N", "normal contact force"),
    "slip": Variable(("point", "axis"), "m s-1", "tangential velocity on the surface"),
    "touching": Variable(("point",), "1", "whether a point touches", kind="b"),
    "body_force": Variable(("body", "axis"), "N", "net contact force on a body"),
    "body_moment": Variable(
        ("body", "axis"), "N m", "net contact moment on a body about the world's origin"
    ),
    "cop": Variable(("body", "axis"), "m", "centre of pressure of a body"),
    "kinetic": Variable((), "J", "kinetic energy"),
    "potential": Variable((), "J", "potential energy"),
    "work_contact": Variable((), "J", "work done on the robot by normal contact forces"),
    "work_friction": Variable((), "J", "work done on the robot by friction"),
    "work_control": Variable((), "J", "work done on the robot by the control"),
    "work_stops": Variable((), "J", "work done on the robot by joint stops"),
    "work_joints": Variable((), "J", "work done by joint damping and dry friction"),
    "work_push": Variable((), "J", "work done on the robot by pushes"),
    "com": Variable(("axis",), "m", "centre of mass"),
    "com_velocity": Variable(("axis",), "m s-1", "velocity of the centre of mass"),
    "zmp": Variable(("axis",), "m", "zero moment point"),
    "solver_rounds": Variable((), "1", "evaluations of the coupled problem"),
    "solver_unfinished": Variable((), "1", "whether they reached their limit", kind="b"),
    "solver_residual": Variable((), "m s-1", "velocity by which contacts miss their law"),
    "accelerometer": Variable(("sensor", "axis"), "m s-2", "specific force in a body's axes"),
    "gyro": Variable(("sensor", "axis"), "rad s-1", "angular velocity in a body's axes"),
    "peak_force": Variable(
        ("point",), "N", "largest normal contact force since the reset", final=True
    ),
    "peak_depth": Variable(("point",), "m", "largest penetration since the reset", final=True),
    "impulse": Variable(
        ("body", "axis"), "N s", "impulse of contact on a body since the reset", final=True
    ),
    "failed": Variable((), "1", "step at which a world failed, -1 if none", final=True, kind="i"),
    "steps": Variable((), "1", "steps that a world made", final=True, kind="i"),
    "q0": Variable(("coordinate",), "@coordinate_unit", "coordinates at the start", final=True),
    "v0": Variable(("joint",), "@velocity_unit", "velocities at the start", final=True),
}
COORDINATES: dict[str, tuple[tuple[str, ...], str, str]] = {  # name: dimensions, units, long name
    "world": (("world",), "1", "index of a world"),
    "time": (("time",), "s", "time since the start"),
    "world_time": (("world", "time"), "s", "time since the start, in each world"),
    "coordinate": (("coordinate",), "", "entry of q"),
    "joint": (("joint",), "", "entry of v"),
    "point": (("point",), "", "contact point"),
    "body": (("body",), "", "body that may touch"),
    "sensor": (("sensor",), "", "body that carries a sensor"),
    "axis": (("axis",), "", "axis of the world or of a body"),
    "coordinate_unit": (("coordinate",), "", "unit of an entry of q"),
    "joint_unit": (("joint",), "", "unit of a joint's motion"),
    "velocity_unit": (("joint",), "", "unit of an entry of v"),
    "torque_unit": (("joint",), "", "unit of an entry of torque"),
    "surface": (("point",), "", "surface that a point may touch"),
    "point_body": (("point",), "", "body that carries a point"),
    "point_law": (("point",), "", "surface or body whose law holds at a point"),
}
"""Names of entries are text; what has units is a number."""


def known(name: str, among: Iterable[str] = VARIABLES) -> str:
    """The name, if it is one of those that may be recorded."""
    among = list(among)
    if name not in among:
        raise UnknownNameError("variable", name, among, path="record")
    return name


def dataset(
    series: Mapping[str, np.ndarray],
    finals: Mapping[str, np.ndarray],
    coords: Mapping[str, Any],
    attrs: Mapping[str, object],
) -> xr.Dataset:
    """Arrays with names on their axes: `series` (world, time, ...), `finals` (world, ...).

    `coords` holds the labels of every dimension that occurs but axis; world counts from 0 unless
    given. A `time` of shape (world, time), where worlds have steps of their own, becomes the
    coordinate `world_time`. `attrs` are those of attributes.py; what was varied becomes a
    coordinate of the world under its path.
    """
    import xarray as xr

    worlds = len(next(iter([*series.values(), *finals.values()]), ()))
    coords = {"world": np.arange(worlds), "axis": AXES, **units_of_joints(coords), **coords}
    sizes = {name: len(values) for name, values in coords.items()}
    if np.ndim(coords.get("time", ())) == 2:
        sizes["time"] = np.shape(coords["time"])[1]
        coords["world_time"] = coords.pop("time")
    found: dict[str, Any] = {}
    for name, array in [*series.items(), *finals.items()]:
        timed = name in series
        if name in found or (timed and VARIABLES[known(name)].final):
            raise HeelstrikeError(f"'{name}' is a value at the end, it cannot have a time as well")
        found[name] = _variable(name, array, timed, sizes, coords)
    varied: Mapping[str, Any] = attrs.get("varied") or {}  # type: ignore[assignment]
    extra = {path: _varied(path, values) for path, values in varied.items()}
    names = [name for name in coords if name in COORDINATES and not COORDINATES[name][1]]
    numbers = {name: values for name, values in coords.items() if name not in names}
    made = _named(tuple((name, tuple(map(str, coords[name])), sizes[name]) for name in names))
    made = made.merge(xr.Coordinates(_coordinates(numbers, sizes) | extra)).coords
    return xr.Dataset(found, coords=made, attrs=encoded(attrs))


def units_of_joints(coords: Mapping[str, Any]) -> dict[str, list[str]]:
    """Units of v and of torque, from those of the joints' motions: "rad" or "m"."""
    motions = list(coords.get("joint_unit", ()))
    if not motions:
        return {}
    return {
        "velocity_unit": [f"{unit} s-1" for unit in motions],
        "torque_unit": ["N" if unit == "m" else "N m" for unit in motions],
    }


def _variable(
    name: str, array: np.ndarray, timed: bool, sizes: Mapping[str, int], coords: Mapping[str, Any]
) -> tuple[tuple[str, ...], np.ndarray, dict[str, str]]:
    """Dimensions, values and attributes of one variable."""
    variable = VARIABLES[known(name)]
    dims = ("world", *(("time",) if timed else ()), *variable.dims)
    expected = tuple(sizes.get(dim, 0) for dim in dims)
    if np.shape(array) != expected:
        raise HeelstrikeError(
            f"'{name}' has shape {np.shape(array)}, its labels {', '.join(dims)} make {expected}"
        )
    if variable.kind != "f":
        array = np.asarray(array).astype({"b": bool, "i": np.int64}[variable.kind])
    return dims, np.asarray(array), attributes_of(name, coords)


def attributes_of(name: str, coords: Mapping[str, Any]) -> dict[str, str]:
    """long_name and units; where entries have units of their own, units only if all are alike."""
    variable = VARIABLES[name]
    if not variable.units.startswith("@"):
        return {"long_name": variable.long_name, "units": variable.units}
    source = variable.units[1:]
    units = {str(unit) for unit in coords.get(source, ())}
    alike = {"units": units.pop()} if len(units) == 1 else {}
    return {"long_name": variable.long_name, **alike, "units_from": source}


def _coordinates(coords: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Dimensions, values and attributes of the coordinates; a label may be left out, not wrong."""
    made: dict[str, Any] = {}
    for name, values in coords.items():
        if name not in COORDINATES:
            raise HeelstrikeError(f"no coordinate '{name}'; coordinates: {', '.join(COORDINATES)}")
        dims, units, long_name = COORDINATES[name]
        if any(dim not in sizes for dim in dims):
            continue
        if np.shape(values) != tuple(sizes[dim] for dim in dims):
            raise HeelstrikeError(
                f"'{name}' has {np.shape(values)} labels, "
                f"{', '.join(dims)} has {tuple(sizes[dim] for dim in dims)}"
            )
        attrs = {"long_name": long_name} | ({"units": units} if units else {})
        made[name] = (dims, np.asarray(values, dtype=None if units else str), attrs)
    return made


@lru_cache(maxsize=16)
def _named(labels: tuple[tuple[str, tuple[str, ...], int], ...]) -> xr.Coordinates:
    """Coordinates that are names, with their indexes, from name, labels and size: runs of one scene
    share them, and building them takes as long as all else. They cannot be written to.
    """
    import xarray as xr

    made = _coordinates({name: x for name, x, _ in labels}, {name: n for name, _, n in labels})
    for _, values, _ in made.values():
        values.flags.writeable = False
    return xr.Coordinates(made)


def _varied(path: str, values: np.ndarray) -> tuple[tuple[str, ...], np.ndarray, dict[str, str]]:
    """A varied parameter as a coordinate of the world; vectors get a dimension of their own."""
    values = np.asarray(values)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    dims = ("world",) if values.ndim == 1 else ("world", f"{path}{ENTRY}")
    return dims, values, {"long_name": f"varied: {path}", "varied": "yes"}
