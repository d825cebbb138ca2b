"""The virtual base: links that stand on the ground, made part of it.

    m_i = M_g,    I_i = I_g E                             [Tsujita2009] (1), (2)
    M_g >> M,     det I_i >> det I_w                      (3), (4)

M_g and I_g are run-time inputs, as is the choice among the robot's end links: nothing is rebuilt
when a foot is lifted. With an infinite mass the link is fixed, the limit that (1), (2) approach.
The printed M_q, I_q are M_g, I_g.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import Robot

STANDING = 0.02
"""Contact points this close to the lowest one carry the robot [m]."""
MUCH = 100.0
"""Smallest ratio that ">>" stands for in (3), (4)."""


@dataclass(frozen=True)
class VirtualBase:
    """Links that are held by the ground."""

    links: str | Sequence[str] | None = None
    """One sole, both, a hand; None: those that carry the robot in its first pose; (): none."""
    mass: float = 1e5
    """M_g [kg]; np.inf: the links are fixed, exactly."""
    inertia: float = 1e5
    """I_g [kg m^2]."""

    @property
    def fixed(self) -> bool:
        """Whether the links are exactly fixed (infinite mass)."""
        return bool(np.isinf(self.mass))

    def bodies(self, robot: Robot) -> tuple[int, ...]:
        """Return the indices of the held bodies, in the robot's order; raise an error if (3)
        fails.
        """
        if not floats(robot):
            if self.links:
                raise HeelstrikeError(
                    f"{robot.name} has a fixed base, so no link of it can be made one: give "
                    "base=None"
                )
            return ()
        names = (self.links,) if isinstance(self.links, str) else self.links
        found = standing(robot) if names is None else tuple(robot.body(name) for name in names)
        if len(set(found)) != len(found):
            raise HeelstrikeError(f"two of the links {names} are the same body of {robot.name}")
        self._check(robot)
        return tuple(sorted(found))

    def _check(self, robot: Robot) -> None:
        """Check (3), (4), with I_w estimated as M times the square of a reach of 2 m at most."""
        least = MUCH * robot.mass
        if not self.fixed and not (self.mass >= least and self.inertia >= least):
            raise HeelstrikeError(
                f"a virtual base of {self.mass:g} kg, {self.inertia:g} kg m^2 is not much heavier "
                f"than {robot.name}, {robot.mass:g} kg; (3), (4) want {least:g} at least"
            )


def floats(robot: Robot) -> bool:
    """Return whether the robot has one free joint; raise an error if it has several."""
    kinds = [joint.kind for joint in robot.joints]
    roots = [joint for joint in robot.joints if joint.parent < 0]
    if kinds[0] == "free" and len(roots) == 1 and "free" not in kinds[1:]:
        return True
    if "free" in kinds or "planar" in kinds:
        raise HeelstrikeError(
            f"{robot.name} is not one robot on a free or a fixed base; estimate the impact of one "
            "of its parts alone"
        )
    return False


def standing(robot: Robot) -> tuple[int, ...]:
    """Return the bodies whose contact points carry the robot in its first pose."""
    from heelstrike.robot.placement import lowest_place, placements

    if not robot.points:
        raise HeelstrikeError(
            f"{robot.name} has no contact points to stand on; name the links: hs.VirtualBase([...])"
        )
    placed = placements(robot, next(iter(robot.poses.values()), robot.neutral))
    heights = [float(lowest_place(p, placed[p.body])[2]) for p in robot.points]
    low = min(heights) + STANDING
    return tuple(sorted({p.body for p, z in zip(robot.points, heights, strict=True) if z <= low}))


def ends(robot: Robot) -> tuple[int, ...]:
    """Return the bodies at the ends of the tree, which may stand on or hold something."""
    return tuple(i for i in range(len(robot.bodies)) if not robot.children(i))
