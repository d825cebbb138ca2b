"""A user's own controller: a function of the state, traced into the compiled step.

    @hs.controller
    def foot(s, kp=2e4):
        return kp * (2 * s.t - 10 * s.t**2 - s.q)

It returns torques by velocity index. Its keyword arguments are parameters `controller.kp` that may
change while it runs. Torques act over the whole step and are clamped to the robot's limits.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from heelstrike.contact.user_function import (
    UNTRACEABLE,
    check_expression,
    source_of,
    trace_error,
)
from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import Robot
from heelstrike.scene.servo import check_every
from heelstrike.spatial.vector import SX


@dataclass(frozen=True)
class ControlState:
    """What a controller is told, as symbols."""

    q: SX
    """Joint positions by velocity index; 0 for joints whose position is not one number."""
    v: SX
    """Velocities."""
    t: SX
    """Time [s]."""
    dt: SX
    memory: SX
    """What the controller returned in the last step."""
    coordinates: SX
    """All of q, with the base's position and quaternion."""


@dataclass(frozen=True, eq=False)
class Controller:
    """A controller and the values of its parameters."""

    function: Callable[..., Any]
    values: Mapping[str, Any] = field(default_factory=dict)
    control_every: int = 1
    memory: int = 0

    def __call__(self, **values: float) -> Controller:
        """The same with other parameters."""
        if unknown := set(values) - set(self.values):
            raise HeelstrikeError(
                f"controller '{self.function.__name__}' has no parameter {', '.join(unknown)}; "
                f"parameters: {', '.join(self.values)}"
            )
        return Controller(self.function, {**self.values, **values}, self.control_every, self.memory)

    @property
    def source(self) -> str:
        """The function's text, where it can be found."""
        return source_of(self.function)

    def own_parameters(self) -> dict[str, Any]:
        return dict(self.values)

    def with_own_parameters(self, values: Mapping[str, Any]) -> Controller:
        return self(**values)

    def graph_for(self, robot: Robot) -> str:
        """The graph of the function alone, which tells one controller from another."""
        sizes = {"q": robot.nv, "v": robot.nv, "t": 1, "dt": 1, "memory": self.memory}
        symbols = {name: SX.sym(name, size) for name, size in sizes.items()}
        symbols["coordinates"] = SX.sym("coordinates", robot.nq)
        values = {name: SX.sym(name, np.size(value)) for name, value in self.values.items()}
        torque, memory = self(**values).torque(robot, ControlState(**symbols))
        arguments = [*symbols.values(), *values.values()]
        who = f"controller '{self.function.__name__}'"
        check_expression(who, ca.vertcat(*arguments), ca.vertcat(torque, memory))
        return ca.Function("controller", arguments, [torque, memory]).serialize()

    def torque(self, robot: Robot, sensed: ControlState) -> tuple[SX, SX]:
        """Torques (nv) and next memory."""
        name = self.function.__name__
        try:
            answer = self.function(sensed, **self.values)
            torque, memory = answer if isinstance(answer, tuple) else (answer, sensed.memory)
            torque, memory = ca.densify(SX(torque)), ca.densify(SX(memory))
        except UNTRACEABLE as error:
            raise trace_error(f"controller '{name}'", error, sensed) from error
        if torque.numel() == 1 and robot.nv > 1:
            torque = ca.repmat(torque, robot.nv, 1)
        if torque.numel() != robot.nv or memory.numel() != self.memory:
            raise HeelstrikeError(
                f"controller '{name}' returns {torque.numel()} torques and {memory.numel()} values "
                f"of memory; {robot.name} takes {robot.nv} and it declared {self.memory}"
            )
        return ca.vec(torque), ca.vec(memory)


def controller(
    function: Callable[..., Any] | None = None, *, control_every: int = 1, memory: int = 0
) -> Any:
    """Makes a controller of a function; renewed every `control_every` steps and held between."""
    check_every(control_every)
    if function is None:
        return lambda f: controller(f, control_every=control_every, memory=memory)
    given = list(inspect.signature(function).parameters.values())
    if not given:
        raise HeelstrikeError(
            f"controller '{function.__name__}' takes the state first: def f(s, kp=100.0)"
        )
    values: dict[str, Any] = {}
    for parameter in given[1:]:
        if not isinstance(parameter.default, int | float | np.ndarray):
            raise HeelstrikeError(
                f"parameter '{parameter.name}' of controller '{function.__name__}' needs a number "
                "as its default"
            )
        values[parameter.name] = parameter.default
    return Controller(function, values, control_every, memory)
