"""Contact points from collision shapes.

Which points a shape gives, and the rule by which "feet" chooses among them, stand in
docs/loading.md under "Contact points".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import WORLD, Point, Robot, Shape, repeated

LOW = 3e-3
"""How far above a body's lowest point something still counts as lowest [m]."""
RIM = 8
"""Points on a rim of a cylinder."""
MOST = 64
"""Points kept of a mesh."""

Named = Point | tuple[str, Sequence[float]] | tuple[str, Sequence[float], float]
"""A point that the user gives: (link, position in the link's frame [m], radius [m])."""


def with_contact_points(robot: Robot, points: str | Sequence[Named], edge_points: int = 0) -> Robot:
    """The robot with the points that `points` asks for: "feet", "all", or a list of them; with
    `edge_points` more on each edge of a box.
    """
    whole = isinstance(edge_points, int | np.integer) and not isinstance(edge_points, bool)
    if not whole or edge_points < 0:
        raise HeelstrikeError(f"edge_points is a whole number, 0 or more, not {edge_points!r}")
    if isinstance(points, str):
        if points not in ("feet", "all"):
            raise HeelstrikeError(
                f"points='{points}' is unknown; give 'feet', 'all' or a list of (link, position)"
            )
        shapes = [shape for shape in robot.shapes if shape.collides and shape.body != WORLD]
        if points == "feet":
            plain = [shape for shape in shapes if shape.meets_floor]
            chosen = feet(robot, plain or shapes, edge_points)
        else:
            chosen = [(shape, outline(shape, edge_points)) for shape in shapes]
        return replace(robot, points=_numbered(chosen))
    if edge_points:
        raise HeelstrikeError(
            "edge_points goes with points='feet' or 'all'; a list names its points itself"
        )
    return replace(robot, points=_given(robot, points))


def outline(shape: Shape, edge_points: int = 0) -> np.ndarray:
    """Points of a shape in its body's frame, (n, 3), those between corners last; see `radius` for
    their size.
    """
    size = shape.size
    if shape.kind == "box":
        signs = np.array([[x, y, z] for z in (-1, 1) for x in (1, -1) for y in (1, -1)])
        local = np.vstack([signs, _between(signs, edge_points)]) * size
    elif shape.kind == "sphere":
        local = np.zeros((1, 3))
    elif shape.kind == "capsule":
        local = np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]])
    elif shape.kind == "cylinder":
        angle = 2 * np.pi * np.arange(RIM) / RIM
        rim = np.column_stack([size[0] * np.cos(angle), size[0] * np.sin(angle), 0 * angle])
        end = np.array([0.0, 0.0, size[1]])
        local = np.vstack([rim - end, rim + end])
    elif shape.kind == "ellipsoid":
        local = np.vstack([np.diag(size), -np.diag(size)])
    elif shape.kind == "mesh" and shape.vertices is not None:
        local = spread(shape.vertices, MOST)
    else:
        raise HeelstrikeError(f"shape '{shape.name}' of kind {shape.kind} gives no contact points")
    return local @ shape.rotation.T + shape.translation


def _between(corners: np.ndarray, count: int) -> np.ndarray:
    """Points on the edges of a cube with these corners, evenly between its ends, (12 count, 3)."""
    shares = np.arange(1, count + 1)[:, None] / (count + 1)
    edges = [
        corners[i] + shares * (corners[j] - corners[i])
        for i, j in combinations(range(len(corners)), 2)
        if (corners[i] != corners[j]).sum() == 1
    ]
    return np.vstack(edges)


def radius(shape: Shape) -> float:
    """Of the sphere about each of a shape's points [m]."""
    return float(shape.size[0]) if shape.kind in ("sphere", "capsule") else 0.0


def spread(vertices: np.ndarray, most: int) -> np.ndarray:
    """At most `most` of the vertices: the extremes in 26 directions, then ever the farthest left.

    The directions point to the corners, edges and faces of a cube, in this order.
    """
    if len(vertices) <= most:
        return vertices
    grid = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])
    directions = sorted((d for d in grid if d.any()), key=lambda d: -np.abs(d).sum())
    kept = list(dict.fromkeys(int(np.argmax(vertices @ d)) for d in directions))[:most]
    distance = np.min([np.linalg.norm(vertices - vertices[k], axis=1) for k in kept], axis=0)
    while len(kept) < most:
        farthest = int(np.argmax(distance))
        kept.append(farthest)
        distance = np.minimum(distance, np.linalg.norm(vertices - vertices[farthest], axis=1))
    return vertices[sorted(kept)]


def feet(robot: Robot, shapes: list[Shape], edge_points: int = 0) -> list[tuple[Shape, np.ndarray]]:
    """(shape, its points) of the faces that the robot stands on, by the rule of docs/loading.md."""
    place = placements(robot, next(iter(robot.poses.values()), robot.neutral))
    by_body: dict[int, list[Shape]] = {}
    for shape in shapes:
        by_body.setdefault(shape.body, []).append(shape)
    bottom = {
        body: min(_bottom(shape, outline(shape), place[body]) for shape in own)
        for body, own in by_body.items()
    }
    ends = {b for b in by_body if not robot.children(b)}
    free = {b for b, joint in enumerate(robot.joints) if joint.kind == "free"}
    alone = {b for b in ends & free if robot.joints[b].parent == WORLD}
    low = set(ends)
    for end in ends:
        parent = robot.joints[end].parent
        while parent in bottom and abs(bottom[parent] - bottom[end]) <= LOW:
            low.add(parent)
            parent = robot.joints[parent].parent
    chosen = []
    for shape in shapes:
        if shape.body in alone:
            chosen.append((shape, outline(shape, edge_points)))
        elif shape.body in low:
            points = outline(shape, edge_points)
            if _bottom(shape, points, place[shape.body]) <= bottom[shape.body] + LOW:
                face = _lowest_face(robot, shape, points, place[shape.body])
                chosen.append((shape, points[face]))
    return chosen


