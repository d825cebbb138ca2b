"""A thrown free body: how its start is found, its phases, and errors of its pose.

The velocity at the start comes from all frames of flight before it: a parabola with g, the way
between the ends, and one rotation about one axis.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from heelstrike.errors import FileError
from heelstrike.validation.measured_set import Floats, Ints

PHASES = ("flight", "impact", "slide", "rest")
FLIGHT, IMPACT, SLIDE, REST = range(4)
AFTER = 0.05
"""Time after the first touch that counts as the impact [s]."""
STILL = 0.05
"""Speed, of the centre [m/s] and of corners by rotation, below which a body rests."""


def flight(
    position: Floats, rotations: Rotation, gravity: float, rate: float
) -> tuple[Floats, Floats]:
    """Return velocity (world) and angular velocity (body) at the last frame of a free flight."""
    t = (np.arange(len(position)) - len(position) + 1) / rate
    along = (position[-1] - position[0]) / -t[0]
    _, vertical = np.polynomial.polynomial.polyfit(t, position[:, 2] + gravity * t**2 / 2, 1)
    spin = (rotations[0].inv() * rotations[-1]).as_rotvec() / -t[0]
    return np.array([along[0], along[1], vertical]), spin


def first_near(path: Path, case: str, clearance: Floats) -> int:
    """Return the first frame whose clearance [m] is at most 0; raise for one that never lands."""
    near = np.flatnonzero(clearance <= 0)
    if not len(near):
        raise FileError(
            f"'{path}': {case} never comes near the ground: at row {int(clearance.argmin())}, its "
            f"lowest, {1e3 * clearance.min():.0f} mm are left",
            path=str(path),
            remedy="leave it out of the file, or check that heights are in m above the ground",
        )
    return int(near[0])


def side_by_side(cases: list[Floats]) -> Floats:
    """Return rows of several lengths as one array (case, frame, column), NaN after their ends."""
    made = np.full((len(cases), max(map(len, cases)), cases[0].shape[1]), np.nan)
    for row, own in zip(made, cases, strict=True):
        row[: len(own)] = own
    return made


def ends(measured: Floats) -> Floats:
    """Return the last measured frame of each case, (case, channel)."""
    last = np.isfinite(measured[..., 0]).sum(axis=1) - 1
    return measured[np.arange(len(measured)), last]


def phases(touched: np.ndarray, speed: Floats, measured: np.ndarray, rate: float) -> Ints:
    """Return the phase of each frame, (case, frame); -1 where nothing was measured.

    Args:
        touched: whether the body has come near the ground, (case, frame).
        speed: greatest speed of its points [m/s], (case, frame).
        measured: whether a frame was measured.
        rate: frames a second.
    """
    landed = np.maximum.accumulate(touched, axis=1)
    first = np.argmax(landed, axis=1)[:, None]
    frame = np.arange(touched.shape[1])[None]
    moving = np.where(np.isnan(speed), 0, speed) > STILL
    later = np.maximum.accumulate(moving[:, ::-1], axis=1)[:, ::-1]
    found = np.where(landed, np.where(frame - first < AFTER * rate, IMPACT, SLIDE), FLIGHT)
    found = np.where(landed & ~later & (found == SLIDE), REST, found)
    return np.where(measured, found, -1)


def heading(v: Floats) -> Rotation:
    """Return the turns about the vertical that make horizontal velocities (case, 3) point to x."""
    return Rotation.from_euler("z", -np.arctan2(v[:, 1], v[:, 0])[:, None])
