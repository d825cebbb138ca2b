"""A motion: poses over time, with names, kept in files.

motion.save("walk.nc"); motion = hs.motion.Motion.load("walk.nc")       # NetCDF, with all its data
hs.motion.play(robot, "pattern.csv")                                    # another program's table
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.errors import FileError, HeelstrikeError
from heelstrike.files import PathLike, check_regular
from heelstrike.netcdf import FileKind, read_dataset, write_dataset
from heelstrike.npz import NUMBERS, TEXT, read_arrays
from heelstrike.robot.robot import Robot
from heelstrike.scene.servo import Trajectory

if TYPE_CHECKING:
    import xarray as xr

FORMAT = "heelstrike_motion"
"""Attribute of a file that holds a motion; its value is the version."""
KIND = FileKind(
    FORMAT,
    2,
    "a Heelstrike motion",
    "Motion.save",
    "read a CSV or npz table with hs.motion.play(robot, path)",
)


@dataclass(frozen=True, eq=False)
class Motion(Trajectory):
    """A reference motion of one robot; `hs.Servo(reference=motion)` follows it."""

    robot: str = ""
    name: str = "motion"
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings it was generated with."""
    feet: np.ndarray | None = None
    """Share of the weight that each foot is meant to carry, left and right, (times, 2)."""

    @property
    def start(self) -> np.ndarray:
        """The first pose."""
        return np.array(self.q, dtype=float)[0]

    @property
    def duration(self) -> float:
        """Time from 0 to the last pose [s]."""
        return float(np.asarray(self.times)[-1])

    def finer(self, rate: float) -> Motion:
        """Return the motion with `rate` poses per second, by cubic splines through its own.

        A servo interpolates linearly, and each corner is a jump of velocity.
        """
        from scipy.interpolate import CubicSpline, PchipInterpolator

        if not (np.isfinite(rate) and rate > 0):
            raise HeelstrikeError(f"a motion has a number of poses a second, not {rate!r}")
        times = np.asarray(self.times, dtype=float)
        even = np.linspace(times[0], times[-1], round((times[-1] - times[0]) * rate) + 1)
        torque, feet = (
            None if table is None else PchipInterpolator(times, table)(even)  # these may jump
            for table in (self.torque, self.feet)
        )
        q = CubicSpline(times, np.asarray(self.q))(even)
        return replace(self, times=even, q=q, torque=torque, feet=feet)

    def save(self, path: PathLike) -> Path:
        """Write a NetCDF4 file, whole or not at all; return its path."""
        import xarray as xr

        values: dict[str, Any] = {"q": (("time", "coordinate"), np.asarray(self.q))}
        if self.torque is not None:
            values["torque"] = ("time", "joint"), np.asarray(self.torque), {"units": "N m or N"}
        if self.feet is not None:
            values["feet"] = ("time", "foot"), self.feet, {"units": "1"}
        times = ("time", np.asarray(self.times), {"units": "s"})
        attributes = {
            FORMAT: KIND.version,
            "robot": self.robot,
            "name": self.name,
            "settings": json.dumps(dict(self.settings)),
        }
        data = xr.Dataset(values, coords={"time": times}, attrs=attributes)
        write_dataset(path, data)
        return Path(path)

    @classmethod
    def load(cls, path: PathLike) -> Motion:
        """Return a motion that `save` wrote."""
        data = read_dataset(path, KIND)
        _check_motion(path, data)
        return cls(
            data["time"].values,
            data["q"].values,
            data["torque"].values if "torque" in data else None,
            robot=data.attrs["robot"],
            name=data.attrs["name"],
            settings=json.loads(data.attrs["settings"]),
            feet=data["feet"].values if "feet" in data else None,
        )


def _check_motion(path: PathLike, data: xr.Dataset) -> None:
    """Raise FileError if a file lacks what a motion has, or has it in another form."""
    try:
        settings = json.loads(data.attrs["settings"])
        whole = isinstance(settings, dict) and {"time", "q"} <= set(data.variables)
        whole = whole and all(isinstance(data.attrs[name], str) for name in ("robot", "name"))
        for name, other in {
            "time": None,
            "q": "coordinate",
            "torque": "joint",
            "feet": "foot",
        }.items():
            if name in data.variables:
                values = data[name]
                dims = ("time",) if other is None else ("time", other)
                whole = whole and values.dims == dims and values.dtype.kind in "fiu"
                whole = whole and bool(np.isfinite(values.values).all()) and values.size > 0
    except (KeyError, TypeError, ValueError, RecursionError):
        whole = False
    if not whole:
        raise FileError(
            f"'{path}' is damaged: a motion has finite times and coordinates, and names",
            path=os.fspath(path),
            allowed=f"a file that {KIND.writer} wrote",
        )


