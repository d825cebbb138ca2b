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

from heelstrike.contact.geometry import ray
from heelstrike.parameters import check_numbers, static
from heelstrike.scene.surfaces.base import Surface, axes_of, ends_at
from heelstrike.spatial.vector import SX, constant


@dataclass(frozen=True)
class Treadmill(Surface):
    """Moving belt; `point` is the middle of its top.

    Args:
        law: contact law, such as hs.Elastic(...) or hs.Rigid(...).
        name: name of the surface; paths of its parameters begin with it: "ground.normal.k".
        point: position of the shape's reference point [m].
        velocity: velocity of the material, as of a conveyor belt [m/s]; the shape does not
            move.
        body: body that the surface rides on; None: it is fixed in the world.
        touches: bodies whose contact points may touch it; "world" for points fixed in the
            world. None: all but its own body and those that a joint connects to that body.
        speed: speed of the belt along `direction` [m/s].
        direction: horizontal direction of the belt, (x, y); any length but zero.
        incline: slope angle; the belt rises along `direction` [rad].
        size: full lengths along and across the belt, and its thickness [m].

    Examples:
        >>> belt = hs.Treadmill(hs.Rigid(), name="belt", speed=-0.5)
        >>> sim = hs.Simulator(hs.Scene(hs.load("hoap1"), belt), control=hs.Servo())
        >>> sim.parameters["belt.speed"] = -1.0
    """

    speed: float = 1.0
    direction: Sequence[float] = static((1.0, 0.0))
    incline: float = static(0.0)
    size: Sequence[float] = (2.0, 0.8, 0.2)

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
        up, insides = self._place(place)
        return ends_at(radius - up, insides), constant(axes_of(self._frame[2]))

    def gap(self, place: SX, radius: float = 0.0) -> SX:
        up, insides = self._place(place)
        return ca.mmax(ca.vertcat(up, *(-inside for inside in insides)))

    def ray(self, origin: SX, direction: SX) -> SX:
        frame, half = constant(self._frame), SX(self.size) / 2
        o, d = frame @ (origin - SX(self.point)), frame @ direction
        return ray.distance(ray.box(half, o + ca.vertcat(0, 0, half[2]), d))

    def _place(self, place: SX) -> tuple[SX, list[SX]]:
        """Return the height of a place above the belt, and its distances from the ends [m]."""
        along, across, up = ca.vertsplit(constant(self._frame) @ (place - SX(self.point)))
        length, width, thick = ca.vertsplit(SX(self.size))
        return up, [length / 2 - ca.fabs(along), width / 2 - ca.fabs(across), thick + up]
