"""Controllers in Python: a function of all worlds' arrays, called every few steps of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.checks import array_of_numbers, count
from heelstrike.checks import function as checked_function
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.simulate.compiled_scene import CompiledScene
from heelstrike.step.control import torque_path

BatchController = Callable[["WorldArrays"], ArrayLike | Mapping[str, ArrayLike] | None]
"""Returns torques by velocity index, values of parameters by path, or None: nothing changes."""


@dataclass(frozen=True)
class WorldArrays:
    """State of all worlds, with a row per world; readings of sensors are those of the last step."""

    time: np.ndarray
    """Time since the start [s], (worlds,)."""
    q: np.ndarray
    """Coordinates, (worlds, nq)."""
    v: np.ndarray
    """Velocities, (worlds, nv)."""
    sensors: Mapping[str, np.ndarray]
    """Readings of the sensors by name, (worlds, ...)."""


class PeriodicControl:
    """Calls a controller, and applies what it returns."""

    def __init__(self, compiled: CompiledScene, function: BatchController, every: int) -> None:
        checked_function("controller", function)
        self.compiled, self.function = compiled, function
        self.every = count("control_every", every)
        """Steps from one call to the next."""

    def __call__(self) -> None:
        """Let the function compute what holds for the next steps."""
        found = self.function(self._arrays())
        if found is None:
            return
        if isinstance(found, Mapping):
            values: Mapping[str, Any] = found
        else:
            values = {torque_path(self.compiled.plan.control): self._torques(found)}
        for path, value in values.items():
            self.compiled.parameters[path] = value
        self.compiled.check_parameters()

    def _arrays(self) -> WorldArrays:
        compiled, batch = self.compiled, self.compiled.batch()
        readings = compiled.sensors.rows() if compiled.sensors else {}
        return WorldArrays(compiled.clock * compiled.dt, batch.get("q"), batch.get("v"), readings)

    def _torques(self, found: object) -> np.ndarray:
        worlds, nv = self.compiled.worlds, self.compiled.plan.robot.nv
        array = array_of_numbers(found)
        if array is None or array.shape not in ((nv,), (worlds, nv)):
            shape = "" if array is None else f" of shape {array.shape}"
            raise HeelstrikeError(
                f"the controller returned {type(found).__name__}{shape}",
                path="controller",
                value=found,
                allowed=f"torques, ({worlds}, {nv}) or ({nv},), values of parameters by path, "
                "or None",
            )
        if not np.isfinite(array).all():
            raise ParameterError("controller", found, "finite torques")
        return array
