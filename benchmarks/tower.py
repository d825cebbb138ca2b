"""A tower of cubes, which touch only their neighbours: corners of each on boxes of the next ones.

The boxes are a little wider than the cubes: corners that lie exactly on an edge are not inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import heelstrike as hs

WIDTH = 0.1048
"""Side of the bundled cube [m]."""
HALF = WIDTH / 2
CORNERS = [(x, y, z) for x in (-HALF, HALF) for y in (-HALF, HALF) for z in (-HALF, HALF)]


class Neighbours(hs.Scene):
    """Cubes numbered from below, of which only neighbours can touch, and the first the ground."""

    @property
    def pairs(self) -> list[Any]:
        """Pairs of a point and a surface that can touch."""
        return [pair for pair in super().pairs if self._near(pair)]

    def _near(self, pair: Any) -> bool:
        up = pair.point.position[2] > 0
        carrier = -1 if pair.carrier is None else pair.carrier
        return bool(carrier == pair.point.body + (1 if up else -1))


def tower(ground: hs.SurfaceLaw, *laws: hs.SurfaceLaw) -> Neighbours:
    """Return a scene with the law of the ground and a cube for each further law."""
    corners = [("cube", corner) for corner in CORNERS]
    parts = {f"cube{k}": hs.load("cube", points=corners) for k in range(len(laws))}
    size, faces = (1.1 * WIDTH, 1.1 * WIDTH, WIDTH), ("+z", "-z")
    boxes = [
        hs.Box(law, key, body=f"{key}/cube", size=size, faces=faces)
        for key, law in zip(parts, laws, strict=True)
    ]
    return Neighbours(hs.combine(parts), hs.Plane(ground, "ground"), *boxes)


def heaped(cubes: int) -> np.ndarray:
    """Return coordinates of cubes not quite above one another, each a nanometre inside what is
    below it.
    """
    heights = [(2 * k + 1) * HALF - (k + 1) * 1e-9 for k in range(cubes)]
    offsets = [(0.002 * (k % 2), 0.001 * (k % 3)) for k in range(cubes)]
    return np.concatenate([[*o, z, 0, 0, 0, 1] for o, z in zip(offsets, heights, strict=True)])
