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

    Example:
        >>> ground = hs.Plane(hs.Elastic(hs.HuntCrossley(k=5e4)), name="ground")
        >>> ramp = hs.Plane(hs.Rigid(), name="ramp", normal=(-0.2, 0.0, 1.0))
        >>> scene = hs.Scene(hs.load("hoap1"), ground, ramp)
    """

    normal: Sequence[float] = static((0.0, 0.0, 1.0))
    """Outward normal; any length but zero."""

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
