"""Contact points of a robot: those of its feet, of all its shapes, or a list of the user's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.robot.feet import feet
from heelstrike.robot.outline import outline
from heelstrike.robot.robot import WORLD, Point, Robot, first_duplicate

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
CHOICES = "'feet', 'all' or a list of (link, position)"


def with_contact_points(
    robot: Robot, points: str | Sequence[PointLike], edge_points: int = 0
) -> Robot:
    """Return the robot with contact points: "feet", "all", or the points of a list.

    `edge_points` is the number of points added to each edge of the boxes that give points.
    """
    whole = isinstance(edge_points, int | np.integer) and not isinstance(edge_points, bool)
    if not whole or edge_points < 0:
        raise ParameterError("edge_points", edge_points, "a whole number, 0 or more")
    if not isinstance(points, str):
        if edge_points:
            raise HeelstrikeError(
                "edge_points applies to points='feet' or 'all', not to a list",
                path="edge_points",
                value=edge_points,
                remedy="add the points of the edges to the list",
            )
        return replace(robot, points=_listed(robot, points))
    if points not in ("feet", "all"):
        raise ParameterError("points", points, CHOICES)
    shapes = [shape for shape in robot.shapes if shape.meets_floor and shape.body != WORLD]
    if points == "feet":
        chosen = feet(robot, shapes, edge_points)
    else:
        soles = {id(shape): points for shape, points in feet(robot, shapes, edge_points)}
        outlines = [(shape, outline(shape, edge_points)) for shape in shapes]
        chosen = [(s, _union(points, soles.get(id(s), []))) for s, points in outlines]
    return replace(robot, points=_numbered(point for _, own in chosen for point in own))


def _union(points: list[Point], more: list[Point]) -> list[Point]:
    """Return points, and those of others that are not among them: corners of a mesh's sole."""
    known = np.array([point.position for point in points])
    away = [np.linalg.norm(known - point.position, axis=1).min() for point in more]
    return [*points, *(point for point, d in zip(more, away, strict=True) if d > SAME_PLACE)]


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
    if not isinstance(points, Iterable):
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
