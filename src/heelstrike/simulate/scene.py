"""A scene: a robot, surfaces with their laws, gravity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import Point, Robot, repeated
from heelstrike.simulate.surface import Surface


@dataclass(frozen=True)
class Pair:
    """A point of the robot and a surface that it may touch."""

    name: str
    point: Point
    surface: int
    carrier: int | None = None
    """The body that the surface rides on."""


class Scene:
    """What there is in a world.

    Every contact point of the robot may touch every surface that does not ride on its own body.
    Several robots: `hs.combine` them.
    """

    def __init__(
        self, robot: Robot, *surfaces: Surface, gravity: float | Sequence[float] | None = None
    ) -> None:
        if not isinstance(robot, Robot):
            raise HeelstrikeError(
                f"a scene starts with a robot, hs.load(...), not {robot!r:.60}; several robots: "
                "hs.combine([...])"
            )
        for surface in surfaces:
            if not isinstance(surface, Surface):
                raise HeelstrikeError(
                    f"a scene holds surfaces, hs.Plane(...) or hs.Box(...), not {surface!r:.60}"
                )
            if surface.body is not None:
                robot.body(surface.body)
        if (twice := repeated(surface.name for surface in surfaces)) is not None:
            raise HeelstrikeError(f"two surfaces are called '{twice}'; give each its own name=")
        reserved = {"gravity", "dt", "servo", "controller", "stops", "push"}
        if taken := reserved & {surface.name for surface in surfaces}:
            raise HeelstrikeError(
                f"a surface cannot be called '{taken.pop()}': parameters use that word"
            )
        self.robot = robot
        self.surfaces = surfaces
        self.gravity = _gravity(robot, gravity)
        """In world axes [m/s^2]."""

    @property
    def pairs(self) -> list[Pair]:
        """Points and surfaces, body by body."""
        alone = len(self.surfaces) == 1
        carriers = [None if s.body is None else self.robot.body(s.body) for s in self.surfaces]
        return [
            Pair(point.name if alone else f"{point.name} on {surface.name}", point, k, carriers[k])
            for point in sorted(self.robot.points, key=lambda point: point.body)
            for k, surface in enumerate(self.surfaces)
            if carriers[k] != point.body
        ]


def bodies_in(pairs: Sequence[Pair]) -> list[int]:
    """Bodies that take part in contacts, with a point or with a surface."""
    carriers = {pair.carrier for pair in pairs if pair.carrier is not None}
    return sorted({pair.point.body for pair in pairs} | carriers)


def _gravity(robot: Robot, gravity: float | Sequence[float] | None) -> np.ndarray:
    if gravity is None:
        gravity = robot.gravity
    pull = np.asarray(gravity, dtype=float)
    if pull.ndim == 0:
        pull = np.array([0.0, 0.0, -float(pull)])
    if pull.shape != (3,) or not np.all(np.isfinite(pull)):
        raise HeelstrikeError(
            f"gravity is one number, positive downward, or three in world axes, not {gravity}"
        )
    return pull
