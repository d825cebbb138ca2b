"""Box 2 of [Sugihara2006], Fig. 4: detect contacts.

Each point finds its depth in each surface that it may touch, and the surface's tangents and normal
there. The depth of a sphere is that of its deepest point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heelstrike.robot.robot import WORLD
from heelstrike.scene.scene import Pair
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, constant, zeros
from heelstrike.step.state import Side, StepState


@dataclass(frozen=True)
class Detection:
    """Geometry of a pair of point and surface, as symbols and expressions of its block."""

    depth: SX
    """Signed depth [m], positive inside the surface."""
    position: SX
    """Contact point in the world [m]."""
    axes: SX
    """Tangents and normal as rows, in the world, (3, 3)."""
    sides: tuple[Side, ...]
    """Moving bodies that take part, with levers as symbols."""
    levers: tuple[SX, ...]
    """Levers of the sides as expressions [m]."""
    frame: Transform
    """Placement of the surface's frame in the world."""
    point: SX
    """The point, of a sphere its centre, in the frame of the surface [m]."""
    own_axes: SX
    """Tangents and normal as rows, in the frame of the surface, (3, 3)."""


def detect(state: StepState, pair: Pair) -> Detection:
    """Return depth, normal and levers of a pair; to be called inside a block."""
    p, radius = state.program, pair.point.radius
    surface = state.surfaces[pair.surface].surface
    pose, frame, centre, point = placed(pair, state.poses)
    depth, own_axes = surface.depth_and_axes(point, radius, pair.part)
    axes = frame.rotate(own_axes.T).T
    lever = centre - radius * axes[2, :].T
    position = pose.origin + lever
    sides, levers = [], []
    if pair.point.body != WORLD:
        kept = p.let("lever", lever)
        turning = p.let("centre", centre) if radius else kept
        sides.append(Side(pair.point.body, kept, 1.0, turning))
        levers.append(lever)
    if pair.carrier is not None:
        arm = position - frame.origin
        kept = p.let("lever", arm)
        sides.append(Side(pair.carrier, kept, -1.0, kept))
        levers.append(arm)
    depth = p.let("depth", depth)
    return Detection(depth, position, axes, tuple(sides), tuple(levers), frame, point, own_axes)


def placed(pair: Pair, poses: Sequence[Transform]) -> tuple[Transform, Transform, SX, SX]:
    """Return where a pair is: poses of the point's body and of the surface's, and the point.

    The point is relative to its body's origin in world axes, and in the frame of the surface [m].
    """
    still = Transform((), zeros())
    pose = still if pair.point.body == WORLD else poses[pair.point.body]
    frame = still if pair.carrier is None else poses[pair.carrier]
    centre = pose.rotate(constant(pair.point.position))
    return pose, frame, centre, frame.unrotate(pose.origin + centre - frame.origin)
