"""What a robot looks like: its shapes, and rods where it has none."""

from __future__ import annotations

import numpy as np

from heelstrike.robot.points import placements
from heelstrike.robot.robot import WORLD, Robot, Shape
from heelstrike.robot.rotations import turn_z_to
from heelstrike.view.solid import Solid, of_shape

PLAIN = (0.78, 0.79, 0.81)
"""Of what has no colour of its own."""
ROD = 0.012
"""Radius of a rod over the robot's size."""

Dress = list[tuple[int, Solid]]
"""(body, what it shows in its own frame)"""


def dress(robot: Robot) -> Dress:
    """The seen shapes of every body; else those that touch; else rods to the joints it carries."""
    worn: Dress = []
    bare = []
    for body in range(len(robot.bodies)):
        own = [shape for shape in robot.shapes if shape.body == body]
        solids = _solids([s for s in own if s.seen]) or _solids([s for s in own if s.collides])
        worn += [(body, solid) for solid in solids]
        if not solids:
            bare.append(body)
    return worn + _rods(robot, bare)


def placed(robot: Robot, worn: Dress, q: np.ndarray) -> list[Solid]:
    """The dress in the world at q."""
    poses = placements(robot, q)
    return [solid.moved(*poses[body]) for body, solid in worn]


def _solids(shapes: list[Shape]) -> list[Solid]:
    return [s for s in (of_shape(shape, _colour(shape)) for shape in shapes) if s is not None]


def _colour(shape: Shape) -> tuple[float, float, float]:
    if shape.colour is None:
        return PLAIN
    red, green, blue = (min(max(part, 0.0), 1.0) for part in shape.colour[:3])
    return red, green, blue


def _rods(robot: Robot, bodies: list[int]) -> Dress:
    """From each body's origin to the joints that it carries, or to its centre of mass."""
    size = float(np.ptp([p for _, p in placements(robot, robot.neutral)], axis=0).max())
    rods: Dress = []
    for body in bodies:
        ends = [joint.translation for joint in robot.joints if joint.parent == body != WORLD]
        for end in ends or [robot.bodies[body].com]:
            length = float(np.linalg.norm(end))
            if length > 1e-6:
                radius = ROD * max(size, length)
                shape = Shape(
                    "rod", body, "capsule", turn_z_to(end), end / 2,
                    np.array([radius, length / 2]),
                )  # fmt: skip
                rods += [(body, solid) for solid in _solids([shape])]
    return rods
