"""Instances of one shape in the browser, each with its own position, direction and size.

A shape stands on the origin and points along z, with height 1 and radius 1. The number of instances
is fixed; those that are not shown have zero size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.view.render.solid import Mesh, revolve, solid, split_vertices

if TYPE_CHECKING:
    from viser import SceneApi

HEAD_LENGTH = 2.6
"""Length of an arrow's head over its radius."""

Colour = tuple[int, int, int]
"""Red, green, blue, 0 to 255."""


class Instances:
    """Instances of a shape under one node."""

    def __init__(
        self,
        scene: SceneApi,
        name: str,
        shape: Mesh,
        count: int,
        colour: Colour,
        opacity: float | None = None,
        visible: bool = True,
    ) -> None:
        vertices, triangles = split_vertices(solid(shape, (0.0, 0.0, 0.0)))
        self.count = count
        self.node = scene.add_batched_meshes_simple(
            name,
            vertices,
            triangles,
            batched_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
            batched_positions=np.zeros((count, 3)),
            batched_scales=np.zeros((count, 3)),
            batched_colors=_linear(colour),
            opacity=opacity,
            side="front" if opacity is None else "double",
            lod="off",
            cast_shadow=False,
            receive_shadow=False,
            visible=visible,
        )

    def show(
        self, places: np.ndarray, directions: np.ndarray, radii: np.ndarray, heights: np.ndarray
    ) -> None:
        """Show up to `count` instances at places (n, 3) along directions (n, 3) of any length.

        Instances that are not finite or have no direction are hidden.
        """
        size = np.zeros((self.count, 3), dtype=np.float32)
        turn = np.tile(np.array([1, 0, 0, 0], dtype=np.float32), (self.count, 1))
        at = np.zeros((self.count, 3), dtype=np.float32)
        length = np.linalg.norm(directions, axis=1)
        good = np.isfinite(places).all(axis=1) & np.isfinite(length) & (length > 0)
        good &= np.isfinite(radii) & np.isfinite(heights)
        (chosen,) = np.nonzero(good)
        size[chosen, :2], size[chosen, 2] = radii[chosen, None], heights[chosen]
        turn[chosen] = rotations_from_z(directions[chosen] / length[chosen, None])
        at[chosen] = places[chosen]
        self.node.batched_positions = at
        self.node.batched_wxyzs = turn
        self.node.batched_scales = size


class Arrows:
    """Arrows under one node: shafts and heads."""

    def __init__(self, scene: SceneApi, name: str, count: int, colour: Colour) -> None:
        self.node = scene.add_frame(name, show_axes=False)
        self.shafts = Instances(scene, f"{name}/shafts", rod(), count, colour)
        self.heads = Instances(scene, f"{name}/heads", head(), count, colour)

    def show(self, tails: np.ndarray, vectors: np.ndarray, radius: float) -> None:
        """Show arrows from tails (n, 3) along vectors (n, 3) [m], with heads up to a radius [m]."""
        length = np.linalg.norm(vectors, axis=1)
        wide = np.minimum(radius, length / (2 * HEAD_LENGTH))
        shaft = length - HEAD_LENGTH * wide
        along = vectors / np.maximum(length, 1e-30)[:, None]
        self.shafts.show(tails, vectors, 0.4 * wide, shaft)
        self.heads.show(tails + shaft[:, None] * along, vectors, wide, HEAD_LENGTH * wide)


def _linear(colour: Colour) -> Colour:
    """Return an sRGB colour in linear space, as viser expects it of instances, unlike of meshes."""
    red, green, blue = (round(255 * (part / 255) ** 2.2) for part in colour)
    return red, green, blue


def rotations_from_z(directions: np.ndarray) -> np.ndarray:
    """Return quaternions wxyz (n, 4) of the smallest rotations from z to unit vectors (n, 3)."""
    x, y, z = directions.T
    w = np.sqrt(np.maximum((1 + z) / 2, 0))
    safe = np.maximum(2 * w, 1e-9)
    over = w < 1e-6  # straight down: half a turn about x
    found = np.column_stack([w, -y / safe, x / safe, 0 * z])
    return np.where(over[:, None], [0.0, 1.0, 0.0, 0.0], found)


def head() -> Mesh:
    """Return the head of an arrow."""
    return revolve(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))


def rod() -> Mesh:
    """Return a cylinder."""
    return revolve(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))


def cone() -> Mesh:
    """Return a cone with its tip on the origin, open above."""
    return revolve(np.array([[0.0, 0.0], [1.0, 1.0]]))


def pin() -> Mesh:
    """Return a pin that stands on the origin, with a ball on top; the radius is the ball's."""
    angle = np.linspace(-np.pi / 2 + 0.15, np.pi / 2, 14)
    ball = np.column_stack([np.cos(angle), 0.85 + 0.15 * np.sin(angle)])
    ball[-1, 0] = 0.0
    return revolve(np.vstack([[[0.0, 0.0], [0.15, 0.02]], ball]))
