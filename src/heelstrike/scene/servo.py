"""The servo of a robot's joints, and the motion that it follows.

    tau = clamp(kp (q_ref - q) + kd (v_ref - v) + torque, -limit, limit)

Implicit (the default): q, v and the references are those at the end of the step, so that any gain
is stable at any step; explicit: those at its start, as in most papers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError
from heelstrike.parameters import static
from heelstrike.robot.robot import Robot

Gain: TypeAlias = float | Sequence[float] | np.ndarray | Mapping[str, float] | None
"""One number for all joints, one a velocity, by joint name, or None: the model's own."""

LARGE = 1e30
"""Stands for "no limit" where a number is needed."""
ROWS = 1_000_000
"""Of a reference table, at most."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion to follow: poses, and torques if any, over time.

    Linear between the times, held before the first and after the last.
    """

    times: ArrayLike
    """Rising [s]; the first may be later than 0."""
    q: ArrayLike
    """Poses, (times, nq)."""
    torque: ArrayLike | None = None
    """Feed-forward, (times, nv) [N m or N]."""

    def table(self, robot: Robot) -> tuple[np.ndarray, float, float]:
        """Rows (positions by velocity index, torques) at equal spacing, rows per second, start."""
        times, q = _array(self.times), _array(self.q)
        if times.ndim != 1 or len(times) < 2 or not np.all(np.diff(times) > 0):
            raise HeelstrikeError("a trajectory's times must rise, and be two at least")
        if q.shape != (len(times), robot.nq):
            raise HeelstrikeError(
                f"a trajectory of {robot.name} has poses of shape ({len(times)}, {robot.nq}), "
                f"not {q.shape}"
            )
        torque = np.zeros((len(times), robot.nv))
        if self.torque is not None:
            torque = _array(self.torque)
            if torque.shape != (len(times), robot.nv):
                raise HeelstrikeError(
                    f"a trajectory's torques have shape ({len(times)}, {robot.nv}), "
                    f"not {torque.shape}"
                )
        columns = np.hstack([np.array([positions(robot, pose) for pose in q]), torque])
        step = np.diff(times).min()
        rows = round((times[-1] - times[0]) / step) + 1
        if rows > ROWS:
            raise HeelstrikeError(
                f"the trajectory's closest times are {step:g} s apart: {rows} rows are too many; "
                "resample it"
            )
        even = np.linspace(times[0], times[-1], rows)
        values = np.stack([np.interp(even, times, column) for column in columns.T], axis=1)
        return values, (rows - 1) / (times[-1] - times[0]), times[0]


@dataclass(frozen=True, eq=False)
class Servo:
    """A PD servo at every joint, with the model's own gains and limits unless others are given."""

    kp: Gain = None
    """Stiffness [N m/rad or N/m]."""
    kd: Gain = None
    """Damping [N m s/rad or N s/m]."""
    limit: Gain = None
    """Of the torque [N m or N]."""
    reference: ArrayLike | Trajectory | None = None
    """A pose to hold, a trajectory to follow, or None: the pose in which a run starts."""
    implicit: bool = True
    control_every: int = 1
    """The reference (explicit: the torque) is renewed every so many steps and held between."""
    delay: float = 0.0
    """By which the reference (explicit: the torque) comes late [s]; in whole control periods where
    it is explicit."""

    def __post_init__(self) -> None:
        check_every(self.control_every)
        if not (isinstance(self.delay, int | float) and 0 <= self.delay < 1e3):
            raise HeelstrikeError(f"the servo's delay is a time in seconds, not {self.delay!r}")

    def resolved(self, robot: Robot, pose: np.ndarray, implicit: bool, dt: float) -> ServoPlan:
        """All of it as vectors by velocity index."""
        kp = gains(robot, self.kp, robot.kp, "kp")
        kd = gains(robot, self.kd, robot.kd, "kd")
        if not (kp.any() or kd.any()):
            raise HeelstrikeError(
                f"{robot.name} says no servo gains; give them: hs.Servo(kp=..., kd=...)"
            )
        limit = gains(robot, self.limit, robot.torque_limit, "limit")
        table, rate, start = None, 1.0, 0.0
        if isinstance(self.reference, Trajectory):
            table, rate, start = self.reference.table(robot)
        elif self.reference is not None:
            pose = _array(self.reference)
            if pose.shape != (robot.nq,) or not np.all(np.isfinite(pose)):
                raise HeelstrikeError(
                    f"a pose of {robot.name} is {robot.nq} finite numbers, the servo's reference "
                    f"is {self.reference!r:.60}"
                )
        implicit = implicit and self.implicit
        return ServoPlan(
            kp=kp,
            kd=kd,
            limit=np.minimum(limit, LARGE),
            q_ref=positions(robot, pose),
            v_ref=np.zeros(robot.nv),
            torque=np.zeros(robot.nv),
            rate=rate,
            start=start,
            delay=self.delay if implicit else 0.0,
            implicit=implicit,
            control_every=self.control_every,
            late=0 if implicit else round(self.delay / (self.control_every * dt)),
            limited=tuple(int(i) for i in np.flatnonzero((limit < LARGE) & ((kp > 0) | (kd > 0)))),
            rows=0 if table is None else len(table),
            follows_start=self.reference is None and table is None,
            table=table,
        )


