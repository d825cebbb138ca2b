"""Scene: a robot, surfaces with their laws, and gravity."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from heelstrike.checks import array_of_numbers, mapping
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError, at_path
from heelstrike.robot.hull_cells import HullCells
from heelstrike.robot.outline import between, corner_points
from heelstrike.robot.robot import WORLD, Point, Robot, first_duplicate
from heelstrike.scene.shape_pairs import SELF, touching_shapes
from heelstrike.scene.spring_damper import SpringDamper
from heelstrike.scene.surfaces import Plane, Surface

RESERVED = re.compile(rf"gravity|dt|servo|controller|stops|push\d*|solver|world|{SELF}")
"""First words of parameter paths that no surface or material may have."""


@dataclass(frozen=True)
class Pair:
    """Contact point and a surface that it may touch."""

    name: str
    point: Point
    """Contact point of a body of the robot, or of the body WORLD."""
    surface: int
    """Index in the scene's surfaces."""
    carrier: int | None = None
    """Body that the surface rides on; None: the world."""
    part: int = 0
    """Index in the surface's `parts`."""
    law: str = ""
    """Surface, or key of the scene's materials, whose law applies."""


class Scene:
    """A robot, the surfaces that it may touch, and gravity.

    Every contact point of the robot may touch every surface, unless the surface rides on the same
    body or on one that a joint connects to it; `touches` of a surface overrides this. Join several
    robots by `hs.combine`.

    Args:
        robot: the robot.
        surfaces: surfaces with different names, such as hs.Plane or hs.Box.
        gravity: positive downward, or three numbers in world axes [m/s^2]; None: the model's.
        points: contact points fixed in the world, (x, y, z) or (x, y, z, radius) [m]; they touch
            surfaces that ride on bodies.
        materials: laws of bodies, used in place of the surface's law. {"l_foot": law} applies to
            the points of that body on every surface; {"l_foot on ice": law} on that surface only,
            and takes precedence.
        self_contact: whether bodies of the robot touch one another, where its file lets them: True,
            by the law of the first surface; False; or a law, whose parameters are "self.normal.k"
            and so on.
        edges: whether shapes of bodies touch edges of boxes and stairs, balls, rods and posts, and
            ridges of height fields and meshes, between their contact points (docs/shapes.md).
        springs: springs and dampers between bodies, hs.SpringDamper(...).

    Examples:
        >>> robot = hs.load("hoap1")
        >>> mat = hs.Box(hs.Elastic(), name="mat", point=(0, 0, -0.05), size=(1, 1, 0.1))
        >>> floor = hs.Plane(hs.Rigid(), name="floor", point=(0, 0, -0.1))
        >>> scene = hs.Scene(robot, mat, floor, gravity=9.81)
    """

    def __init__(
        self,
        robot: Robot,
        *surfaces: Surface,
        gravity: float | Sequence[float] | None = None,
        points: Sequence[Sequence[float]] = (),
        materials: Mapping[str, SurfaceLaw] | None = None,
        self_contact: bool | SurfaceLaw = True,
        edges: bool = True,
        springs: Sequence[SpringDamper] = (),
    ) -> None:
        if not isinstance(robot, Robot):
            raise HeelstrikeError(
                f"the first argument of hs.Scene is {robot!r:.60}",
                path="robot",
                value=robot,
                allowed="a robot from hs.load(...)",
                remedy="join several robots by hs.combine([...])",
            )
        for surface in surfaces:
            if not isinstance(surface, Surface):
                raise HeelstrikeError(
                    f"a surface of hs.Scene is {surface!r:.60}",
                    path="surfaces",
                    value=surface,
                    allowed="hs.Plane(...), hs.Box(...) and other surfaces",
                )
            if surface.body is not None:
                with at_path("body"):
                    robot.body(surface.body)
            if RESERVED.fullmatch(surface.name):
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
        radius = max((point.roundness for point in robot.points), default=0.0)
        around = max((x.hull.radius for x in robot.points if x.hull is not None), default=0.0) / 2
        surfaces = tuple(surface.fitted(radius, around) for surface in surfaces)
        self.robot = robot = _with_springs(robot, springs)
        """The robot, with the springs of the scene among its `spatial_tendons`."""
        self.surfaces = surfaces
        self.gravity = _gravity(robot, gravity)
        """Gravity in world axes, (3,) [m/s^2]."""
        self.points = _world_points(points)
        """Contact points fixed in the world."""
        laws = {} if materials is None else materials
        self.materials = dict(mapping("materials", laws, "laws by body: {'foot': hs.Rigid()}"))
        """Laws of bodies by key."""
        self._material_keys = _material_keys(robot, surfaces, self.materials)
        self._carriers = [None if s.body is None else robot.body(s.body) for s in surfaces]
        self._touched = [_touched(robot, surface) for surface in surfaces]
        if isinstance(self_contact, SurfaceLaw):
            self.materials[SELF] = self_contact
        self.edges = edges
        """Whether edges and ridges are touched between contact points."""
        self.shape_contact = touching_shapes(self, self_contact, edges)
        """Shapes of the robot that may touch one another, or edges; None: there are none."""
        if self.points and not any(surface.body for surface in surfaces):
            raise HeelstrikeError(
                "points of the world touch only surfaces that ride on a body, and none does",
                path="points",
                remedy="attach a surface to a body, such as hs.Box(body='l_foot', ...)",
            )

    def __repr__(self) -> str:
        names = ", ".join(surface.name for surface in self.surfaces) or "no surface"
        return f"<Scene of {self.robot.name} on {names}: {len(self.pairs)} contact pairs>"

    def _repr_html_(self) -> str:
        """Return a picture and a table, for notebooks."""
        from heelstrike.view.pages.notebook import scene_html

        return scene_html(self)

    @property
    def laws(self) -> dict[str, SurfaceLaw]:
        """Laws of surfaces by name, and of bodies by key."""
        return {surface.name: surface.law for surface in self.surfaces} | self.materials

    @cached_property
    def pairs(self) -> list[Pair]:
        """Contact points and the surfaces that they may touch, body by body."""
        alone = len(self.surfaces) == 1 and len(self.surfaces[0].parts) == 1
        points = sorted([*self.points, *self.robot.points], key=lambda point: point.body)
        found = []
        for point in points:
            for k, surface in enumerate(self.surfaces):
                carrier = self._carriers[k]
                if not self.may_touch(k, WORLD if carrier is None else carrier, point.body):
                    continue
                law = self.law_of(point.body, surface.name)
                for own in self._points_on(surface, point):
                    for n, part in enumerate(surface.parts):
                        name = own.name if alone else f"{own.name} on {surface.name} {part}".strip()
                        found.append(Pair(name, own, k, carrier, n, law))
        return found

    def _points_on(self, surface: Surface, point: Point) -> list[Point]:
        """Return the contact points of a point of the robot on a surface."""
        if isinstance(surface, Plane):
            return [point]
        ridges = surface.has_ridges and self.edges
        return corner_points(point) + (between(point) if ridges else [])

    @cached_property
    def hull_cells(self) -> list[HullCells]:
        """Hulls of many corners: those of `shape_contact`, then those of contact points alone."""
        found = [] if self.shape_contact is None else [*self.shape_contact.hulls]
        found += [x.point.hull.cells for x in self.pairs if x.point.hull is not None]
        return list({id(cells): cells for cells in found}.values())

    @cached_property
    def groups(self) -> dict[tuple[int, ...], list[int]]:
        """Numbers of the pairs by the moving bodies that they join: one body or two."""
        found: dict[tuple[int, ...], list[int]] = {}
        for k in range(len(self.pairs)):
            found.setdefault(self.group_of(k), []).append(k)
        return found

    def group_of(self, k: int) -> tuple[int, ...]:
        """Return the moving bodies that pair k joins."""
        return tuple(bodies_in([self.pairs[k]]))

    @cached_property
    def bodies(self) -> list[int]:
        """Bodies that may touch something."""
        own = () if self.shape_contact is None else self.shape_contact.bodies
        return sorted({*bodies_in(self.pairs), *own})

    def law_of(self, body: int, surface: str) -> str:
        """Return the name of the law between a body and a surface."""
        anywhere = self._material_keys.get((body, ""), surface)
        return self._material_keys.get((body, surface), anywhere)

    def may_touch(self, surface: int, carrier: int, body: int) -> bool:
        """Return whether points and shapes of a body may touch a surface and its carrier."""
        if carrier == body:
            return False
        if (touched := self._touched[surface]) is not None:
            return body in touched
        if WORLD in (carrier, body):
            return True
        joints = self.robot.joints
        return joints[carrier].parent != body and joints[body].parent != carrier


