"""The state that worlds begin at, and the worlds that are meant."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError
from heelstrike.scene.servo import ServoPlan, positions
from heelstrike.simulate.compiled_scene import Machine


def mask_of(machine: Machine, worlds: ArrayLike | None) -> np.ndarray:
    """Which worlds are meant: all, or where a mask holds."""
    mask = np.ones(machine.worlds, bool) if worlds is None else np.asarray(worlds)
    if mask.shape != (machine.worlds,) or mask.dtype != bool:
        raise HeelstrikeError(
            f"worlds= is a mask of {machine.worlds} booleans, not an array of {mask.dtype} of "
            f"shape {mask.shape}"
        )
    return mask


def given_state(
    machine: Machine, q0: ArrayLike | None, v0: ArrayLike | None
) -> dict[str, np.ndarray]:
    """q and v where they are given; v is 0 where only q is."""
    robot, worlds, found = machine.plan.robot, machine.worlds, {}
    for name, value, size in (("q", q0, robot.nq), ("v", v0, robot.nv)):
        if value is None:
            continue
        array = np.asarray(value, dtype=float)
        if array.shape not in ((size,), (worlds, size)) or not np.all(np.isfinite(array)):
            raise HeelstrikeError(
                f"{name}0 of {robot.name} is {size} finite numbers, or "
                f"({worlds}, {size}) with one row a world; got shape {array.shape}"
            )
        found[name] = array
    if q0 is not None and v0 is None:
        found["v"] = np.zeros(robot.nv)
    return found


def hold_start(machine: Machine, q: np.ndarray, mask: np.ndarray) -> None:
    """A servo without a reference of its own holds the pose in which its world began."""
    control, robot = machine.plan.control, machine.plan.robot
    if not (isinstance(control, ServoPlan) and control.follows_start):
        return
    if q.ndim == 1 and mask.all():
        machine.parameters["servo.q_ref"] = positions(robot, q)
        return
    rows = np.broadcast_to(q, (machine.worlds, robot.nq))
    held = machine.parameters["servo.q_ref"]
    held = np.array(np.broadcast_to(held, (machine.worlds, robot.nv)))
    for world in np.flatnonzero(mask):
        held[world] = positions(robot, rows[world])
    machine.parameters["servo.q_ref"] = held
