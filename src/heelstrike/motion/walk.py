"""Walking: soles from step to step, the ZMP under the foot that stands, the centre of mass before
it by preview control, poses by inverse kinematics.

The cart of preview.py is not the robot: its legs swing. So the ZMP of the poses' own inverse
dynamics is compared with the wanted one and the difference taken back by a second preview
([Kajita2003], section 5).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import pinocchio as pin

from heelstrike.errors import HeelstrikeError
from heelstrike.motion.demand import demand, feasible
from heelstrike.motion.humanoid import Humanoid
from heelstrike.motion.motion import Motion
from heelstrike.motion.preview import follow
from heelstrike.motion.reach import Reach
from heelstrike.robot.robot import Robot

RATE = 100.0
"""Poses per second."""


@dataclass(frozen=True)
class Gait:
    """A walk straight on."""

    steps: int
    length: float
    """Distance by which a foot passes the other one [m]."""
    height: float
    """Height to which a foot is lifted [m]."""
    period: float
    """Time from step to step [s]."""
    double: float
    """Share of a period with both feet on the ground."""
    lower: float
    """Distance of the centre of mass below that of the robot's pose [m]."""
    rest: float
    """Rest before and after [s]."""

    def __post_init__(self) -> None:
        if self.steps < 1 or self.period <= 0 or not 0 < self.double < 1:
            raise HeelstrikeError(
                "a walk has steps >= 1, a period above 0 s, and both feet down for a share of it "
                f"between 0 and 1, not {self}"
            )
        if min(self.height, self.rest) <= 0:
            raise HeelstrikeError(f"height [m] and rest [s] of a walk are above 0, not {self}")


def walk(
    robot: Robot | Humanoid,
    steps: int = 8,
    length: float | None = None,
    height: float | None = None,
    period: float = 0.8,
    double: float = 0.3,
    lower: float | None = None,
    rest: float = 1.5,
) -> Motion:
    """Return a walk straight on; default lengths are shares of the centre of mass's
    height: length 1/8, height 1/14, lower 1/16.
    """
    human = Humanoid.of(robot)
    soles = human.placed(human.pose)
    tall = float(human.com(human.pose)[2] - min(sole.translation[2] for sole in soles))
    gait = Gait(
        steps=steps,
        length=tall / 8 if length is None else length,
        height=tall / 14 if height is None else height,
        period=period,
        double=double,
        lower=tall / 16 if lower is None else lower,
        rest=rest,
    )
    plan = _Plan(human, gait)
    zmp, shares = plan.zmp(), plan.shares()
    centre = plan.centre(zmp)
    found = demand(human, plan.times, plan.poses(centre), shares)
    q = plan.poses(centre - plan.centre(found.zmp - zmp))
    return feasible(human, "walk", asdict(gait), plan.times, q, shares)


class _Plan:
    """Plan of the feet over time."""

    def __init__(self, human: Humanoid, gait: Gait) -> None:
        self.human, self.gait = human, gait
        self.begin = human.placed(human.pose)
        self.first = human.com(human.pose)
        self.floor = min(sole.translation[2] for sole in self.begin)
        self.tall = self.first[2] - gait.lower - self.floor
        self.marks = gait.rest + gait.period * np.arange(gait.steps + 2)
        """Time at which each step begins; a last period returns to the middle."""
        end = self.marks[-1] + gait.rest
        self.times = np.arange(round(end * RATE) + 1) / RATE

    def landing(self, step: int) -> float:
        """Return how far ahead the foot of a step lands; the last one joins the other."""
        last = self.gait.steps - 1
        return self.gait.length * (min(step, last - 1) + 1 if step == last else step + 1)

    def foot(self, side: int, t: float) -> pin.SE3:
        """Return the sole of a side (0 left, 1 right; the right one steps first)."""
        gait, sole = self.gait, self.begin[side]
        x = z = 0.0
        for step in range(gait.steps):
            if step % 2 != 1 - side:
                continue
            start = self.marks[step] + gait.double * gait.period
            s = np.clip((t - start) / ((1 - gait.double) * gait.period), 0, 1)
            x += (self.landing(step) - x) * smooth(s)
            z = max(z, gait.height * np.sin(np.pi * smooth(s)) ** 2 if 0 < s < 1 else 0.0)
        return pin.SE3(sole.rotation, sole.translation + np.array([x, 0, z]))

    def zmp(self) -> np.ndarray:
        """Return the wanted ZMP (times, 2): under the standing foot, between the feet at rest, and
        from one to the other while both stand.
        """
        shares = self.shares()
        feet = [[self.foot(side, t).translation[:2] for side in (0, 1)] for t in self.times]
        return np.einsum("ts,tsi->ti", shares, np.array(feet))

    def shares(self) -> np.ndarray:
        """Return the shares of the weight, left and right."""
        gait = self.gait
        knots, left = [0.0], [0.5]
        for step in range(gait.steps):
            stands = 1.0 if step % 2 == 0 else 0.0
            start = self.marks[step]
            knots += [start, start + gait.double * gait.period]
            left += [left[-1], stands]
        knots += [self.marks[-2], self.marks[-1]]
        left += [left[-1], 0.5]
        share = np.interp(self.times, knots, left)
        return np.stack([share, 1 - share], axis=1)

    def centre(self, zmp: np.ndarray) -> np.ndarray:
        """Return the centre of mass for ZMPs, computed with a fifth of the step."""
        fine = np.repeat(zmp, 5, axis=0)
        g, dt = self.human.robot.gravity, 1 / (5 * RATE)
        return np.stack([follow(fine[:, i], self.tall, g, dt)[::5] for i in (0, 1)], axis=1)

    def poses(self, centre: np.ndarray) -> np.ndarray:
        """Return q at every time."""
        reach = Reach(self.human)
        q = []
        for t, (x, y) in zip(self.times, centre, strict=True):
            down = self.gait.lower * smooth(np.clip(t / (0.6 * self.gait.rest), 0, 1))
            com = np.array([x, y, self.first[2] - down])
            q.append(reach.pose([self.foot(0, t), self.foot(1, t)], com))
        return np.array(q)


def smooth(s: float) -> float:
    """Return a curve from 0 to 1 with no speed and acceleration at its ends."""
    return float(s**3 * (10 - 15 * s + 6 * s * s))
