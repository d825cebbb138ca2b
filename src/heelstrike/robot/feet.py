"""The faces that a robot stands on; docs/loading.md, "Contact points", states the rule."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from heelstrike.robot.collision_hull import reduce_hull
from heelstrike.robot.hull_cells import hull_cells
from heelstrike.robot.outline import outline
from heelstrike.robot.placement import Placement, heights, lowest_place, placements
from heelstrike.robot.robot import WORLD, Point, Robot, Shape

LEVEL_TOLERANCE = 3e-3
"""Height above the lowest point up to which a point counts as lowest [m]."""
FOOT_HEIGHT = 0.1
"""Height of a foot above the lowest end body, as a share of the centre of mass's height [-]."""
BALANCE = 0.2
"""Distance of the centre of mass from the feet's points, seen from above, up to which a robot
stands on them, as a share of its height [-]."""


@dataclass(frozen=True, eq=False)
class Sole:
    """A shape that a robot stands on."""

    shape: Shape
    points: list[Point]
    """Contact points of its lowest face."""
    rest: Shape | None
    """The shape without that face where it is a hull of many corners, None if nothing is left;
    the shape itself if it is none."""


def feet(robot: Robot, shapes: list[Shape], edge_points: int = 0) -> list[Sole]:
    """Return the shapes that the robot stands on."""
    placed = placements(robot, next(iter(robot.poses.values()), robot.neutral))
    bottom: dict[int, float] = {}
    for shape in shapes:
        height = _bottom(outline(shape), placed[shape.body])
        bottom[shape.body] = min(height, bottom.get(shape.body, np.inf))
    alone: set[int] = set()
    standing: set[int] = set()
    for tree in _trees(robot):
        ends = _ends(robot, [body for body in tree if body in bottom])
        if robot.joints[tree[0]].kind == "free" and len(tree) == 1:
            alone |= ends
        elif ends:
            found = _lowest_ends(robot, shapes, tree, ends, bottom, placed)
            standing |= _with_level_parents(robot, found, bottom)
    chosen = []
    for shape in shapes:
        if shape.body in alone:
            chosen.append(Sole(shape, outline(shape, edge_points), shape))
        elif shape.body in standing:
            lowest = bottom[shape.body] + LEVEL_TOLERANCE
            if _bottom(outline(shape), placed[shape.body]) <= lowest:
                chosen.append(_sole(shape, edge_points, placed[shape.body]))
    return chosen


def _sole(shape: Shape, edge_points: int, placement: Placement) -> Sole:
    """Return a shape with the points of its lowest face."""
    if shape.kind != "mesh" or shape.vertices is None:
        return Sole(shape, _lowest_face(shape, outline(shape, edge_points), placement), shape)
    vertices = shape.vertices @ shape.rotation.T + shape.translation
    height = heights(vertices, placement)
    lowest = height <= height.min() + LEVEL_TOLERANCE
    corners = vertices[lowest][reduce_hull(vertices[lowest])[0]]
    points = [Point(f"{shape.name}.{k}", shape.body, x) for k, x in enumerate(corners)]
    if shape.cells is None:
        return Sole(shape, points, shape)
    if lowest.all():
        return Sole(shape, points, None)
    rest = shape.vertices[~lowest]
    few = reduce_hull(rest)[0]
    return Sole(shape, points, replace(shape, vertices=rest, corners=few, cells=hull_cells(rest)))


def _trees(robot: Robot) -> list[list[int]]:
    """Return the bodies of each tree: a root and everything that it carries."""
    trees: dict[int, list[int]] = {}
    root: list[int] = []
    for body, joint in enumerate(robot.joints):
        root.append(body if joint.parent == WORLD else root[joint.parent])
        trees.setdefault(root[body], []).append(body)
    return list(trees.values())


def _ends(robot: Robot, solid: list[int]) -> set[int]:
    """Return the end bodies: those with shapes that carry no other body with shapes."""
    ends = set(solid)
    for body in solid:
        parent = robot.joints[body].parent
        while parent != WORLD:
            ends.discard(parent)
            parent = robot.joints[parent].parent
    return ends


def _lowest_ends(
    robot: Robot,
    shapes: list[Shape],
    tree: list[int],
    ends: set[int],
    bottom: dict[int, float],
    placed: list[Placement],
) -> set[int]:
    """Return the lowest end bodies if the tree stands on them, else all of them."""
    masses = np.array([robot.bodies[b].mass for b in tree])
    centres = np.array([placed[b][0] @ robot.bodies[b].com + placed[b][1] for b in tree])
    centre = masses @ centres / max(masses.sum(), 1e-12)
    lowest = min(bottom[body] for body in ends)
    height = centre[2] - lowest
    feet = {body for body in ends if bottom[body] <= lowest + FOOT_HEIGHT * height}
    points = []
    for shape in (shape for shape in shapes if shape.body in feet):
        points += [lowest_place(point, placed[shape.body])[:2] for point in outline(shape)]
    stands = height > 0 and _distance(centre[:2], np.array(points)) <= BALANCE * height
    return feet if stands else ends


def _distance(place: np.ndarray, points: np.ndarray) -> float:
    """Return the distance of a place from the convex hull of points (n, k) [m]."""
    away = (points - place).T
    scale = np.abs(away).max() or 1.0
    target = np.append(np.zeros(len(away)), 1.0)
    weights, _ = nnls(np.vstack([away / scale, np.ones(away.shape[1])]), target)
    return float(np.linalg.norm(away @ weights) / weights.sum())


def _with_level_parents(robot: Robot, ends: set[int], bottom: dict[int, float]) -> set[int]:
    """Return the end bodies and their ancestors that reach as low, such as a foot behind a toe."""
    standing = set(ends)
    for end in ends:
        parent = robot.joints[end].parent
        while parent in bottom and abs(bottom[parent] - bottom[end]) <= LEVEL_TOLERANCE:
            standing.add(parent)
            parent = robot.joints[parent].parent
    return standing


def _bottom(points: list[Point], placement: Placement) -> float:
    """Return the height of the lowest of a shape's points in the world [m]."""
    return min(float(lowest_place(point, placement)[2]) for point in points)


def _lowest_face(shape: Shape, points: list[Point], placement: Placement) -> list[Point]:
    """Return the points that belong to the face that looks down."""
    down = -(placement[0] @ shape.rotation)[2]  # the world's down in the shape's axes
    local = np.array([shape.rotation.T @ (point.position - shape.translation) for point in points])
    if shape.kind == "box":
        k = int(np.argmax(np.abs(down)))
        face = local[:, k] * np.sign(down[k]) > (1 - 1e-9) * shape.size[k]
    elif shape.kind == "cylinder" and abs(down[2]) > np.sqrt(0.5):
        face = local[:, 2] * down[2] > 0
    elif shape.kind == "cylinder":
        face = np.array([point.half_axes is not None for point in points])
    else:
        height = np.array([lowest_place(point, placement)[2] for point in points])
        face = height <= height.min() + LEVEL_TOLERANCE
    return [point for point, kept in zip(points, face, strict=True) if kept]
