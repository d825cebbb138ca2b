"""Placing a robot on the surfaces of a scene: moved along the vertical until it touches.

    max over contact points of depth(q + h up) = 0,    then h + drop

The robot is lowered from above by its distance from the surfaces; on planes and slopes the second
step is exact. Where a step goes too far, false position (Illinois) finds the zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.robot.placement import free_base, placements
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.scene.deepest import deepest, deepest_in_pose, place_of
from heelstrike.scene.scene import Pair, Scene
from heelstrike.scene.surfaces import Plane, Surface
from heelstrike.spatial.vector import SX

MAX_LIFT = 100.0
"""Largest distance that a robot is moved to a surface [m]."""
FROM_ABOVE = 2.0
"""Height above the given one from which a robot is lowered [m]."""
MIN_RATE = 0.1
"""Smallest rate of the depth over the height by which a step is foreseen [-]."""
ACCURACY = 1e-9
"""Depth at which a point touches [m]."""


def placed(
    scene: Scene, q: np.ndarray, drop: float = 0.0, surfaces: Sequence[Surface] | None = None
) -> np.ndarray:
    """Return q with the free base moved vertically, so that the robot is `drop` above contact.

    A robot without a free base stays where it is.

    Args:
        scene: robot and surfaces; those that ride on bodies do not count.
        q: coordinates, (nq,).
        drop: height of fall until the first contact [m].
        surfaces: surfaces with other values of their parameters; None: those of the scene.
    """
    robot, made = scene.robot, tuple(surfaces or scene.surfaces)
    if drop == 0 and robot.joints[0].kind != "free":
        return np.array(q, dtype=float)
    base = free_base(robot)
    if not (isinstance(drop, int | float) and 0 <= drop < MAX_LIFT):
        raise ParameterError("drop", drop, f"a height from 0 to {MAX_LIFT:g} m")
    pairs = [pair for pair in scene.pairs if pair.carrier is None and pair.point.body != WORLD]
    if not pairs:
        raise HeelstrikeError(
            f"{robot.name} has no contact point that may touch a fixed surface",
            path="drop",
            remedy="load it with points=",
        )
    moved = np.array(q, dtype=float)
    moved[base] += drop + _touching(_depth_by_height(robot, moved, pairs, made), robot.name)
    return moved


def _depth_by_height(
    robot: Robot, q: np.ndarray, pairs: Sequence[Pair], surfaces: Sequence[Surface]
) -> Callable[[float], float]:
    """Return the depth of the deepest pair [m] as a function of the height added to q [m]."""
    at, still = placements(robot, q), (np.eye(3), np.zeros(3))

    def is_searched(x: Pair) -> bool:
        surface = surfaces[x.surface]
        is_hull = x.point.hull is not None and not isinstance(surface, Plane)
        return surface.searches or is_hull or x.point.half is not None

    searched = [x for x in pairs if is_searched(x)]

    def deepest_searched(height: float) -> float:
        up, depths = np.array([0.0, 0.0, height]), []
        for x in searched:
            R, p = at[x.point.body]
            pose = R, p + up
            depths.append(deepest_in_pose(surfaces[x.surface], x.part, x.point, pose, still)[0])
        return max(depths, default=-np.inf)

    if len(searched) == len(pairs):
        return deepest_searched
    h, found = SX.sym("h"), []
    for x in pairs:
        if is_searched(x):
            continue
        R, p = at[x.point.body]
        surface = surfaces[x.surface]
        own = place_of(surface, x.part, x.point, at[x.point.body], still)
        place = SX(R @ own + p) + ca.vertcat(0, 0, h)
        half_axes = None if x.point.half_axes is None else SX(R @ x.point.half_axes)
        shape = x.point.radius, half_axes, x.point.roundness
        found.append(deepest(surface, place, *shape, x.part)[0])
    made = ca.Function("depth", [h], [ca.mmax(ca.vertcat(*found))])
    return lambda height: max(float(made(height)), deepest_searched(height))


def _touching(depth: Callable[[float], float], robot: str) -> float:
    """Return the height at which a robot that is lowered from above first touches [m]."""
    high = FROM_ABOVE
    while (f_high := depth(high)) > 0:
        high *= 2
        if high > MAX_LIFT:
            raise _nothing_there(robot)
    step = -f_high
    while True:
        low = high - step
        f_low = depth(low)
        if abs(f_low) < ACCURACY:
            return low
        if f_low > 0:
            return _zero(depth, low, f_low, high, f_high)
        if low < -MAX_LIFT:
            raise _nothing_there(robot)
        rate = (f_low - f_high) / step
        high, f_high = low, f_low
        step = -f_low / rate if rate > MIN_RATE else -f_low


def _zero(depth: Callable[[float], float], a: float, fa: float, b: float, fb: float) -> float:
    """Return the height between a and b, where depths have opposite signs, at which it is 0."""
    for _ in range(60):
        c = b - fb * (b - a) / (fb - fa)
        fc = depth(c)
        if abs(fc) < ACCURACY or abs(b - a) < ACCURACY:
            return c
        if (fc > 0) != (fb > 0):
            a, fa = b, fb
        else:
            fa /= 2
        b, fb = c, fc
    return max(a, b)


def _nothing_there(robot: str) -> HeelstrikeError:
    return HeelstrikeError(
        f"{robot} touches no surface within {MAX_LIFT:g} m above or below",
        path="drop",
        remedy="move it over a surface",
    )
