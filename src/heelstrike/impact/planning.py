"""Planning a hit: the purpose of [Tsujita2009], by nonlinear programming with SDC in the loop.

Over posture q and velocities v, to make the impulse (or the peak force) largest, or the impulse a
wanted one,

    feet where they stand       pose(q) = pose(q_start),  J_c v = 0
    hand at the target          p(q) = place,  J v along the direction
    limits                      of joints and torques through the impact, of speeds before it
    ZMP                         inside the support polygon by a margin, through the impact
    soles                       each flat on the floor, through the impact

Gradients are CasADi's, of the traced dynamics themselves; IPOPT solves (problem.py, course.py). The
start is the posture nearest to the given one that reaches the place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.contact.law import NormalLaw
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.errors import HeelstrikeError
from heelstrike.impact.base import VirtualBase, floats
from heelstrike.impact.course import PlanGoal
from heelstrike.impact.estimates import estimate
from heelstrike.impact.full import FullRun, simulate_full
from heelstrike.impact.hit import hit
from heelstrike.impact.problem import Problem
from heelstrike.impact.results import Estimate
from heelstrike.impact.target import Target
from heelstrike.robot.robot import Robot

GOALS = ("impulse", "peak")


@dataclass(frozen=True, eq=False)
class PlannedHit:
    """A planned hit: posture, velocities, and their estimates."""

    q: np.ndarray
    v: np.ndarray
    """All velocities, beginning with the base's."""
    speed: float
    """Speed of the hand along the direction [m/s]."""
    estimate: Estimate
    start: Estimate
    """Estimate for the start posture, with the fastest straight motion of the hand."""
    missed: dict[str, float]
    """Violation of each kind of constraint."""
    iterations: int
    full: FullRun | None = None

    @property
    def factor(self) -> float:
        """Impulse of the plan over the impulse of the start posture."""
        return float(self.estimate.impulse[0] / self.start.impulse[0])


def plan(
    robot: Robot,
    q: ArrayLike,
    link: str,
    direction: str | ArrayLike = "x",
    place: ArrayLike | None = None,
    goal: str | float = "impulse",
    target: Target | None = None,
    law: NormalLaw | None = None,
    point: ArrayLike = (0.0, 0.0, 0.0),
    links: Any = None,
    margin: float = 0.03,
    joint_speed: float = 1.0,
    full: bool = True,
    most: int = 80,
) -> PlannedHit:
    """Plan a hit at a position of the world [m] (None: where the hand is), from a standing posture
    q.

    `goal` is "impulse", "peak" or an impulse [N s]; `margin` is the ZMP's [m]; `joint_speed` holds
    where the robot has no limit [rad/s]; `most` bounds the iterations. With `full` the plan is
    run in the full simulation as well.
    """
    if not (goal in GOALS or isinstance(goal, int | float)):
        raise HeelstrikeError(f"a goal is 'impulse', 'peak' or an impulse [N s], not {goal!r}")
    if not 0 <= margin < np.inf:
        raise HeelstrikeError(f"a margin is a distance inside the support [m], not {margin}")
    if not floats(robot):
        raise HeelstrikeError(f"{robot.name} does not stand: a plan needs a floating robot")
    made = hit(robot, link, direction, point, VirtualBase(links, mass=np.inf))
    law = law if law is not None else LinearSpring(k=1e4, c=300.0)
    wish = PlanGoal(goal, law, target or Target(), margin, joint_speed)
    problem = Problem(made, wish, made.postures(q)[0], place)
    start = problem.reach()
    found, v, missed, count = problem.solve(start, most)
    problem.refuse(missed)
    options: dict[str, Any] = {
        "direction": made.direction, "target": wish.target, "law": law, "point": point,
        "base": VirtualBase(links),
    }  # fmt: skip
    planned = estimate(robot, found, link, v=v[6:], **options)
    before = estimate(robot, start, link, v=problem.straight(start)[6:], **options)
    ran = simulate_full(robot, found, link, v=v[6:], **options) if full else None
    speed = float(planned.speed[0])
    return PlannedHit(found, v, speed, planned, before, missed, count, ran)
