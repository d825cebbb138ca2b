"""The world in the browser: light, ground, fixed surfaces, and the first viewpoint."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.view import plot
from heelstrike.view.browser.camera import FIELD_OF_VIEW, first_viewpoint
from heelstrike.view.browser.instances import rotations_from_z
from heelstrike.view.browser.robot_node import path_part
from heelstrike.view.browser.run_arrays import RunArrays
from heelstrike.view.render.camera import Viewpoint
from heelstrike.view.render.sight import fixed_planes, fixed_triangles
from heelstrike.view.render.solid import Rgb, solid, split_vertices
from heelstrike.view.render.surface_solids import (
    COLOURS,
    SurfaceRecord,
    plane_normal,
    recorded_surfaces,
    small_surface_points,
    surface_meshes,
    surface_origin,
)

if TYPE_CHECKING:
    from viser import CameraHandle, ClientHandle, GridHandle, ViserServer

_numbers = itertools.count(1)
DEFAULT_RATIO = 0.62
"""Height over width of a page whose size is not known."""
MIN_RATIO = 1.0
"""Smallest height over width that is framed: panels that dock later narrow a wide page."""
FRAMED_TIMES = 12
"""Number of times of a run that the first viewpoint shows."""
FRAMED_DISTANCE = (1.5, 1.5)
"""Distance from its start up to which the robot is framed, in its own size or [m], the larger."""
VERTICAL_PLAY = 0.6
"""Share of half the picture's height in which a robot that is followed may rise and fall."""
LAYOUT_TIME = 30.0
"""Time after opening during which a page that changes its size is framed again [s]."""
GROUND_SIZE = 60.0
"""Half length of the drawn ground over the size of the robot, or of what is framed with it."""


class WorldNode:
    """The surroundings of a run, and the camera of each page.

    `follow` moves the world under the camera, so that a user may turn the view meanwhile.
    """

    def __init__(self, server: ViserServer, run: RunArrays) -> None:
        self._server = server
        self.replaced = False
        """Whether another scene has taken its place, so that it frames no page any more."""
        self.name = f"/world {next(_numbers)}"
        """Path of the node above all others, which moves to keep the robot in view.

        It is new for every scene: a page keeps the poses of nodes whose names come again.
        """
        self.node = server.scene.add_frame(self.name, show_axes=False)
        points = run.vertices(0)
        self.size = float(max(np.ptp(points, axis=0).max(), 1e-3))
        """Largest extent of the robot in its first pose [m]."""
        self.centre = run.arrays["com"][0] if "com" in run.arrays else points.mean(axis=0)
        shown = recorded_surfaces(run.info, run.world)
        self._add_lights()
        later = _later_points(run, points)
        self.leaves_picture = any(box is None for box in later)
        """Whether the run goes farther from its start than the first viewpoint shows."""
        boxes = [box for box in later if box is not None]
        self._points = np.vstack(
            [points, _landing_points(run, points), *boxes, small_surface_points(shown, points)]
        )
        self._triangles, self._planes = fixed_triangles(shown), fixed_planes(shown)
        self.subject: Callable[[], np.ndarray] | None = None
        """Returns points of the robot at present, (n, 3) [m], which a new page shows, too."""
        view = self._view(DEFAULT_RATIO)
        self.reach = VERTICAL_PLAY * DEFAULT_RATIO * view.half_width
        """Height by which a robot that is followed may rise or fall in the picture [m]."""
        self._grounds: list[_Ground] = []
        extent = max(self.size, view.distance / 2.5)
        for k, surface in enumerate(shown):
            if surface.get("body") is None:
                self._add_surface(surface, COLOURS[k % len(COLOURS)], extent)
        camera = server.initial_camera  # of pages that do not report their size
        camera.position, camera.look_at = tuple(view.position), tuple(view.centre)
        camera.fov, camera.near = FIELD_OF_VIEW, self.size / 100

    def follow(self, point: np.ndarray | None) -> None:
        """Shift the world so that a point stays above the robot's start; None undoes the shift."""
        x, y, z = self.shift(point)
        self.node.position = (float(x), float(y), float(z))
        for ground in self._grounds:
            ground.centre_at(self.centre if point is None else point)

    def shift(self, point: np.ndarray | None) -> np.ndarray:
        """Return the shift with which a point stays above the robot's start, (3,) [m].

        Heights are followed only as far as the point would leave the picture.
        """
        if point is None:
            return np.zeros(3)
        x, y, z = self.centre - point
        return np.array([x, y, z - np.clip(z, -self.reach, self.reach)])

    def welcome(self, client: ClientHandle) -> None:
        """Frame the robot in a page that was opened, or got new panels, until they are in place."""
        end, framed = time.monotonic() + LAYOUT_TIME, 0.0

        def frame(camera: CameraHandle) -> None:
            nonlocal framed
            if camera.aspect == framed or time.monotonic() > end or self.replaced:
                return
            framed = camera.aspect
            self.frame(client)

        frame(client.camera)
        client.camera.on_update(frame)

    def frame(self, client: ClientHandle) -> None:
        """Set the camera of a page so that it shows the robot."""
        view = self._view(float(np.clip(1 / client.camera.aspect, MIN_RATIO, 3.0)))
        with client.atomic():
            client.camera.position, client.camera.look_at = view.position, view.centre
            client.camera.fov = FIELD_OF_VIEW

    def _view(self, ratio: float) -> Viewpoint:
        """Return a viewpoint of the robot at its start and now, or only now if it went far."""
        points, shift = self._points, np.asarray(self.node.position, dtype=float)
        if self.subject is not None:
            now = self.subject() + shift
            near = np.linalg.norm(now.mean(axis=0) - self.centre) < _near(self.size)
            points = np.vstack([points, now]) if near else now
        planes = [(point + shift, normal) for point, normal in self._planes]
        return first_viewpoint(points, ratio, self._triangles + shift, planes)

    def _add_lights(self) -> None:
        """Add a sun with shadows and a bright sky; an environment map would take long to load."""
        scene = self._server.scene
        scene.set_up_direction("+z")
        scene.configure_environment_map(None)
        scene.configure_default_lights(enabled=True, cast_shadow=True)
        scene.add_light_hemisphere(
            "/sky", sky_color=(255, 255, 255), ground_color=(196, 190, 182), intensity=1.1
        )

    def _add_surface(self, surface: SurfaceRecord, colour: Rgb, extent: float) -> None:
        """Add a surface; planes are drawn as far as an extent [m] asks for."""
        name, scene = f"{self.name}/{path_part(surface['name'])}", self._server.scene
        shade = tuple(round(255 * part) for part in colour)
        if surface["kind"] == "Plane":
            cell = plot.round_down(self.size / 4)
            turn, origin = rotations_from_z(plane_normal(surface)[None])[0], surface_origin(surface)
            grid = scene.add_grid(
                name,
                *(2 * GROUND_SIZE * extent,) * 2,
                cell_size=cell,
                section_size=5 * cell,
                cell_color=(205, 208, 212),
                section_color=(170, 175, 182),
                plane_color=shade,
                plane_opacity=1.0,
                shadow_opacity=0.35,
                fade_distance=GROUND_SIZE * extent / 3,
                fade_strength=1.5,
                wxyz=turn,
                position=origin,
            )
            self._grounds.append(_Ground(grid, turn, np.asarray(origin, dtype=float), 5 * cell))
            return
        for k, (vertices, triangles) in enumerate(surface_meshes(surface)):
            faces = split_vertices(solid((vertices, triangles), colour))
            scene.add_mesh_simple(
                f"{name}/{k}", *faces, color=shade, side="double", position=surface_origin(surface)
            )


