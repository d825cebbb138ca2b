"""Recordings of a real iCub 2.5: what is read of a file, and how it is made ready.

Joint angles, base pose, IMU and the vertical force at both feet, nominally at 100 Hz
[Ramadoss2022]. `base_rotation` is roll, pitch, yaw about fixed axes: with it, and no other of the
four conventions, the soles are where the file has them, and the accelerometer's mean is upright to
0.5 deg.

Each recording is corrected by what it says itself, without any simulation:

- `time` is when a frame was written down. Angles and base were taken at equal steps before (with
  these, differences of angles agree with the recorded rates), while a recorder jittered by
  milliseconds or stalled for up to 0.17 s and then wrote all that had queued. Forces and IMU are
  the newest at the time of writing; values that repeat are dropped.
- Angles of joints step by 1.5 mrad. References are low-passed, forwards and backwards.
- What is fast in the base's pose is taken from gyroscope and soles (icub_base.py).
- Forces are DELAY late: so says their sum beside the momentum of the measured walk
  (icub_balance.py), without any law. Swaying is too slow to tell.
- Force sensors are zeroed, which takes off the weight of the foot below the sensor as well: by the
  median while the other foot carries the robot, in a recording without steps by half of what both
  show beyond the weight. (Foot times its acceleration, up to 1 % of the weight, stays in them.)
- Soles of a standing robot are flat on the ground: the mean tilt of each loaded sole, by base pose
  and joint angles, is taken off its ankle's angles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from heelstrike.errors import FileError
from heelstrike.validation.files import check_finite, check_shape, columns
from heelstrike.validation.icub_base import low_passed, moved
from heelstrike.validation.icub_robot import FEET, RATE, corners, robot, soles, weight
from heelstrike.validation.measured_set import Floats

LOADED, AIR = 0.3, 0.9
"""Shares of the weight above which a foot stands, and the other one is in the air."""
DELAY = 0.03
"""Time by which recorded forces lag behind angles and base [s]."""
IMU_COLUMNS = "angular_velocity", "acceleration"
GAP = 0.25
"""Longest time without a frame [s]."""
TURN, LIGHT = 2 * np.pi, 0.2
"""Largest angle [rad]; largest share of the weight by which the mean of the forces may be off."""


@dataclass(frozen=True)
class Recording:
    """A recording in equal steps, from its first frame on."""

    path: Path
    q: Floats
    """Coordinates of the robot, (frame, nq), low-passed; joints that were not measured at 0."""
    filed: Floats
    """The same, the base where the file has it."""
    force: Floats
    """Vertical forces of the ground on left and right foot, (frame, 2) [N]."""
    gyro: Floats
    """Angular velocity, IMU's frame [rad/s]."""
    acceleration: Floats
    """Accelerometer, IMU's frame [m/s^2]."""
    zero: Floats
    """What the two force sensors show without load [N]."""
    tilt: Floats
    """Mean pitch and roll of the loaded left and right sole [deg]."""

    def __len__(self) -> int:
        return len(self.q)

    @cached_property
    def spline(self) -> CubicSpline:
        """Coordinates over time [s]."""
        return CubicSpline(np.arange(len(self)) / RATE, self.q)

    def state(self, time: float) -> tuple[Floats, Floats]:
        """Return q and v at a time [s], with the lowest corner of the soles at z = 0."""
        q, rate = self.spline(time), self.spline(time, 1)
        q[3:7] /= np.linalg.norm(q[3:7])
        turned = Rotation.from_quat(q[3:7])
        v = np.concatenate([turned.inv().apply(rate[:3]), spin(q[3:7], rate[3:7]), rate[7:]])
        q[2] -= corners(q).min()
        return q, v


def spin(quaternion: Floats, rate: Floats) -> Floats:
    """Return the angular velocity in the body's frame of a quaternion xyzw and its rate."""
    x, y, z, w = quaternion
    inward = np.array([[w, z, -y, -x], [-z, w, x, -y], [y, -x, w, -z]])
    return np.asarray(2 * inward @ rate)


