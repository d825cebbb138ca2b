"""Capsule: a rod with round ends, the points within a radius of a line segment.

    d = R + r - |p - c|,   nu = (p - c) / |p - c|      c the nearest point of the segment to p

The tangents are those of a ball about c.
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
from heelstrike.scene.surfaces.sphere import radial_axes
from heelstrike.spatial.vector import SX, constant


@dataclass(frozen=True)
class Capsule(Surface):
    """Rod with round ends whose middle is `point`; with `body=`, a limb.

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
        length: length of the segment, without the round ends [m].
        axis: direction of the segment; any length but zero.

    Examples:
        >>> bar = hs.Capsule(hs.Rigid(), name="bar", point=(0.3, 0.0, 0.1), axis=(0.0, 1.0, 0.0))
    """

    radius: float = 0.05
    length: float = 0.2
    axis: Sequence[float] = static((0.0, 0.0, 1.0))

    parameter_names: ClassVar[tuple[str, ...]] = ("point", "velocity", "radius", "length")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, radius=(1e-9, 1e6), length=(0, 1e6))
        self._unit("axis", 3)

    def tangents_vary(self, radius: float, part: int = 0) -> bool:
        return True

    def solids(self) -> list[Solid]:
        axes, half = axes_of(self._unit("axis", 3)), ca.vertcat(0, 0, SX(self.length) / 2)
        return [Solid("", SX(self.point), axes, half, OPEN, ball=SX(self.radius))]

    def depth_and_axes(self, place: SX, radius: float = 0.0, part: int = 0) -> tuple[SX, SX]:
        distance, axes = radial_axes(self._from_segment(place))
        return self.radius + radius - distance, axes

    def ray(self, origin: SX, direction: SX) -> SX:
        turn, half = constant(axes_of(self._unit("axis", 3))), SX(self.length) / 2
        o, d = turn @ (origin - SX(self.point)), turn @ direction
        return ray.distance(ray.capsule(SX(self.radius), half, o, d))

    def gap(self, place: SX, radius: float = 0.0) -> SX:
        offset = self._from_segment(place)
        return ca.sqrt(ca.dot(offset, offset)) - self.radius

    def _from_segment(self, place: SX) -> SX:
        """Return the vector from the nearest point of the segment to a place [m]."""
        axis, offset = constant(self._unit("axis", 3)), place - SX(self.point)
        half = SX(self.length) / 2
        return offset - ca.fmin(ca.fmax(ca.dot(axis, offset), -half), half) * axis
