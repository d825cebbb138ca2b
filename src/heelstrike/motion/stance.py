"""Standing and getting up, with the centre of mass statically over the soles."""

from __future__ import annotations

import numpy as np

from heelstrike.motion.demand import feasible
from heelstrike.motion.humanoid import Humanoid
from heelstrike.motion.motion import Motion
from heelstrike.motion.reach import Reach
from heelstrike.motion.walk import RATE, smooth
from heelstrike.robot.robot import Robot


def stance(robot: Robot | Humanoid, lower: float = 0.0, share: float = 0.5) -> np.ndarray:
    """Return q of a statically stable stance: the centre of mass `lower` than in the robot's own
    pose [m], over a place between the soles where the left one carries `share` of the weight.
    """
    human = Humanoid.of(robot)
    return Reach(human).pose(human.placed(human.pose), _over(human, lower, share))


def stand_up(
    robot: Robot | Humanoid, lower: float | None = None, seconds: float = 1.0, rest: float = 0.5
) -> Motion:
    """Return the motion from a crouch to the robot's own pose; `lower` is 1/4 of its height by
    default.
    """
    human = Humanoid.of(robot)
    soles = human.placed(human.pose)
    depth = float(human.com(human.pose)[2]) / 4 if lower is None else lower
    times = np.arange(round((seconds + 2 * rest) * RATE) + 1) / RATE
    reach, q = Reach(human), []
    for t in times:
        s = np.clip((t - rest) / seconds, 0, 1)
        q.append(reach.pose(soles, _over(human, depth * (1 - smooth(s)))))
    shares = np.full((len(times), 2), 0.5)
    settings = {"lower": depth, "seconds": seconds, "rest": rest}
    return feasible(human, "stand_up", settings, times, np.array(q), shares)


def _over(human: Humanoid, lower: float, share: float = 0.5) -> np.ndarray:
    left, right = (sole.translation for sole in human.placed(human.pose))
    place = share * left + (1 - share) * right
    return np.array([*place[:2], human.com(human.pose)[2] - lower])