def read(path: Path, names: tuple[str, ...]) -> Recording:
    """Return a recording; raise FileError for what cannot be used."""
    data = columns(path, names, text=("joints",))
    time, frames = data["time"], len(data["time"])
    for name, width in (("q", len(data["joints"])), ("acceleration", 3), ("angular_velocity", 3),
                        ("base_position", 3), ("base_rotation", 3)):  # fmt: skip
        check_shape(path, name, data[name], (frames, width))
        check_finite(path, name, data[name], [f"column {k}" for k in range(width)])
    for name in ("time", "left_foot_force", "right_foot_force"):
        check_shape(path, name, data[name], (frames,))
        check_finite(path, name, data[name][:, None], ["it"])
    _check_time(path, time)
    for name in ("q", "base_rotation"):
        _check_angles(path, name, data[name])
    taken = taken_at(time)
    even = np.arange(taken[0], taken[-1], 1 / RATE)

    def framed(values: Floats) -> Floats:
        return low_passed(np.stack([np.interp(even, taken, own) for own in values.T], axis=1))

    def sensed(values: Floats, late: float = 0.0) -> Floats:
        new = np.append(True, np.any(values[1:] != values[:-1], axis=1))
        columns = values[new].T
        return np.stack([np.interp(even + late, time[new], own) for own in columns], axis=1)

    q = np.tile(robot().neutral, (len(even), 1))
    q[:, :3] = framed(data["base_position"])
    angles = framed(np.unwrap(data["base_rotation"], axis=0))
    q[:, 3:7] = Rotation.from_euler("xyz", angles).as_quat()
    q[:, _places(path, data["joints"])] = framed(data["q"])
    force = sensed(np.stack([data["left_foot_force"], data["right_foot_force"]], axis=1), DELAY)
    _check_weight(path, force)
    zero = zeros(force)
    force = force - zero
    gyro, acceleration = (low_passed(sensed(data[name])) for name in IMU_COLUMNS)
    filed, q = q, moved(q, gyro, force)
    tilt = flatten(q, force)
    filed[:, 7:] = q[:, 7:]
    return Recording(path, q, filed, force, gyro, acceleration, zero, tilt)


def taken_at(time: Floats) -> Floats:
    """Return when frames were taken [s], of the times at which they were written down.

    No frame is written before it is taken, and frames are taken a period apart, or several where
    some were lost: the latest times that this allows.
    """
    frames = np.arange(len(time))
    even = frames * min(1 / RATE, (time[-1] - time[0]) / (len(time) - 1))
    return even + np.minimum.accumulate((time - even)[::-1])[::-1]


def _check_time(path: Path, time: Floats) -> None:
    gaps = np.diff(time)
    bad = np.flatnonzero((gaps <= 0) | (gaps > GAP))
    if len(bad):
        row = int(bad[0])
        raise FileError(
            f"'{path}': row {row + 1} is {gaps[row]:.3g} s after row {row}; allowed: up to {GAP} s",
            path=str(path),
            remedy=f"cut the file before row {row + 1}; times are in s, and rise",
        )
    if not 0.5 < np.median(gaps) * RATE < 2:
        raise FileError(
            f"'{path}' has {1 / np.median(gaps):.3g} frames a second, not {RATE}",
            path=str(path),
            remedy=f"resample the data to {RATE} Hz",
        )


def _check_angles(path: Path, name: str, angles: Floats) -> None:
    bad = np.argwhere(np.abs(angles) > TURN)
    if len(bad):
        row, column = (int(i) for i in bad[0])
        raise FileError(
            f"'{path}': {name}, row {row}, column {column} is {angles[row, column]:.4g} rad, more "
            "than a turn",
            path=str(path),
            remedy="give angles in rad",
        )


def _check_weight(path: Path, force: Floats) -> None:
    carried = float(np.median(force.sum(axis=1)))
    if not abs(carried / weight() - 1) < LIGHT:
        raise FileError(
            f"'{path}': both feet carry {carried:.3g} N (median over all rows), and the robot "
            f"weighs {weight():.3g} N",
            path=str(path),
            remedy="give vertical forces in N, of the robot of icub.urdf",
        )


def _places(path: Path, names: np.ndarray) -> list[int]:
    """Return where joints stand in q; those in no file stay at 0."""
    own = {joint.name: joint.iq for joint in robot().joints}
    unknown = [str(name) for name in names if str(name) not in own]
    if unknown:
        raise FileError(
            f"'{path}': icub.urdf has no joint '{unknown[0]}'",
            path=str(path),
            remedy="name joints as the URDF does",
        )
    return [own[str(name)] for name in names]


def zeros(force: Floats) -> Floats:
    """Return what each sensor shows without load [N]."""
    total = weight()
    flying = force[:, ::-1] > AIR * total
    if flying.sum(axis=0).min() < RATE // 4:
        return np.full(2, (np.median(force.sum(axis=1)) - total) / 2)
    return np.array([np.median(force[flying[:, foot], foot]) for foot in range(2)])


def flatten(q: Floats, force: Floats) -> Floats:
    """Take the mean tilt of loaded soles off the ankles' angles, in place; return it [deg]."""
    found = np.zeros((2, 2))
    joints = {joint.name: joint for joint in robot().joints}
    for side, foot in enumerate(FEET):
        loaded = np.flatnonzero(force[:, side] > LOADED * weight())
        ups = [soles(q[frame], np.zeros(robot().nv))[2][side] for frame in loaded]
        up = np.mean(ups, axis=0) if ups else np.array([0.0, 0.0, 1.0])
        pitch, roll = -up[0], up[1]
        found[side] = np.degrees([pitch, roll])
        q[:, joints[f"{foot}_ankle_pitch"].iq] -= pitch
        q[:, joints[f"{foot}_ankle_roll"].iq] -= roll if foot == "l" else -roll
    return found
