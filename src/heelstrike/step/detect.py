"""Box 2 of [Sugihara2006], Fig. 4: detect contacts.

Each point finds its depth in each surface that it may touch, and the surface's tangents and normal
there. The depth of a sphere or an ellipsoid is that of its deepest point (scene/deepest.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from heelstrike.ir.program import Program
from heelstrike.scene.deepest import APART, deepest, search, support_rate
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, cross, zeros
from heelstrike.step.pair import PairInputs, Side


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
    """The point, of a sphere or an ellipsoid its centre, in the frame of the surface [m]."""
    own_axes: SX
    """Tangents and normal as rows, in the frame of the surface, (3, 3)."""


def detect(p: Program, pair: PairInputs) -> Detection:
    """Return depth, normal and levers of a pair; to be called inside a block."""
    radius, body, carrier = pair.radius, pair.body, pair.carrier
    poses = (None if each is None else each.pose for each in (body, carrier))
    pose, frame, centre, point = placed(pair.position, *poses)
    half_axes = None if pair.half_axes is None else pose.rotate(pair.half_axes)
    own = None if half_axes is None else frame.unrotate(half_axes)
    assert pair.surface is not None
    depth, own_axes, reach = deepest(
        pair.surface.surface, point, radius, own, pair.extent, pair.part
    )
    axes = frame.rotate(own_axes.T).T
    lever = centre - radius * axes[2, :].T
    if reach is not None:
        lever = lever - frame.rotate(reach)
    inside = lever
    if pair.law.acts_at_surface:
        lever = lever + ca.fmax(depth, 0) * axes[2, :].T
    position = pose.origin + lever
    sides, levers = [], []
    if body is not None:
        kept, spin, share = p.let("lever", lever), body.motion.angular, 1.0
        rate = cross(spin, centre if radius else kept if inside is lever else inside)
        if half_axes is not None:
            rate, share = cross(spin, centre) - support_rate(half_axes, axes[2, :].T, spin), 0.5
        sides.append(Side(body.number, kept, 1.0, p.let("rate", rate), share, body.motion))
        levers.append(lever)
    if carrier is not None:
        arm = position - frame.origin
        kept = p.let("lever", arm)
        rate = p.let("rate", cross(carrier.motion.angular, kept))
        sides.append(Side(carrier.number, kept, -1.0, rate, 1.0, carrier.motion))
        levers.append(arm)
    if pair.present is not None:
        depth = ca.if_else(pair.present, depth, -APART)
    depth = p.let("depth", depth)
    return Detection(depth, position, axes, tuple(sides), tuple(levers), frame, point, own_axes)


def searched(p: Program, pair: PairInputs) -> PairInputs:
    """Return a pair with the part of its surface that its point is near; outside blocks."""
    assert pair.surface is not None
    surface = pair.surface.surface
    if not surface.searches:
        return pair
    with p.block("place"):
        poses = (None if each is None else each.pose for each in (pair.body, pair.carrier))
        pose, frame, _, centre = placed(pair.position, *poses)
        place, half_axes = p.let("place", centre), pair.half_axes
        if half_axes is not None:
            half_axes = p.let("half axes", frame.unrotate(pose.rotate(half_axes)))
    found = search(p, surface, place, half_axes)
    return replace(pair, surface=replace(pair.surface, surface=found))


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