class _Ground:
    """The grid of a plane, which is finite and stays below the robot."""

    def __init__(self, grid: GridHandle, turn: np.ndarray, origin: np.ndarray, tile: float) -> None:
        """Keep the grid, its rotation (wxyz) and origin [m], and its largest tile [m]."""
        from viser.transforms import SO3

        self._grid, self._origin, self._tile = grid, origin, tile
        self._axes = SO3(np.asarray(turn, dtype=float)).as_matrix()[:, :2]

    def centre_at(self, point: np.ndarray) -> None:
        """Move the grid along its plane by whole tiles, so that its lines stay in place."""
        tiles = np.round((point - self._origin) @ self._axes / self._tile)
        x, y, z = self._origin + self._axes @ (tiles * self._tile)
        place = (float(x), float(y), float(z))
        if place != tuple(self._grid.position):
            self._grid.position = place


def _near(size: float) -> float:
    """Return the distance up to which a robot of a size is framed together with its start [m]."""
    return max(FRAMED_DISTANCE[0] * size, FRAMED_DISTANCE[1])


def _landing_points(run: RunArrays, first: np.ndarray) -> np.ndarray:
    """Return points of the surface below contacts at the start, as far as it is near [m]."""
    if not {"depth", "contact_position"} <= set(run.arrays):
        return np.zeros((0, 3))
    depth, places = run.arrays["depth"][0], run.arrays["contact_position"][0]
    below = np.isfinite(depth) & (np.abs(depth) < _near(float(np.ptp(first, axis=0).max())))
    return places[below] + depth[below, None] * np.array([0.0, 0.0, 1.0])


def _later_points(run: RunArrays, first: np.ndarray) -> list[np.ndarray | None]:
    """Return corners of the robot's bounding box at later times; None where it is far."""
    centre, near = first.mean(axis=0), _near(float(np.ptp(first, axis=0).max()))
    found: list[np.ndarray | None] = []
    for k in np.linspace(0, len(run.time) - 1, FRAMED_TIMES).astype(int)[1:]:
        points = run.vertices(int(k))
        if np.linalg.norm(points.mean(axis=0) - centre) >= near:
            found.append(None)
            continue
        ends = np.array([points.min(axis=0), points.max(axis=0)])
        found.append(np.stack(np.meshgrid(*ends.T), axis=-1).reshape(-1, 3))
    return found
