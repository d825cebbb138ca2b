"""Plane: a half-space.

d = nu . (point - p) for a point p of a robot          [Sugihara2006] (4)
nu = (-s_x, -s_y, 1) / |...| where the plane is given by its slope s = (dz/dx, dz/dy)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np

from heelstrike.contact.geometry import ray
from heelstrike.parameters import check_numbers, static
from heelstrike.scene.surfaces.base import Surface, axes_of
from heelstrike.spatial.vector import SX, constant

UP = (0.0, 0.0, 1.0)
MAX_SLOPE = 2.0
"""Largest slope along an axis [-]: 63 degrees."""


@dataclass(frozen=True)
class Plane(Surface):
    """Half-space below a plane through `point`.

    Args:
        law: contact law, such as hs.Elastic(...) or hs.Rigid(...).
        name: name of the surface; paths of its parameters begin with it: "ground.normal.k".
        point: position of the shape's reference point [m].
        velocity: velocity of the material, as of a conveyor belt [m/s]; the shape does not
            move.
        body: body that the surface rides on; None: it is fixed in the world.
        touches: bodies whose contact points may touch it; "world" for points fixed in the
            world. None: all but its own body and those that a joint connects to that body.
        normal: outward normal; any length but zero.
        slope: rise of the plane along x and y, (dz/dx, dz/dy) [-], in place of a normal; a
            run-time parameter, which may differ from world to world.

    Examples:
        >>> ground = hs.Plane(hs.Elastic(hs.HuntCrossley(k=5e4)), name="ground")
        >>> ramp = hs.Plane(hs.Rigid(), name="ramp", normal=(-0.2, 0.0, 1.0))
        >>> scene = hs.Scene(hs.load("hoap1"), ground, ramp)
        >>> hills = hs.Scene(hs.load("hoap1"), hs.Plane(name="ground", slope=(0.0, 0.0)))
        >>> sim = hs.Simulator(hills, worlds=3)
        >>> sim.parameters["ground.slope"] = [[0.0, 0.0], [0.1, 0.0], [0.2, 0.0]]  # by world
    """

    normal: Sequence[float] = static(UP)
    slope: Sequence[float] | None = None

    parameter_names: ClassVar[tuple[str, ...]] = ("point", "velocity", "slope")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._unit("normal", 3)
        if self.slope is not None:
            check_numbers(self, slope=(-MAX_SLOPE, MAX_SLOPE))
            self._check_size(2, "slope")
            if tuple(self.normal) != UP:
                raise self._invalid("normal", "the default where slope is passed")

    @property
    def axes(self) -> np.ndarray:
        """Two tangents and the normal as rows, (3, 3)."""
        if self.slope is None:
            return axes_of(self._unit("normal", 3))
        return np.asarray(ca.DM(ca.evalf(self._axes())))

    def depth_and_axes(self, place: SX, radius: float = 0.0, part: int = 0) -> tuple[SX, SX]:
        axes = self._axes()
        return ca.dot(axes[2, :].T, SX(self.point) - place) + radius, axes

    def gap(self, place: SX, radius: float = 0.0) -> SX:
        return ca.dot(self._axes()[2, :].T, place - SX(self.point))

    def ray(self, origin: SX, direction: SX) -> SX:
        normal = self._axes()[2, :].T
        offset = ca.dot(normal, SX(self.point))
        return ray.distance(ray.half_space(normal, offset, origin, direction))

    def _axes(self) -> SX:
        """Return the axes as constants, or as expressions of the slope; x is never the normal."""
        if self.slope is None:
            return constant(self.axes)
        slope = SX(self.slope)
        normal = ca.vertcat(-slope[0], -slope[1], 1) / ca.sqrt(1 + ca.sumsqr(slope))
        first = ca.vertcat(1, 0, 0) - normal * normal[0]
        first = first / ca.sqrt(ca.sumsqr(first))
        return ca.horzcat(first, ca.cross(normal, first), normal).T
