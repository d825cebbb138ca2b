"""Solids: the boxes that a surface is made of, whose edges shapes of bodies touch.

Contact points of a body are all that a face needs. An edge may be touched between the points: the
shin across the nose of a step, the plank on a beam. There, shapes are compared (step/edges.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.contact.geometry import ray
from heelstrike.spatial.vector import SX


@dataclass(frozen=True, eq=False)
class Solid:
    """A box of a surface, in the surface's frame; numbers or symbols."""

    name: str
    """Name of this part of the surface; "" where there is one only."""
    centre: SX
    """(3,) [m]"""
    half_axes: SX
    """Half axes as columns, at right angles, (3, 3) [m]."""
    closed: np.ndarray
    """Whether each face can be touched, by axis and side, (3, 2): those against the axis first."""

    def ray(self, origin: SX, direction: SX) -> SX:
        """Return the distance along a ray to the box [m]; all its faces are met."""
        lengths = [ca.sqrt(ca.dot(axis, axis)) for axis in ca.horzsplit(self.half_axes)]
        turn = ca.horzcat(
            *(a / n for a, n in zip(ca.horzsplit(self.half_axes), lengths, strict=True))
        )
        half, o = ca.vertcat(*lengths), turn.T @ (origin - self.centre)
        return ray.distance(ray.box(half, o, turn.T @ direction))

    @property
    def has_edges(self) -> bool:
        """Whether two faces that can be touched meet."""
        return int(self.closed.any(axis=1).sum()) > 1
