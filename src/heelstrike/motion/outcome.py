"""Outcome of a motion: whether the robot stood to its end, and its errors.

    outcome(motion, run).stood; .off; .tilt; .lag

A robot is lost where its centre of mass is a tenth of its height away from where the motion wants
it; a motion of somebody else's table says nothing about that, so there its height alone counts. All
that may have caused it is measured until then: soles that tilt on the ground or slide along it,
joints that lag behind the motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.motion.humanoid import Humanoid
from heelstrike.motion.motion import Motion

if TYPE_CHECKING:
    import xarray as xr

    from heelstrike.record.recording import Recording

LOST = 0.1
"""Distance from the motion at which a robot is lost, as a share of the centre of mass's height."""
EVERY = 0.01
"""Time between the poses that are checked [s]."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of one world; SI units, angles in rad."""

    stood: bool
    """Whether the robot was never lost."""
    lost_at: float
    """Time at which it was lost [s]; NaN if it stood."""
    way: float
    """Distance of the centre of mass along the ground [m]."""
    off: float
    """Error of the centre of mass at the end [m]; NaN if the motion does not define it."""
    tilt: float
    """Largest tilt of a sole that carries half the weight or more [rad]."""
    slid: float
    """Distance that loaded contact points slide, mean over points [m]."""
    lag: float
    """Largest error of a joint behind the motion [rad or m]."""
    air: float
    """Longest time without contact [s]."""


def outcome(motion: Motion, run: Recording, human: Humanoid, world: int = 0) -> Outcome:
    """Judge a run that followed the motion from its start, with record='standard'."""
    data = run.data.isel(world=world)
    missing = [name for name in ("q", "com", "slip", "normal_force") if name not in data]
    if missing:
        raise HeelstrikeError(
            f"this recording lacks {', '.join(missing)}, by which a motion is judged; run it with "
            "record='standard'"
        )
    times = data["time"].values
    com = data["com"].values
    tall = float(com[0, 2] - min(sole.translation[2] for sole in human.placed(motion.start)))
    away = com[0, 2] - com[:, 2]
    if motion.feet is not None:
        away = np.linalg.norm(com - _wanted(motion, human, times), axis=1)
    failed = int(data["failed"].values)
    lost = np.flatnonzero(~(away < LOST * tall))
    end = int(lost[0]) if len(lost) else len(times) - 1
    if failed >= 0:
        end = min(end, int(np.searchsorted(times, failed * (times[1] - times[0]))))
    stood = not len(lost) and failed < 0
    return Outcome(
        stood=stood,
        lost_at=float("nan") if stood else float(times[end]),
        way=float(np.linalg.norm(com[end, :2] - com[0, :2])),
        off=float(away[-1]) if motion.feet is not None else float("nan"),
        tilt=_tilt(human, data, end),
        slid=_slid(data, end),
        lag=_lag(motion, human, data, end),
        air=_air(data, end),
    )


def _wanted(motion: Motion, human: Humanoid, times: np.ndarray) -> np.ndarray:
    """Return the wanted positions of the centre of mass, (times, 3)."""
    own = np.arange(0, motion.duration + EVERY / 2, EVERY)
    q = _at(motion, own)
    places = np.array([human.com(pose) for pose in q])
    return np.stack([np.interp(times, own, axis) for axis in places.T], axis=1)


def _at(motion: Motion, times: np.ndarray) -> np.ndarray:
    """Return poses, interpolated linearly between the motion's own."""
    known = np.asarray(motion.times, dtype=float)
    return np.stack([np.interp(times, known, c) for c in np.asarray(motion.q, float).T], axis=1)


def _coarse(data: xr.Dataset, end: int) -> np.ndarray:
    """Return the indices of the poses that are checked."""
    times = data["time"].values
    step = max(1, round(EVERY / float(times[1] - times[0])))
    return np.arange(0, end + 1, step)


def _tilt(human: Humanoid, data: xr.Dataset, end: int) -> float:
    index = _coarse(data, end)
    bodies = data["point_body"].values
    force = data["normal_force"].values[index]
    weight = human.robot.mass * human.robot.gravity
    worst = 0.0
    carried = np.stack(
        [force[:, bodies == human.robot.bodies[foot].name].sum(axis=1) for foot in human.feet]
    )
    for k, i in enumerate(index):
        for side in np.flatnonzero(carried[:, k] >= weight / 2):
            up = human.placed(data["q"].values[i])[side].rotation[2, 2]
            worst = max(worst, float(np.arccos(np.clip(up, -1, 1))))
    return worst


def _slid(data: xr.Dataset, end: int) -> float:
    times = data["time"].values
    speed = np.linalg.norm(data["slip"].values[: end + 1], axis=-1)
    carries = data["normal_force"].values[: end + 1] > 0
    return float(np.where(carries, speed, 0).sum(axis=0).mean() * (times[1] - times[0]))


def _lag(motion: Motion, human: Humanoid, data: xr.Dataset, end: int) -> float:
    index = _coarse(data, end)
    joints = [joint.iq for joint in human.robot.joints if joint.nq == 1]
    wanted = _at(motion, data["time"].values[index])[:, joints]
    return float(np.abs(data["q"].values[index][:, joints] - wanted).max())


def _air(data: xr.Dataset, end: int) -> float:
    times = data["time"].values
    air = ~data["touching"].values[: end + 1].any(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], air, [0]]).astype(int)))
    lengths = edges[1::2] - edges[::2]
    return float(lengths.max(initial=0) * (times[1] - times[0]))
