"""Where a run takes place: light, ground, surfaces that stand in the world, and the first look."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.view.browser.camera import HIGH, first_look
from heelstrike.view.browser.instances import turns_of_z
from heelstrike.view.browser.robot_node import path
from heelstrike.view.browser.run_arrays import RunArrays
from heelstrike.view.render.film_strip import rounded
from heelstrike.view.render.solid import solid, split
from heelstrike.view.render.surface_solids import (
    COLOURS,
    recorded_surfaces,
    small_surface_points,
    surface_meshes,
    surface_origin,
)

if TYPE_CHECKING:
    from viser import CameraHandle, ClientHandle, ViserServer

WORLD = "/world"
"""The node over everything; it moves where the robot is to stay in sight."""
RATIO = 0.62
"""Height over width of a picture whose size is not known."""
GLANCES = 12
"""Times of a run that the first look takes in."""
NEAR = (1.5, 1.5)
"""How far from its start the robot is still framed, in its own size, or [m] if that is more."""
SETTLES = 30.0
"""Time that a page has to arrange itself [s]."""
FAR = 60.0
"""Where the ground fades out, in sizes of what is shown."""


class WorldNode:
    """The surroundings of a run."""

    def __init__(self, server: ViserServer, run: RunArrays) -> None:
        self._server = server
        self.node = server.scene.add_frame(WORLD, show_axes=False)
        places = run.corners(0)
        self.size = float(max(np.ptp(places, axis=0).max(), 1e-3))
        """Largest length of the robot's first pose [m]."""
        self.centre = places.mean(axis=0)
        shown = recorded_surfaces(run.info, run.world)
        self._light()
        for k, surface in enumerate(shown):
            if surface.get("body") is None:
                self._surface(surface, COLOURS[k % len(COLOURS)])
        self._places = np.vstack(
            [places, *_later(run, places), small_surface_points(shown, places)]
        )
        self._blocks = _blocks(shown)
        self._look()
        server.on_client_connect(self._greet)

    def follow(self, place: np.ndarray | None) -> None:
        """Keeps a place of the world over the spot where the run began; None: lets it go."""
        away = np.zeros(3) if place is None else self.centre - place
        self.node.position = (float(away[0]), float(away[1]), 0.0)

    def _look(self) -> None:
        """The look of pages that do not say how wide they are."""
        view, camera = first_look(self._places, RATIO, self._blocks), self._server.initial_camera
        camera.position, camera.look_at = tuple(view.place), tuple(view.middle)
        camera.fov, camera.near = HIGH, self.size / 100

    def _greet(self, client: ClientHandle) -> None:
        """Frames the run in a page that has just been opened, until its panels are in place."""
        end, framed = time.monotonic() + SETTLES, 0.0

        def frame(camera: CameraHandle) -> None:
            nonlocal framed
            if camera.aspect == framed or time.monotonic() > end:
                return
            framed = camera.aspect
            ratio = float(np.clip(1 / framed, 0.3, 3.0))
            view = first_look(self._places, ratio, self._blocks)
            with client.atomic():
                camera.position, camera.look_at, camera.fov = view.place, view.middle, HIGH

        frame(client.camera)
        client.camera.on_update(frame)

    def _light(self) -> None:
        """A sun with shadows and a bright sky; no environment map, which takes long to load."""
        scene = self._server.scene
        scene.set_up_direction("+z")
        scene.configure_environment_map(None)
        scene.configure_default_lights(enabled=True, cast_shadow=True)
        scene.add_light_hemisphere(
            "/sky", sky_color=(255, 255, 255), ground_color=(196, 190, 182), intensity=1.1
        )

    def _surface(self, surface: dict[str, Any], colour: tuple[float, float, float]) -> None:
        name, scene = f"{WORLD}/{path(surface['name'])}", self._server.scene
        shade = tuple(round(255 * part) for part in colour)
        if surface["kind"] == "Plane":
            normal = np.asarray(surface["normal"], dtype=float)
            normal /= np.linalg.norm(normal)
            cell = rounded(self.size / 4)
            scene.add_grid(
                name,
                *(2 * FAR * self.size,) * 2,
                cell_size=cell,
                section_size=5 * cell,
                cell_color=(205, 208, 212),
                section_color=(170, 175, 182),
                plane_color=shade,
                plane_opacity=1.0,
                shadow_opacity=0.35,
                fade_distance=FAR * self.size / 3,
                fade_strength=1.5,
                wxyz=turns_of_z(normal[None])[0],
                position=surface_origin(surface),
            )
            return
        for k, (vertices, triangles) in enumerate(surface_meshes(surface)):
            faces = split(solid((vertices, triangles), colour))
            scene.add_mesh_simple(
                f"{name}/{k}", *faces, color=shade, side="double", position=surface_origin(surface)
            )


def _blocks(shown: list[dict[str, Any]]) -> np.ndarray:
    """Triangles of the surfaces that stand in the world, (n, 3, 3) [m]."""
    found = [np.zeros((0, 3, 3))]
    for surface in shown:
        if surface.get("body") is None:
            found += [x[faces] + surface_origin(surface) for x, faces in surface_meshes(surface)]
    return np.concatenate(found)


def _later(run: RunArrays, first: np.ndarray) -> list[np.ndarray]:
    """Corners of the robot later on, as far as it stays near."""
    size, middle = np.ptp(first, axis=0).max(), first.mean(axis=0)
    found = []
    for k in np.linspace(0, len(run.time) - 1, GLANCES).astype(int)[1:]:
        places = run.corners(int(k))
        if np.linalg.norm(places.mean(axis=0) - middle) < max(NEAR[0] * size, NEAR[1]):
            ends = np.array([places.min(axis=0), places.max(axis=0)])
            found.append(np.stack(np.meshgrid(*ends.T), axis=-1).reshape(-1, 3))
    return found
