"""What a robot looks like: its shapes, and rods where none is to be seen."""

from __future__ import annotations

import numpy as np

from heelstrike.robot.placement import placements
from heelstrike.robot.robot import WORLD, Robot, Shape
from heelstrike.robot.rotations import turn_z_to
from heelstrike.view.render.solid import Solid, of_shape

PLAIN = (0.78, 0.79, 0.81)
"""Of what has no colour of its own."""
ROD = 0.012
"""Radius of a rod over the robot's size."""

BodySolids = list[tuple[int, Solid]]
"""(body or WORLD, what it shows in its own frame)"""


def robot_solids(robot: Robot) -> BodySolids:
    """What is to be seen of every body, and of a fixed base; where nothing is, what touches, held
    together by rods.
    """
    rod = ROD * float(np.ptp([p for _, p in placements(robot, robot.neutral)], axis=0).max())
    worn: BodySolids = []
    for body in range(WORLD, len(robot.bodies)):
        own = [shape for shape in robot.shapes if shape.body == body]
        solids = _solids([shape for shape in own if shape.visible])
        if not solids:
            touching = [shape for shape in own if shape.collides]
            rods = [] if body == WORLD else _rods(robot, body, touching, rod)
            solids = _solids(touching + rods)
        worn += [(body, solid) for solid in solids]
    return worn


def place_solids(robot: Robot, worn: BodySolids, q: np.ndarray) -> list[Solid]:
    """Return the solids of a robot in the world at q."""
    poses = placements(robot, q)
    return [s if body == WORLD else s.moved(*poses[body]) for body, s in worn]


def _solids(shapes: list[Shape]) -> list[Solid]:
    return [s for s in (of_shape(shape, _colour(shape)) for shape in shapes) if s is not None]


def _colour(shape: Shape) -> tuple[float, float, float]:
    if shape.colour is None:
        return PLAIN
    red, green, blue = (min(max(part, 0.0), 1.0) for part in shape.colour[:3])
    return red, green, blue


def _rods(robot: Robot, body: int, touching: list[Shape], radius: float) -> list[Shape]:
    """From a body's origin to the joints that it carries and to what touches; if there is
    neither, to its centre of mass.
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
