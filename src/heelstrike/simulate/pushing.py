"""Pushes that a user asks for, as parameters of the step's own (push.py)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import ParameterError, at_path
from heelstrike.simulate.compiled_scene import Machine


def push(
    machine: Machine,
    body: str,
    force: ArrayLike,
    duration: float,
    at: float | None,
    point: ArrayLike | None,
    mask: np.ndarray,
) -> None:
    """A force [N, world axes] on a body for a while [s], from now or from a time on, in the worlds
    of a mask.
    """
    robot, dt, clock = machine.plan.robot, machine.dt, machine.clock
    with at_path("body"):
        pushed = robot.bodies[robot.body(body)]
    force = np.asarray(force, dtype=float)
    if force.shape not in ((3,), (machine.worlds, 3)):
        raise ParameterError("force", force, "three numbers [N], or three per world")
    if not duration > 0:
        raise ParameterError("duration", duration, "a time above 0 s")
    first = clock if at is None else np.round(at / dt)
    last = first + np.maximum(1, np.round(duration / dt))
    path = _free_path(machine, pushed.name, clock)
    machine.parameters[f"{path}.force"] = np.where(mask[:, None], force, 0.0)
    machine.parameters[f"{path}.point"] = pushed.com if point is None else point
    machine.parameters[f"{path}.first"] = first[:, None]
    machine.parameters[f"{path}.last"] = last[:, None]


def _free_path(machine: Machine, body: str, clock: np.ndarray) -> str:
    """Of a push on a body that is free to be used: a past one, or a new one."""
    pushes = machine.plan.pushes
    for k, name in enumerate(pushes):
        if name == body and np.all(machine.parameters[f"push{k}.last"].ravel() <= clock):
            return f"push{k}"
    machine.grow(pushes=(*pushes, body))
    return f"push{len(pushes)}"
