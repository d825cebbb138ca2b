"""The servo of a robot's joints, and the motion that it follows.

    tau = clamp(kp (q_ref - q) + kd (v_ref - v) + torque, -limit, limit)

Implicit (the default): q, v and the references are those at the end of the step, so that any gain
is stable at any step; explicit: those at its start, as in most papers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError, at_path
from heelstrike.parameters import static
from heelstrike.robot.robot import Robot

Gain: TypeAlias = float | Sequence[float] | np.ndarray | Mapping[str, float] | None
"""One number for all joints, one a velocity, by joint name, or None: the model's own."""

NO_LIMIT = 1e30
"""Stands for "no limit" where a number is needed."""
MAX_ROWS = 1_000_000
"""Largest number of rows of a reference table."""


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
            raise HeelstrikeError(
                "the times of a trajectory must rise, and there must be at least two",
                path="times",
                value=self.times,
            )
        if q.shape != (len(times), robot.nq):
            raise HeelstrikeError(
                f"the poses of a trajectory have shape {q.shape}",
                path="q",
                value=self.q,
                allowed=f"({len(times)}, {robot.nq}), one row of {robot.name}'s q per time",
            )
        torque = np.zeros((len(times), robot.nv))
        if self.torque is not None:
            torque = _array(self.torque)
            if torque.shape != (len(times), robot.nv):
                raise HeelstrikeError(
                    f"the torques of a trajectory have shape {torque.shape}",
                    path="torque",
                    value=self.torque,
                    allowed=f"({len(times)}, {robot.nv}), one row per time",
                )
        columns = np.hstack([np.array([positions(robot, pose) for pose in q]), torque])
        step = np.diff(times).min()
        rows = round((times[-1] - times[0]) / step) + 1
        if rows > MAX_ROWS:
            raise HeelstrikeError(
                f"the closest times of the trajectory are {step:g} s apart, which makes {rows} "
                "rows at equal spacing",
                path="times",
                allowed=f"{MAX_ROWS} rows",
                remedy="resample the trajectory",
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
            raise ParameterError("delay", self.delay, "0 to 1000 s", owner="Servo")

    def resolved(self, robot: Robot, pose: np.ndarray, implicit: bool, dt: float) -> ServoPlan:
        """All of it as vectors by velocity index."""
        kp = gains(robot, self.kp, robot.kp, "kp")
        kd = gains(robot, self.kd, robot.kd, "kd")
        if not (kp.any() or kd.any()):
            raise HeelstrikeError(
                f"{robot.name} defines no servo gains",
                path="servo",
                remedy="pass kp= and kd= to hs.Servo",
            )
        limit = gains(robot, self.limit, robot.torque_limit, "limit")
        table, rate, start = None, 1.0, 0.0
        if isinstance(self.reference, Trajectory):
            with at_path("reference"):
                table, rate, start = self.reference.table(robot)
        elif self.reference is not None:
            pose = _array(self.reference)
            if pose.shape != (robot.nq,) or not np.all(np.isfinite(pose)):
                allowed = f"{robot.nq} finite numbers (q of {robot.name}), or a Trajectory"
                raise ParameterError("reference", self.reference, allowed, owner="Servo")
        implicit = implicit and self.implicit
        return ServoPlan(
            kp=kp,
            kd=kd,
            limit=np.minimum(limit, NO_LIMIT),
            q_ref=positions(robot, pose),
            v_ref=np.zeros(robot.nv),
            torque=np.zeros(robot.nv),
            rate=rate,
            start=start,
            delay=self.delay if implicit else 0.0,
            implicit=implicit,
            control_every=self.control_every,
            delay_periods=0 if implicit else round(self.delay / (self.control_every * dt)),
            limited=tuple(
                int(i) for i in np.flatnonzero((limit < NO_LIMIT) & ((kp > 0) | (kd > 0)))
            ),
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
    delay_periods: int = static()
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

    def with_own_parameters(self, values: Mapping[str, Any]) -> ServoPlan:
        """Return a copy with other values of the parameters."""
        return replace(self, **values)

    def structure(self) -> object:
        """Return what the compiled code depends on."""
        motors = [bool(x) for x in (self.kp != 0) | (self.kd != 0)]
        statics = (
            self.implicit,
            self.control_every,
            self.delay_periods,
            self.limited,
            self.rows,
            motors,
        )
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
    nothing = NO_LIMIT if what == "limit" else 0.0
    moved = driven(robot) > 0
    result = np.where(moved, default, nothing)
    if isinstance(given, Mapping):
        names = {joint.name: joint for joint in robot.joints}
        for name, value in given.items():
            if name not in names:
                raise UnknownNameError("joint", name, names, path=what, owner=robot.name)
            result[names[name].v_slice] = value
    else:
        values = _array(given)
        if values.shape not in ((), (robot.nv,)):
            allowed = f"a number, {robot.nv} numbers (one per entry of v), or numbers by joint name"
            raise ParameterError(what, given, allowed, owner="Servo")
        result = np.where(moved, values, nothing) if values.shape == () else values
    if np.any(np.isnan(result)) or np.any(result < 0):
        raise ParameterError(what, given, "numbers of at least 0", owner="Servo")
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
        raise ParameterError("control_every", every, "a whole number of steps above 0")
