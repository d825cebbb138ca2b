"""A punch: a hand along a line, at a steady speed when it hits.

The hand comes to speed smoothly over half its way to the hit and keeps it; soles and centre of mass
stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.motion.demand import feasible
from heelstrike.motion.humanoid import Humanoid
from heelstrike.motion.motion import Motion
from heelstrike.motion.reach import Reach
from heelstrike.motion.walk import RATE
from heelstrike.robot.robot import Robot


@dataclass(frozen=True)
class Punch:
    """A hand's way."""

    hand: str
    speed: float
    """When it hits [m/s]."""
    direction: tuple[float, ...]
    """In the world."""
    reach: float
    """Length of the way [m]."""
    hit: float
    """Share of the way after which it hits; over the rest it brakes."""
    rest: float
    """Before [s]."""

    def __post_init__(self) -> None:
        if not (self.speed > 0 and self.reach > 0 and self.rest > 0 and 0.1 <= self.hit <= 0.9):
            raise HeelstrikeError(
                "a punch has speed, reach and rest above 0, and hits after a share of its way "
                f"between 0.1 and 0.9, not {self}"
            )
        if len(self.direction) != 3 or not any(self.direction):
            raise HeelstrikeError(f"a punch goes along three numbers, not {self.direction}")

    @property
    def times(self) -> tuple[float, float, float]:
        """When it starts, is at speed, hits; then it brakes [s]."""
        rise = self.hit * self.reach / self.speed
        return self.rest, self.rest + rise, self.rest + 1.5 * rise

    @property
    def stop(self) -> float:
        """When the hand stands again [s]."""
        return self.times[2] + 2 * (1 - self.hit) * self.reach / self.speed

    def way(self, t: float) -> float:
        """How far the hand is [m]; its speed grows and falls as s^2 (3 - 2 s)."""
        start, steady, hits = self.times
        if t >= hits:
            left = np.clip((self.stop - t) / (self.stop - hits), 0, 1)
            return self.reach - 2 * (1 - self.hit) * self.reach * (left**3 - left**4 / 2)
        if t >= steady:
            return self.hit * self.reach - self.speed * (hits - t)
        s = max((t - start) / (steady - start), 0.0)
        return self.hit * self.reach * (s**3 - s**4 / 2)


def punch(
    robot: Robot | Humanoid,
    hand: str = "r_hand",
    speed: float = 0.7,
    direction: Sequence[float] = (1.0, 0.0, 0.0),
    reach: float = 0.1,
    hit: float = 0.8,
    rest: float = 0.5,
    pose: np.ndarray | None = None,
) -> Motion:
    """A hand (a link or site) along a line from where it is in `pose`, the robot's own if not
    given.
    """
    human = Humanoid.of(robot, pose=pose)
    plan = Punch(hand, speed, tuple(float(x) for x in direction), reach, hit, rest)
    body, place = human.frame(hand)
    start = human.body_pose(human.pose, body).act(place.translation)
    along = np.array(plan.direction) / np.linalg.norm(plan.direction)
    soles, com = human.placed(human.pose), human.com(human.pose)
    times = np.arange(round((plan.stop + rest) * RATE) + 1) / RATE
    reaching = Reach(human, hand)
    q = np.array([reaching.pose(soles, com, start + along * plan.way(t)) for t in times])
    shares = np.full((len(times), 2), 0.5)
    return feasible(human, "punch", asdict(plan), times, q, shares)
