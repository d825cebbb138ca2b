"""A robot in the browser: a frame a body, its shapes in it, and the surfaces that ride on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from heelstrike.robot.placement import placements
from heelstrike.robot.robot import WORLD
from heelstrike.view.browser.instances import Colour
from heelstrike.view.browser.run_arrays import RunArrays
from heelstrike.view.render.solid import Solid, Triangles, solid, split
from heelstrike.view.render.surface_solids import (
    INSIDE,
    recorded_surfaces,
    surface_meshes,
    surface_origin,
)

if TYPE_CHECKING:
    from viser import SceneApi

GHOST = 0.3
"""Opacity of those that are overlaid."""
WORN = (0.62, 0.70, 0.80)
"""Of surfaces on bodies."""


class RobotNode:
    """A robot's nodes under `name`; a ghost has one colour and is seen through."""

    def __init__(
        self, scene: SceneApi, name: str, run: RunArrays, ghost: Colour | None = None
    ) -> None:
        self.robot = run.robot
        self.root = scene.add_frame(name, show_axes=False)
        names = [f"{name}/{path(body.name)}" for body in run.robot.bodies]
        self.bodies = [scene.add_frame(body, show_axes=False) for body in names]
        looks: dict[str, Any] = {"side": "double"}
        if ghost is not None:
            looks |= {"opacity": GHOST, "cast_shadow": False, "receive_shadow": False}
        self.meshes = []
        for k, ((body, colour), solids) in enumerate(_by_colour(run).items()):
            vertices, triangles = _joined([split(solid) for solid in solids])
            shade = ghost or tuple(round(255 * part) for part in colour)
            node = f"{name if body == WORLD else names[body]}/{k}"
            mesh = scene.add_mesh_simple(node, vertices, triangles, color=shade, **looks)
            self.meshes.append(mesh)

    def fade(self, opacity: float) -> None:
        """Makes it be seen through, 0 to 1."""
        for mesh in self.meshes:
            mesh.opacity = None if opacity >= 1 else opacity

    def show(self, q: np.ndarray) -> None:
        """The robot at q."""
        poses = placements(self.robot, q)
        turns = Rotation.from_matrix([R for R, _ in poses]).as_quat(scalar_first=True)
        for node, (_, p), turn in zip(self.bodies, poses, turns, strict=True):
            node.position, node.wxyz = p, turn


def path(name: str) -> str:
    """A name as a part of a node's path, where a slash would start another part."""
    return name.replace("/", ":")


def _by_colour(run: RunArrays) -> dict[tuple[int, tuple[float, float, float]], list[Solid]]:
    """What is to be seen of each body, and the surfaces on it."""
    found: dict[tuple[int, tuple[float, float, float]], list[Solid]] = {}
    for body, shown in run.worn:
        found.setdefault((body, shown.colour), []).append(shown)
    for surface in recorded_surfaces(run.info, run.world):
        if (rides := surface.get("body")) is not None:
            for vertices, triangles in surface_meshes(surface):
                own = solid((INSIDE * vertices + surface_origin(surface), triangles), WORN)
                found.setdefault((run.robot.body(rides), WORN), []).append(own)
    return found


def _joined(meshes: list[Triangles]) -> Triangles:
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    triangles = [faces + start for (_, faces), start in zip(meshes, starts, strict=False)]
    return np.vstack([vertices for vertices, _ in meshes]), np.vstack(triangles)
