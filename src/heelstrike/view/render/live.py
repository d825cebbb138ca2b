"""Pictures of a simulator's worlds as they are now, by a camera that moves with the robot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.record.provenance import describe_surface
from heelstrike.view import plot
from heelstrike.view.render.camera import Camera, Viewpoint, fit_camera
from heelstrike.view.render.film import draw
from heelstrike.view.render.robot_solids import robot_solids
from heelstrike.view.render.snapshots import Snapshot, Snapshots

if TYPE_CHECKING:
    from heelstrike.simulate.simulator import Simulator

ROOM = 1.25
"""Distance of the camera over that from which the robot fits into the first picture."""


class WorldCamera:
    """Takes pictures of worlds; all have the size and the distance of the first."""

    def __init__(self, sim: Simulator, width: int, camera: Camera | None = None) -> None:
        self.sim, self.width = sim, width
        self.camera = camera or Camera()
        self._solids = robot_solids(sim.robot)
        self._first: Viewpoint | None = None

    def image(self, world: int) -> np.ndarray:
        """Return the picture of a world, (height, width, 3) of bytes."""
        sim = self.sim
        q = sim.state["q"].reshape(sim.worlds, -1)[world].astype(float)
        surfaces = [describe_surface(surface) for surface in sim.compiled.surfaces(world)]
        now = Snapshot(float(sim.time[world]), q, np.zeros((0, 3)), np.zeros((0, 3)))
        taken = Snapshots("", sim.robot, self._solids, surfaces, [now])
        points = taken.corners(now)
        if self._first is None:
            fitted = fit_camera(self.camera, points)
            self._first = fitted.at_distance(ROOM * fitted.distance)
        view = fit_camera(self.camera, points, self._first.ratio).at_distance(self._first.distance)
        return draw(taken, now, view, self.width, plot.round_down(self._first.half_width / 2), 0.0)
