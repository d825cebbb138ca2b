"""The first viewpoint of a run: a direction in which no surface hides the robot.

A ray from x along d meets the triangle (a, b, c) where x + t d = a + u (b - a) + w (c - a) with
u, w >= 0, u + w <= 1; solved by Cramer's rule [Moeller1997]. A plane hides everything from an eye
below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from heelstrike.view.render.camera import Camera, Viewpoint, fit_camera

PREFERRED = Camera(azimuth=38.0, elevation=14.0)
"""The first direction that is tried."""
TURNS = (0.0, -76.0, 40.0, -116.0, 76.0, -152.0)
"""Turns to other azimuths [deg]: the mirrored one, then more from behind."""
RISES = (0.0, 16.0, 36.0)
"""Turns to higher elevations [deg], tried if every azimuth is blocked."""
FIELD_OF_VIEW = np.radians(32.0)
"""Vertical field of view [rad]."""
SAMPLES = 24
"""Number of points that should be visible."""
SURROUNDINGS = 1.35
"""Extent of the picture over that of the points."""

Planes = Sequence[tuple[np.ndarray, np.ndarray]]
"""A point of each plane and its unit normal, (3,) [m] and (3,)."""


def first_viewpoint(
    points: np.ndarray, ratio: float, triangles: np.ndarray, planes: Planes = ()
) -> Viewpoint:
    """Return the viewpoint that shows all points and of which surfaces hide the least.

    Args:
        points: (n, 3) [m].
        ratio: Height over width of the picture.
        triangles: Corners of the triangles that may hide points, (m, 3, 3) [m].
        planes: Planes that may hide points.
    """
    angle = float(np.degrees(2 * np.arctan(np.tan(FIELD_OF_VIEW / 2) / ratio)))
    look = replace(PREFERRED, angle=angle)
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    wide = middle + SURROUNDINGS * (points - middle)
    views = [
        fit_camera(
            replace(look, azimuth=look.azimuth + turn, elevation=look.elevation + rise), wide, ratio
        )
        for rise, turn in product(RISES, TURNS)
    ]
    some = points[np.linspace(0, len(points) - 1, SAMPLES).astype(int)]
    return min(
        views, key=lambda view: round(hidden_share(view.position, some, triangles, planes), 1)
    )


def hidden_share(
    eye: np.ndarray,
    points: Sequence[np.ndarray] | np.ndarray,
    triangles: np.ndarray,
    planes: Planes = (),
) -> float:
    """Return the share of points that triangles (n, 3, 3) and planes hide from an eye."""
    if any((eye - point) @ normal <= 0 for point, normal in planes):
        return 1.0
    if not len(triangles):
        return 0.0
    a, b, c = np.moveaxis(triangles, 1, 0)
    one, other, start = b - a, c - a, eye - a
    behind = np.cross(start, one)
    count = 0
    for point in points:
        ray = point - eye
        across = np.cross(ray, other)
        volume = np.einsum("ij,ij->i", one, across)
        safe = np.where(np.abs(volume) > 1e-12, volume, np.inf)
        u = np.einsum("ij,ij->i", start, across) / safe
        w = behind @ ray / safe
        t = np.einsum("ij,ij->i", other, behind) / safe
        meets = (u >= 0) & (w >= 0) & (u + w <= 1) & (t > 0) & (t < 0.98)
        count += bool((meets & np.isfinite(safe)).any())
    return count / len(points)
