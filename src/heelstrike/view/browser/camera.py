"""The first viewpoint of a run: a direction in which no surface hides the robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from heelstrike.view.render.camera import Camera, Viewpoint, fit_camera
from heelstrike.view.render.sight import Planes, clearest, turned

PREFERRED = Camera(azimuth=38.0, elevation=14.0)
"""The first direction that is tried."""
FIELD_OF_VIEW = np.radians(32.0)
"""Vertical field of view [rad]."""
SURROUNDINGS = 1.35
"""Extent of the picture over that of the points."""


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
    return clearest(
        [fit_camera(own, wide, ratio) for own in turned(look)], points, triangles, planes
    )
