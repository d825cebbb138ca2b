"""A jump on the spot: crouch, push, tuck, land, rise.

The centre of mass goes up and down a line over the middle of the soles:

    crouch    lower by `lower`, smoothly
    push      up by `stroke` s^3, to the speed g flight / 2
    flight    z'' = -g; the soles are drawn up by `tuck` and put down again
    land      the push backwards
    rise      to the pose it began in, smoothly

Legs that stretch have an angular momentum, and in flight nothing takes it away: a trunk that was
upright all the time would turn, and the robot land on its toes. So from the push on the trunk leans
as much as keeps the angular momentum about the centre of mass at zero. Landing is the start
backwards, and ends upright.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
import pinocchio as pin

from heelstrike.errors import HeelstrikeError
from heelstrike.motion.demand import feasible
from heelstrike.motion.humanoid import Humanoid
from heelstrike.motion.motion import Motion
from heelstrike.motion.reach import Reach
from heelstrike.motion.walk import RATE, smooth
from heelstrike.robot.robot import Robot


@dataclass(frozen=True)
class Leap:
    """A jump on the spot."""

    flight: float
    """Time with no foot on the ground [s]."""
    lower: float
    """Depth of the crouch [m]."""
    stroke: float
    """Distance of the centre of mass from the crouch to where the soles leave the ground [m]."""
    tuck: float
    """Height to which the soles are drawn up in flight [m]."""
    crouch: float
    """Time to go down, and to rise again [s]."""
    rest: float
    """Rest before, between and after [s]."""

    def __post_init__(self) -> None:
        if min(self.flight, self.lower, self.crouch, self.rest) <= 0:
            raise HeelstrikeError(f"times and lengths of a jump are above 0, not {self}")
        if not 0 < self.stroke <= self.lower or self.tuck < 0:
            raise HeelstrikeError(
                f"the stroke of a jump is within its crouch, and its tuck at least 0, not {self}"
            )

    def push(self, gravity: float) -> float:
        """Time to come to speed with an acceleration that begins at zero: z = stroke s^3 [s]."""
        return 6 * self.stroke / (gravity * self.flight)


def jump(
    robot: Robot | Humanoid,
    flight: float = 0.18,
    lower: float | None = None,
    stroke: float | None = None,
    tuck: float | None = None,
    crouch: float = 1.0,
    rest: float = 0.5,
) -> Motion:
    """Return a jump on the spot; default lengths are shares of the centre of mass's
    height: lower 1/4, stroke 1/6, tuck 1/12.
    """
    human = Humanoid.of(robot)
    soles = human.placed(human.pose)
    middle = (soles[0].translation + soles[1].translation) / 2
    tall = float(human.com(human.pose)[2] - middle[2])
    leap = Leap(
        flight=flight,
        lower=tall / 4 if lower is None else lower,
        stroke=tall / 6 if stroke is None else stroke,
        tuck=tall / 12 if tuck is None else tuck,
        crouch=crouch,
        rest=rest,
    )
    push = leap.push(human.robot.gravity)
    last = round((2 * (crouch + push) + flight + 4 * rest) * RATE)
    times, reach, shares = np.arange(last + 1) / RATE, Reach(human), []
    q: list[np.ndarray] = []
    lean, half = 0.0, last // 2
    for k, t in enumerate(times):
        z, up, share = _state(leap, human.robot.gravity, push, t, times[-1])
        shares.append((share, share))
        if k > half:
            q.append(q[last - k])  # landing is the start backwards
            continue
        lifted = [pin.SE3(sole.rotation, sole.translation + np.array([0, 0, up])) for sole in soles]
        com = middle + np.array([0, 0, tall + z])
        if t > crouch + 2 * rest:
            lean = _balanced(human.model, q[-1], lean, partial(reach.pose, lifted, com))
        q.append(reach.pose(lifted, com, lean=lean))
    return feasible(human, "jump", asdict(leap), times, np.array(q), np.array(shares))


def _balanced(
    model: pin.Model, before: np.ndarray, lean: float, pose: Callable[..., np.ndarray]
) -> float:
    """Return the lean with which a pose follows another without angular momentum about y."""
    data = model.createData()

    def momentum(at: float) -> float:
        step = pin.difference(model, before, pose(lean=at))
        pin.computeCentroidalMomentum(model, data, pin.integrate(model, before, step / 2), step)
        return float(data.hg.angular[1])

    one, two = lean, lean + 1e-3
    old, new = momentum(one), momentum(two)
    for _ in range(2):  # all but linear
        if new == old:
            break
        one, two = two, two - new * (two - one) / (new - old)
        old, new = new, momentum(two)
    return two


def _state(
    leap: Leap, gravity: float, push: float, t: float, total: float
) -> tuple[float, float, float]:
    """Return the height of the centre of mass relative to the pose's, of the soles, share of each
    foot.
    """
    speed, top = gravity * leap.flight / 2, leap.stroke - leap.lower
    middle = total / 2
    since = abs(t - middle) - leap.flight / 2  # the landing is the start backwards
    if since < 0:
        s = t - middle + leap.flight / 2
        share = np.sin(np.pi * s / leap.flight) ** 2
        height = top + speed * s - gravity * s * s / 2
        return height, leap.tuck * share, 0.0
    if since < push:
        return leap.stroke * (1 - since / push) ** 3 - leap.lower, 0.0, 0.5
    down = smooth(np.clip((total / 2 - leap.flight / 2 - since - leap.rest) / leap.crouch, 0, 1))
    return -leap.lower * down, 0.0, 0.5
