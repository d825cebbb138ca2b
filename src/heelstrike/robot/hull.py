"""Contact points of a hull of many corners: four of its corners at a time.

Where ground with normal nu touches a hull, the corners o_k that are farthest along

    d_k = -nu + LEAN t_k,        t_k in SIDES directions across the normal

are the contact points: corners of a face that lies on the ground, ends of an edge, or one corner,
as the hull stands there. They are found in the frame of the hull, so that they do not change while
it turns about the normal, and corners that were found twice count once. The deepest corner is among
them, or is deeper than all by LEAN times its distance from them at most.

On a plane that is all. Other ground may touch a hull in several places, with several normals: there
few corners, spread over the hull, are contact points all the time, and those of SIDES are found
among the others, so that none counts twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from heelstrike.robot.hull_cells import HullCells, hull_cells

SAME = 1e-9
"""Distance of two corners that are one, relative to the radius of the hull."""
LEAN = 0.02
"""Slope by which directions lean from the normal [-]."""
SIDES = 4
"""Directions across the normal."""
TURNS = 2 * np.pi * (np.arange(SIDES) + 0.37) / SIDES
"""Angles of these directions, aligned with no axis [rad]."""
NORMALS = 2
"""Places at which the normal of curved ground is taken: below the hull's centre, then where the
hull is deepest by that normal."""


@dataclass(frozen=True, eq=False)
class Hull:
    """A hull on a body."""

    cells: HullCells
    """Its corners, in a frame of its own."""
    rotation: np.ndarray
    """Of that frame in the body's, (3, 3)."""
    translation: np.ndarray
    """Of that frame in the body's, (3,) [m]."""
    corners: np.ndarray
    """Few corners, in the body's frame, (n, 3) [m], for ground that is no plane."""
    centre: np.ndarray
    """Centre of a ball around the hull, in the body's frame, (3,) [m]."""
    radius: float
    """Radius of this ball [m]."""

    @cached_property
    def others(self) -> Hull | None:
        """The hull without the few corners, for ground that is no plane; None: it has no others."""
        own = self.cells.corners()
        few = (self.corners - self.translation) @ self.rotation
        far = np.abs(own[:, None] - few).max(axis=2).min(axis=1)
        rest = own[far > SAME * self.radius]
        if not len(rest):
            return None
        return replace(self, cells=hull_cells(rest), corners=self.corners[:0])

    def normal(self, normal_at: Callable[[np.ndarray], np.ndarray], repetitions: int) -> np.ndarray:
        """Return the normal (3,) by which the contact points are found, in the body's frame.

        `normal_at` is that of the ground at a place; it is taken at so many places.
        """
        found = normal_at(self.centre)
        for _ in range(repetitions - 1):
            own = -self.rotation.T @ found
            place = self.rotation @ self.cells.farthest(own[None])[0] + self.translation
            found = normal_at(place)
        return found

    def places(self, normal: np.ndarray) -> np.ndarray:
        """Return the contact points of all sides, (SIDES, 3) [m], against a unit normal (3,) of the
        ground; both in the body's frame.
        """
        own = self.rotation.T @ normal
        s, t = _tangents(own)
        across = np.outer(np.cos(TURNS), s) + np.outer(np.sin(TURNS), t)
        return self.cells.farthest(LEAN * across - own) @ self.rotation.T + self.translation


def place_hull(
    cells: HullCells,
    vertices: np.ndarray,
    corners: np.ndarray,
    rotation: np.ndarray,
    translation: np.ndarray,
) -> Hull:
    """Return a hull with vertices (n, 3) [m], of which `corners` are indices of few."""
    places = vertices @ rotation.T + translation
    centre = (places.min(axis=0) + places.max(axis=0)) / 2
    radius = float(np.linalg.norm(places - centre, axis=1).max())
    return Hull(cells, rotation, translation, places[corners], centre, radius)


def _tangents(normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return `contact.geometry.convex.tangents` of a unit normal."""
    x, y, z = normal
    sign = -1.0 if z < 0 else 1.0
    a = -1 / (sign + z)
    b = x * y * a
    first = np.array([1 + sign * x * x * a, sign * b, -sign * x])
    return first, np.array([b, sign + y * y * a, -y])