def play(
    robot: Robot,
    path: PathLike,
    joints: Sequence[str] | None = None,
    rate: float | None = None,
    array: str = "q",
) -> Motion:
    """Return a table of joint positions from a CSV or npz file, as a motion of the robot.

    CSV: a line of joint names, or none if `joints` names the columns; a column "time" or "t" [s],
    or else `rate` rows a second. npz: `array` (rows, joints), and "time", "joints" or "names",
    "rate" if they are not given here. Joints that no column names stay as in the robot's first
    pose; a free base is put where its feet begin on z = 0.
    """
    check_regular(path)
    if Path(path).suffix == ".npz":
        table, names, times = _from_npz(path, joints, array)
    else:
        table, names, times = _from_csv(path, joints)
    if times is None:
        if rate is None or not rate > 0:
            raise HeelstrikeError(
                f"'{path}' has no column 'time': say how many rows a second it has, rate=..."
            )
        times = np.arange(len(table)) / rate
    if len(names) != table.shape[1]:
        raise HeelstrikeError(f"'{path}' has {table.shape[1]} columns for {len(names)} joints")
    start = next(iter(robot.poses.values()), robot.neutral)
    q = np.tile(np.asarray(start, dtype=float), (len(table), 1))
    places = {joint.name: joint for joint in robot.joints if joint.nq == 1}
    for name, column in zip(names, table.T, strict=True):
        if name not in places:
            raise HeelstrikeError(
                f"'{path}' moves a joint '{name}' that {robot.name} has not; joints: "
                f"{', '.join(places)}"
            )
        q[:, places[name].iq] = column
    ground(robot, q)
    return Motion(times, q, robot=robot.name, name=Path(path).stem, settings={"file": str(path)})


def ground(robot: Robot, q: np.ndarray) -> None:
    """Move the free base so that the lowest contact point of the first pose is at z = 0."""
    import pinocchio as pin

    from heelstrike.robot.convert import to_pinocchio
    from heelstrike.robot.placement import lowest_place

    if robot.joints[0].kind != "free" or not robot.points:
        return
    model = to_pinocchio(robot)
    data = model.createData()
    pin.forwardKinematics(model, data, q[0])
    placed = [(place.rotation, place.translation) for place in list(data.oMi)[1:]]
    lowest = min(lowest_place(point, placed[point.body])[2] for point in robot.points)
    q[:, robot.joints[0].iq + 2] -= lowest


Table = tuple[np.ndarray, Sequence[str], np.ndarray | None]
"""Rows, joints, times if there are any."""


def _from_csv(path: PathLike, joints: Sequence[str] | None) -> Table:
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row]
    if joints is None:
        if len(rows) < 3:
            raise HeelstrikeError(f"'{path}' needs a line of joint names and two rows at least")
        names, rows = [word.strip() for word in rows[0]], rows[1:]
    else:
        names = list(joints)
    try:
        table = np.array(rows, dtype=float)
    except ValueError as error:
        raise HeelstrikeError(
            f"'{path}' is no table of numbers under one line of names: {error}"
        ) from error
    for k, name in enumerate(names):
        if name.lower() in ("time", "t"):
            return np.delete(table, k, axis=1), names[:k] + names[k + 1 :], table[:, k]
    return table, names, None


def _from_npz(path: PathLike, joints: Sequence[str] | None, array: str) -> Table:
    arrays = read_arrays(path, NUMBERS + TEXT)
    if array not in arrays or arrays[array].ndim != 2 or arrays[array].dtype.kind in TEXT:
        raise HeelstrikeError(
            f"'{path}' has no array '{array}' of (rows, joints); arrays: {', '.join(arrays)}"
        )
    if joints is None:
        joints = [str(name) for name in arrays.get("joints", arrays.get("names", ()))]
    times = arrays.get("time")
    if times is None and "rate" in arrays:
        times = np.arange(len(arrays[array])) / float(arrays["rate"])
    return arrays[array], joints, times
