"""The camera of a picture, and the projection of world points onto it.

With the camera's axes right, up and back as the rows of R and its position c, a point x of the
world has the camera coordinates X = R (x - c), and is drawn at (X_0, X_1) / (-X_2 tan(angle / 2)):
-1 to 1 across the width of the picture.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

MARGIN = 1.1
"""Width of the picture over the width of its content."""


@dataclass(frozen=True)
class Camera:
    """A viewing direction; the distance is chosen so that everything fits."""

    azimuth: float = 35.0
    """Angle from the x axis, which robots face, towards y [deg]."""
    elevation: float = 12.0
    """Angle above the horizon [deg]."""
    angle: float = 24.0
    """Horizontal field of view [deg]; small angles flatten the perspective."""
    follow: bool = False
    """Whether the camera follows the robot: each frame is centred on it, all at one distance."""

    @property
    def axes(self) -> np.ndarray:
        """Right, up and back as rows, (3, 3)."""
        azimuth, elevation = np.radians([self.azimuth, self.elevation])
        across = np.cos(elevation)
        back = np.array([across * np.cos(azimuth), across * np.sin(azimuth), np.sin(elevation)])
        right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
        return np.array([right, np.cross(back, right), back])


@dataclass(frozen=True, eq=False)
class Viewpoint:
    """A camera at its position."""

    axes: np.ndarray
    """Right, up and back as rows, (3, 3)."""
    position: np.ndarray
    """(3,) [m]"""
    slope: float
    """tan(angle / 2)"""
    ratio: float
    """Height over width of the picture."""
    distance: float
    """Distance to the centre of the content [m]."""

    @property
    def centre(self) -> np.ndarray:
        """Centre of the content, (3,) [m]."""
        return self.position - self.distance * self.axes[2]

    @property
    def half_width(self) -> float:
        """Half the width that the picture shows at the centre of its content [m]."""
        return self.distance * self.slope

    def at_distance(self, distance: float) -> Viewpoint:
        """Return the viewpoint with the same centre at another distance [m]."""
        return replace(self, position=self.centre + distance * self.axes[2], distance=distance)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Return image coordinates (n, 2) of world points: right and up, in half widths."""
        local = (np.atleast_2d(points) - self.position) @ self.axes.T
        return local[:, :2] / (-local[:, 2:] * self.slope)

    def rays(self, columns: int, rows: int) -> np.ndarray:
        """Return unit directions through the centres of a picture's cells, row by row."""
        x = self.slope * ((np.arange(columns) + 0.5) / columns * 2 - 1)
        y = self.slope * self.ratio * (1 - (np.arange(rows) + 0.5) / rows * 2)
        right, up, back = self.axes
        rays = (x[:, None] * right).astype(np.float32) + (y[:, None, None] * up - back)
        rays = rays.reshape(-1, 3).astype(np.float32)
        return rays / np.sqrt(np.einsum("ij,ij->i", rays, rays))[:, None]


def fit_camera(camera: Camera, points: np.ndarray, ratio: float | None = None) -> Viewpoint:
    """Return the closest viewpoint that shows all points (n, 3) [m].

    Args:
        ratio: Height over width of the picture; by default that of the projected points.
    """
    axes, slope = camera.axes, float(np.tan(np.radians(camera.angle) / 2))
    local = points @ axes.T
    centre = (local.max(axis=0) + local.min(axis=0)) / 2
    size = np.maximum(np.ptp(local, axis=0), 1e-3)
    chosen = float(np.clip(size[1] / size[0], 0.5, 2.2)) if ratio is None else ratio
    distance = 1.0
    for _ in range(8):  # closer points look larger: centre the projection, then step back
        offset = local - centre
        extent = np.maximum(np.abs(offset[:, 0]), np.abs(offset[:, 1]) / chosen)
        distance = float((extent * MARGIN / slope + offset[:, 2]).max())
        flat = offset[:, :2] / (distance - offset[:, 2:])
        centre[:2] += (flat.max(axis=0) + flat.min(axis=0)) / 2 * distance
    position = centre @ axes + distance * axes[2]
    return Viewpoint(axes, position, slope, chosen, distance)
