"""Starts of robots with equality constraints: in the first step nothing may be torn together.

A step takes off what constraints miss at once, which from a pose that misses by a millimetre would
be a jolt of a metre per second. So a start is closed before the first step where that takes little,
and refused where it takes much. A robot's first pose, from which runs start by default, is closed
whatever that takes.
"""

from __future__ import annotations

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import Robot

MAX_MISS = 0.01
"""Largest row of a constraint [m, rad] that a start may miss before it is closed."""


def closed_pose(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return the pose from which runs start by default: the nearest closed one."""
    return robot.close(q) if robot.constraints else q


def closed_start(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return coordinates (nq,) or (worlds, nq), closed; raise where one misses by much."""
    if not robot.constraints:
        return q
    rows = np.atleast_2d(q)
    for row in rows:
        if _miss(robot, row) > MAX_MISS:
            from heelstrike.robot.closing import worst

            raise HeelstrikeError(
                f"q0 of {robot.name} misses its constraints, {worst(robot, row)} most",
                path="q0",
                value=_miss(robot, row),
                allowed=f"at most {MAX_MISS:g} m or rad",
                remedy="start from robot.close(q0), which moves the joints until they hold",
            )
    return np.array([robot.close(row) for row in rows]).reshape(np.shape(q))


def _miss(robot: Robot, q: np.ndarray) -> float:
    from heelstrike.robot.closing import residual

    return float(np.abs(residual(robot, q)).max())