def placements(robot: Robot, q: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(rotation, translation) of every body in the world at q."""
    import pinocchio as pin

    model = robot.model
    if model is None or model.njoints != len(robot.joints) + 1:
        raise HeelstrikeError(f"{robot.name} has no Pinocchio model to place its bodies with")
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    return [(np.array(oMi.rotation), np.array(oMi.translation)) for oMi in list(data.oMi)[1:]]


def lowest(robot: Robot, q: np.ndarray) -> float:
    """Height of the lowest contact point at q [m]."""
    place = placements(robot, q)
    return min(
        float(_heights(np.asarray(point.position, dtype=float), place[point.body])) - point.radius
        for point in robot.points
    )


def _heights(points: np.ndarray, place: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    R, p = place
    return points @ R[2] + p[2]


def _bottom(shape: Shape, points: np.ndarray, place: tuple[np.ndarray, np.ndarray]) -> float:
    return float(_heights(points, place).min()) - radius(shape)


def _lowest_face(
    robot: Robot, shape: Shape, points: np.ndarray, place: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Which of a shape's points belong to the face that looks down."""
    down = -(place[0] @ shape.rotation)[2]  # the world's down in the shape's axes
    local = (points - shape.translation) @ shape.rotation
    if shape.kind == "box":
        k = int(np.argmax(np.abs(down)))
        return local[:, k] * np.sign(down[k]) > (1 - 1e-9) * shape.size[k]
    if shape.kind == "cylinder" and abs(down[2]) > np.sqrt(0.5):
        return local[:, 2] * down[2] > 0
    if shape.kind == "cylinder" and _turns_about(robot, shape):
        return np.full(len(points), True)
    heights = _heights(points, place)
    return heights <= heights.min() + LOW


def _turns_about(robot: Robot, shape: Shape) -> bool:
    """Whether a cylinder is a wheel: its joint turns about its axis, further than half a turn."""
    joint = robot.joints[shape.body]
    span = robot.upper[joint.iq] - robot.lower[joint.iq]
    turning = joint.kind == "continuous" or (joint.kind == "revolute" and span > np.pi)
    return turning and bool(abs(joint.axis @ shape.rotation[:, 2]) > 0.99)


def _numbered(chosen: Iterable[tuple[Shape, np.ndarray]]) -> tuple[Point, ...]:
    """Points called after their shape and counted: l_sole.0, l_sole.1, ..."""
    count: dict[str, int] = {}
    points = []
    for shape, positions in chosen:
        for position in positions:
            k = count.get(shape.name, 0)
            count[shape.name] = k + 1
            points.append(Point(f"{shape.name}.{k}", shape.body, position, radius(shape)))
    return tuple(points)


def _given(robot: Robot, points: Sequence[Named]) -> tuple[Point, ...]:
    """The user's own points, moved from their link's frame to its body's."""
    if not isinstance(points, Iterable):
        raise HeelstrikeError(
            f"points={points!r} is unknown; give 'feet', 'all' or a list of (link, position)"
        )
    count: dict[str, int] = {}
    result: list[Point] = []
    for entry in points:
        if isinstance(entry, Point):
            if not 0 <= entry.body < len(robot.bodies):
                raise HeelstrikeError(
                    f"point '{entry.name}' is on body {entry.body}; {robot.name} has bodies 0 to "
                    f"{len(robot.bodies) - 1}"
                )
            whose = f"point '{entry.name}'"
            position, size = _position(entry.position, whose), _radius(entry.radius, whose)
            result.append(replace(entry, position=position, radius=size))
            continue
        if not (isinstance(entry, Sequence) and 2 <= len(entry) <= 3 and isinstance(entry[0], str)):
            raise HeelstrikeError(
                f"{entry!r} is no contact point; give (link, position) or (link, position, radius)"
            )
        link, whose = entry[0], f"a point on '{entry[0]}'"
        position = _position(entry[1], whose)
        body = robot.body(link)
        if link in robot.frames and robot.frames[link].body == body:
            frame = robot.frames[link]
            position = frame.translation + frame.rotation @ position
        k = count.get(link, 0)
        count[link] = k + 1
        size = _radius(entry[2], whose) if len(entry) == 3 else 0.0
        result.append(Point(f"{link}.{k}", body, position, size))
    twice = repeated(point.name for point in result)
    if twice is not None:
        raise HeelstrikeError(f"two contact points are called '{twice}'; rename one")
    return tuple(result)


def _position(value: Any, whose: str) -> np.ndarray:
    try:
        position = np.array(value, dtype=float)
    except (TypeError, ValueError):
        position = np.zeros(0)
    if position.shape != (3,) or not np.isfinite(position).all():
        raise HeelstrikeError(f"the position of {whose} must be three numbers, not {value!r}")
    return position


def _radius(value: Any, whose: str) -> float:
    try:
        size = float(value)
    except (TypeError, ValueError):
        size = np.nan
    if isinstance(value, str) or not 0 <= size < np.inf:
        raise HeelstrikeError(f"the radius of {whose} is {value!r}; give a number, 0 or more")
    return size
