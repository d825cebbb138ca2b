"""Box: a solid box along the axes of its frame.

    d = min over its faces of (distance of the place behind the face)

The normal is that of the nearest face. A sphere whose centre is outside touches edges and corners
as well, along the line from them to its centre.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np

from heelstrike.checks import names
from heelstrike.parameters import check_numbers, static
from heelstrike.scene.surfaces.base import Surface, ends_at
from heelstrike.scene.surfaces.solid import Solid
from heelstrike.spatial.vector import SX, constant, cross, zeros

FACES = ("-x", "+x", "-y", "+y", "-z", "+z")


@dataclass(frozen=True)
class Box(Surface):
    """Box about `point`, along the axes of the world or of its body.

    Of boxes that stand side by side, the faces between them must be open: name the other `faces`.

    Args:
        law: contact law, such as hs.Elastic(...) or hs.Rigid(...).
        name: name of the surface; paths of its parameters begin with it: "ground.normal.k".
        point: position of the shape's reference point [m].
        velocity: velocity of the material, as of a conveyor belt [m/s]; the shape does not
            move.
        body: body that the surface rides on; None: it is fixed in the world.
        touches: bodies whose contact points may touch it; "world" for points fixed in the
            world. None: all but its own body and those that a joint connects to that body.
        size: full lengths along x, y and z [m].
        faces: faces that can be touched; the others are open, and the box ends there.

    Examples:
        >>> step = hs.Box(hs.Rigid(), name="step", point=(0.5, 0.0, 0.05), size=(0.4, 1.0, 0.1))
    """

    size: Sequence[float] = (1.0, 1.0, 1.0)
    faces: Sequence[str] = static(FACES)

    parameter_names: ClassVar[tuple[str, ...]] = ("point", "velocity", "size")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, size=(1e-9, 1e6))
        self._check_size(3, "size")
        faces = names("faces", self.faces)
        object.__setattr__(self, "faces", faces)
        if not faces or not set(faces) <= set(FACES):
            raise self._invalid("faces", f"one or more of {', '.join(FACES)}")

    def tangents_vary(self, radius: float, part: int = 0) -> bool:
        return len(self.faces) > 1

    def depth_and_axes(self, place: SX, radius: float = 0.0, part: int = 0) -> tuple[SX, SX]:
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
        return ends_at(depth + radius, [behind[f] for f in FACES if f not in self.faces]), axes

    @property
    def thickness(self) -> SX:
        return ca.mmin(SX(self.size))

    def solids(self) -> list[Solid]:
        closed = np.array([[f"{sign}{axis}" in self.faces for sign in "-+"] for axis in "xyz"])
        return [Solid("", SX(self.point), np.eye(3), SX(self.size) / 2, closed)]

    def ray(self, origin: SX, direction: SX) -> SX:
        return self.solids()[0].ray(origin, direction)

    def gap(self, place: SX, radius: float = 0.0) -> SX:
        return ca.mmax(ca.fabs(place - SX(self.point)) - SX(self.size) / 2)


def _rounded(behind: Sequence[tuple[str, SX]], depth: SX, axes: SX) -> tuple[SX, SX]:
    """Return depth and axes with the distance to edges and corners where the place is outside.

    The first tangent of the nearest face is never near the normal, so its projection serves.
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
    """Return the tangents and the outward normal of a face as rows, right-handed."""
    k = "xyz".index(face[1])
    nu = (1.0 if face[0] == "+" else -1.0) * np.eye(3)[k]
    first = np.eye(3)[(k + 1) % 3]
    return np.array([first, np.cross(nu, first), nu])
