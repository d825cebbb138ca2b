"""From where a run is seen: a direction in which no surface stands in the way.

A ray from x along d meets the triangle (a, b, c) where x + t d = a + u (b - a) + w (c - a) with
u, w >= 0, u + w <= 1; solved by Cramer's rule [Moeller1997].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heelstrike.view.render.camera import Camera, Viewpoint, fit_camera

LOOK = Camera(azimuth=38.0, elevation=14.0)
TURNS = (0.0, -76.0, 40.0, -116.0, 76.0, -152.0)
"""To other azimuths, if the first does not do [deg]: the mirrored one, then more from behind."""
HIGH = np.radians(32.0)
"""That the picture's height takes of one's sight."""
SAMPLES = 12
"""Places that should be seen."""


def first_look(places: np.ndarray, ratio: float, triangles: np.ndarray) -> Viewpoint:
    """A view that holds all places, in a picture of this height over width, and of which triangles
    (n, 3, 3) hide as little as can be.
    """
    angle = float(np.degrees(2 * np.arctan(np.tan(HIGH / 2) / ratio)))
    look = replace(LOOK, angle=angle)
    views = [
        fit_camera(replace(look, azimuth=look.azimuth + turn), places, ratio) for turn in TURNS
    ]
    some = places[np.linspace(0, len(places) - 1, SAMPLES).astype(int)]
    return min(views, key=lambda view: round(hidden(view.place, some, triangles), 1))


def hidden(
    eye: np.ndarray, places: Sequence[np.ndarray] | np.ndarray, triangles: np.ndarray
) -> float:
    """The share of places that triangles (n, 3, 3) hide from an eye."""
    if not len(triangles):
        return 0.0
    a, b, c = np.moveaxis(triangles, 1, 0)
    one, other, start = b - a, c - a, eye - a
    behind = np.cross(start, one)
    count = 0
    for place in places:
        ray = place - eye
        across = np.cross(ray, other)
        volume = np.einsum("ij,ij->i", one, across)
        safe = np.where(np.abs(volume) > 1e-12, volume, np.inf)
        u = np.einsum("ij,ij->i", start, across) / safe
        w = behind @ ray / safe
        t = np.einsum("ij,ij->i", other, behind) / safe
        meets = (u >= 0) & (w >= 0) & (u + w <= 1) & (t > 0) & (t < 0.98)
        count += bool((meets & np.isfinite(safe)).any())
    return count / len(places)
