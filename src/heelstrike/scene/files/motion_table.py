"""A motion table: columns of time and joints in a CSV or npz file.

    time, R_KN, L_KN             joints by name [rad or m], time [s]
    0.0,  0.40, 0.40
    0.5,  1.20, 1.20

Joints without a column keep the pose in which the scene starts. A column `NAME.torque` holds the
feed-forward torque of a joint [N m or N]. An npz file holds each column as an array of that name.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.files import check_regular
from heelstrike.npz import read_arrays
from heelstrike.robot import Robot
from heelstrike.scene.servo import Trajectory

TORQUE = ".torque"


@dataclass(frozen=True)
class MotionTable:
    """Motion that the servo follows: [motion].

    Args:
        file: table of time and joints, .csv or .npz, relative to this file.
    """

    file: Path

    def trajectory(self, robot: Robot, q0: np.ndarray) -> Trajectory:
        """Return the motion as a trajectory of a robot that starts at q0."""
        columns = _npz(self.file) if self.file.suffix == ".npz" else _csv(self.file)
        if "time" not in columns:
            raise HeelstrikeError(
                f"{self.file}: a motion needs a column 'time' [s]; columns: {', '.join(columns)}"
            )
        times = columns.pop("time")
        q = np.tile(q0, (len(times), 1))
        torque = np.zeros((len(times), robot.nv))
        joints = {joint.name: joint for joint in robot.joints if joint.nv == 1}
        for name, values in columns.items():
            joint = joints.get(name.removesuffix(TORQUE))
            if joint is None:
                unknown = UnknownNameError("joint", name, joints, owner=robot.name)
                raise HeelstrikeError(f"{self.file}: {unknown.problem}", remedy=unknown.remedy)
            if name.endswith(TORQUE):
                torque[:, joint.iv] = values
            elif joint.kind == "continuous":
                q[:, joint.q_slice] = np.stack([np.cos(values), np.sin(values)], axis=1)
            else:
                q[:, joint.iq] = values
        found = Trajectory(times, q, torque if torque.any() else None)
        found.table(robot)  # raises for times that do not rise
        return found


def _csv(path: Path) -> dict[str, np.ndarray]:
    check_regular(path)
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file, skipinitialspace=True) if row]
    except OSError as error:
        raise HeelstrikeError(f"{path}: cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise HeelstrikeError(f"{path}: not a table of comma-separated text ({error})") from None
    if len(rows) < 3:
        raise HeelstrikeError(
            f"{path}: a motion needs a row of names and at least two rows of numbers"
        )
    names = [name.strip() for name in rows[0]]
    if len(set(names)) < len(names):
        raise HeelstrikeError(f"{path}: a column occurs twice: {', '.join(names)}")
    numbers = []
    for i, row in enumerate(rows[1:], start=2):
        try:
            numbers.append([float(word) for word in row])
        except ValueError as error:
            raise HeelstrikeError(f"{path}, row {i}: {error}") from None
        if len(row) != len(names) or not np.all(np.isfinite(numbers[-1])):
            raise HeelstrikeError(f"{path}, row {i}: expected {len(names)} finite numbers")
    return dict(zip(names, np.array(numbers).T, strict=True))


def _npz(path: Path) -> dict[str, np.ndarray]:
    columns = {name: np.asarray(x, dtype=float) for name, x in read_arrays(path).items()}
    shapes = {values.shape for values in columns.values()}
    if len(shapes) != 1 or len(shapes.pop()) != 1:
        raise HeelstrikeError(f"{path}: the columns of a motion must be arrays of equal length")
    if not all(np.all(np.isfinite(values)) for values in columns.values()):
        raise HeelstrikeError(f"{path}: the numbers of a motion must be finite")
    return columns
