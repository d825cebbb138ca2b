"""Directions from which no surface hides a robot.

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
from heelstrike.view.render.surface_solids import (
    SurfaceRecord,
    plane_normal,
    surface_meshes,
    surface_origin,
)

TURNS = (0.0, -76.0, 40.0, -116.0, 76.0, -152.0)
"""Turns to other azimuths [deg]: the mirrored one, then more from behind."""
RISES = (0.0, 16.0, 36.0)
"""Turns to higher elevations [deg], tried if every azimuth is blocked."""
SAMPLES = 24
"""Number of points that should be visible."""

Planes = Sequence[tuple[np.ndarray, np.ndarray]]
"""A point of each plane and its unit normal, (3,) [m] and (3,)."""


def clear_camera(points: np.ndarray, shown: Sequence[SurfaceRecord]) -> Camera:
    """Return the usual camera, turned as little as is needed for surfaces not to hide points."""
    cameras = turned(Camera())
    views = [fit_camera(camera, points) for camera in cameras]
    chosen = clearest(views, points, fixed_triangles(shown), fixed_planes(shown))
    return cameras[next(k for k, view in enumerate(views) if view is chosen)]


def turned(camera: Camera) -> list[Camera]:
    """Return a camera and its turns, in the order in which they are tried."""
    return [
        replace(camera, azimuth=camera.azimuth + turn, elevation=camera.elevation + rise)
        for rise, turn in product(RISES, TURNS)
    ]


def clearest(
    views: Sequence[Viewpoint], points: np.ndarray, triangles: np.ndarray, planes: Planes
) -> Viewpoint:
    """Return the first viewpoint of those from which the least share of points is hidden."""
    some = points[np.linspace(0, len(points) - 1, SAMPLES).astype(int)]
    return min(
        views, key=lambda view: round(hidden_share(view.position, some, triangles, planes), 1)
    )


def fixed_triangles(shown: Sequence[SurfaceRecord]) -> np.ndarray:
    """Return the triangles of the surfaces fixed in the world, (n, 3, 3) [m]."""
    found = [np.zeros((0, 3, 3))]
    for surface in shown:
        if surface.get("body") is None:
            found += [x[faces] + surface_origin(surface) for x, faces in surface_meshes(surface)]
    return np.concatenate(found)


def fixed_planes(shown: Sequence[SurfaceRecord]) -> Planes:
    """Return a point and the unit normal of each plane that is fixed in the world."""
    return [
        (surface_origin(surface), plane_normal(surface))
        for surface in shown
        if surface["kind"] == "Plane" and surface.get("body") is None
    ]


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
