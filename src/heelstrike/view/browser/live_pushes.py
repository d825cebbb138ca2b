"""The user's pushes on a live scene: one on each body, whose force is an input of the step.

All are compiled from the start: hoap1 with its 21 bodies takes 3.3 instead of 2.0 us a step, and no
push has to wait for a compiler.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.simulate.simulator import Simulator


class Pushes:
    """A push on every body of a simulator of one world."""

    def __init__(self, sim: Simulator) -> None:
        """Add a push to every body, beside those of the scene itself."""
        self._sim, self._paths = sim, {}
        for body in sim.robot.bodies:
            before = set(sim.parameters)
            sim.push(body.name, [0.0, 0.0, 0.0], 1e-3)
            (new,) = {path.split(".")[0] for path in set(sim.parameters) - before}
            self._paths[body.name] = new
        self.end()

    def push(
        self, body: str, force: ArrayLike, steps: float, point: ArrayLike | None = None
    ) -> None:
        """Apply a force [N] to a body for a number of steps.

        Args:
            point: Where it acts in the body's frame [m]; None for the centre of mass.
        """
        values, index = self._sim.parameters, self._sim.robot.body(body)
        pushed = self._sim.robot.bodies[index]
        path, now = self._paths[pushed.name], self._step
        values[f"{path}.force"] = force
        values[f"{path}.point"] = pushed.com if point is None else point
        values[f"{path}.first"] = now
        values[f"{path}.last"] = now + max(1.0, float(steps))

    def acting(self) -> dict[str, np.ndarray]:
        """Return the forces that act now, by body [N]."""
        values, now = self._sim.parameters, self._step
        found = {
            body: values[f"{path}.force"]
            for body, path in self._paths.items()
            if values[f"{path}.first"][0] <= now < values[f"{path}.last"][0]
        }
        return {body: force for body, force in found.items() if force.any()}

    def point(self, body: str) -> np.ndarray:
        """Return where the push on a body acts, in the body's frame, (3,) [m]."""
        return self._sim.parameters[f"{self._paths[body]}.point"]

    def end(self) -> None:
        """End all pushes."""
        for path in self._paths.values():
            self._sim.parameters[f"{path}.last"] = 0

    @property
    def _step(self) -> int:
        return round(float(self._sim.time[0]) / float(self._sim.dt[0]))
