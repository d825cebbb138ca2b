"""A punch: a hand along a line, at a steady speed when it hits.

The hand comes to speed smoothly over half its way to the hit and keeps it; soles and centre of mass
stay where they are. It hits at one of the motion's times, settings["hits"].
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
    """The path of a hand in a punch."""

    hand: str
    speed: float
    """Speed when it hits [m/s]."""
    direction: tuple[float, ...]
    """Direction in the world."""
    reach: float
    """Length of the path [m]."""
    hit: float
    """Share of the path after which it hits; over the rest it brakes."""
    rest: float
    """Rest before the punch [s]."""
    follow: float
    """Time at constant speed after the hit, before it brakes [s]."""

    def __post_init__(self) -> None:
        if not (self.speed > 0 and self.reach > 0 and self.rest > 0 and 0.1 <= self.hit <= 0.9):
            raise HeelstrikeError(
                "a punch has speed, reach and rest above 0, and hits after a share of its way "
                f"between 0.1 and 0.9, not {self}"
            )
        if not 0 <= self.follow < np.inf:
            raise HeelstrikeError(f"a punch follows for 0 s or longer, not {self.follow} s")
        if len(self.direction) != 3 or not any(self.direction):
            raise HeelstrikeError(f"a punch goes along three numbers, not {self.direction}")

    @property
    def times(self) -> tuple[float, float, float]:
        """Times of start, full speed and hit [s]; the last is one of the motion's times."""
        rise = self.hit * self.reach / self.speed
        hits = np.ceil(round((self.rest + 1.5 * rise) * RATE, 6)) / RATE
        return hits - 1.5 * rise, hits - 0.5 * rise, hits

    @property
    def brakes(self) -> float:
        """Time at which it begins to brake [s]."""
        return self.times[2] + self.follow

    @property
    def stop(self) -> float:
        """Time at which the hand stops [s]."""
        return self.brakes + 2 * (1 - self.hit) * self.reach / self.speed

    def way(self, t: float) -> float:
        """Return the distance of the hand [m]; its speed grows and falls as s^2 (3 - 2 s)."""
        start, steady, hits = self.times
        if t >= self.brakes:
            left = np.clip((self.stop - t) / (self.stop - self.brakes), 0, 1)
            end = self.reach + self.speed * self.follow
            return end - 2 * (1 - self.hit) * self.reach * (left**3 - left**4 / 2)
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
    at: np.ndarray | None = None,
    follow: float = 0.0,
) -> Motion:
    """Return a punch with a hand (a link or site) along a line from its position in `pose`.

    `pose` is the robot's own by default; with `at`, the line is the one on which the hand hits in
    that posture.
    """
    if at is not None and pose is not None:
        raise HeelstrikeError("a punch starts from `pose` or hits in `at`; give one of both")
    human = Humanoid.of(robot, pose=pose if at is None else at)
    plan = Punch(hand, speed, tuple(float(x) for x in direction), reach, hit, rest, follow)
    body, place = human.frame(hand)
    start = human.body_pose(human.pose, body).act(place.translation)
    along = np.array(plan.direction) / np.linalg.norm(plan.direction)
    if at is not None:
        start = start - along * hit * reach
    soles, com = human.placed(human.pose), human.com(human.pose)
    times = np.arange(round((plan.stop + rest) * RATE) + 1) / RATE
    reaching = Reach(human, hand)
    q = np.array([reaching.pose(soles, com, start + along * plan.way(t)) for t in times])
    shares = np.full((len(times), 2), 0.5)
    settings = asdict(plan) | {"hits": plan.times[2]}
    return feasible(human, "punch", settings, times, q, shares)
