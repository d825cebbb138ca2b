"""Plane: a half-space.

d = nu . (point - p) for a point p of a robot          [Sugihara2006] (4)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.parameters import static
from heelstrike.scene.surfaces.base import Surface, axes_of
from heelstrike.spatial.vector import SX, constant


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

    Examples:
        >>> ground = hs.Plane(hs.Elastic(hs.HuntCrossley(k=5e4)), name="ground")
        >>> ramp = hs.Plane(hs.Rigid(), name="ramp", normal=(-0.2, 0.0, 1.0))
        >>> scene = hs.Scene(hs.load("hoap1"), ground, ramp)
    """

    normal: Sequence[float] = static((0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        super().__post_init__()
        self._unit("normal", 3)

    @property
    def axes(self) -> np.ndarray:
        """Two tangents and the normal as rows, (3, 3)."""
        return axes_of(self._unit("normal", 3))

    def depth_and_axes(self, place: SX, radius: float = 0.0, part: int = 0) -> tuple[SX, SX]:
        axes = constant(self.axes)
        return ca.dot(axes[2, :].T, SX(self.point) - place) + radius, axes

    def gap(self, place: SX, radius: float = 0.0) -> SX:
        return ca.dot(constant(self.axes[2]), place - SX(self.point))
