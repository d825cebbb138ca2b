"""The actuators of the robot's file as the control of a scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError
from heelstrike.parameters import static
from heelstrike.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class Actuators:
    """The actuators of the robot's file: motors, servos, filters, tendons, sites.

    Their controls are run-time parameters: `sim.control["left_knee"] = 0.3`. What each actuator
    does with its control is in `robot.actuators`.

    Args:
        control: controls at the start, by name or one for each actuator; 0 where there is none.

    Examples:
        >>> robot = hs.load("hoap1")
        >>> sim = hs.Simulator(hs.Scene(robot), control=hs.Actuators({"R_KN": 0.2}))
        >>> sim.control["L_KN"] = 0.2
    """

    control: Mapping[str, float] | ArrayLike | None = None

    def resolved(self, robot: Robot) -> ActuatorPlan:
        """Return the controls of a robot."""
        names = [actuator.name for actuator in robot.actuators]
        if not names:
            raise HeelstrikeError(
                f"{robot.name} has no actuators", path="control", remedy="use hs.Servo(kp=, kd=)"
            )
        control = np.zeros(len(names))
        if isinstance(self.control, Mapping):
            for name, value in self.control.items():
                if name not in names:
                    raise UnknownNameError("actuator", name, names, owner=robot.name)
                control[names.index(name)] = value
        elif self.control is not None:
            control = np.array(self.control, dtype=float)
        if control.shape != (len(names),) or not np.isfinite(control).all():
            allowed = f"{len(names)} finite numbers, or numbers by name of an actuator"
            raise ParameterError("control", self.control, allowed, owner="Actuators")
        return ActuatorPlan(control, np.zeros(robot.nv))


@dataclass(frozen=True, eq=False)
class ActuatorPlan:
    """Controls of a robot's actuators."""

    control: np.ndarray
    """In the order of `Robot.actuators`."""
    torque: np.ndarray
    """Torque that is added to that of the actuators, by velocity index [N m or N]."""
    control_every: int = static(1)
