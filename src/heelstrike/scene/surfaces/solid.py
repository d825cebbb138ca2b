"""Solids: the convex parts that a surface is made of, which shapes of bodies touch.

Contact points of a body are all that a plane face needs. An edge or something round may be touched
between the points: the shin across the nose of a step, the plank on a beam, the sole on a stone.
There, shapes are compared (step/edges.py). A solid is the sum (Minkowski) of three parts,

    box    half lengths along its axes       cylinder   a segment along z, and a disc
    disc   across the third axis             capsule    a segment along z, and a ball
    ball                                     sphere     a ball
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heelstrike.contact.geometry import ray
from heelstrike.spatial.vector import SX, zeros

OPEN = np.zeros((3, 2), dtype=bool)
"""Faces of a round solid: it has none that ends in edges of a box."""
POINT = zeros()
"""Half lengths of a ball [m]."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A convex part of a surface, in the surface's frame; numbers or symbols."""

    name: str
    """Name of this part of the surface; "" where there is one only."""
    centre: SX
    """(3,) [m]"""
    axes: np.ndarray
    """Unit vectors along its axes as rows, (3, 3)."""
    half: SX
    """Half lengths of the box along them, (3,) [m]; two are 0 for a segment, three for a point."""
    closed: np.ndarray
    """Whether each face can be touched, by axis and side, (3, 2): those against the axis first."""
    disc: SX | None = None
    """Radius of the disc [m]; None: there is none."""
    ball: SX | None = None
    """Radius of the ball [m]; None: there is none."""

    def ray(self, origin: SX, direction: SX) -> SX:
        """Return the distance along a ray to a box [m]; all its faces are met."""
        turn = SX(self.axes)
        return ray.distance(ray.box(self.half, turn @ (origin - self.centre), turn @ direction))

    @property
    def is_round(self) -> bool:
        """Whether it is more than a box."""
        return self.disc is not None or self.ball is not None

    @property
    def meets_shapes(self) -> bool:
        """Whether shapes may touch it between their points: at edges, or anywhere if round."""
        return self.is_round or int(self.closed.any(axis=1).sum()) > 1
