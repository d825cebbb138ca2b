"""A belt.

    d = height of the belt over the point, along its normal,   u = velocity + speed * along

u is the velocity of its material. The belt ends at its edges and at its thickness: nothing pushes
sideways, nor up from below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np

from heelstrike.parameters import check_numbers, static
from heelstrike.scene.surfaces.base import Surface, axes_of, ends_at
from heelstrike.spatial.vector import SX, constant


@dataclass(frozen=True)
class Treadmill(Surface):
    """A belt whose top has its middle at `point`."""

    speed: float = 1.0
    """Along `direction` [m/s]."""
    direction: Sequence[float] = static((1.0, 0.0))
    """Seen from above; of any length but zero."""
    incline: float = static(0.0)
    """By which the belt rises along `direction` [rad]."""
    size: Sequence[float] = (2.0, 0.8, 0.2)
    """Whole lengths along the belt, across it, and its thickness [m]."""

    parameter_names: ClassVar[tuple[str, ...]] = ("point", "velocity", "speed", "size")
    velocity_names: ClassVar[tuple[str, ...]] = ("velocity", "speed")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, speed=(-1e3, 1e3), incline=(-1.5, 1.5), size=(1e-9, 1e6))
        self._check_size(3, "size")
        self._unit("direction", 2)

    @property
    def _frame(self) -> np.ndarray:
        """Rows: along, across, normal."""
        x, y = self._unit("direction", 2)
        c, s = np.cos(self.incline), np.sin(self.incline)
        return np.array([[c * x, c * y, s], [-y, x, 0], [-s * x, -s * y, c]])

    @property
    def material_velocity(self) -> SX:
        return SX(self.velocity) + self.speed * constant(self._frame[0])

    def depth_and_axes(self, place: SX, radius: float = 0.0, part: int = 0) -> tuple[SX, SX]:
        along, across, up = ca.vertsplit(constant(self._frame) @ (place - SX(self.point)))
        length, width, thick = ca.vertsplit(SX(self.size))
        room = [length / 2 - ca.fabs(along), width / 2 - ca.fabs(across), thick + up]
        return ends_at(radius - up, room), constant(axes_of(self._frame[2]))
