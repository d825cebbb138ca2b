"""Recordings of a real iCub 2.5: what is read of a file, and how it is made ready.

Joint angles, base pose, IMU and the vertical force at both feet, nominally at 100 Hz
[Ramadoss2022]. The time between frames varies from 0.2 to 27 ms: everything is interpolated to
equal steps. `base_rotation` is roll, pitch, yaw about fixed axes: with it, and no other of the four
conventions, the soles are where the file has them, and the accelerometer's mean is upright to
0.5 deg. Gyroscope, joint rates and base pose agree best with no delay between them.

Each recording is corrected by what it says itself, without any simulation:

- Angles of joints step by 1.5 mrad. References are low-passed at CUTOFF, forwards and backwards.
- Forces are DELAY late: with it, and no other whole number of frames, the forces that laws predict
  agree best with those recorded, under springs, dampers and rigid contact alike; shares of the
  weight by the ZMP of the measured motion, without any law, say 30 to 40 ms. Swaying is too slow to
  tell.
- Force sensors are zeroed, which takes off the weight of the foot below the sensor as well: by the
  median while the other foot carries the robot, in a recording without steps by half of what both
  show beyond the weight. (Foot times its acceleration, up to 1 % of the weight, stays in them.)
- Soles of a standing robot are flat on the ground: the mean tilt of each loaded sole, by base pose
  and joint angles, is taken off its ankle's angles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.interpolate import CubicSpline
from scipy.signal import butter, filtfilt
from scipy.spatial.transform import Rotation

import heelstrike as hs
from heelstrike.errors import FileError
from heelstrike.robot.convert import to_pinocchio
from heelstrike.validation.files import check_finite, check_shape, columns, robot_file
from heelstrike.validation.measured_set import Floats

RATE, CUTOFF = 100, 8.0
"""Frames a second; bandwidth of references and of the IMU [Hz]."""
FEET = ("l", "r")
SOLE, CENTRE = (0.195, 0.095), {"l": (0.0315, 0.004), "r": (0.0315, -0.004)}
"""Length and width of a sole, and its centre in the sole's frame [m]: the boxes of the URDF."""
GRAVITY = 9.81
"""[m/s^2]"""
LOADED, AIR = 0.3, 0.9
"""Shares of the weight above which a foot stands, and the other one is in the air."""
IMU = pin.rpy.rpyToMatrix(-2.09439521059, 0.0, -1.57079632679), (0.085155, -0.011, -0.112309)
"""Rotation and position of the IMU in the base: root_link_imu_frame of the URDF."""
DELAY = 0.03
"""Time by which recorded forces lag behind angles and base [s]."""
GAP = 0.25
"""Longest time without a frame [s]."""
TURN, LIGHT = 2 * np.pi, 0.2
"""Largest angle [rad]; largest share of the weight by which the mean of the forces may be off."""


@cache
def robot() -> hs.Robot:
    """Return iCub with the four lower corners of each sole as contact points."""
    corners = [
        (f"{foot}_sole", (x + sx * SOLE[0] / 2, y + sy * SOLE[1] / 2, 0.0))
        for foot, (x, y) in CENTRE.items()
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    return hs.load(robot_file("icub.urdf"), points=corners)


def weight() -> float:
    """Return the weight of the model [N]."""
    return robot().mass * GRAVITY


@dataclass(frozen=True)
class Recording:
    """A recording in equal steps, from its first frame on."""

    path: Path
    q: Floats
    """Coordinates of the robot, (frame, nq), low-passed; joints that were not measured at 0."""
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


def corners(q: Floats) -> Floats:
    """Return the heights of the soles' corners [m]."""
    model = _pinocchio()
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    return np.array([data.oMi[p.body + 1].act(np.array(p.position))[2] for p in robot().points])


@cache
def _pinocchio() -> Any:
    return to_pinocchio(robot())


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
    even = np.arange(time[0], time[-1], 1 / RATE)

    def resampled(values: Floats, late: float = 0.0) -> Floats:
        return np.stack([np.interp(even + late, time, column) for column in values.T], axis=1)

    angles = np.unwrap(data["base_rotation"], axis=0)
    low = [low_passed(resampled(data[name])) for name in ("q", "angular_velocity", "acceleration")]
    q = np.tile(robot().neutral, (len(even), 1))
    q[:, :3] = low_passed(resampled(data["base_position"]))
    q[:, 3:7] = Rotation.from_euler("xyz", low_passed(resampled(angles))).as_quat()
    q[:, 3:7] *= np.cumprod([1.0, *np.where(np.sum(q[1:, 3:7] * q[:-1, 3:7], axis=1) < 0, -1, 1)])[
        :, None
    ]
    q[:, _places(path, data["joints"])] = low[0]
    force = resampled(np.stack([data["left_foot_force"], data["right_foot_force"]], axis=1), DELAY)
    _check_weight(path, force)
    zero = zeros(force)
    force = force - zero
    tilt = flatten(q, force)
    return Recording(path, q, force, low[1], low[2], zero, tilt)


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


def low_passed(values: Floats) -> Floats:
    """Return values (frame, column) low-passed at CUTOFF, without delay."""
    return np.asarray(filtfilt(*butter(2, CUTOFF / (RATE / 2)), values, axis=0))


def zeros(force: Floats) -> Floats:
    """Return what each sensor shows without load [N]."""
    total = weight()
    flying = force[:, ::-1] > AIR * total
    if flying.sum(axis=0).min() < RATE // 4:
        return np.full(2, (np.median(force.sum(axis=1)) - total) / 2)
    return np.array([np.median(force[flying[:, foot], foot]) for foot in range(2)])


def flatten(q: Floats, force: Floats) -> Floats:
    """Take the mean tilt of loaded soles off the ankles' angles, in place; return it [deg]."""
    model, found = _pinocchio(), np.zeros((2, 2))
    data = model.createData()
    joints = {joint.name: joint for joint in robot().joints}
    for side, foot in enumerate(FEET):
        loaded = np.flatnonzero(force[:, side] > LOADED * weight())
        body = robot().body(f"{foot}_sole")
        turn = sole_rotation(foot)
        ups = []
        for frame in loaded:
            pin.forwardKinematics(model, data, q[frame])
            ups.append((data.oMi[body + 1].rotation @ turn)[2])
        up = np.mean(ups, axis=0) if ups else np.array([0.0, 0.0, 1.0])
        pitch, roll = -up[0], up[1]
        found[side] = np.degrees([pitch, roll])
        q[:, joints[f"{foot}_ankle_pitch"].iq] -= pitch
        q[:, joints[f"{foot}_ankle_roll"].iq] -= roll if foot == "l" else -roll
    return found


def sole_rotation(foot: str) -> Floats:
    """Return the rotation of a sole in the frame of the body that it is fixed to."""
    return np.asarray(robot().frames[f"{foot}_sole"].rotation)
