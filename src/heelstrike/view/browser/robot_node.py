"""A robot in the browser: a node per body, with its shapes and the surfaces attached to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from heelstrike.robot.placement import placements
from heelstrike.robot.robot import WORLD
from heelstrike.view.browser.instances import Colour
from heelstrike.view.browser.run_arrays import RunArrays
from heelstrike.view.render.solid import Mesh, Rgb, Solid, solid, split_vertices
from heelstrike.view.render.surface_solids import (
    SHRINK,
    recorded_surfaces,
    surface_meshes,
    surface_origin,
)

if TYPE_CHECKING:
    from viser import MeshHandle, SceneApi

GHOST_OPACITY = 0.3
"""Opacity of robots laid over the first."""
SURFACE_COLOUR: Rgb = (0.62, 0.70, 0.80)
"""Colour of surfaces on bodies."""


class RobotNode:
    """The nodes of a robot under `name`; a ghost has one colour and is transparent."""

    def __init__(
        self, scene: SceneApi, name: str, run: RunArrays, ghost: Colour | None = None
    ) -> None:
        self.robot = run.robot
        self.root = scene.add_frame(name, show_axes=False)
        names = [f"{name}/{path_part(body.name)}" for body in run.robot.bodies]
        self.bodies = [scene.add_frame(body, show_axes=False) for body in names]
        looks: dict[str, Any] = {"side": "double"}
        if ghost is not None:
            looks |= {"opacity": GHOST_OPACITY, "cast_shadow": False, "receive_shadow": False}
        self.meshes: list[MeshHandle] = []
        self.mesh_bodies: list[int] = []
        """Index of the body of each mesh, or WORLD."""
        for k, ((body, colour), solids) in enumerate(_by_colour(run).items()):
            vertices, triangles = _joined([split_vertices(solid) for solid in solids])
            shade = ghost or tuple(round(255 * part) for part in colour)
            node = f"{name if body == WORLD else names[body]}/{k}"
            mesh = scene.add_mesh_simple(node, vertices, triangles, color=shade, **looks)
            self.meshes.append(mesh)
            self.mesh_bodies.append(body)

    def fade(self, opacity: float) -> None:
        """Set the opacity, 0 to 1."""
        for mesh in self.meshes:
            mesh.opacity = None if opacity >= 1 else opacity

    def show(self, q: np.ndarray) -> None:
        """Place the robot at q."""
        self.poses = placements(self.robot, q)
        """Rotation and position of each body in the world."""
        rotations = Rotation.from_matrix([R for R, _ in self.poses]).as_quat(scalar_first=True)
        for node, (_, p), wxyz in zip(self.bodies, self.poses, rotations, strict=True):
            node.position, node.wxyz = p, wxyz


def path_part(name: str) -> str:
    """Return a name as one part of a node's path: slashes, which separate parts, become colons."""
    return name.replace("/", ":")


def _by_colour(run: RunArrays) -> dict[tuple[int, Rgb], list[Solid]]:
    """Return the solids of the robot and of the surfaces on it, by body and colour."""
    found: dict[tuple[int, Rgb], list[Solid]] = {}
    for body, shown in run.solids:
        found.setdefault((body, shown.colour), []).append(shown)
    for surface in recorded_surfaces(run.info, run.world):
        if (carrier := surface.get("body")) is not None:
            for vertices, triangles in surface_meshes(surface):
                mesh = (SHRINK * vertices + surface_origin(surface), triangles)
                key = (run.robot.body(carrier), SURFACE_COLOUR)
                found.setdefault(key, []).append(solid(mesh, SURFACE_COLOUR))
    return found


def _joined(meshes: list[Mesh]) -> Mesh:
    """Return several meshes as one."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    triangles = [faces + start for (_, faces), start in zip(meshes, starts, strict=False)]
    return np.vstack([vertices for vertices, _ in meshes]), np.vstack(triangles)
