"""A robot as solids: its visible shapes, or its collision shapes and rods where it has none."""

from __future__ import annotations

import numpy as np

from heelstrike.robot.mesh import hull
from heelstrike.robot.placement import placements
from heelstrike.robot.robot import WORLD, Robot, Shape
from heelstrike.robot.rotations import turn_z_to
from heelstrike.view.render.solid import Rgb, Solid, solid_of_shape

PLAIN = (0.78, 0.79, 0.81)
"""Colour of shapes that define none."""
ROD_RADIUS = 0.012
"""Radius of a rod over the size of the robot."""

BodySolids = list[tuple[int, Solid]]
"""Pairs of a body, or WORLD, and a solid in its frame."""

BodyCorners = list[tuple[int, np.ndarray]]
"""Pairs of a body, or WORLD, and corners in its frame, (n, 3) [m]."""


def robot_solids(robot: Robot) -> BodySolids:
    """Return the visible shapes of every body and of a fixed base.

    A body without visible shapes shows its collision shapes, joined by rods.
    """
    rod = ROD_RADIUS * float(np.ptp([p for _, p in placements(robot, robot.neutral)], axis=0).max())
    found: BodySolids = []
    for body in range(WORLD, len(robot.bodies)):
        own = [shape for shape in robot.shapes if shape.body == body]
        solids = _solids([shape for shape in own if shape.visible])
        if not solids:
            touching = [shape for shape in own if shape.collides]
            rods = [] if body == WORLD else _rods(robot, body, touching, rod)
            solids = _solids(touching + rods)
        found += [(body, solid) for solid in solids]
    return found


def place_solids(robot: Robot, solids: BodySolids, q: np.ndarray) -> list[Solid]:
    """Return the solids of a robot in the world at q."""
    poses = placements(robot, q)
    return [s if body == WORLD else s.moved(*poses[body]) for body, s in solids]


def outline(solids: BodySolids) -> BodyCorners:
    """Return the corners of each body's convex hull: what a camera must show of it."""
    parts: dict[int, list[np.ndarray]] = {}
    for body, own in solids:
        parts.setdefault(body, []).append(own.vertices)
    return [(body, hull(np.vstack(own))[0]) for body, own in parts.items()]


def place_outline(robot: Robot, corners: BodyCorners, q: np.ndarray) -> np.ndarray:
    """Return the corners of all bodies in the world at q, (n, 3) [m]."""
    poses = [*placements(robot, q), (np.eye(3), np.zeros(3))]  # WORLD is -1, the last
    return np.vstack([own @ poses[body][0].T + poses[body][1] for body, own in corners])


def _solids(shapes: list[Shape]) -> list[Solid]:
    return [s for s in (solid_of_shape(shape, _colour(shape)) for shape in shapes) if s is not None]


def _colour(shape: Shape) -> Rgb:
    if shape.colour is None:
        return PLAIN
    red, green, blue = (min(max(part, 0.0), 1.0) for part in shape.colour[:3])
    return red, green, blue


def _rods(robot: Robot, body: int, touching: list[Shape], radius: float) -> list[Shape]:
    """Return rods from a body's origin to its child joints and its collision shapes.

    If it has neither, one rod leads to its centre of mass.
    """
    ends = [robot.joints[child].translation for child in robot.children(body)]
    ends += [shape.translation for shape in touching]
    if not ends:
        ends = [robot.bodies[body].com]
    rods = []
    for end in ends:
        half = float(np.linalg.norm(end)) / 2
        if half > radius:
            size = np.array([radius, half])
            rods.append(Shape("rod", body, "capsule", turn_z_to(end), end / 2, size))
    return rods
