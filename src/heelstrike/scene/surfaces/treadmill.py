"""Treadmill: a moving belt.

    d = height of the belt above the point, along its normal,   u = velocity + speed * along

u is the velocity of the material. The belt ends without a face at its edges and at its thickness:
it pushes neither sideways nor upward from below.
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
    """Moving belt; `point` is the middle of its top.

    Example:
        >>> belt = hs.Treadmill(hs.Rigid(), name="belt", speed=-0.5)
        >>> sim = hs.Simulator(hs.Scene(hs.load("hoap1"), belt), control=hs.Servo())
        >>> sim.parameters["belt.speed"] = -1.0
    """

    speed: float = 1.0
    """Speed of the belt along `direction` [m/s]."""
    direction: Sequence[float] = static((1.0, 0.0))
    """Horizontal direction of the belt, (x, y); any length but zero."""
    incline: float = static(0.0)
    """Slope angle; the belt rises along `direction` [rad]."""
    size: Sequence[float] = (2.0, 0.8, 0.2)
    """Full lengths along and across the belt, and its thickness [m]."""

    parameter_names: ClassVar[tuple[str, ...]] = ("point", "velocity", "speed", "size")
    velocity_names: ClassVar[tuple[str, ...]] = ("velocity", "speed")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, speed=(-1e3, 1e3), incline=(-1.5, 1.5), size=(1e-9, 1e6))
        self._check_size(3, "size")
        self._unit("direction", 2)

    @property
    def _frame(self) -> np.ndarray:
        """Directions along and across the belt, and its normal, as rows, (3, 3)."""
        x, y = self._unit("direction", 2)
        c, s = np.cos(self.incline), np.sin(self.incline)
        return np.array([[c * x, c * y, s], [-y, x, 0], [-s * x, -s * y, c]])

    @property
    def material_velocity(self) -> SX:
        return SX(self.velocity) + self.speed * constant(self._frame[0])

    def depth_and_axes(self, place: SX, radius: float = 0.0, part: int = 0) -> tuple[SX, SX]:
        along, across, up = ca.vertsplit(constant(self._frame) @ (place - SX(self.point)))
        length, width, thick = ca.vertsplit(SX(self.size))
        insides = [length / 2 - ca.fabs(along), width / 2 - ca.fabs(across), thick + up]
        return ends_at(radius - up, insides), constant(axes_of(self._frame[2]))
