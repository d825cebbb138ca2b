"""A solid ball.

    d = R + r - |p - c|,   nu = (p - c) / |p - c|      for a sphere of radius r about p

Tangents are x and y, turned with the normal from the top of the ball the short way; at its very
bottom, where there is no short way, they are turned about x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from heelstrike.parameters import check_numbers
from heelstrike.scene.surfaces.base import Surface
from heelstrike.spatial.vector import SX

NEAREST = 1e-9
"""Distance to the centre below which there is no direction from it [m]."""
BOTTOM = 1e-6
"""1 + nu_z below which a normal points straight down."""


@dataclass(frozen=True)
class Sphere(Surface):
    """A ball about `point`; with `body=`, a body's own round part."""

    radius: float = 0.1
    """[m]"""

    parameter_names: ClassVar[tuple[str, ...]] = ("point", "velocity", "radius")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, radius=(1e-9, 1e6))

    def tangents_vary(self, radius: float, part: int = 0) -> bool:
        return True

    def depth_and_axes(self, place: SX, radius: float = 0.0, part: int = 0) -> tuple[SX, SX]:
        distance, axes = away(place - SX(self.point))
        return self.radius + radius - distance, axes


def away(offset: SX) -> tuple[SX, SX]:
    """The length of an offset from a centre, and the axes of contact whose normal lies along it."""
    distance = ca.sqrt(ca.fmax(ca.dot(offset, offset), NEAREST**2))
    inner = distance <= NEAREST
    return distance, _axes(ca.if_else(inner, ca.vertcat(0, 0, 1), offset / distance))


def _axes(nu: SX) -> SX:
    x, y, z = ca.vertsplit(nu)
    below = 1 + z < BOTTOM
    share = 1 / ca.if_else(below, 1, 1 + z)
    first = ca.vertcat(1 - x * x * share, -x * y * share, -x)
    second = ca.vertcat(-x * y * share, 1 - y * y * share, -y)
    turned = ca.horzcat(first, second, nu)
    return ca.if_else(below, ca.SX(ca.DM([[1, 0, 0], [0, -1, 0], [0, 0, -1]])), turned).T
