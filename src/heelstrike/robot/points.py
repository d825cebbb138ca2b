"""Contact points of a robot: those of all its shapes, of some of them, or a list of the user's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError
from heelstrike.robot.collision_hull import with_hull
from heelstrike.robot.feet import Sole, feet
from heelstrike.robot.outline import outline
from heelstrike.robot.robot import WORLD, Point, Robot, Shape, first_duplicate

PointLike = (
    Point
    | tuple[str, Sequence[float]]
    | tuple[str, Sequence[float], float]
    | tuple[str, Sequence[float], float, Sequence[Sequence[float]]]
)
"""A user's point: a Point, or (link, position in the link's frame [m], radius [m], half axes as
columns, (3, 3) [m]); radius and half axes may be left out."""
SAME_PLACE = 1e-9
"""Distance below which two points are one [m]."""
MIN_THICKNESS = 1e-6
"""Smallest half axis of an ellipsoid, relative to its largest."""
MAX_EDGE_POINTS = 100
"""Largest number of points that are added to an edge."""
CHOICES = "'feet', 'all' or a list of (link, position)"
COLLIDE_CHOICES = "'all', 'feet' or a list of names of bodies, links and shapes"


def with_contact_points(
    robot: Robot,
    points: str | Sequence[PointLike] | None = None,
    edge_points: int = 0,
    collide: str | Sequence[str] | None = None,
) -> Robot:
    """Return the robot with contact points: a list of points, or those of the shapes that collide.

    `edge_points` is the number of points added to each edge of the boxes that give points.
    """
    if points is not None and collide is not None:
        raise HeelstrikeError(
            "both points and collide are given",
            path="points",
            value=points,
            remedy="pass collide to choose shapes, or points to list your own contact points",
        )
    whole = isinstance(edge_points, int | np.integer) and not isinstance(edge_points, bool)
    if not whole or not 0 <= edge_points <= MAX_EDGE_POINTS:
        allowed = f"a whole number from 0 to {MAX_EDGE_POINTS}"
        raise ParameterError("edge_points", edge_points, allowed)
    if points is not None and not isinstance(points, str):
        if edge_points:
            raise HeelstrikeError(
                "edge_points applies to points of shapes, not to a list",
                path="edge_points",
                value=edge_points,
                remedy="add the points of the edges to the list",
            )
        return replace(robot, points=_listed(robot, points), self_pairs=(), ground_shapes=())
    if points not in (None, "feet", "all"):
        raise ParameterError("points", points, CHOICES)
    chosen = points or ("all" if collide is None else collide)
    own = _numbered(_chosen(robot, chosen, edge_points))
    shapes = _self_pairs(robot, chosen), _ground_shapes(robot, chosen)
    return replace(robot, points=own, self_pairs=shapes[0], ground_shapes=shapes[1])


def _self_pairs(robot: Robot, collide: str | Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of shapes that may touch one another, among those that collide.

    Like the ground, fixed shapes touch all that are chosen.
    """
    if isinstance(collide, str):
        return robot.self_pairs if collide == "all" else ()
    chosen = {*collide}

    def collides(shape: Shape) -> bool:
        return shape.body == WORLD or not chosen.isdisjoint(_names(robot, shape))

    return tuple(pair for pair in robot.self_pairs if all(collides(robot.shapes[i]) for i in pair))


def _ground_shapes(robot: Robot, collide: str | Sequence[str]) -> tuple[int, ...]:
    """Return the shapes that touch edges of the ground, among those that collide.

    Points of spheres and ellipsoids touch edges by themselves.
    """
    if collide == "feet":
        return ()
    return tuple(
        i
        for i, shape in enumerate(robot.shapes)
        if shape.meets_floor
        and shape.collides
        and shape.body != WORLD
        and shape.kind not in ("sphere", "ellipsoid")
        and (collide == "all" or not {*collide}.isdisjoint(_names(robot, shape)))
    )


def on_feet(robot: Robot) -> Robot:
    """Return the robot with the points of its feet only; with all where none is known as such.

    Its bodies do not touch one another.
    """
    own = tuple(point for point in robot.points if point.foot)
    return replace(robot, points=own or robot.points, self_pairs=(), ground_shapes=())


def _chosen(robot: Robot, collide: str | Sequence[str], edge_points: int) -> list[Point]:
    """Return the points of the shapes that collide."""
    shapes = [shape for shape in robot.shapes if shape.meets_floor and shape.body != WORLD]
    soles = feet(robot, shapes, edge_points)
    if isinstance(collide, str) and collide == "feet":
        return [replace(point, foot=True) for sole in soles for point in sole.points]
    if not isinstance(collide, str) or collide != "all":
        shapes = shapes_named(robot, collide)
    found = {id(sole.shape): sole for sole in soles}
    return [
        point for shape in shapes for point in _with_sole(shape, found.get(id(shape)), edge_points)
    ]


def shapes_named(robot: Robot, names: str | Sequence[str]) -> list[Shape]:
    """Return the shapes of named bodies and links, and named shapes, in the robot's order.

    Of a body or link, and of shapes that share a name, those that touch the ground count; if there
    are none, those that touch other shapes; if there are none either, those that are only drawn.
    """
    listed = isinstance(names, Iterable) and not isinstance(names, str | np.ndarray)
    if not listed or not all(isinstance(name, str) for name in names):
        raise ParameterError("collide", names, COLLIDE_CHOICES)
    moving = [i for i, shape in enumerate(robot.shapes) if shape.body != WORLD]
    chosen: set[int] = set()
    for name in names:
        own = [i for i in moving if name in _names(robot, robot.shapes[i])]
        if not own:
            known = dict.fromkeys(n for i in moving for n in _names(robot, robot.shapes[i]))
            raise UnknownNameError(
                "shape", name, known, "bodies, links and shapes", path="collide", owner=robot.name
            )
        touching = [i for i in own if robot.shapes[i].meets_floor]
        chosen |= set(touching or [i for i in own if robot.shapes[i].collides] or own)
    return [with_hull(robot.shapes[i]) for i in sorted(chosen)]