@dataclass(frozen=True, eq=False)
class ServoPlan:
    """A servo of a certain robot."""

    kp: np.ndarray
    kd: np.ndarray
    limit: np.ndarray
    q_ref: np.ndarray
    v_ref: np.ndarray
    torque: np.ndarray
    """Feed-forward, added before the limit."""
    rate: float
    """Rows of the reference table per second."""
    start: float
    """Time of its first row [s]."""
    delay: float
    implicit: bool = static()
    control_every: int = static()
    late: int = static()
    """Control periods by which an explicit torque comes late."""
    limited: tuple[int, ...] = static()
    rows: int = static()
    follows_start: bool = static()
    """The reference is the pose in which a run starts."""
    table: np.ndarray | None = None

    def own_parameters(self) -> dict[str, Any]:
        """All but the table, which is the same for all worlds."""
        names = ["kp", "kd", "limit", "q_ref", "v_ref", "torque", "rate", "start", "delay"]
        if self.rows:  # they come from the table
            names = [name for name in names if name not in ("q_ref", "v_ref")]
        return {name: getattr(self, name) for name in names}

    def structure(self) -> object:
        """What the compiled code depends on."""
        motors = [bool(x) for x in (self.kp != 0) | (self.kd != 0)]
        statics = (self.implicit, self.control_every, self.late, self.limited, self.rows, motors)
        return ["servo", *statics]


def driven(robot: Robot) -> np.ndarray:
    """1 by velocity index where control can act, 0 for free and planar joints: nothing holds a
    base to the world.
    """
    result = np.zeros(robot.nv)
    for joint in robot.joints:
        result[joint.v_slice] = joint.kind not in ("free", "planar")
    return result


def gains(robot: Robot, given: Gain, default: np.ndarray, what: str) -> np.ndarray:
    """A vector by velocity index; zero (limits: none) where a joint is not driven."""
    if given is None:
        return np.array(default, dtype=float)
    nothing = LARGE if what == "limit" else 0.0
    moved = driven(robot) > 0
    result = np.where(moved, default, nothing)
    if isinstance(given, Mapping):
        names = {joint.name: joint for joint in robot.joints}
        for name, value in given.items():
            if name not in names:
                raise HeelstrikeError(
                    f"{robot.name} has no joint '{name}' for the servo's {what}; joints: "
                    f"{', '.join(names)}"
                )
            result[names[name].v_slice] = value
    else:
        values = _array(given)
        if values.shape not in ((), (robot.nv,)):
            raise HeelstrikeError(
                f"the servo's {what} is one number, {robot.nv} numbers (one a velocity of "
                f"{robot.name}), or numbers by joint name"
            )
        result = np.where(moved, values, nothing) if values.shape == () else values
    if np.any(np.isnan(result)) or np.any(result < 0):
        raise HeelstrikeError(f"the servo's {what} must be numbers of at least 0, not {given!r}")
    return result


def positions(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Joint positions by velocity index: what a reference is compared with; angles of continuous
    joints; 0 for joints whose position is not one number.
    """
    result = np.zeros(robot.nv)
    for joint in robot.joints:
        if joint.kind in ("revolute", "prismatic"):
            result[joint.iv] = q[joint.iq]
        elif joint.kind == "continuous":
            result[joint.iv] = np.arctan2(q[joint.iq + 1], q[joint.iq])
    return result


def _array(given: object) -> np.ndarray:
    """Numbers; NaN alone for what are none."""
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        return np.array(np.nan)


def check_every(every: int) -> None:
    if not isinstance(every, int | np.integer) or every < 1:
        raise HeelstrikeError(f"control_every is a whole number of steps above 0, not {every!r}")
