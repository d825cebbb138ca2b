"""Where one looks from, and where places of the world come to lie in the picture.

With the camera's axes right, up and back as rows of R and its place c, a place x of the world has
X = R (x - c), and lies at (X_0, X_1) / (-X_2 tan(angle / 2)): -1 to 1 over the picture's width.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

ROOM = 1.1
"""How much wider the picture is than what it shows."""


@dataclass(frozen=True)
class Camera:
    """A direction to look from; the distance is found so that everything fits."""

    azimuth: float = 35.0
    """From the x axis, which robots face, towards y [deg]."""
    elevation: float = 12.0
    """Above the horizon [deg]."""
    angle: float = 24.0
    """That the picture's width takes of one's sight [deg]; small ones flatten."""
    follow: bool = False
    """Whether it goes along with the robot: each frame for itself, at one distance."""

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
    """A camera in its place."""

    axes: np.ndarray
    place: np.ndarray
    """[m]"""
    slope: float
    """tan(angle / 2)"""
    ratio: float
    """Height over width of the picture."""
    distance: float
    """To the middle of what is shown [m]."""

    @property
    def middle(self) -> np.ndarray:
        """Of what is shown [m]."""
        return self.place - self.distance * self.axes[2]

    def from_distance(self, distance: float) -> Viewpoint:
        """The same middle from further away, or nearer."""
        return replace(self, place=self.middle + distance * self.axes[2], distance=distance)

    def project(self, places: np.ndarray) -> np.ndarray:
        """In the picture: right and up from its middle, in half widths, (n, 2)."""
        seen = (np.atleast_2d(places) - self.place) @ self.axes.T
        return seen[:, :2] / (-seen[:, 2:] * self.slope)

    def rays(self, across: int, down: int) -> np.ndarray:
        """Directions of length one through the middles of a picture's cells, row by row."""
        x = self.slope * ((np.arange(across) + 0.5) / across * 2 - 1)
        y = self.slope * self.ratio * (1 - (np.arange(down) + 0.5) / down * 2)
        right, up, back = self.axes
        rays = (x[:, None] * right).astype(np.float32) + (y[:, None, None] * up - back)
        rays = rays.reshape(-1, 3).astype(np.float32)
        return rays / np.sqrt(np.einsum("ij,ij->i", rays, rays))[:, None]


def fit_camera(camera: Camera, places: np.ndarray, ratio: float | None = None) -> Viewpoint:
    """The view that just holds all places; the ratio, if not given, is that of what is seen."""
    axes, slope = camera.axes, float(np.tan(np.radians(camera.angle) / 2))
    seen = places @ axes.T
    middle = (seen.max(axis=0) + seen.min(axis=0)) / 2
    size = np.maximum(np.ptp(seen, axis=0), 1e-3)
    chosen = float(np.clip(size[1] / size[0], 0.5, 2.2)) if ratio is None else ratio
    distance = 1.0
    for _ in range(8):  # the nearer things are the larger they look: centre, then step back
        offset = seen - middle
        reach = np.maximum(np.abs(offset[:, 0]), np.abs(offset[:, 1]) / chosen)
        distance = float((reach * ROOM / slope + offset[:, 2]).max())
        flat = offset[:, :2] / (distance - offset[:, 2:])
        middle[:2] += (flat.max(axis=0) + flat.min(axis=0)) / 2 * distance
    place = middle @ axes + distance * axes[2]
    return Viewpoint(axes, place, slope, chosen, distance)
