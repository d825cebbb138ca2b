"""Controls of a robot's actuators by name."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError
from heelstrike.robot.robot import Robot
from heelstrike.scene.actuators import ActuatorPlan
from heelstrike.simulate.parameters import Parameters
from heelstrike.step.control import Control

PATH = "actuators.control"
"""Path of the parameter that holds all controls."""


class Controls(MutableMapping[str, np.ndarray]):
    """Controls by name of the actuator: one number for all worlds alike, or one for each world."""

    def __init__(self, robot: Robot, control: Control, parameters: Parameters) -> None:
        if not isinstance(control, ActuatorPlan):
            raise HeelstrikeError(
                "the robot's actuators are not driven",
                path="control",
                remedy="pass control=hs.Actuators() to the simulator",
            )
        self._names = {actuator.name: k for k, actuator in enumerate(robot.actuators)}
        self._owner, self._parameters = robot.name, parameters

    def __getitem__(self, name: str) -> np.ndarray:
        return np.array(self._parameters[PATH][..., self._index(name)])

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        index, own = self._index(name), np.asarray(value, dtype=float)
        worlds, control = self._parameters.worlds, self._parameters[PATH]
        if own.shape not in ((), (worlds,)):
            allowed = f"a number, or {worlds} numbers, one for each world"
            raise ParameterError(f"control['{name}']", value, allowed)
        if own.ndim == 1 and control.ndim == 1:
            control = np.tile(control, (worlds, 1))
        control[..., index] = own
        self._parameters[PATH] = control

    def __delitem__(self, name: str) -> None:
        raise HeelstrikeError(f"the control of '{name}' cannot be removed", path="control")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return "\n".join(f"{name} = {value}" for name, value in self.items())

    def _index(self, name: str) -> int:
        if name not in self._names:
            raise UnknownNameError("actuator", name, self._names, owner=self._owner, path="control")
        return self._names[name]
