"""How the iCub's base moved: by its gyroscope, and by soles that do not slip.

The files' base pose is the output of an estimator. Differentiated, it lets loaded soles slip at
70 to 100 mm/s, turns 6 deg/s otherwise than the gyroscope does, and an IMU that it carries would
feel what the accelerometer does not. So only what is slow in it is kept, below SLOW; what is fast
is

- rotation: the gyroscope's rate, less its mean difference from the pose;
- velocity: that with which loaded soles stand still, a mean weighted by their loads.

The accelerometer, which takes no part, agrees better with this motion than with the files', and so
do the sum of the forces and their division between the feet, by the momentum of the whole robot
(icub_balance.py).
"""

from __future__ import annotations

import numpy as np
from scipy.signal import butter, filtfilt
from scipy.spatial.transform import Rotation

from heelstrike.validation.icub_robot import IMU, RATE, robot, soles, weight
from heelstrike.validation.measured_set import Floats

CUTOFF, SLOW = 8.0, 0.2
"""Bandwidth of references and of the IMU; that below which the files' base pose is kept [Hz]."""


def low_passed(values: Floats, cutoff: float = CUTOFF) -> Floats:
    """Return values (frame, column) low-passed, without delay."""
    return np.asarray(filtfilt(*butter(2, cutoff / (RATE / 2)), values, axis=0))


def moved(q: Floats, gyro: Floats, force: Floats) -> Floats:
    """Return q (frame, nq) with the base as gyroscope and soles say that it moved.

    Args:
        q: coordinates, the base's as the file has it.
        gyro: angular velocity in the IMU's frame [rad/s].
        force: of the ground on left and right foot [N].
    """
    filed, found = Rotation.from_quat(q[:, 3:7]), q.copy()
    rate = gyro @ IMU[0].T
    steps = (rate[1:] + rate[:-1]) / 2
    steps += ((filed[:-1].inv() * filed[1:]).as_rotvec() * RATE - steps).mean(axis=0)
    turned = [filed[0]]
    for step in steps:
        turned.append(turned[-1] * Rotation.from_rotvec(step / RATE))
    drifted = Rotation.concatenate(turned)
    drift = low_passed((drifted * filed.inv()).as_rotvec(), SLOW)
    found[:, 3:7] = (Rotation.from_rotvec(-drift) * drifted).as_quat()
    found[1:, 3:7] *= np.cumprod(
        np.where(np.sum(found[1:, 3:7] * found[:-1, 3:7], axis=1) < 0, -1, 1)
    )[:, None]
    way = standing(found, velocities(found), force)
    way = np.concatenate([np.zeros((1, 3)), np.cumsum((way[1:] + way[:-1]) / (2 * RATE), axis=0)])
    found[:, :3] = way - low_passed(way - q[:, :3], SLOW)
    return found


def velocities(q: Floats) -> Floats:
    """Return the velocities (frame, nv) of coordinates, by differences."""
    turned = Rotation.from_quat(q[:, 3:7])
    v = np.zeros((len(q), robot().nv))
    v[:, :3] = turned.inv().apply(np.gradient(q[:, :3], 1 / RATE, axis=0))
    v[1:-1, 3:6] = (turned[:-2].inv() * turned[2:]).as_rotvec() * RATE / 2
    v[[0, -1], 3:6] = v[[1, -2], 3:6]
    v[:, 6:] = np.gradient(q[:, 7:], 1 / RATE, axis=0)
    return v


def standing(q: Floats, v: Floats, force: Floats) -> Floats:
    """Return the base's velocity (frame, 3) in the world with which loaded soles stand still."""
    still = v.copy()
    still[:, :3] = 0
    share = np.clip(force / weight(), 0, None)
    share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-6)
    slip = [own @ soles(at, rate)[1] for own, at, rate in zip(share, q, still, strict=True)]
    return -low_passed(np.array(slip))
