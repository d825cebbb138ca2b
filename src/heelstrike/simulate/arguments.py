"""Arguments of a simulator's calls as arrays: the state at the start, and a push."""

from __future__ import annotations

import numpy as np

from heelstrike.checks import number, numbers
from heelstrike.errors import ParameterError
from heelstrike.robot.robot import Robot

ROTATIONS = {"free": 4, "spherical": 4, "continuous": 2, "planar": 2}
"""Numbers at the end of a joint's coordinates that are a quaternion, or (cos, sin), by kind."""
MIN_ROTATION = 1e-6
"""Smallest norm of those numbers at the start; steps normalize them."""


def start_values(robot: Robot, name: str, value: object, worlds: int) -> np.ndarray:
    """Return q ("q") or v ("v") at the start, (size,) or (worlds, size).

    Raises:
        ParameterError: it has another shape, is not finite, or holds a rotation that is zero.
    """
    size = robot.nq if name == "q" else robot.nv
    allowed = f"{size} finite numbers for {robot.name}, or ({worlds}, {size}), one row per world"
    found = numbers(f"{name}0", value, ((size,), (worlds, size)), allowed)
    if name == "q":
        _check_rotations(robot, found)
    return found


def _check_rotations(robot: Robot, q: np.ndarray) -> None:
    for joint in robot.joints:
        size = ROTATIONS.get(joint.kind, 0)
        rotation = q[..., joint.q_slice][..., joint.nq - size :]
        if size and np.any(np.linalg.norm(rotation, axis=-1) < MIN_ROTATION):
            kind = "a quaternion (x, y, z, w)" if size == 4 else "(cos, sin) of an angle"
            raise ParameterError(
                "q0", rotation.tolist(), f"{kind} for joint '{joint.name}' that is not zero"
            )


def push_values(
    force: object, duration: object, at: object, point: object, worlds: int
) -> tuple[np.ndarray, float, float | None, np.ndarray | None]:
    """Return force [N], duration [s], time [s] and point [m] of a push, checked."""
    shapes = ((3,), (worlds, 3))
    allowed = f"three finite numbers [{{}}], or ({worlds}, 3)"
    forces = numbers("force", force, shapes, allowed.format("N"))
    time = number("duration", duration, "a finite time above 0 s", above=0.0)
    begin = None if at is None else number("at", at, "a finite time of at least 0 s", least=0.0)
    place = None if point is None else numbers("point", point, shapes, allowed.format("m"))
    return forces, time, begin, place
