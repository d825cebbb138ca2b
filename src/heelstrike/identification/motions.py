"""Measured motions, poses of a robot over time, and simulations of them with many parameters.

    r = (position - measured) / noise [m],  (angle between the two) / noise [rad]

One world a motion and set of parameters, all in one run. A motion begins at its first pose with a
velocity that is given; both are taken as exact. NaN where a motion has ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heelstrike.contact.restitution import Floats
from heelstrike.errors import HeelstrikeError
from heelstrike.identification.assembly import Assembly
from heelstrike.record.recording import Recording
from heelstrike.robot.robot import Robot
from heelstrike.simulate.simulator import Simulator

TINY = 1e-300
MAX_BYTES = 2**27
"""Largest memory of the poses of one run [bytes]; further sets follow in further runs."""


@dataclass(frozen=True)
class Motions:
    """Measured motions side by side."""

    step: float
    """Time from frame to frame [s]."""
    q: Floats
    """Poses, (motion, frame, nq); NaN where a motion has ended."""
    v0: Floats
    """Initial velocities, (motion, nv)."""

    def __len__(self) -> int:
        return len(self.q)


def motions(measured: Any) -> Motions:
    """Return the motions of a recording, of a table with time, q and v0 (or v), or of a list of
    these.
    """
    if isinstance(measured, Sequence):
        return _together([motions(one) for one in measured])
    table = measured.data if isinstance(measured, Recording) else measured
    missing = [name for name in ("time", "q") if name not in table]
    if missing or not ("v0" in table or "v" in table):
        raise HeelstrikeError(
            "a motion is a table with time [s], q, and v0, or a recording with q and v; this one "
            f"lacks {missing[0] if missing else 'v0'}"
        )
    time, q = (np.asarray(table[name], dtype=float) for name in ("time", "q"))
    start = "v0" if "v0" in table else "v"
    v = np.asarray(table[start], dtype=float)
    q = q[None] if q.ndim == 2 else q
    v0 = np.atleast_2d(v) if start == "v0" else (v[None] if v.ndim == 2 else v)[:, 0]
    if q.ndim != 3 or q.shape[1] != len(time) or len(v0) != len(q):
        raise HeelstrikeError(
            f"q is (time, nq) or (motion, time, nq), with {len(time)} times; got shape {q.shape}, "
            f"and {len(v0)} velocities to begin with"
        )
    gaps = np.diff(time)
    if len(time) < 2 or np.ptp(gaps) > 1e-6 * abs(gaps.mean()) + 1e-9 or gaps.mean() <= 0:
        raise HeelstrikeError("times rise in equal steps, two at least; resample the table first")
    if not np.all(np.isfinite(q[:, 0])) or not np.all(np.isfinite(v0)):
        raise HeelstrikeError("a motion begins with finite q and v; leave frames without out")
    return Motions(float(gaps.mean()), q, v0)


def _together(parts: list[Motions]) -> Motions:
    """Stack motions; shorter ones are padded with NaN."""
    if not parts:
        raise HeelstrikeError("no motions; give a recording, a table, or a list of these")
    steps = {round(part.step, 9) for part in parts}
    if len(steps) > 1:
        raise HeelstrikeError(f"motions have frames at one rate; these are {sorted(steps)} s apart")
    frames = max(part.q.shape[1] for part in parts)
    padded = [
        np.pad(part.q, ((0, 0), (0, frames - part.q.shape[1]), (0, 0)), constant_values=np.nan)
        for part in parts
    ]
    return Motions(
        parts[0].step, np.concatenate(padded), np.concatenate([part.v0 for part in parts])
    )


class Rollouts:
    """Simulations of all motions with sets of parameters."""

    def __init__(self, sim: Simulator, measured: Motions, assembly: Assembly) -> None:
        self.sim, self.measured, self.assembly = sim, measured, assembly
        dt = float(sim.parameters["dt"].ravel()[0])
        self.every = round(measured.step / dt)
        if self.every < 1 or abs(self.every * dt / measured.step - 1) > 1e-6:
            raise HeelstrikeError(
                f"frames are {measured.step:g} s apart, which is no multiple of the simulator's "
                f"dt = {dt:g} s; take dt = {measured.step / max(1, round(measured.step / dt)):.6g}"
            )
        nq, nv = sim.robot.nq, sim.robot.nv
        if measured.q.shape[2] != nq or measured.v0.shape[1] != nv:
            raise HeelstrikeError(
                f"{sim.robot.name} has {nq} coordinates and {nv} velocities; the table has "
                f"{measured.q.shape[2]} and {measured.v0.shape[1]}"
            )

    def poses(self, values: Mapping[str, Floats]) -> Floats:
        """Return q (set, motion, frame, nq) for parameters by path, one value per set; inf after a
        failure.
        """
        sets = len(next(iter(values.values()))) if values else 1
        values = self.assembly(values)
        most = max(1, MAX_BYTES // self.measured.q.nbytes)
        parts = [
            self._run({path: value[k : k + most] for path, value in values.items()})
            for k in range(0, sets, most)
        ]
        return np.concatenate(parts)

    def _run(self, values: Mapping[str, Floats]) -> Floats:
        q, many = self.measured.q, len(self.measured)
        sets = len(next(iter(values.values()))) if values else 1
        steps = self.every * (q.shape[1] - 1)
        data = self.sim.run(
            steps=steps,
            q0=np.tile(q[:, 0], (sets, 1)),
            v0=np.tile(self.measured.v0, (sets, 1)),
            worlds=sets * many,
            vary={path: np.repeat(value, many, axis=0) for path, value in values.items()},
            record=("q",),
            every=self.every,
            progress=False,
        ).data
        made, failed = np.asarray(data.q.values, dtype=float), data.failed.values >= 0
        if made.shape[1] < q.shape[1]:
            raise KeyboardInterrupt  # which ends a run early, quietly
        made[failed] = np.inf
        return made.reshape(sets, many, -1, q.shape[2])


@dataclass(frozen=True)
class PoseErrors:
    """Errors of simulated poses, (..., motion, frame); NaN after a motion has ended."""

    position: Floats
    """Error of all linear coordinates together [m]."""
    angle: Floats
    """Error of all angular coordinates together [rad]."""


def pose_errors(robot: Robot, poses: Floats, measured: Floats) -> PoseErrors:
    """Return the errors of poses (..., motion, frame, nq)."""
    linear, angular = differences(robot, poses, measured)
    return PoseErrors(np.linalg.norm(linear, axis=-1), np.linalg.norm(angular, axis=-1))


def differences(robot: Robot, poses: Floats, measured: Floats) -> tuple[Floats, Floats]:
    """Return the differences to the measured coordinates: linear ones [m], angular ones [rad], on
    the last axis.
    """
    linear, angular = [np.zeros((*poses.shape[:-1], 0))], [np.zeros((*poses.shape[:-1], 0))]
    for joint in robot.joints:
        a, b = poses[..., joint.q_slice], measured[..., joint.q_slice]
        places = {"prismatic": 1, "planar": 2, "free": 3}.get(joint.kind, 0)
        linear.append(a[..., :places] - b[..., :places])
        a, b = a[..., places:], b[..., places:]
        if joint.kind == "revolute":
            angular.append(a - b)
        elif joint.kind in ("continuous", "planar"):
            turn = np.arctan2(a[..., 1], a[..., 0]) - np.arctan2(b[..., 1], b[..., 0])
            angular.append(((turn + np.pi) % (2 * np.pi) - np.pi)[..., None])
        elif joint.kind in ("spherical", "free"):
            angular.append(_turn(a, b))
    return np.concatenate(linear, axis=-1), np.concatenate(angular, axis=-1)


def _turn(a: Floats, b: Floats) -> Floats:
    """Return the rotation vector from quaternions b to a (xyzw), in the frame of b; inf of one
    that failed.
    """
    with np.errstate(invalid="ignore"):
        cross = np.cross(a[..., :3], b[..., :3])
        along = b[..., 3:] * a[..., :3] - a[..., 3:] * b[..., :3] + cross
        w = np.sum(a * b, axis=-1, keepdims=True)
        size = np.linalg.norm(along, axis=-1, keepdims=True)
        angle = 2 * np.arctan2(size, np.abs(w)) * np.where(w < 0, -1, 1)
        turned = along * (angle / np.maximum(size, TINY))
    return np.where(np.isnan(turned) & np.isfinite(b[..., :3]), np.inf, turned)
