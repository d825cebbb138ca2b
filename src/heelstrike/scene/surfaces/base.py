"""Base class of surfaces.

A surface is fixed in the world, or rides on a body of the robot and is expressed in that body's
frame. It computes the depth of a point inside it, and the axes of contact there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np

from heelstrike.checks import label
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import ParameterError
from heelstrike.ir.program import Program
from heelstrike.ir.table import Table
from heelstrike.parameters import check_numbers, is_number, static
from heelstrike.robot.robot import Robot
from heelstrike.scene.surfaces.solid import Solid
from heelstrike.spatial.vector import SX


@dataclass(frozen=True)
class Surface(ABC):
    """Surface with a contact law: base class of `hs.Plane`, `hs.Box` and the other shapes.

    Args:
        law: contact law, such as hs.Elastic(...) or hs.Rigid(...).
        name: name of the surface; paths of its parameters begin with it: "ground.normal.k".
        point: position of the shape's reference point [m].
        velocity: velocity of the material, as of a conveyor belt [m/s]; the shape does not
            move.
        body: body that the surface rides on; None: it is fixed in the world.
        touches: bodies whose contact points may touch it; "world" for points fixed in the
            world. None: all but its own body and those that a joint connects to that body.
    """

    law: SurfaceLaw = field(default_factory=Elastic)
    name: str = static("ground")
    point: Sequence[float] = (0.0, 0.0, 0.0)
    velocity: Sequence[float] = (0.0, 0.0, 0.0)
    body: str | None = static(None)
    touches: Sequence[str] | None = static(None)

    parameter_names: ClassVar[tuple[str, ...]] = ("point", "velocity")
    """Fields that are run-time parameters of the surface, besides those of its law."""
    velocity_names: ClassVar[tuple[str, ...]] = ("velocity",)
    """Parameters that set the velocity of the material."""
    searches: ClassVar[bool] = False
    """True if `search` must find the part of the surface that a point is near."""
    has_ridges: ClassVar[bool] = False
    """True if it may touch a capsule between its ends alone."""
    by_number: ClassVar[bool] = False
    """True if only numbers can be looked up in the surface's own arrays, not symbols."""

    def __post_init__(self) -> None:
        if not isinstance(self.law, SurfaceLaw):
            raise self._invalid(
                "law",
                "a surface law, such as hs.Elastic(normal, friction)",
                "wrap a normal law: hs.Elastic(hs.HuntCrossley(), hs.Bristle())",
            )
        for name in {f.name for f in fields(self.law)} & {*self.parameter_names}:  # type: ignore[arg-type]
            raise self._invalid(
                "law",
                f"a law without a parameter '{name}', which the surface has itself",
                "give the parameter of the law another name",
            )
        if not isinstance(self.name, str) or not self.name or "." in self.name:
            raise self._invalid("name", "a name without dots that is not empty")
        label("name", self.name)
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
        """Return the signed depth of a sphere about a place [m], and the axes of contact there.

        Everything is in the surface's frame: the world's, or that of its body.

        Args:
            place: centre of the sphere, (3,) [m].
            radius: radius of the sphere [m].
            part: index in `parts`.

        Returns:
            The depth, positive inside, and two tangents and the outward normal as rows, (3, 3).
        """

    def gap(self, place: SX, radius: float = 0.0) -> SX | None:
        """Return a lower bound of the distance of a place outside from the surface [m].

        No point nearer to the place has a depth above 0, nor any sphere of at most this radius all
        of whose points are nearer. It is cheap, and need not be the distance itself; None: there
        is no bound.
        """
        return None

    def ray(self, origin: SX, direction: SX) -> SX:
        """Return the distance along a ray to the surface [m], 0 inside, FAR where it does not meet.

        Everything is in the surface's frame; the direction has length 1. Height fields have `rays`
        in its place, and meshes neither.
        """
        raise NotImplementedError

    @property
    def thickness(self) -> SX | None:
        """Thickness of what points may pass through [m]; None: nothing of it is thin."""
        return None

    def solids(self) -> list[Solid]:
        """Return the parts that shapes touch between their points; none: points are enough."""
        return []

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts that a point may touch at the same time, each by its own contact."""
        return ("",)

    def tangents_vary(self, radius: float, part: int = 0) -> bool:
        """Return whether the tangents of a contact may change as the point moves."""
        return False

    def fitted(self, radius: float, around: float = 0.0) -> Self:
        """Return the surface for contact points of at most this radius [m].

        `around` is the distance from the surface up to which its normal is asked for [m].
        """
        return self

    def tables(self) -> dict[str, np.ndarray]:
        """Return arrays that the compiled step looks up, by name."""
        return {}

    def from_tables(self, tables: Mapping[str, Table]) -> Self:
        """Return a copy that looks up tables of a program in place of its arrays."""
        return self

    def search(self, p: Program, place: SX) -> Self:
        """Return the surface near a place (3), a symbol in its frame; outside blocks.

        For surfaces with `searches`, of whose many parts a contact point meets one.
        """
        return self

    def place(self, robot: Robot, q: np.ndarray, drop: float = 0.0) -> np.ndarray:
        """Return q of a robot with a free base, moved vertically to `drop` above this surface [m].

        `Robot.on_ground` calls it.
        """
        from heelstrike.scene.placing import placed
        from heelstrike.scene.scene import Scene

        return placed(Scene(robot, self, self_contact=False), q, drop)

    @property
    def material_velocity(self) -> SX:
        """Velocity of the material in the surface's frame, (3,) [m/s]."""
        return SX(self.velocity)

    def own_parameters(self) -> dict[str, Any]:
        """Return the fields of the law and of the surface: ground.normal.k, ground.velocity."""
        law = {f.name: getattr(self.law, f.name) for f in fields(self.law)}  # type: ignore[arg-type]
        return law | {name: getattr(self, name) for name in self.parameter_names}

    def with_own_parameters(self, values: Mapping[str, Any]) -> Self:
        """Return a copy with other values of these fields."""
        own = {name: value for name, value in values.items() if name in self.parameter_names}
        law = {name: value for name, value in values.items() if name not in own}
        changed: SurfaceLaw = replace(self.law, **law)  # type: ignore[type-var]
        return replace(self, law=changed, **own)

    def _invalid(self, name: str, allowed: str, remedy: str = "") -> ParameterError:
        """Return the error for a field whose value is not allowed."""
        owner = f"{type(self).__name__} '{self.name}'"
        return ParameterError(name, getattr(self, name), allowed, remedy, owner)

    def _check_size(self, size: int, *names: str) -> None:
        """Raise ParameterError for fields that are not vectors of `size` numbers, or rows of these.

        Rows, one per world, occur where values of a running simulator are checked.
        """
        for name in names:
            value = getattr(self, name)
            if is_number(value) and np.shape(value)[-1:] != (size,):
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
    """Return two tangents and the unit normal as rows, right-handed.

    The first tangent is the projection of x, or of y where the normal is close to x.
    """
    along = np.array([1.0, 0, 0]) if abs(normal[0]) < 0.9 else np.array([0, 1.0, 0])
    first = along - normal * (along @ normal)
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(normal, first), normal])


def ends_at(depth: SX, insides: Sequence[SX]) -> SX:
    """Return the depth of a shape with open ends: nothing is solid where an `inside` is below 0.

    Args:
        depth: signed depth without the ends [m].
        insides: distance of the place from each open end, positive inside [m].
    """
    for inside in insides:
        depth = ca.if_else(inside < 0, ca.fmin(depth, inside), depth)
    return depth
