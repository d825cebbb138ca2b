"""Deepest point of a contact shape in a surface: where a contact point touches.

A contact shape is a point, a sphere of radius r or an ellipsoid with half axes B (columns), or the
sum of both. Its deepest point against the normal nu is

    p = c - r nu - s,    s = B B^T nu / |B^T nu|

On a plane this is exact. Where the normal varies, nu is that of the sphere which is tangent to the
shape at p and has the shape's extent as its radius, found by a fixed number of repetitions:
they end at once for spheres, and for wheels that roll in their plane.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from heelstrike.robot.placement import Placement
from heelstrike.robot.robot import Point
from heelstrike.scene.surfaces import Surface
from heelstrike.spatial.vector import SX, cross

REPETITIONS = 6
"""Evaluations of a surface whose normal varies."""


def deepest(
    surface: Surface,
    centre: SX,
    radius: float = 0.0,
    half_axes: SX | None = None,
    extent: float = 0.0,
    part: int = 0,
) -> tuple[SX, SX, SX | None]:
    """Return the depth of a contact shape [m], the axes of contact, and s of its ellipsoid [m].

    Everything is in the surface's frame.

    Args:
        surface: the surface.
        centre: centre of the shape, (3,) [m].
        radius: radius of its sphere [m].
        half_axes: half axes of its ellipsoid as columns, (3, 3) [m]; None: there is none.
        extent: largest distance of the shape's surface from its centre [m].
        part: index in the surface's parts.
    """
    if half_axes is None:
        return *surface.depth_and_axes(centre, radius, part), None
    varies = surface.tangents_vary(extent, part)
    inner = extent - radius if varies else 0.0
    depth, axes = surface.depth_and_axes(centre, extent, part)
    reach = support(half_axes, axes[2, :].T)
    for _ in range(REPETITIONS if varies else 1):
        place = centre - reach + inner * axes[2, :].T
        depth, axes = surface.depth_and_axes(place, radius + inner, part)
        reach = support(half_axes, axes[2, :].T)
    return depth, axes, reach


def support(half_axes: SX, normal: SX) -> SX:
    """Return the point of an ellipsoid farthest along a unit normal, from its centre [m]."""
    along = half_axes.T @ normal
    return half_axes @ (along / ca.sqrt(ca.dot(along, along)))


def support_rate(half_axes: SX, normal: SX, spin: SX) -> SX:
    """Return the rate of `support` while the ellipsoid turns with a spin [m/s].

    With B' = w x B and q = B^T nu:   s' = w x s + B (q' - q (q . q') / |q|^2) / |q|
    """
    along = half_axes.T @ normal
    length = ca.sqrt(ca.dot(along, along))
    along, change = along / length, half_axes.T @ cross(normal, spin)
    across = change - along * ca.dot(along, change)
    return cross(spin, half_axes @ along) + half_axes @ (across / length)


def deepest_in_pose(
    surface: Surface, part: int, point: Point, pose: Placement, frame: Placement
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return depth [m], normal and place [m] of a contact point on a surface, in the world.

    `pose` and `frame` place the point's body and the surface in the world.
    """
    (R, p), (R_s, p_s) = pose, frame
    centre = R @ np.asarray(point.position, dtype=float) + p
    half_axes = None if point.half_axes is None else SX(R_s.T @ R @ point.half_axes)
    own = SX(R_s.T @ (centre - p_s))
    depth, axes, reach = deepest(surface, own, point.radius, half_axes, point.extent, part)
    normal = R_s @ np.array(ca.evalf(axes))[2]
    place = centre - point.radius * normal
    if reach is not None:
        place = place - R_s @ np.array(ca.evalf(reach))[:, 0]
    return float(ca.evalf(depth)), normal, place
