"""What Newton and Euler say of the iCub's forces, from its measured motion alone, without any law.

The momentum of all bodies changes by weight and ground. So the measured base and joints, with the
masses of the URDF, predict the sum of the vertical forces, and the point about which the ground has
no horizontal moment (ZMP), which divides the sum between the feet if each presses at the centre of
its sole. The error of the sum is one of the measurement, and bounds what a model can reach; that of
the division has in it where below each sole the force acts, which a law decides.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from heelstrike.validation.icub_base import velocities
from heelstrike.validation.icub_models import imu
from heelstrike.validation.icub_recording import DELAY, Recording
from heelstrike.validation.icub_robot import RATE, model, soles, weight
from heelstrike.validation.measured_set import Floats

LAGS = range(-3, 7)
"""Whole frames by which forces are tried to lag."""


def forces(q: Floats) -> Floats:
    """Return the forces (frame, 2) on left and right foot by the momentum of the motion q."""
    own, data = model()
    momentum: Floats = np.zeros((len(q), 6))
    centre: Floats = np.zeros((len(q), 3))
    place: Floats = np.zeros((len(q), 2, 3))
    for frame, (at, rate) in enumerate(zip(q, velocities(q), strict=True)):
        momentum[frame] = pin.computeCentroidalMomentum(own, data, at, rate).vector
        centre[frame] = data.com[0]
        place[frame] = soles(at, rate)[0]
    change: Floats = np.asarray(np.gradient(momentum, 1 / RATE, axis=0))
    total = weight() + change[:, 2]
    height = centre[:, 2] - place[:, :, 2].min(axis=1)
    turning = np.stack([-change[:, 4], change[:, 3]], axis=1)
    zmp = centre[:, :2] + (turning - height[:, None] * change[:, :2]) / total[:, None]
    between = (place[:, 0] - place[:, 1])[:, :2]
    share = np.sum((zmp - place[:, 1, :2]) * between, axis=1) / np.sum(between**2, axis=1)
    share = np.clip(share, 0, 1)
    return np.asarray(total[:, None] * np.stack([share, 1 - share], axis=1))


def check(made: Recording, q: Floats, judged: slice) -> dict[str, float]:
    """Return RMS errors of sensors as a measured motion predicts them; none took part in it.

    Args:
        made: the recording.
        q: the motion, that of the recording or one with another base.
        judged: its frames that count.
    """
    found = forces(q)
    apart = (made.force.sum(axis=1) - found.sum(axis=1))[judged]
    divided = (made.force - found)[judged, 0]
    _, felt = imu(q[None], velocities(q)[None, :, :6])
    unlike = (felt[0] - made.acceleration[1:-1])[judged]
    by_lag = [
        float(np.std((np.roll(made.force.sum(axis=1), -lag) - found.sum(axis=1))[judged]))
        for lag in LAGS
    ]
    return {
        "sum of the forces [% of weight]": 100 * _rms(apart) / weight(),
        "left foot by the ZMP [% of weight]": 100 * _rms(divided) / weight(),
        "accelerometer [m/s2]": float(np.sqrt(np.mean(np.sum(unlike**2, axis=1)))),
        "lag of the forces [ms]": 1e3 * (DELAY + LAGS[int(np.argmin(by_lag))] / RATE),
    }


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2)))
