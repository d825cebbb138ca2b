"""Where a run takes place: light, ground, surfaces that stand in the world, and the first look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.view.browser.actor import path
from heelstrike.view.browser.instances import turns_of_z
from heelstrike.view.browser.values import Values
from heelstrike.view.camera import Camera, fitted
from heelstrike.view.scenery import COLOURS, origin, pieces, reach, surfaces
from heelstrike.view.solid import solid, split
from heelstrike.view.strip import rounded

if TYPE_CHECKING:
    from viser import ViserServer

WORLD = "/world"
"""The node over everything; it moves where the robot is to stay in sight."""
LOOK = Camera(azimuth=38.0, elevation=14.0, angle=44.0)
RATIO = 0.72
"""Height over width of what is framed at first, between the panels."""
GLANCES = 8
"""Times of a run that the first look takes in."""
FAR = 60.0
"""Where the ground fades out, in sizes of what is shown."""


class Stage:
    """The surroundings of a run."""

    def __init__(self, server: ViserServer, run: Values) -> None:
        self._server = server
        self.world = server.scene.add_frame(WORLD, show_axes=False)
        places = run.corners(0)
        self.size = float(max(np.ptp(places, axis=0).max(), 1e-3))
        """Largest length of the robot's first pose [m]."""
        self.centre = places.mean(axis=0)
        shown = surfaces(run.info, run.world)
        self._light()
        self._look(np.vstack([places, *_later(run, places), reach(shown, places)]))
        for k, surface in enumerate(shown):
            if surface.get("body") is None:
                self._surface(surface, COLOURS[k % len(COLOURS)])

    def follow(self, place: np.ndarray | None) -> None:
        """Keeps a place of the world over the spot where the run began; None: lets it go."""
        away = np.zeros(3) if place is None else self.centre - place
        self.world.position = (float(away[0]), float(away[1]), 0.0)

    def _look(self, places: np.ndarray) -> None:
        view, camera = fitted(LOOK, places, RATIO), self._server.initial_camera
        camera.position = tuple(view.place)
        camera.look_at = tuple(view.middle)
        camera.fov = float(2 * np.arctan(view.slope * RATIO))
        camera.near = self.size / 100

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
                position=origin(surface),
            )
            return
        for k, (vertices, triangles) in enumerate(pieces(surface)):
            faces = split(solid((vertices, triangles), colour))
            scene.add_mesh_simple(
                f"{name}/{k}", *faces, color=shade, side="double", position=origin(surface)
            )


def _later(run: Values, first: np.ndarray) -> list[np.ndarray]:
    """Corners of the robot later on, as far as it stays within three sizes."""
    size, middle = np.ptp(first, axis=0).max(), first.mean(axis=0)
    found = []
    for k in np.linspace(0, len(run.time) - 1, GLANCES).astype(int)[1:]:
        places = run.corners(int(k))
        if np.linalg.norm(places.mean(axis=0) - middle) < size:
            found.append(np.array([places.min(axis=0), places.max(axis=0)]))
    return found
