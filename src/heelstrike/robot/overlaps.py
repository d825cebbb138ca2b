"""Pairs of collision shapes that overlap in a pose, by coal.

Shapes of a model may overlap where its joints let them: neighbours of neighbours, covers. Contact
would push them apart in the first step, so such pairs touch once they have parted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.robot.mesh import hull
from heelstrike.robot.placement import Placement, placements
from heelstrike.robot.robot import WORLD, Robot, Shape

if TYPE_CHECKING:
    import coal

MIN_OVERLAP = 1e-6
"""Depth from which on two shapes overlap [m]."""
FAILED = 1e300
"""Depth that coal returns where it finds none [m]: the largest number."""
TOLERANCES = (1e-9, 1e-6, 1e-4)
"""Tolerances of coal; deep cylinders have no answer with the smallest."""


def overlaps(
    robot: Robot, q: np.ndarray, solids: Mapping[int, coal.CollisionGeometry] | None = None
) -> dict[tuple[int, int], float]:
    """Return the depth [m] of the pairs of shapes that may touch and overlap at q.

    `solids` are those of the robot's shapes, to be made once for many poses.
    """
    if solids is None:
        solids = solids_of(robot)
    shapes, moved, found = robot.shapes, placements(robot, q), {}
    placed = {
        i: (solids[i], _place(shapes[i], moved)) for i in {i for x in robot.self_pairs for i in x}
    }
    for pair in robot.self_pairs:
        depth = _depth(*placed[pair[0]], *placed[pair[1]])
        if depth > MIN_OVERLAP:
            found[pair] = depth
    return found


def solids_of(robot: Robot) -> dict[int, coal.CollisionGeometry]:
    """Return coal's solids of the shapes that may touch others, by index of the shape."""
    return {i: _solid(robot.shapes[i]) for i in {i for pair in robot.self_pairs for i in pair}}


def _depth(*ends: Any) -> float:
    """Return the depth of two placed solids; where coal fails, with a larger tolerance [m]."""
    import coal

    request, depth = coal.DistanceRequest(), np.inf
    request.enable_signed_distance = True
    for tolerance in TOLERANCES:
        request.gjk_tolerance = request.epa_tolerance = tolerance
        depth = -coal.distance(*ends, request, coal.DistanceResult())
        if depth < FAILED:
            break
    return float(depth)


def _place(shape: Shape, placed: Sequence[Placement]) -> coal.Transform3s:
    import coal

    R, p = (np.eye(3), np.zeros(3)) if shape.body == WORLD else placed[shape.body]
    return coal.Transform3s(R @ shape.rotation, R @ shape.translation + p)


def _solid(shape: Shape) -> coal.CollisionGeometry:
    import coal

    size = [float(x) for x in shape.size]
    match shape.kind:
        case "sphere":
            return coal.Sphere(size[0])
        case "capsule":
            return coal.Capsule(size[0], 2 * size[1])
        case "cylinder":
            return coal.Cylinder(size[0], 2 * size[1])
        case "ellipsoid":
            return coal.Ellipsoid(*size)
        case "box":
            return coal.Box(*(2 * x for x in size))
    return _hull(shape)


def _hull(shape: Shape) -> coal.Convex:
    """Return the hull by which a mesh collides.

    Where a corner has more neighbours than coal can hold, as the tip of a cone, it is the hull of
    few corners.
    """
    try:
        return _solid_hull(shape.collision_vertices())
    except RuntimeError:
        assert shape.vertices is not None
        return _solid_hull(np.asarray(shape.vertices, dtype=float)[shape.corners])


def _solid_hull(vertices: np.ndarray) -> coal.Convex:
    import coal

    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    corners, triangles = hull(vertices)
    for corner in corners:
        points.append(corner)
    for triangle in triangles.tolist():
        faces.append(coal.Triangle(*triangle))
    return coal.Convex(points, faces)