def bodies_in(pairs: Sequence[Pair]) -> list[int]:
    """Return the bodies that take part in contacts, with a point or with a surface."""
    carriers = {pair.carrier for pair in pairs if pair.carrier is not None}
    return sorted({pair.point.body for pair in pairs if pair.point.body != WORLD} | carriers)


def _touched(robot: Robot, surface: Surface) -> set[int] | None:
    """Return the bodies that `touches` of a surface names; None: no restriction."""
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


def _with_springs(robot: Robot, springs: Sequence[SpringDamper]) -> Robot:
    """Return the robot with springs as tendons of two points."""
    if not isinstance(springs, list | tuple):
        raise ParameterError("springs", springs, "a list of hs.SpringDamper(...)")
    found = list(robot.spatial_tendons)
    for spring in springs:
        if not isinstance(spring, SpringDamper):
            raise ParameterError("springs", spring, "a list of hs.SpringDamper(...)")
        found.append(spring.tendon(robot))
    if (twice := first_duplicate(x.name for x in found)) is not None:
        raise HeelstrikeError(
            f"two springs or spatial tendons are called '{twice}'",
            path="name",
            value=twice,
            remedy="pass a different name= to each",
        )
    return replace(robot, spatial_tendons=tuple(found)) if springs else robot


def _material_keys(
    robot: Robot, surfaces: Sequence[Surface], materials: Mapping[str, SurfaceLaw]
) -> dict[tuple[int, str], str]:
    """Return the keys of materials by body and surface, "" for every surface."""
    names = {surface.name for surface in surfaces}
    found: dict[tuple[int, str], str] = {}
    for key, law in materials.items():
        with at_path(f"materials.{key}"):
            if not isinstance(law, SurfaceLaw):
                raise ParameterError(key, law, "a surface law, such as hs.Elastic(...)")
            if key in names or RESERVED.fullmatch(key):
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
    if not isinstance(points, Iterable) or (isinstance(points, np.ndarray) and not points.ndim):
        raise ParameterError("points", points, "a list of (x, y, z) or (x, y, z, radius) [m]")
    for k, entry in enumerate(points):
        numbers = array_of_numbers(entry)
        if numbers is None or numbers.shape not in ((3,), (4,)) or not np.isfinite(numbers).all():
            raise ParameterError("points", entry, "(x, y, z) or (x, y, z, radius) [m]")
        radius = float(numbers[3]) if len(numbers) == 4 else 0.0
        if radius < 0:
            raise ParameterError("points", entry, "a radius of at least 0 m")
        found.append(Point(f"world.{k}", WORLD, numbers[:3], radius))
    return tuple(found)


def _gravity(robot: Robot, gravity: float | Sequence[float] | None) -> np.ndarray:
    if gravity is None:
        return robot.gravity_vector
    pull = array_of_numbers(gravity)
    if pull is not None and pull.ndim == 0:
        pull = np.array([0.0, 0.0, -float(pull)])
    if pull is None or pull.shape != (3,) or not np.all(np.isfinite(pull)):
        allowed = "one number, positive downward, or three in world axes [m/s^2]"
        raise ParameterError("gravity", gravity, allowed)
    return pull
