"""The faces that a robot stands on; docs/loading.md, "Contact points", states the rule."""

from __future__ import annotations

import numpy as np

from heelstrike.robot.outline import outline, point_radius
from heelstrike.robot.placement import Placement, heights, placements
from heelstrike.robot.robot import WORLD, Robot, Shape

LEVEL_TOLERANCE = 3e-3
"""Height above the lowest point up to which a point counts as lowest [m]."""


def feet(robot: Robot, shapes: list[Shape], edge_points: int = 0) -> list[tuple[Shape, np.ndarray]]:
    """Return the shapes that the robot stands on, each with the points of its lowest face."""
    placed = placements(robot, next(iter(robot.poses.values()), robot.neutral))
    bottom: dict[int, float] = {}
    for shape in shapes:
        height = _bottom(shape, outline(shape), placed[shape.body])
        bottom[shape.body] = min(height, bottom.get(shape.body, np.inf))
    ends = {body for body in bottom if not robot.children(body)}
    alone = {b for b in ends if robot.joints[b].kind == "free" and robot.joints[b].parent == WORLD}
    standing = _with_level_parents(robot, ends, bottom)
    chosen = []
    for shape in shapes:
        if shape.body in alone:
            chosen.append((shape, outline(shape, edge_points)))
        elif shape.body in standing:
            points = outline(shape, edge_points)
            lowest = bottom[shape.body] + LEVEL_TOLERANCE
            if _bottom(shape, points, placed[shape.body]) <= lowest:
                face = _lowest_face(robot, shape, points, placed[shape.body])
                chosen.append((shape, points[face]))
    return chosen


def _with_level_parents(robot: Robot, ends: set[int], bottom: dict[int, float]) -> set[int]:
    """Return the end bodies and their ancestors that reach as low, such as a foot behind a toe."""
    standing = set(ends)
    for end in ends:
        parent = robot.joints[end].parent
        while parent in bottom and abs(bottom[parent] - bottom[end]) <= LEVEL_TOLERANCE:
            standing.add(parent)
            parent = robot.joints[parent].parent
    return standing


def _bottom(shape: Shape, points: np.ndarray, placement: Placement) -> float:
    """Return the height of the lowest of a shape's points in the world [m]."""
    return float(heights(points, placement).min()) - point_radius(shape)


def _lowest_face(
    robot: Robot, shape: Shape, points: np.ndarray, placement: Placement
) -> np.ndarray:
    """Return a mask (n,) of the points that belong to the face that looks down."""
    down = -(placement[0] @ shape.rotation)[2]  # the world's down in the shape's axes
    local = (points - shape.translation) @ shape.rotation
    if shape.kind == "box":
        k = int(np.argmax(np.abs(down)))
        return local[:, k] * np.sign(down[k]) > (1 - 1e-9) * shape.size[k]
    if shape.kind == "cylinder" and abs(down[2]) > np.sqrt(0.5):
        return local[:, 2] * down[2] > 0
    if shape.kind == "cylinder" and _is_wheel(robot, shape):
        return np.full(len(points), True)
    height = heights(points, placement)
    return height <= height.min() + LEVEL_TOLERANCE


def _is_wheel(robot: Robot, shape: Shape) -> bool:
    """Return whether a cylinder's joint turns about its axis, by more than half a turn."""
    joint = robot.joints[shape.body]
    span = robot.upper[joint.iq] - robot.lower[joint.iq]
    turning = joint.kind == "continuous" or (joint.kind == "revolute" and span > np.pi)
    return turning and bool(abs(joint.axis @ shape.rotation[:, 2]) > 0.99)
