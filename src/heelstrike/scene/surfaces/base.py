"""What all surfaces share.

A surface stands in the world, or rides on a body of the robot and is given in that body's frame.
It says how deep a place is, and the axes of contact there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np

from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import ParameterError
from heelstrike.parameters import check_numbers, is_number, static
from heelstrike.spatial.vector import SX


@dataclass(frozen=True)
class Surface(ABC):
    """What robots touch."""

    law: SurfaceLaw = field(default_factory=Elastic)
    name: str = static("ground")
    point: Sequence[float] = (0.0, 0.0, 0.0)
    """Where it is; each shape says which of its points [m]."""
    velocity: Sequence[float] = (0.0, 0.0, 0.0)
    """Of its material, as of a belt [m/s]; the shape stays where it is."""
    body: str | None = static(None)
    """The body that it rides on; None: the world."""
    touches: Sequence[str] | None = static(None)
    """Bodies whose points it meets, "world" for points that stand in the world. None: all, but not
    those of the body that it rides on, nor of bodies that a joint connects to that one."""

    parameter_names: ClassVar[tuple[str, ...]] = ("point", "velocity")
    """Parameters that are not the law's."""
    velocity_names: ClassVar[tuple[str, ...]] = ("velocity",)
    """Those of them by which its material moves."""

    def __post_init__(self) -> None:
        if not isinstance(self.law, SurfaceLaw):
            raise self._invalid(
                "law",
                "a surface law, such as hs.Elastic(normal, friction)",
                "wrap a normal law: hs.Elastic(hs.HuntCrossley(), hs.Bristle())",
            )
        if not isinstance(self.name, str) or not self.name or "." in self.name:
            raise self._invalid("name", "a name without dots that is not empty")
        check_numbers(self, point=(-1e6, 1e6), velocity=(-1e3, 1e3))
        self._check_size(3, "point", "velocity")
        touches = (self.touches,) if isinstance(self.touches, str) else self.touches
        if touches is not None:
            listed = isinstance(touches, Sequence)
            if not listed or not all(isinstance(name, str) for name in touches):
                raise self._invalid("touches", "names of bodies")
            object.__setattr__(self, "touches", tuple(touches))

    @abstractmethod
    def depth_and_axes(self, place: SX, radius: float = 0.0, part: int = 0) -> tuple[SX, SX]:
        """Signed depth of a sphere about a place [m], and the axes of contact there: two tangents
        and the outward normal as rows, (3, 3). In the surface's frame: the world's, or its body's.
        """

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of what a point may touch at the same time, each by a contact of its own."""
        return ("",)

    def tangents_vary(self, radius: float, part: int = 0) -> bool:
        """Whether the tangents at a contact may change as the point moves."""
        return False

    @property
    def material_velocity(self) -> SX:
        """Velocity of its material in its frame [m/s]."""
        return SX(self.velocity)

    def own_parameters(self) -> dict[str, Any]:
        """The law's fields stand beside the surface's own: ground.normal.k, ground.velocity."""
        law = {f.name: getattr(self.law, f.name) for f in fields(self.law)}  # type: ignore[arg-type]
        return law | {name: getattr(self, name) for name in self.parameter_names}

    def with_own_parameters(self, values: Mapping[str, Any]) -> Self:
        """A copy with other values under those names."""
        own = {name: value for name, value in values.items() if name in self.parameter_names}
        law = {name: value for name, value in values.items() if name not in own}
        changed: SurfaceLaw = replace(self.law, **law)  # type: ignore[type-var]
        return replace(self, law=changed, **own)

    def _invalid(self, name: str, allowed: str, remedy: str = "") -> ParameterError:
        """Return the error for a field whose value is not allowed."""
        owner = f"{type(self).__name__} '{self.name}'"
        return ParameterError(name, getattr(self, name), allowed, remedy, owner)

    def _check_size(self, size: int, *names: str) -> None:
        """Raise ParameterError for fields that are not vectors of `size` numbers."""
        for name in names:
            value = getattr(self, name)
            if is_number(value) and np.shape(value) != (size,):
                raise self._invalid(name, f"{NUMBERS[size]} numbers")

    def _unit(self, name: str, size: int) -> np.ndarray:
        """Return the direction in a field of `size` numbers, scaled to length 1."""
        value = getattr(self, name)
        direction = np.asarray(value, dtype=float) if is_number(value) else np.zeros(0)
        if direction.shape != (size,) or not np.isfinite(direction).all() or not direction.any():
            raise self._invalid(name, f"{NUMBERS[size]} numbers, not all 0")
        return direction / np.linalg.norm(direction)


NUMBERS = {2: "two", 3: "three"}


def axes_of(normal: np.ndarray) -> np.ndarray:
    """Rows: two tangents and the unit normal, right-handed; the first tangent lies along x seen
    along the normal, or along y where the normal is near x.
    """
    along = np.array([1.0, 0, 0]) if abs(normal[0]) < 0.9 else np.array([0, 1.0, 0])
    first = along - normal * (along @ normal)
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(normal, first), normal])


def ends_at(depth: SX, room: Sequence[SX]) -> SX:
    """The depth where a shape ends without a face: nothing is solid where a room is below 0."""
    for inside in room:
        depth = ca.if_else(inside < 0, ca.fmin(depth, inside), depth)
    return depth
