"""Box 2 of [Sugihara2006], Fig. 4: detect contacts.

Each point finds its depth in each surface that it may touch, and the surface's tangents and normal
there. The depth of a sphere is that of its deepest point.
"""

from __future__ import annotations

from dataclasses import dataclass

from heelstrike.ir.program import Program
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.state import PairInputs, Side


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


def detect(p: Program, pair: PairInputs) -> Detection:
    """Return depth, normal and levers of a pair; to be called inside a block."""
    radius, body, carrier = pair.radius, pair.body, pair.carrier
    poses = (None if each is None else each.pose for each in (body, carrier))
    pose, frame, centre, point = placed(pair.position, *poses)
    depth, own_axes = pair.surface.surface.depth_and_axes(point, radius, pair.part)
    axes = frame.rotate(own_axes.T).T
    lever = centre - radius * axes[2, :].T
    position = pose.origin + lever
    sides, levers = [], []
    if body is not None:
        kept = p.let("lever", lever)
        turning = p.let("centre", centre) if radius else kept
        sides.append(Side(body.number, kept, 1.0, turning, body.motion))
        levers.append(lever)
    if carrier is not None:
        arm = position - frame.origin
        kept = p.let("lever", arm)
        sides.append(Side(carrier.number, kept, -1.0, kept, carrier.motion))
        levers.append(arm)
    depth = p.let("depth", depth)
    return Detection(depth, position, axes, tuple(sides), tuple(levers), frame, point, own_axes)


def placed(
    position: SX, pose: Transform | None, frame: Transform | None
) -> tuple[Transform, Transform, SX, SX]:
    """Return poses of a point's body and of a surface, and the point; None: the world's.

    `position` is the point in the frame of its body. It is returned relative to its body's origin
    in world axes, and in the frame of the surface [m].
    """
    still = Transform((), zeros())
    pose, frame = pose or still, frame or still
    centre = pose.rotate(position)
    return pose, frame, centre, frame.unrotate(pose.origin + centre - frame.origin)
