"""The elbow's files: from poses as they were tracked to poses above a level board.

Two things are wrong with the poses in the files, and are put right here:

- **The world is not level.** Blocks that lie flat at rest show the board's normal, and flights show
  the direction of gravity; both lean by 2.4 deg in tosses below NEXT_SESSION, by less than 0.2 deg
  in the others, so cameras were set up twice. Poses are turned so that the board's normal points
  up: NORMALS, medians over training tosses, which `normals` measures.
- **The ground's height is not known.** The makers moved each toss so that, with blocks of the
  nominal size, the lowest corner of its last frame has z = 0, whether the elbow rests or not. The
  board lies TILTED above what the lowest corner is below in a share LOW of the frames after the
  landing: one number per toss, the same for every law and for MuJoCo.

It falls with 9.603 m/s^2, so that lengths are 2.1 % short in these data, as the cube's are: blocks
and gravity are taken that much smaller.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from heelstrike.validation import free_body
from heelstrike.validation.files import (
    check_finite,
    check_quaternions,
    check_rate,
    check_shape,
    check_velocity,
    columns,
)
from heelstrike.validation.measured_set import Cases, Floats

RATE = 148
"""Frames a second."""
SHORT, GRAVITY = 9.603 / 9.81, 9.603
"""A length in the data over the true one; [m/s^2] in the data's lengths."""
LENGTH = 0.1
"""Of a block [m]."""
HINGE, CENTRE = np.array([-0.035, 0.06, 0.0]), np.array([0.035, 0.0, 0.0])
"""Hinge in block 1, and centre of block 2 from the hinge [m]."""
SIGNS = np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T
"""Of the eight corners of a block, along its axes."""
NEXT_SESSION = 320
"""First id of the second session."""
NORMALS = (-0.0315, 0.0275), (-0.0005, 0.0030)
"""x and y of the board's normal in the world of the files, of either session."""
LOW = 0.1
"""Share of the frames after the landing in which the lowest corner is below the board."""
TILTED = 0.6e-3
"""Height of the board above that corner [m]: tilts of 0.6 deg put a corner of a block that lies
flat too low. With it, such a block is as high as half of its side."""
LANDED = 30e-3
"""Height of the lowest corner below which a toss has landed, before the board is known [m]."""
NEAR, BEFORE, LEAST, FLOWN = 18e-3, 3, 5, 9
"""Clearance that counts as near [m]: a frame's way; frames before it; frames of flight that give a
velocity, least and most."""
FLAT = 0.985
"""Cosine of the tilt below which a block lies on a face."""
COLUMNS = "x", "ids"
"""Arrays that a file has."""
NAMES = (
    *("x", "y", "z", "qw", "qx", "qy", "qz", "hinge"),
    *("vx", "vy", "vz", "wx", "wy", "wz", "hinge rate"),
)


def read(path: Path) -> Cases:
    """Return the tosses of a file, level and above z = 0; poses q (toss, frame, 8)."""
    data = columns(path, COLUMNS)
    check_shape(path, "x", data["x"], (None, None, len(NAMES)))
    check_shape(path, "ids", data["ids"], (len(data["x"]),))
    if "rate" in data:
        check_rate(path, float(data["rate"]), RATE)
    begun = []
    for number, rows in zip(data["ids"], data["x"], strict=True):
        case = f"toss {number}"
        check_finite(path, case, rows, NAMES)
        check_quaternions(path, case, rows[:, 3:7])
        check_velocity(path, case, rows[:, :3], rows[:, 8:11], RATE)
        begun.append(_begin(path, case, on_board(path, case, rows, int(number))))
    poses = free_body.side_by_side([poses for _, poses in begun])
    v0 = np.array([v0 for v0, _ in begun])
    time = np.arange(poses.shape[1]) / RATE
    return Cases(path.name, np.asarray(data["ids"]), time, poses, {"v0": v0})


def on_board(path: Path, case: str, states: Floats, number: int) -> Floats:
    """Return poses q (frame, 8) in a level world whose z begins at the board."""
    up = level(number)
    turned = (up * Rotation.from_quat(states[:, [4, 5, 6, 3]])).as_quat()
    hinge = np.unwrap(states[:, 7:8], axis=0)
    q = np.concatenate([up.apply(states[:, :3]), turned, hinge], axis=1)
    height = lowest(q)
    # the files' z = 0 is a corner in the last frame, so a board up to 30 mm off is found
    landed = free_body.first_near(path, case, states[:, 2] + height - q[:, 2] - LANDED)
    q[:, 2] -= np.quantile(height[landed:], LOW) + TILTED
    return q


