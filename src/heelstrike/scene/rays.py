"""Rays of a sensor: where they start, where they go, and how they turn with their frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.checks import array_of_numbers, number, numbers
from heelstrike.errors import ParameterError
from heelstrike.parameters import check_choice
from heelstrike.scene.sensor import Sensor

ALIGNMENTS = ("frame", "yaw", "world")
END = ".rays"
"""End of the name of a sensor of rays."""
MAX_RAYS = 100_000


@dataclass(frozen=True)
class Rays(Sensor):
    """Distances along rays from a body, link or site to surfaces and shapes [m].

    `hs.Rays.heights` makes a grid of rays that look down, `hs.Rays.depth` a depth camera. A reading
    is `reach` where a ray meets nothing, and 0 where it starts inside a shape. Its name is
    "NAME.rays", with a label "NAME.rays:label". Noise, latency and history are those of
    `hs.Sensor`.

    Args:
        quantity: name of the body, link or site.
        starts: start of each ray in its frame, (n, 3) or (3,) for all [m].
        directions: direction of each ray, (n, 3) or (3,) for all; any length but zero.
        align: axes of starts and directions: "frame", "yaw" (the frame's heading about the
            vertical, upright otherwise) or "world".
        reach: largest distance [m].
        shapes: whether rays meet collision shapes of bodies, those of their own body excepted.

    Examples:
        >>> scan = hs.Rays.heights("WAIST", size=(1.0, 0.6), spacing=0.1, label="scan")
        >>> scene = hs.Scene(hs.load("hoap1"), hs.Plane())
        >>> sim = hs.Simulator(scene, control=hs.Servo(), sensors=[scan])
        >>> sim.step()
        >>> sim.sensors["WAIST.rays:scan"].shape
        (77,)
    """

    starts: ArrayLike = (0.0, 0.0, 0.0)
    directions: ArrayLike = (0.0, 0.0, -1.0)
    align: str = "frame"
    reach: float = 10.0
    shapes: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.quantity.endswith(END):
            object.__setattr__(self, "quantity", f"{self.quantity}{END}")
        check_choice(self, align=ALIGNMENTS, shapes=(False, True))
        number("reach", self.reach, "a distance above 0 m", above=0.0, below=1e6)
        starts, directions = (self._rows(name) for name in ("starts", "directions"))
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        if not lengths.all():
            allowed = "directions of any length but zero"
            raise ParameterError("directions", self.directions, allowed, owner=self.quantity)
        many = {len(starts), len(directions)} - {1}
        if len(many) > 1 or max(len(starts), len(directions)) > MAX_RAYS:
            allowed = f"as many rows as starts, {len(starts)}, or one for all"
            raise ParameterError("directions", len(directions), allowed, owner=self.quantity)
        rays = max(len(starts), len(directions))
        for name, rows in (("starts", starts), ("directions", directions / lengths)):
            whole = np.broadcast_to(rows, (rays, 3)).tolist()
            object.__setattr__(self, name, tuple(tuple(row) for row in whole))

    def _rows(self, name: str) -> np.ndarray:
        found = array_of_numbers(getattr(self, name))
        rows: np.ndarray = np.zeros(0) if found is None else np.atleast_2d(found)
        if rows.ndim != 2 or rows.shape[1] != 3 or not len(rows) or not np.isfinite(rows).all():
            allowed = "finite numbers, three for each ray"
            raise ParameterError(name, getattr(self, name), allowed, owner=self.quantity)
        return rows

    @property
    def frame(self) -> str:
        """Name of the body, link or site."""
        return self.quantity.removesuffix(END)

    def structure(self) -> list[object]:
        return [self.table.tolist(), self.align, self.reach, self.shapes]

    @property
    def table(self) -> np.ndarray:
        """Start and direction of each ray, (n, 6)."""
        return np.hstack([np.array(self.starts), np.array(self.directions)])

    @classmethod
    def heights(
        cls,
        name: str,
        size: Sequence[float] = (1.0, 1.0),
        spacing: float = 0.1,
        above: float = 0.0,
        **options: Any,
    ) -> Self:
        """Return rays that look down on a level grid about a frame, which turns with its heading.

        Args:
            name: name of the body, link or site.
            size: lengths of the grid along the heading and across [m].
            spacing: distance of rays [m].
            above: height of the rays' starts above the frame [m].
            options: those of `hs.Rays` and `hs.Sensor`.

        Returns:
            Rays row by row along y, the rows from back to front.
        """
        step = number("spacing", spacing, "a distance above 0 m", above=0.0)
        lengths = numbers("size", size, [(2,)], "two lengths above 0 m")
        if lengths.min() <= 0:
            raise ParameterError("size", size, "two lengths above 0 m")
        if np.prod(lengths / step + 1) > MAX_RAYS:
            raise ParameterError("spacing", step, f"a distance with at most {MAX_RAYS} rays")
        height, axes = number("above", above), []
        for length in lengths:
            half = round(length / step / 2 - 1e-9) if length >= step else 0
            axes.append(step * np.arange(-half, half + 1))
        x, y = np.meshgrid(*axes, indexing="ij")
        starts = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, height)])
        return cls(name, starts=starts, directions=(0.0, 0.0, -1.0), align="yaw", **options)

    @classmethod
    def depth(
        cls,
        name: str,
        pixels: tuple[int, int] = (16, 12),
        field: float = 1.2,
        at: Sequence[float] = (0.0, 0.0, 0.0),
        pitch: float = 0.0,
        **options: Any,
    ) -> Self:
        """Return the rays of a depth camera that looks along x of a frame.

        Args:
            name: name of the body, link or site.
            pixels: numbers of rays across and down.
            field: angle of view across [rad].
            at: position of the camera in the frame [m].
            pitch: angle by which it looks down [rad].
            options: those of `hs.Rays` and `hs.Sensor`.

        Returns:
            Rays row by row from the top, each from left to right.
        """
        allowed = f"two counts of at least 1, of at most {MAX_RAYS} rays"
        grid = numbers("pixels", pixels, [(2,)], allowed)
        if (grid % 1).any() or grid.min() < 1 or grid.prod() > MAX_RAYS:
            raise ParameterError("pixels", pixels, allowed)
        across, down = (int(n) for n in grid)
        number("field", field, "an angle above 0 and below pi", above=0.0, below=float(np.pi))
        half = np.tan(field / 2)
        y = half * (1 - (2 * np.arange(across) + 1) / across)
        z = half * down / across * (1 - (2 * np.arange(down) + 1) / down)
        z, y = np.meshgrid(z, y, indexing="ij")
        ahead = np.column_stack([np.ones(y.size), y.ravel(), z.ravel()])
        angle = number("pitch", pitch)
        c, s = np.cos(angle), np.sin(angle)
        turned = ahead @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]).T
        return cls(name, starts=at, directions=turned, align="frame", **options)
