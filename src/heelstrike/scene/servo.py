"""Servo of a robot's joints, and the trajectory that it follows.

    tau = clamp(kp (q_ref - q) + kd (v_ref - v) + torque, -limit, limit)

An implicit servo (the default) takes q, v and the references at the end of the step, so that any
gain is stable at any step. An explicit one takes them at its start, as in most papers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.checks import array_of_numbers
from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError, at_path
from heelstrike.parameters import static
from heelstrike.robot.robot import Robot

Gain: TypeAlias = float | Sequence[float] | np.ndarray | Mapping[str, float] | None
"""One number for all joints, one per entry of v, numbers by joint name, or None: the model's."""

NO_LIMIT = 1e30
"""Value that stands for "no limit" where a number is needed."""
MAX_ROWS = 1_000_000
"""Largest number of rows of a reference table."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Motion for a servo to follow: poses, and optionally torques, over time.

    Values are interpolated linearly, and held before the first time and after the last.

    Args:
        times: times in rising order, at least two [s]; the first need not be 0.
        q: pose at each time, (times, nq).
        torque: feed-forward torque at each time, (times, nv) [N m or N]; None: no torque.

    Examples:
        >>> robot = hs.load("hoap1")
        >>> poses = np.stack([robot.pose("stance"), robot.pose("zero")])
        >>> servo = hs.Servo(reference=hs.Trajectory([0.0, 0.5], poses))
    """

    times: ArrayLike
    q: ArrayLike
    torque: ArrayLike | None = None

    def table(self, robot: Robot) -> tuple[np.ndarray, float, float]:
        """Return the trajectory at equal spacing.

        Returns:
            Rows of joint positions and torques by velocity index, (rows, 2 nv); rows per second;
            and the time of the first row [s].
        """
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
    """PD servo at every driven joint, with torque limits.

        tau = clamp(kp (q_ref - q) + kd (v_ref - v) + torque, -limit, limit)

    Gains and limits are one number for all joints, one per entry of v, or a dict by joint name;
    None takes those of the model. They are run-time parameters: `sim.parameters["servo.kp"]`.

    Args:
        kp: stiffness [N m/rad or N/m].
        kd: damping [N m s/rad or N s/m].
        limit: largest torque or force [N m or N].
        reference: pose to hold, or hs.Trajectory to follow; None: the pose in which a run
            starts.
        implicit: whether the torque is that at the end of the step, which is stable for any
            gain.
        control_every: steps between updates of the reference (explicit: of the torque), which
            is held between.
        delay: delay of the reference (explicit: of the torque, in whole control periods) [s].

    Examples:
        >>> robot = hs.load("hoap1")
        >>> servo = hs.Servo(kp=60.0, kd={"R_KN": 2.0, "L_KN": 2.0}, reference=robot.pose("stance"))
        >>> sim = hs.Simulator(hs.Scene(robot, hs.Plane()), dt=1e-3, control=servo)
    """

    kp: Gain = None
    kd: Gain = None
    limit: Gain = None
    reference: ArrayLike | Trajectory | None = None
    implicit: bool = True
    control_every: int = 1
    delay: float = 0.0

    def __post_init__(self) -> None:
        check_every(self.control_every)
        if not (isinstance(self.delay, int | float) and 0 <= self.delay < 1e3):
            raise ParameterError("delay", self.delay, "0 to 1000 s", owner="Servo")

    @classmethod
    def holding(cls, robot: Robot, q: ArrayLike | None = None) -> Servo:
        """Return a servo with the model's gains, or, if it has none, with gains that hold it.

        Args:
            robot: the robot.
            q: pose to hold, (nq,); None: the robot's first pose.

        Examples:
            >>> robot = hs.load("hoap1")
            >>> sim = hs.Simulator(hs.Scene(robot, hs.Plane()), control=hs.Servo.holding(robot))
        """
        from heelstrike.scene.holding import holding_gains

        if robot.kp.any() or robot.kd.any():
            return cls()
        pose = next(iter(robot.poses.values()), robot.neutral) if q is None else q
        kp, kd = holding_gains(robot, np.asarray(pose, dtype=float))
        return cls(kp=kp, kd=kd)

    def resolved(self, robot: Robot, pose: np.ndarray, implicit: bool, dt: float) -> ServoPlan:
        """Return the servo of a robot, with gains, limits and reference by velocity index.

        Args:
            robot: the robot.
            pose: q to hold where there is no reference.
            implicit: whether the integrator allows an implicit servo.
            dt: time step [s].
        """
        kp = gains(robot, self.kp, robot.kp, "kp")
        kd = gains(robot, self.kd, robot.kd, "kd")
        if not (kp.any() or kd.any()):
            raise HeelstrikeError(
                f"{robot.name} defines no servo gains",
                path="servo",
                remedy="pass kp= and kd= to hs.Servo, or use hs.Servo.holding(robot)",
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
    """Servo of a robot; vectors are by velocity index."""

    kp: np.ndarray
    kd: np.ndarray
    limit: np.ndarray
    q_ref: np.ndarray
    v_ref: np.ndarray
    torque: np.ndarray
    """Feed-forward torque, added before the limit [N m or N]."""
    rate: float
    """Rows of the reference table per second."""
    start: float
    """Time of its first row [s]."""
    delay: float
    implicit: bool = static()
    control_every: int = static()
    delay_periods: int = static()
    """Delay of an explicit torque in control periods."""
    limited: tuple[int, ...] = static()
    """Velocity indices of driven joints with a torque limit."""
    rows: int = static()
    """Rows of the reference table; 0: none."""
    follows_start: bool = static()
    """Whether the reference is the pose in which a run starts."""
    table: np.ndarray | None = None
    """Reference table, as `Trajectory.table` returns it."""

    def own_parameters(self) -> dict[str, Any]:
        """Return all parameters but the table, which all worlds share."""
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
    """Return 1 by velocity index where control can act, and 0 for free and planar joints."""
    result = np.zeros(robot.nv)
    for joint in robot.joints:
        result[joint.v_slice] = joint.kind not in ("free", "planar")
    return result


def gains(
    robot: Robot, gain: Gain, default: np.ndarray, name: str, owner: str = "Servo"
) -> np.ndarray:
    """Return a gain or limit by velocity index; zero (no limit) where a joint is not driven.

    Args:
        robot: the robot.
        gain: the value, as hs.Servo takes it.
        default: the model's own values, (nv,).
        name: name of the argument; "limit" has no bound where a joint is not driven.
        owner: class whose argument it is.
    """
    if gain is None:
        return np.array(default, dtype=float)
    nothing = NO_LIMIT if name == "limit" else 0.0
    moved = driven(robot) > 0
    values = result = np.where(moved, default, nothing)
    if isinstance(gain, Mapping):
        joints = {joint.name: joint for joint in robot.joints}
        for joint, value in gain.items():
            if joint not in joints:
                raise UnknownNameError("joint", joint, joints, path=name, owner=robot.name)
            own = _array(value)
            if own.shape not in ((), (joints[joint].nv,)):
                allowed = f"numbers by joint name, {joints[joint].nv} for '{joint}'"
                raise ParameterError(name, gain, allowed, owner=owner)
            result[joints[joint].v_slice] = own
    else:
        values = _array(gain)
        if values.shape not in ((), (robot.nv,)):
            allowed = f"a number, {robot.nv} numbers (one per entry of v), or numbers by joint name"
            raise ParameterError(name, gain, allowed, owner=owner)
        result = np.where(moved, values, nothing) if values.shape == () else values
    every = np.append(result, values)  # also a number that no joint takes
    if not ((every >= 0) & ((every < np.inf) | (name == "limit"))).all():
        raise ParameterError(name, gain, "finite numbers of at least 0", owner=owner)
    return result


def positions(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return joint positions by velocity index, as a servo compares them with its reference.

    Continuous joints have their angle; joints whose position is not one number have 0.
    """
    result = np.zeros(robot.nv)
    for joint in robot.joints:
        if joint.kind in ("revolute", "prismatic"):
            result[joint.iv] = q[joint.iq]
        elif joint.kind == "continuous":
            result[joint.iv] = np.arctan2(q[joint.iq + 1], q[joint.iq])
    return result


def _array(values: object) -> np.ndarray:
    """Return an array of numbers, or NaN for anything else."""
    found = array_of_numbers(values)
    return np.array(np.nan) if found is None else found


def check_every(every: int) -> None:
    """Raise ParameterError for a `control_every` that is not a whole number above 0."""
    if not isinstance(every, int | np.integer) or every < 1:
        raise ParameterError("control_every", every, "a whole number of steps above 0")
