"""A spring and a damper between two bodies, or between a body and the world.

    f = stiffness (l - rest_length) + damping l_dot        l = |p_1 - p_2|; f > 0 pulls together

It acts along the line between its points, as a spatial tendon of an MJCF with two sites does, and
is explicit (step/body_forces.py). In the symplectic step it is stable while

    dt^2 stiffness / m + 2 dt damping / m < 4

m the mass that it moves along the line (robot/cord_mass.py): a simulator warns beyond that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heelstrike.checks import label, number, numbers
from heelstrike.errors import HeelstrikeError, at_path
from heelstrike.robot.actuators import SpatialTendon
from heelstrike.robot.robot import WORLD, Robot

PLACE = "a place (x, y, z) in the frame of its body [m]"


@dataclass(frozen=True)
class SpringDamper:
    """Spring and damper along the line between points of two bodies.

    Args:
        body: body, link or site.
        other: the other one; "world": a place that is fixed in the world.
        stiffness: force over stretch [N/m].
        damping: force over the rate of the length [N s/m].
        rest_length: distance of the points at which the spring is relaxed [m].
        point: place of the spring's end in the frame of `body` [m].
        other_point: place of its other end in the frame of `other` [m].
        name: label of its force in recordings.

    Examples:
        >>> robot = hs.load("hoap1")
        >>> calf = hs.SpringDamper("R_KN", "R_AAA", stiffness=500.0, damping=2.0, rest_length=0.1)
        >>> scene = hs.Scene(robot, hs.Plane(hs.Rigid()), springs=[calf])
    """

    body: str
    other: str = "world"
    stiffness: float = 0.0
    damping: float = 0.0
    rest_length: float = 0.0
    point: Sequence[float] = (0.0, 0.0, 0.0)
    other_point: Sequence[float] = (0.0, 0.0, 0.0)
    name: str = "spring"

    def __post_init__(self) -> None:
        for key, unit in (("stiffness", "N/m"), ("damping", "N s/m"), ("rest_length", "m")):
            number(key, getattr(self, key), f"a finite number of at least 0 {unit}", least=0.0)
        for key in ("point", "other_point"):
            numbers(key, getattr(self, key), [(3,)], PLACE)
        for key in ("body", "other", "name"):
            label(key, getattr(self, key))

    def tendon(self, robot: Robot) -> SpatialTendon:
        """Return the tendon of two points that the spring is on a robot."""
        path = (
            _end(robot, "body", self.body, self.point),
            _end(robot, "other", self.other, self.other_point),
        )
        if path[0][0] == path[1][0]:
            raise HeelstrikeError(
                f"spring '{self.name}' joins '{self.body}' and '{self.other}', which do not move "
                "beside one another",
                path="other",
                value=self.other,
                remedy="name two bodies, or a body and 'world'",
            )
        rest = float(self.rest_length)
        forces = float(self.stiffness), (rest, rest), float(self.damping)
        return SpatialTendon(self.name, path, *forces)


def _end(robot: Robot, key: str, name: str, point: Sequence[float]) -> tuple[int, np.ndarray]:
    """Return the body of an end of a spring, or WORLD, and its place in that body's frame."""
    place = np.array(point, dtype=float)
    if name in robot.frames:
        frame = robot.frames[name]
        return frame.body, frame.translation + frame.rotation @ place
    if name == "world":
        return WORLD, place
    with at_path(key):
        return robot.body(name), place
