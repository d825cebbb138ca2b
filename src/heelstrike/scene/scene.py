"""A scene: a robot, surfaces with their laws, gravity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError, at_path
from heelstrike.robot.robot import WORLD, Point, Robot, first_duplicate
from heelstrike.scene.surfaces import Surface

RESERVED = {"gravity", "dt", "servo", "controller", "stops", "push", "solver", "world"}


@dataclass(frozen=True)
class Pair:
    """A point and a surface that it may touch."""

    name: str
    point: Point
    """On a body of the robot, or on the body WORLD."""
    surface: int
    carrier: int | None = None
    """The body that the surface rides on."""
    part: int = 0
    """Of the surface."""
    law: str = ""
    """The surface, or the key of the scene's materials, whose law holds."""


class Scene:
    """What there is in a world.

    Every contact point of the robot may touch every surface, unless the surface rides on its own
    body or on one that a joint connects to it; a surface's `touches` says otherwise. `points` stand
    in the world, (x, y, z) or (x, y, z, radius), and touch surfaces that ride on bodies.

    `materials` are laws of bodies: {"l_foot": law} holds for the points of that body, whatever they
    touch, instead of the surface's law; {"l_foot on ice": law} for that surface alone, and comes
    before the other. Several robots: `hs.combine` them.
    """

    def __init__(
        self,
        robot: Robot,
        *surfaces: Surface,
        gravity: float | Sequence[float] | None = None,
        points: Sequence[Sequence[float]] = (),
        materials: Mapping[str, SurfaceLaw] | None = None,
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
                with at_path("body"):
                    robot.body(surface.body)
            if surface.name in RESERVED:
                raise HeelstrikeError(
                    f"a surface cannot be called '{surface.name}', which parameter paths reserve",
                    path="name",
                    value=surface.name,
                    remedy="pass another name=",
                )
        if (twice := first_duplicate(surface.name for surface in surfaces)) is not None:
            raise HeelstrikeError(
                f"two surfaces are called '{twice}'",
                path="name",
                value=twice,
                remedy="pass a different name= to each",
            )
        self.robot = robot
        self.surfaces = surfaces
        self.gravity = _gravity(robot, gravity)
        """In world axes [m/s^2]."""
        self.points = _world_points(points)
        """That stand in the world."""
        self.materials = dict(materials or {})
        """Laws of bodies by their key."""
        self._worn = _worn(robot, surfaces, self.materials)
        self._carriers = [None if s.body is None else robot.body(s.body) for s in surfaces]
        self._touched = [_touched(robot, surface) for surface in surfaces]
        if self.points and not any(surface.body for surface in surfaces):
            raise HeelstrikeError(
                "points of the world touch only surfaces that ride on a body, and none does",
                path="points",
                remedy="attach a surface to a body, such as hs.Box(body='l_foot', ...)",
            )

    @property
    def laws(self) -> dict[str, SurfaceLaw]:
        """Of surfaces by name, and of bodies by their key."""
        return {surface.name: surface.law for surface in self.surfaces} | self.materials

    @cached_property
    def pairs(self) -> list[Pair]:
        """Points and surfaces, body by body."""
        alone = len(self.surfaces) == 1 and len(self.surfaces[0].parts) == 1
        points = sorted([*self.points, *self.robot.points], key=lambda point: point.body)
        found = []
        for point in points:
            for k, surface in enumerate(self.surfaces):
                carrier = self._carriers[k]
                if not self._meets(k, WORLD if carrier is None else carrier, point.body):
                    continue
                worn = self._worn.get((point.body, surface.name), self._worn.get((point.body, "")))
                for n, part in enumerate(surface.parts):
                    name = point.name if alone else f"{point.name} on {surface.name} {part}".strip()
                    found.append(Pair(name, point, k, carrier, n, worn or surface.name))
        return found

    def _meets(self, surface: int, carrier: int, body: int) -> bool:
        if carrier == body:
            return False
        if (touched := self._touched[surface]) is not None:
            return body in touched
        if WORLD in (carrier, body):
            return True
        joints = self.robot.joints
        return joints[carrier].parent != body and joints[body].parent != carrier


def bodies_in(pairs: Sequence[Pair]) -> list[int]:
    """Bodies that take part in contacts, with a point or with a surface."""
    carriers = {pair.carrier for pair in pairs if pair.carrier is not None}
    return sorted({pair.point.body for pair in pairs if pair.point.body != WORLD} | carriers)


def _touched(robot: Robot, surface: Surface) -> set[int] | None:
    """Bodies that a surface is said to touch."""
    if surface.touches is None:
        return None
    with at_path("touches"):
        found = {WORLD if name == "world" else robot.body(name) for name in surface.touches}
    if surface.body is not None and robot.body(surface.body) in found:
        raise HeelstrikeError(
            f"surface '{surface.name}' rides on '{surface.body}' and cannot touch that body",
            path="touches",
            value=surface.touches,
            remedy="remove the body from touches=",
        )
    return found


def _worn(
    robot: Robot, surfaces: Sequence[Surface], materials: Mapping[str, SurfaceLaw]
) -> dict[tuple[int, str], str]:
    """Keys of materials by body and surface, "" for every surface."""
    names = {surface.name for surface in surfaces}
    found: dict[tuple[int, str], str] = {}
    for key, law in materials.items():
        with at_path(f"materials.{key}"):
            if not isinstance(law, SurfaceLaw):
                raise ParameterError(key, law, "a surface law, such as hs.Elastic(...)")
            if key in names or key in RESERVED:
                raise HeelstrikeError(
                    f"'{key}' cannot be the key of a material, since parameter paths use it",
                    remedy="give the surface another name=",
                )
            body, _, surface = key.partition(" on ")
            if surface and surface not in names:
                raise UnknownNameError("surface", surface, sorted(names))
            place = robot.body(body), surface
            if place in found:
                raise HeelstrikeError(
                    f"the materials '{found[place]}' and '{key}' are for the same body",
                    remedy="keep one of them",
                )
            found[place] = key
    return found


def _world_points(points: Sequence[Sequence[float]]) -> tuple[Point, ...]:
    found = []
    for k, entry in enumerate(points):
        try:
            numbers = np.array(entry, dtype=float)
        except (TypeError, ValueError):
            numbers = np.zeros(0)
        if numbers.shape not in ((3,), (4,)) or not np.isfinite(numbers).all():
            raise ParameterError("points", entry, "(x, y, z) or (x, y, z, radius) [m]")
        radius = float(numbers[3]) if len(numbers) == 4 else 0.0
        if radius < 0:
            raise ParameterError("points", entry, "a radius of at least 0 m")
        found.append(Point(f"world.{k}", WORLD, numbers[:3], radius))
    return tuple(found)


def _gravity(robot: Robot, gravity: float | Sequence[float] | None) -> np.ndarray:
    if gravity is None:
        gravity = robot.gravity
    pull = np.asarray(gravity, dtype=float)
    if pull.ndim == 0:
        pull = np.array([0.0, 0.0, -float(pull)])
    if pull.shape != (3,) or not np.all(np.isfinite(pull)):
        allowed = "one number, positive downward, or three in world axes [m/s^2]"
        raise ParameterError("gravity", gravity, allowed)
    return pull
