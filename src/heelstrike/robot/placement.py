"""Placements of bodies in the world."""

from __future__ import annotations

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import Point, Robot

Placement = tuple[np.ndarray, np.ndarray]
"""Rotation (3, 3) and translation (3,) [m] of a body's frame in the world."""


def placements(robot: Robot, q: np.ndarray) -> list[Placement]:
    """Return the placement of every body in the world at q."""
    from heelstrike.robot.pose_kinematics import placements_of

    model = robot.model
    if model is None or model.njoints != len(robot.joints) + 1:
        raise HeelstrikeError(
            f"{robot.name} has no Pinocchio model of its joints",
            remedy="pass a robot of load() or combine()",
        )
    moved = placements_of(model, np.asarray(q, dtype=float))[1:]
    return [(np.array(oMi.rotation), np.array(oMi.translation)) for oMi in moved]


def heights(points: np.ndarray, placement: Placement) -> np.ndarray:
    """Return the heights [m] in the world of points (..., 3) in a body's frame."""
    R, p = placement
    return points @ R[2] + p[2]


def lowest_place(point: Point, placement: Placement) -> np.ndarray:
    """Return the lowest place of a contact point in the world, given its body's, (3,) [m]."""
    R, p = placement
    if point.hull is not None:
        return np.asarray(R @ point.hull.places(R[2])[point.side] + p)
    place = R @ np.asarray(point.position, dtype=float) + p - [0.0, 0.0, point.radius]
    if point.half_axes is not None:
        along = R[2] @ point.half_axes
        place = place - R @ point.half_axes @ (along / np.linalg.norm(along))
    return place


def free_base(robot: Robot) -> int:
    """Return the index in q of the free base's height; raise if the robot has no free base."""
    if robot.joints[0].kind != "free":
        raise HeelstrikeError(
            f"drop applies to a free base, and {robot.name} has none",
            path="drop",
            remedy='set its joints, or load it with base="floating"',
        )
    return robot.joints[0].iq + 2


def on_flat_ground(robot: Robot, q: np.ndarray, drop: float) -> np.ndarray:
    """Return q with the lowest contact point `drop` above z = 0 [m]."""
    moved, height = np.array(q, dtype=float), free_base(robot)
    if not robot.points:
        raise HeelstrikeError(
            f"drop is a height of contact points, and {robot.name} has none",
            path="drop",
            remedy="define them by points = [...], or let the meshes of its file be found",
        )
    moved[height] += drop - lowest_height(robot, q)
    return moved


def lowest_height(robot: Robot, q: np.ndarray) -> float:
    """Return the height of the lowest contact point at q [m]."""
    placed = placements(robot, q)
    return min(float(lowest_place(point, placed[point.body])[2]) for point in robot.points)


def joints_into_range(robot: Robot, q: np.ndarray) -> dict[str, float]:
    """Return the joints of one coordinate outside their range at q, with the nearest end of it."""
    found = {}
    for joint in robot.joints:
        if joint.nq == joint.nv == 1:
            inside = float(np.clip(q[joint.iq], robot.lower[joint.iq], robot.upper[joint.iq]))
            if inside != q[joint.iq]:
                found[joint.name] = inside
    return found
