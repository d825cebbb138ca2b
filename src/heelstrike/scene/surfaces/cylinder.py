"""Cylinder: a rod with flat caps, such as a post, a pipe or a log.

    rho = |p - c| across the axis,  s = (p - c) . axis
    d   = min(R - rho, L/2 - |s|)             inside: behind the nearer of side and cap
    d   = r - |(rho - R)+, (|s| - L/2)+|      outside, of a sphere of radius r: sides, caps, rims

The tangents are those of a ball whose normal is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from heelstrike.contact.geometry import ray
from heelstrike.parameters import check_numbers, static
from heelstrike.scene.surfaces.base import Surface, axes_of
from heelstrike.scene.surfaces.solid import OPEN, Solid
from heelstrike.scene.surfaces.sphere import MIN_DISTANCE, radial_axes
from heelstrike.spatial.vector import SX, constant


@dataclass(frozen=True)
class Cylinder(Surface):
    """Cylinder whose middle is `point`: a post, a pipe or a log; with `body=`, a part of a body.

    Args:
        law: contact law, such as hs.Elastic(...) or hs.Rigid(...).
        name: name of the surface; paths of its parameters begin with it: "ground.normal.k".
        point: position of the shape's reference point [m].
        velocity: velocity of the material, as of a conveyor belt [m/s]; the shape does not
            move.
        body: body that the surface rides on; None: it is fixed in the world.
        touches: bodies whose contact points may touch it; "world" for points fixed in the
            world. None: all but its own body and those that a joint connects to that body.
        radius: radius [m].
        length: distance of its caps [m].
        axis: direction from cap to cap; any length but zero.

    Examples:
        >>> log = hs.Cylinder(hs.Rigid(), name="log", point=(0.3, 0.0, 0.05), axis=(0.0, 1.0, 0.0))
    """

    radius: float = 0.05
    length: float = 0.2
    axis: Sequence[float] = static((0.0, 0.0, 1.0))

    parameter_names: ClassVar[tuple[str, ...]] = ("point", "velocity", "radius", "length")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, radius=(1e-9, 1e6), length=(1e-9, 1e6))
        self._unit("axis", 3)

    def tangents_vary(self, radius: float, part: int = 0) -> bool:
        return True

    @property
    def thickness(self) -> SX:
        return ca.fmin(2 * SX(self.radius), SX(self.length))

    def solids(self) -> list[Solid]:
        axes, half = axes_of(self._unit("axis", 3)), ca.vertcat(0, 0, SX(self.length) / 2)
        return [Solid("", SX(self.point), axes, half, OPEN, disc=SX(self.radius))]

    def depth_and_axes(self, place: SX, radius: float = 0.0, part: int = 0) -> tuple[SX, SX]:
        along, across, behind = self._behind(place)
        cap = behind[1] < behind[0]
        past = ca.fmax(-behind[0], 0) * across + ca.fmax(-behind[1], 0) * along
        outside = ca.mmin(behind) < 0
        distance = ca.sqrt(ca.if_else(outside, ca.dot(past, past), 1))
        inner = ca.if_else(cap, along, across)
        _, axes = radial_axes(ca.if_else(outside, past / distance, inner))
        return radius + ca.if_else(outside, -distance, ca.mmin(behind)), axes

    def ray(self, origin: SX, direction: SX) -> SX:
        turn, half = constant(axes_of(self._unit("axis", 3))), SX(self.length) / 2
        o, d = turn @ (origin - SX(self.point)), turn @ direction
        return ray.distance(ray.cylinder(SX(self.radius), half, o, d))

    def gap(self, place: SX, radius: float = 0.0) -> SX:
        return -ca.mmin(self._behind(place)[2])

    def _behind(self, place: SX) -> tuple[SX, SX, SX]:
        """Return the normals of the nearer cap and of the side, and how far a place is behind the
        side and that cap, (2,) [m].
        """
        axis, offset = constant(self._unit("axis", 3)), place - SX(self.point)
        s = ca.dot(axis, offset)
        radial = offset - s * axis
        rho = ca.sqrt(ca.fmax(ca.dot(radial, radial), MIN_DISTANCE**2))
        fallback = constant(axes_of(self._unit("axis", 3))[0])
        across = ca.if_else(rho <= MIN_DISTANCE, fallback, radial / rho)
        along = ca.if_else(s < 0, -1, 1) * axis
        return along, across, ca.vertcat(self.radius - rho, SX(self.length) / 2 - ca.fabs(s))
