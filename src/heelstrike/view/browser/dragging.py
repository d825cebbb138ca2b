"""Dragging a body with the mouse: a force towards the pointer, as strong as the arrow is long.

    f = scale (x - p),   |f| <= MAX_WEIGHTS m g

p is the place of the body that was taken, x the pointer in the plane through p that faces the
camera, `scale` the force of an arrow of 1 m. The force acts at p until the button is released.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.robot.placement import placements
from heelstrike.robot.robot import WORLD
from heelstrike.view.browser.live_simulation import LiveSimulation
from heelstrike.view.browser.scene_view import SceneView

if TYPE_CHECKING:
    from viser import MeshHandle, SceneNodeDragEvent

MAX_WEIGHTS = 4.0
"""Largest force over the weight of the robot."""
LATEST = 0.2
"""Time for which the force of the last frame stays, should frames be late [s]."""


class Dragging:
    """The body that is dragged, if any."""

    def __init__(self, live: LiveSimulation, view: SceneView, weight: float) -> None:
        self._live, self._view, self._most = live, view, MAX_WEIGHTS * weight
        self.body: int | None = None
        """Index of the body that is dragged."""
        self._point = np.zeros(3)
        self._pointer = np.zeros(3)
        robot = view.robots[0]
        for mesh, body in zip(robot.meshes, robot.mesh_bodies, strict=True):
            if body != WORLD:
                self._listen(mesh, body)

    def pull(self) -> None:
        """Apply the force of the next frame."""
        if self.body is None:
            return
        R, p = placements(self._live.scene.robot, self._live.history.now["q"])[self.body]
        pointer = self._pointer - np.asarray(self._view.world_node.node.position)
        force = self._view.scale * (pointer - (R @ self._point + p))
        force *= min(1.0, self._most / max(float(np.linalg.norm(force)), 1e-12))
        self._live.push(self._name, force, LATEST, self._point)

    def take(self, body: int, place: np.ndarray, pointer: np.ndarray) -> None:
        """Take a body at a place and pull it towards the pointer, both as the page sees them."""
        R, p = placements(self._live.scene.robot, self._live.history.now["q"])[body]
        local = place - np.asarray(self._view.world_node.node.position)
        self.body, self._point, self._pointer = body, R.T @ (local - p), pointer

    def move(self, pointer: np.ndarray) -> None:
        """Move the pointer."""
        self._pointer = pointer

    def drop(self) -> None:
        """Let the body go."""
        if self.body is not None:
            self.body = None
            self._live.release()

    @property
    def _name(self) -> str:
        return self._live.scene.robot.bodies[self.body or 0].name

    def _listen(self, mesh: MeshHandle, body: int) -> None:
        """Have a mesh take its body; events are passed on in their order."""

        async def dragged(event: SceneNodeDragEvent[MeshHandle]) -> None:
            place, pointer = np.array(event.start_position), np.array(event.end_position)
            if not (np.isfinite(place).all() and np.isfinite(pointer).all()):
                return
            if event.phase == "start":
                self._live.request(lambda: self.take(body, place, pointer))
            elif event.phase == "update":
                self._live.request(lambda: self.move(pointer))
            else:
                self._live.request(self.drop)

        mesh.on_drag("left")(dragged)