def level(number: int) -> Rotation:
    """Return the turn that points the board's normal up, of the toss with this id."""
    x, y = NORMALS[number >= NEXT_SESSION]
    return Rotation.from_rotvec([y, -x, 0.0])


def _begin(path: Path, case: str, q: Floats) -> tuple[Floats, Floats]:
    """Return v0 and the poses from the start on."""
    near = free_body.first_near(path, case, lowest(q) - NEAR)
    start = max(0, near - BEFORE)
    first = max(0, start + 1 - FLOWN)
    v0 = flight(q[first : max(start + 1, LEAST)], start - first)
    inward = Rotation.from_quat(q[start, 3:7]).inv()
    return np.concatenate([inward.apply(v0[:3]), v0[3:]]), q[start:]


def flight(q: Floats, at: int) -> Floats:
    """Return velocity (world), angular velocity (body) and hinge rate at a frame of a flight.

    A fall with GRAVITY, and straight lines through rotation vectors from this frame and through
    hinge angles: parabolas predict the frames of flight that follow less well.
    """
    t = (np.arange(len(q)) - at) / RATE
    rotations = Rotation.from_quat(q[:, 3:7])
    turned = (rotations[at].inv() * rotations).as_rotvec()
    fallen = np.outer(GRAVITY * t**2 / 2, [0, 0, 1])
    rows = np.concatenate([q[:, :3] + fallen, turned, q[:, 7:]], axis=1)
    return np.asarray(np.polynomial.polynomial.polyfit(t, rows, 1)[1])


def lowest(q: Floats) -> Floats:
    """Return the height of the lowest corner [m] of poses (..., 8)."""
    flat = q.reshape(-1, 8)
    first = Rotation.from_quat(flat[:, 3:7])
    second = first * Rotation.from_euler("y", flat[:, 7:8])
    corners = SHORT * SIGNS * [LENGTH / 2, LENGTH / 4, LENGTH / 4]
    up = first.as_matrix()[:, 2], second.as_matrix()[:, 2]
    middle = SHORT * (up[0] @ HINGE + up[1] @ CENTRE)
    low = np.minimum((up[0] @ corners.T).min(axis=1), middle + (up[1] @ corners.T).min(axis=1))
    return np.asarray(flat[:, 2] + low).reshape(q.shape[:-1])


def _hinge(q: Floats) -> list[float]:
    """Return how far the hinge is off right angles where blocks lie flat: median, scatter [deg].

    Poses q (toss, 8); blocks that lie on their sides, the hinge's axis upright, say nothing.
    """
    first = Rotation.from_quat(q[:, 3:7])
    second = first * Rotation.from_euler("y", q[:, 7:8])
    flat = [np.abs(one.as_matrix()[:, 2]).max(axis=1) > FLAT for one in (first, second)]
    upright = np.abs(first.as_matrix()[:, 2, 1]) > FLAT
    off = (np.degrees(q[flat[0] & flat[1] & ~upright, 7]) + 45) % 90 - 45
    return [round(float(np.median(off)), 1), round(float(off.std()), 1)]


def at_rest(cases: Cases) -> dict[str, Any]:
    """Return the board's normal, and the scatter of blocks that lie flat at the end."""
    ends = free_body.ends(cases.measured)
    rotations = Rotation.from_quat(ends[:, 3:7])
    up = rotations.as_matrix()[:, 2]
    flat = np.abs(up[:, 2]) > FLAT
    normals = np.sign(up[:, 2:3]) * rotations.as_matrix()[:, :, 2]
    heights = 1e3 * ends[flat, 2]
    middle = np.quantile(heights, [0.16, 0.84])
    tilts = np.degrees(np.quantile(normals[flat, :2], [0.16, 0.84], axis=0))
    leaning = [round(float(np.degrees(np.hypot(*normal))), 1) for normal in NORMALS]
    found: dict[str, Any] = {
        "lean of the board in the files, first and second session [deg]": leaning,
        "height of a block that lies flat [mm]": round(float(np.median(heights)), 1),
        "its scatter [mm]": round(float(np.ptp(middle)) / 2, 1),
        "its tilt, each axis [deg]": round(float(np.ptp(tilts, axis=0).mean()) / 2, 1),
        "hinge of blocks that lie flat, off a right angle [deg], and its scatter": _hinge(ends),
    }
    for word, of in (("first", cases.ids < NEXT_SESSION), ("second", cases.ids >= NEXT_SESSION)):
        if (flat & of).sum() > 1:
            left = np.degrees(np.median(normals[flat & of, :2], axis=0))
            found[f"tilt of the board that is left, {word} session [deg]"] = [
                round(float(x), 2) for x in left
            ]
    return found
