"""Motors and gears between a command and its joint.

    command     of `delay` ago: references of a servo, torques of everything else
    lag         T d(tau)/dt = command - tau                     exact from step to step
    curve       -s (1 + v / w) <= tau <= s (1 - v / w)          a DC motor at its largest voltage
    gear        dry friction F + mu |tau|, damping d v, against the motion of the joint

with the stall torque s and the no-load speed w, both at the joint; no bound is beyond +-s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heelstrike.checks import number
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.parameters import static
from heelstrike.robot.robot import Robot
from heelstrike.scene.servo import Gain, driven, gains

MAX_DELAY = 10_000
"""Largest delay in steps."""
UNITS = {
    "stall_torque": "N m or N",
    "no_load_speed": "rad/s or m/s",
    "delay": "s",
    "time_constant": "s",
    "friction": "N m or N",
    "load_friction": "1",
    "damping": "N m s/rad or N s/m",
}
"""Numbers of a motor and their units."""


@dataclass(frozen=True, eq=False)
class Motors:
    """Motors and gears that stand between the control and the joints.

    Every number is one for all driven joints, one per entry of v, or a dict by joint name; joints
    that a dict leaves out have none. All are run-time parameters, `motors.delay`.

    Args:
        stall_torque: torque at rest under the largest voltage, at the joint [N m or N].
        no_load_speed: speed at which that voltage gives no torque, at the joint [rad/s or m/s].
        delay: delay of the command, rounded to whole steps [s].
        time_constant: time constant of the torque's first-order lag [s].
        friction: dry friction of the gear [N m or N].
        load_friction: dry friction per torque of the motor [-].
        damping: viscous damping of the gear [N m s/rad or N s/m].
        max_delay: longest delay that the parameter `motors.delay` may take [s]; None: `delay`.

    Examples:
        >>> motors = hs.Motors(stall_torque=20.0, no_load_speed=12.0, delay=4e-3, friction=0.2)
        >>> scene = hs.Scene(hs.load("hoap1"), hs.Plane())
        >>> sim = hs.Simulator(scene, control=hs.Servo(), motors=motors)
        >>> sim.parameters["motors.stall_torque"] = 0.8 * sim.parameters["motors.stall_torque"]
    """

    stall_torque: Gain = None
    no_load_speed: Gain = None
    delay: Gain = 0.0
    time_constant: Gain = 0.0
    friction: Gain = 0.0
    load_friction: Gain = 0.0
    damping: Gain = 0.0
    max_delay: float | None = None

    def resolved(self, robot: Robot, dt: float) -> MotorPlan:
        """Return the motors of a robot, with vectors by velocity index; dt is the step [s]."""
        none, moved = np.zeros(robot.nv), driven(robot) > 0
        found = {
            name: np.where(moved, gains(robot, getattr(self, name), none, name, "Motors"), 0.0)
            for name in UNITS
        }
        stall, speed = found["stall_torque"], found["no_load_speed"]
        if (lacking := np.flatnonzero((stall > 0) != (speed > 0))).size:
            joint = next(x.name for x in robot.joints if x.iv <= lacking[0] < x.iv + x.nv)
            raise HeelstrikeError(
                f"the motor of joint '{joint}' needs both stall_torque and no_load_speed",
                path="no_load_speed" if stall[lacking[0]] > 0 else "stall_torque",
                remedy="pass both above 0, or neither",
            )
        if found["load_friction"].max(initial=0.0) >= 1:
            raise ParameterError(
                "load_friction", self.load_friction, "0 to below 1", owner="Motors"
            )
        longest = found["delay"].max(initial=0.0)
        if self.max_delay is not None:
            allowed = f"a time of at least {longest:g} s, the longest delay"
            longest = number("max_delay", self.max_delay, allowed, least=longest)
        steps = round(longest / dt)
        if steps > MAX_DELAY:
            allowed = f"at most {MAX_DELAY} steps, {MAX_DELAY * dt:g} s"
            raise ParameterError("delay", longest, allowed, owner="Motors")
        rubs = (found["friction"] > 0) | (found["load_friction"] > 0)
        late = moved if self.max_delay else found["delay"] > 0
        return MotorPlan(
            **found,
            curved=_indices(stall > 0),
            late=_indices(late) if steps else (),
            steps=steps,
            lagged=_indices(found["time_constant"] > 0),
            rubbing=_indices(rubs),
            loaded=_indices(found["load_friction"] > 0),
            damped=_indices(found["damping"] > 0),
        )


@dataclass(frozen=True, eq=False)
class MotorPlan:
    """Motors of a robot; vectors are by velocity index, 0 where a joint has no such part."""

    stall_torque: np.ndarray
    no_load_speed: np.ndarray
    delay: np.ndarray
    time_constant: np.ndarray
    friction: np.ndarray
    load_friction: np.ndarray
    damping: np.ndarray
    curved: tuple[int, ...] = static()
    """Velocity indices of motors with a torque-speed curve,"""
    late: tuple[int, ...] = static()
    """with commands that may be late,"""
    steps: int = static()
    """by this many steps at most,"""
    lagged: tuple[int, ...] = static()
    """with a lag,"""
    rubbing: tuple[int, ...] = static()
    """with dry friction,"""
    loaded: tuple[int, ...] = static()
    """which grows with the load,"""
    damped: tuple[int, ...] = static()
    """and with damping."""

    def parts(self) -> dict[str, tuple[int, ...]]:
        """Return the velocity indices that have a number of a motor, by its name."""
        return {
            "stall_torque": self.curved,
            "no_load_speed": self.curved,
            "delay": self.late,
            "time_constant": self.lagged,
            "friction": self.rubbing,
            "load_friction": self.loaded,
            "damping": self.damped,
        }

    @property
    def remembered(self) -> tuple[int, ...]:
        """Velocity indices whose torque is remembered from step to step."""
        return tuple(sorted({*self.lagged, *self.loaded}))

    def own_parameters(self) -> dict[str, Any]:
        """Return the parameters that some motor has."""
        return {name: getattr(self, name) for name, own in self.parts().items() if own}

    def with_own_parameters(self, values: Mapping[str, Any]) -> MotorPlan:
        """Return a copy with other values of the parameters."""
        return replace(self, **values)

    def structure(self) -> object:
        """Return what the compiled code depends on."""
        return ["motors", {name: list(own) for name, own in self.parts().items()}, self.steps]


def _indices(chosen: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.flatnonzero(chosen))
