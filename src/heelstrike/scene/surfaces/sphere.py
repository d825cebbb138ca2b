"""Sphere: a solid ball.

    d = R + r - |p - c|,   nu = (p - c) / |p - c|      for a sphere of radius r about p

The tangents are x and y, rotated with the normal from the top of the ball along the shortest arc;
at the very bottom, where no arc is shortest, they are rotated about x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np

from heelstrike.contact.geometry import ray
from heelstrike.parameters import check_numbers
from heelstrike.scene.surfaces.base import Surface
from heelstrike.scene.surfaces.solid import OPEN, POINT, Solid
from heelstrike.spatial.vector import SX

MIN_DISTANCE = 1e-9
"""Distance from the centre below which the normal is taken as z [m]."""
BOTTOM = 1e-6
"""Value of 1 + nu_z below which a normal counts as pointing straight down [-]."""


@dataclass(frozen=True)
class Sphere(Surface):
    """Ball about `point`; with `body=`, a round part of that body.

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

    Examples:
        >>> stone = hs.Sphere(hs.Rigid(), name="stone", point=(0.1, 0.0, 0.0), radius=0.05)
    """

    radius: float = 0.1

    parameter_names: ClassVar[tuple[str, ...]] = ("point", "velocity", "radius")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, radius=(1e-9, 1e6))

    def tangents_vary(self, radius: float, part: int = 0) -> bool:
        return True

    def ray(self, origin: SX, direction: SX) -> SX:
        return ray.distance(ray.sphere(SX(self.radius), origin - SX(self.point), direction))

    def solids(self) -> list[Solid]:
        return [Solid("", SX(self.point), np.eye(3), POINT, OPEN, ball=SX(self.radius))]

    def depth_and_axes(self, place: SX, radius: float = 0.0, part: int = 0) -> tuple[SX, SX]:
        distance, axes = radial_axes(place - SX(self.point))
        return self.radius + radius - distance, axes

    def gap(self, place: SX, radius: float = 0.0) -> SX:
        offset = place - SX(self.point)
        return ca.sqrt(ca.dot(offset, offset)) - self.radius


def radial_axes(offset: SX) -> tuple[SX, SX]:
    """Return the length of an offset from a centre, and the axes whose normal is along it."""
    distance = ca.sqrt(ca.fmax(ca.dot(offset, offset), MIN_DISTANCE**2))
    inner = distance <= MIN_DISTANCE
    return distance, _axes(ca.if_else(inner, ca.vertcat(0, 0, 1), offset / distance))


def _axes(nu: SX) -> SX:
    x, y, z = ca.vertsplit(nu)
    below = 1 + z < BOTTOM
    share = 1 / ca.if_else(below, 1, 1 + z)
    first = ca.vertcat(1 - x * x * share, -x * y * share, -x)
    second = ca.vertcat(-x * y * share, 1 - y * y * share, -y)
    turned = ca.horzcat(first, second, nu)
    return ca.if_else(below, ca.SX(ca.DM([[1, 0, 0], [0, -1, 0], [0, 0, -1]])), turned).T