def _names(robot: Robot, shape: Shape) -> tuple[str, str, str]:
    return robot.bodies[shape.body].name, shape.link, shape.name


def _with_sole(shape: Shape, sole: Sole | None, edge_points: int) -> list[Point]:
    """Return the points of a shape, those of its sole marked, and the corners of a mesh's sole that
    they lack.
    """
    if sole is None:
        return outline(shape, edge_points)
    points = [] if sole.rest is None else outline(sole.rest, edge_points)
    away = [[np.linalg.norm(p.position - s.position) for s in sole.points] for p in points]
    same = np.reshape(away, (len(points), len(sole.points))) < SAME_PLACE
    marked = [replace(p, foot=bool(row.any())) for p, row in zip(points, same, strict=True)]
    missing = [s for s, column in zip(sole.points, same.T, strict=True) if not column.any()]
    return marked + [replace(point, foot=True) for point in missing]


def _numbered(chosen: Iterable[Point]) -> tuple[Point, ...]:
    """Return points named after their shape and counted: l_sole.0, l_sole.1, ..."""
    count: dict[str, int] = {}
    points = []
    for point in chosen:
        shape = point.name.rpartition(".")[0]
        k = count.get(shape, 0)
        count[shape] = k + 1
        points.append(replace(point, name=f"{shape}.{k}"))
    return tuple(points)


def _listed(robot: Robot, points: Sequence[PointLike]) -> tuple[Point, ...]:
    """Return the user's points; those of links are moved to their body's frame."""
    if not isinstance(points, Iterable) or (isinstance(points, np.ndarray) and not points.ndim):
        raise ParameterError("points", points, CHOICES)
    count: dict[str, int] = {}
    result: list[Point] = []
    for entry in points:
        if isinstance(entry, Point):
            result.append(_checked(robot, entry))
            continue
        if not (isinstance(entry, Sequence) and 2 <= len(entry) <= 4 and isinstance(entry[0], str)):
            raise HeelstrikeError(
                f"{entry!r} is not a contact point",
                path="points",
                value=entry,
                allowed="(link, position), (link, position, radius) or "
                "(link, position, radius, half_axes)",
            )
        link, whose = entry[0], f"a point on '{entry[0]}'"
        position = _position(entry[1], whose)
        radius = _radius(entry[2], whose) if len(entry) > 2 else 0.0
        half_axes = _half_axes(entry[3], whose) if len(entry) > 3 else None
        body = robot.body(link)
        if link in robot.frames and robot.frames[link].body == body:
            frame = robot.frames[link]
            position = frame.translation + frame.rotation @ position
            half_axes = None if half_axes is None else frame.rotation @ half_axes
        k = count.get(link, 0)
        count[link] = k + 1
        result.append(Point(f"{link}.{k}", body, position, radius, half_axes))
    duplicate = first_duplicate(point.name for point in result)
    if duplicate is not None:
        raise HeelstrikeError(
            f"two contact points are called '{duplicate}'",
            path="points",
            value=duplicate,
            remedy="rename one",
        )
    return tuple(result)


def _checked(robot: Robot, point: Point) -> Point:
    if not 0 <= point.body < len(robot.bodies):
        raise HeelstrikeError(
            f"point '{point.name}' is on body {point.body}, which {robot.name} does not have",
            path="points",
            value=point.body,
            allowed=f"0 to {len(robot.bodies) - 1}",
        )
    whose = f"point '{point.name}'"
    position, radius = _position(point.position, whose), _radius(point.radius, whose)
    half_axes = _half_axes(point.half_axes, whose)
    return replace(point, position=position, radius=radius, half_axes=half_axes)


def _position(value: object, whose: str) -> np.ndarray:
    try:
        position = np.array(value, dtype=float)
    except (TypeError, ValueError):
        position = np.zeros(0)
    if position.shape != (3,) or not np.isfinite(position).all():
        raise HeelstrikeError(
            f"the position of {whose} is {value!r}",
            path="points",
            value=value,
            allowed="three finite numbers [m]",
        )
    return position


def _radius(value: object, whose: str) -> float:
    try:
        radius = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        radius = np.nan
    if isinstance(value, str) or not 0 <= radius < np.inf:
        raise HeelstrikeError(
            f"the radius of {whose} is {value!r}",
            path="points",
            value=value,
            allowed="a number, 0 or more [m]",
        )
    return radius


def _half_axes(value: object, whose: str) -> np.ndarray | None:
    if value is None:
        return None
    try:
        half_axes = np.array(value, dtype=float)
    except (TypeError, ValueError):
        half_axes = np.zeros(0)
    if half_axes.shape == (3, 3) and np.isfinite(half_axes).all():
        lengths = np.linalg.svd(half_axes, compute_uv=False)
        if lengths[2] > MIN_THICKNESS * lengths[0]:
            return half_axes
    raise HeelstrikeError(
        f"the half axes of {whose} are {value!r}",
        path="points",
        value=value,
        allowed="three columns [m] that span a body, none thinner than "
        f"{MIN_THICKNESS:g} of the longest",
    )
