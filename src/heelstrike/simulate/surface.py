"""Surfaces: where they are, how they move, and the law that they carry.

A surface stands in the world, or rides on a body of the robot and is given in that body's frame.
It says how deep a place is, and the axes of contact there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import casadi as ca
import numpy as np

from heelstrike.contact.elastic import Elastic
from heelstrike.contact.parameters import check_numbers, static
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError
from heelstrike.spatial.vector import SX, constant, cross, zeros

FACES = ("-x", "+x", "-y", "+y", "-z", "+z")


@dataclass(frozen=True)
class Surface(ABC):
    """What robots touch."""

    law: SurfaceLaw = field(default_factory=Elastic)
    name: str = static("ground")
    point: Sequence[float] = (0.0, 0.0, 0.0)
    """A point of a plane, the centre of a box [m]."""
    velocity: Sequence[float] = (0.0, 0.0, 0.0)
    """Of its material, as of a belt [m/s]; the shape stays where it is."""
    body: str | None = static(None)
    """The body that it rides on; None: the world."""

    def __post_init__(self) -> None:
        if not isinstance(self.law, SurfaceLaw):
            raise HeelstrikeError(
                f"surface '{self.name}' takes a law such as hs.Elastic(normal, friction), not "
                f"{self.law!r}; wrap a normal law: hs.Elastic(hs.HuntCrossley(), hs.Bristle())"
            )
        if not self.name or "." in self.name:
            raise HeelstrikeError(f"a surface's name has no dots and is not empty: '{self.name}'")
        check_numbers(self, point=(-1e6, 1e6), velocity=(-1e3, 1e3))
        self._check_three("point", "velocity")

    @abstractmethod
    def meet(self, place: SX, radius: float = 0.0) -> tuple[SX, SX]:
        """Signed depth of a sphere about a place [m], and the axes of contact there: two tangents
        and the outward normal as rows, (3, 3). In the surface's frame: the world's, or its body's.
        """

    @property
    def own_names(self) -> tuple[str, ...]:
        """Parameters that are not the law's."""
        return ("point", "velocity")

    def own_parameters(self) -> dict[str, Any]:
        """The law's fields stand beside the surface's own: ground.normal.k, ground.velocity."""
        law = {f.name: getattr(self.law, f.name) for f in fields(self.law)}  # type: ignore[arg-type]
        return law | {name: getattr(self, name) for name in self.own_names}

    def with_own(self, values: Mapping[str, Any]) -> Self:
        """A copy with other values under those names."""
        own = {name: value for name, value in values.items() if name in self.own_names}
        law = {name: value for name, value in values.items() if name not in own}
        changed: SurfaceLaw = replace(self.law, **law)  # type: ignore[type-var]
        return replace(self, law=changed, **own)

    def _check_three(self, *words: str) -> None:
        for word in words:
            value = getattr(self, word)
            if isinstance(value, Sequence | np.ndarray) and len(value) != 3:
                raise HeelstrikeError(f"the {word} of surface '{self.name}' is three numbers")


@dataclass(frozen=True)
class Plane(Surface):
    """A half-space: everything below a plane is solid.

    d = nu . (point - p) for a point p of a robot          [Sugihara2006] (4)
    """

    normal: Sequence[float] = static((0.0, 0.0, 1.0))
    """Out of the surface; of any length but zero."""

    def __post_init__(self) -> None:
        super().__post_init__()
        normal = np.asarray(self.normal, dtype=float)
        if normal.shape != (3,) or not np.all(np.isfinite(normal)) or not normal.any():
            raise HeelstrikeError(
                f"the normal of surface '{self.name}' is three numbers, not all 0: {self.normal}"
            )

    @property
    def axes(self) -> np.ndarray:
        """Rows: two tangents and the normal, right-handed; the first tangent lies along x seen from
        above, or along y where the normal is near x.
        """
        nu = np.asarray(self.normal, dtype=float)
        nu = nu / np.linalg.norm(nu)
        along = np.array([1.0, 0, 0]) if abs(nu[0]) < 0.9 else np.array([0, 1.0, 0])
        first = along - nu * (along @ nu)
        first /= np.linalg.norm(first)
        return np.array([first, np.cross(nu, first), nu])

    def meet(self, place: SX, radius: float = 0.0) -> tuple[SX, SX]:
        axes = constant(self.axes)
        return ca.dot(axes[2, :].T, SX(self.point) - place) + radius, axes


@dataclass(frozen=True)
class Box(Surface):
    """A solid box along the axes of its frame.

    d = min over its faces of (how far the place is behind the face)

    The nearest face says the normal; a sphere whose centre is outside meets edges and corners, too,
    along the line to them. Between boxes that stand side by side no side must push: name
    the faces that count.
    """

    size: Sequence[float] = (1.0, 1.0, 1.0)
    """Whole lengths [m]."""
    faces: Sequence[str] = static(FACES)
    """Those that can be touched; the others are open, the box ends there."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, size=(1e-9, 1e6))
        self._check_three("size")
        faces = (self.faces,) if isinstance(self.faces, str) else tuple(self.faces)
        object.__setattr__(self, "faces", faces)
        if not faces or not set(faces) <= set(FACES):
            raise HeelstrikeError(
                f"the faces of box '{self.name}' are among {', '.join(FACES)}, not {self.faces!r}"
            )

    @property
    def own_names(self) -> tuple[str, ...]:
        return ("point", "velocity", "size")

    def meet(self, place: SX, radius: float = 0.0) -> tuple[SX, SX]:
        offset, half = place - SX(self.point), SX(self.size) / 2
        behind = {
            face: half["xyz".index(face[1])]
            - (1 if face[0] == "+" else -1) * offset["xyz".index(face[1])]
            for face in FACES
        }
        first, *rest = self.faces
        depth, axes = behind[first], constant(_face_axes(first))
        for face in rest:
            nearer = behind[face] < depth
            depth = ca.if_else(nearer, behind[face], depth)
            axes = ca.if_else(nearer, constant(_face_axes(face)), axes)
        if radius:
            depth, axes = _rounded([(f, behind[f]) for f in self.faces], depth, axes)
        depth = depth + radius
        for face in [face for face in FACES if face not in self.faces]:  # open: no box beyond
            depth = ca.if_else(behind[face] < 0, ca.fmin(depth, behind[face]), depth)
        return depth, axes


def _rounded(behind: Sequence[tuple[str, SX]], depth: SX, axes: SX) -> tuple[SX, SX]:
    """Depth and axes with the distance to edges and corners where the place is outside. The
    nearest face's first tangent is never near the normal, so its part along the surface serves.
    """
    past = zeros()
    for face, far in behind:
        past = past + constant(_face_axes(face)[2]) * ca.fmax(-far, 0)
    outside = depth < 0
    distance = ca.sqrt(ca.if_else(outside, ca.dot(past, past), 1))
    nu = ca.if_else(outside, past / distance, axes[2, :].T)
    along = axes[0, :].T - nu * ca.dot(nu, axes[0, :].T)
    along = along / ca.sqrt(ca.dot(along, along))
    return ca.if_else(outside, -distance, depth), ca.horzcat(along, cross(nu, along), nu).T


def _face_axes(face: str) -> np.ndarray:
    """Tangents and outward normal of a face, right-handed."""
    k = "xyz".index(face[1])
    nu = (1.0 if face[0] == "+" else -1.0) * np.eye(3)[k]
    first = np.eye(3)[(k + 1) % 3]
    return np.array([first, np.cross(nu, first), nu])
