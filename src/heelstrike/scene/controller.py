"""Controllers that users write: functions of the state, traced into the compiled step.

    @hs.controller
    def foot(s, kp=2e4):
        return kp * (2 * s.t - 10 * s.t**2 - s.q)

The function returns torques by velocity index. Its keyword arguments are run-time parameters,
`controller.kp`. Torques act over the whole step and are clamped to the robot's limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from heelstrike.checks import function as checked_function
from heelstrike.contact.user_function import (
    UNTRACEABLE,
    check_expression,
    source_of,
    trace_error,
)
from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.robot.robot import Robot
from heelstrike.scene.servo import check_every
from heelstrike.spatial.vector import SX


@dataclass(frozen=True)
class ControlState:
    """State that a controller receives, as CasADi symbols."""

    q: SX
    """Joint positions by velocity index, (nv,); 0 for joints whose position is not one number."""
    v: SX
    """Velocities, (nv,)."""
    t: SX
    """Time [s]."""
    dt: SX
    """Time step [s]."""
    memory: SX
    """Memory that the controller returned in the last step."""
    coordinates: SX
    """All of q, with position and quaternion of the base, (nq,)."""
    sensors: Mapping[str, SX] = field(default_factory=dict)
    """What the simulator's sensors showed after the last step, by name: columns or matrices."""


class Readings(dict[str, Any]):
    """Readings of sensors by name; unknown names raise with the nearest one."""

    def __missing__(self, name: str) -> Any:
        raise UnknownNameError("sensor", name, self, path="sensors")


@dataclass(frozen=True, eq=False)
class Controller:
    """Controller made by `hs.controller`; calling it returns a copy with other parameters."""

    function: Callable[..., Any]
    """Function of the state and the parameters that returns the torques."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Values of the parameters by name."""
    control_every: int = 1
    """Steps between updates of the torque, which is held between."""
    memory: int = 0
    """Number of values that the controller keeps from step to step."""

    def __call__(self, **values: float) -> Controller:
        """Return a copy with other values of some parameters."""
        for name in values:
            if name not in self.values:
                owner = f"controller '{self.function.__name__}'"
                raise UnknownNameError("parameter", name, self.values, path=name, owner=owner)
        return Controller(self.function, {**self.values, **values}, self.control_every, self.memory)

    @property
    def source(self) -> str:
        """Source code of the function, if it can be found."""
        return source_of(self.function)

    def own_parameters(self) -> dict[str, Any]:
        """Return the values of the parameters by name."""
        return dict(self.values)

    def with_own_parameters(self, values: Mapping[str, Any]) -> Controller:
        """Return a copy with other values of some parameters."""
        return self(**values)

    def graph_for(self, robot: Robot, sensors: Mapping[str, tuple[int, ...]]) -> str:
        """Return the serialized graph of the function, which identifies the controller.

        `sensors` are the shapes of the sensors' readings by name.
        """
        sizes = {"q": robot.nv, "v": robot.nv, "t": 1, "dt": 1, "memory": self.memory}
        symbols = {name: SX.sym(name, size) for name, size in sizes.items()}
        symbols["coordinates"] = SX.sym("coordinates", robot.nq)
        values = {name: SX.sym(name, np.size(value)) for name, value in self.values.items()}
        shown = Readings({name: _symbols(name, shape) for name, shape in sensors.items()})
        sensed = ControlState(**symbols, sensors=shown)
        torque, memory = self(**values).torque(robot, sensed)
        columns = [ca.vec(x) for x in shown.values()]
        arguments = [*symbols.values(), *columns, *values.values()]
        who = f"controller '{self.function.__name__}'"
        check_expression(who, ca.vertcat(*arguments), ca.vertcat(torque, memory))
        return ca.Function("controller", arguments, [torque, memory]).serialize()

    def torque(self, robot: Robot, sensed: ControlState) -> tuple[SX, SX]:
        """Return the torques, (nv,) [N m or N], and the memory of the next step."""
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
                "of memory",
                allowed=f"{robot.nv} torques ({robot.name}) and {self.memory} values of memory, as "
                "declared by memory=",
            )
        return ca.vec(torque), ca.vec(memory)


def controller(
    function: Callable[..., Any] | None = None, *, control_every: int = 1, memory: int = 0
) -> Any:
    """Make a controller of a function of the state.

    The function receives the state `s` (`s.q`, `s.v`, `s.t`, `s.dt`, `s.memory`, `s.coordinates`
    and `s.sensors`, what the simulator's sensors showed after the last step) as CasADi symbols,
    and returns torques by velocity index; with `memory`, it returns the torques and the next
    memory. Its keyword arguments need numbers as defaults; they become the run-time parameters
    `controller.NAME`.

    Args:
        function: the function.
        control_every: steps between updates of the torque, which is held between.
        memory: number of values that the controller keeps from step to step.

    Examples:
        >>> @hs.controller
        ... def crouch(s, kp=100.0, kd=2.0):
        ...     return kp * (-0.3 - s.q) - kd * s.v
        >>> sim = hs.Simulator(hs.Scene(hs.load("hoap1"), hs.Plane()), control=crouch(kp=80.0))
        >>> sim.parameters["controller.kd"] = 1.0
    """
    check_every(control_every)
    if function is None:
        return lambda f: controller(f, control_every=control_every, memory=memory)
    arguments = checked_function("controller", function)
    if not arguments:
        raise HeelstrikeError(
            f"controller '{function.__name__}' has no argument for the state",
            remedy="write def f(s, kp=100.0)",
        )
    values: dict[str, Any] = {}
    for parameter in arguments[1:]:
        if not isinstance(parameter.default, int | float | np.ndarray):
            raise HeelstrikeError(
                f"parameter '{parameter.name}' of controller '{function.__name__}' has no number "
                "as its default",
                path=parameter.name,
                remedy=f"write {parameter.name}=1.0",
            )
        values[parameter.name] = parameter.default
    return Controller(function, values, control_every, memory)


def _symbols(name: str, shape: tuple[int, ...]) -> SX:
    """Return symbols for the reading of a sensor: a column, or a matrix."""
    return SX.sym(name, *(shape or (1,)))
