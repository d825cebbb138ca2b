"""Pose and velocity of a motion at a time, by central differences of its poses."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from heelstrike.errors import HeelstrikeError
from heelstrike.motion.motion import Motion
from heelstrike.robot.convert import to_pinocchio
from heelstrike.robot.robot import Robot


def state(robot: Robot, motion: Motion, time: float) -> tuple[np.ndarray, np.ndarray]:
    """Return q and v at the motion's time nearest to `time` [s]."""
    times, q = np.asarray(motion.times, dtype=float), np.asarray(motion.q, dtype=float)
    if robot.name != motion.robot:
        raise HeelstrikeError(f"the motion is of {motion.robot}, not of {robot.name}")
    if not times[0] <= time <= times[-1]:
        raise HeelstrikeError(
            f"the motion lasts from {times[0]:g} to {times[-1]:g} s; it has no state at {time:g} s"
        )
    k = int(np.argmin(np.abs(times - time)))
    before, after = max(k - 1, 0), min(k + 1, len(times) - 1)
    turned = pin.difference(to_pinocchio(robot), q[before], q[after])
    return q[k].copy(), turned / (times[after] - times[before])
