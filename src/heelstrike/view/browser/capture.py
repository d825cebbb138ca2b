"""Pictures and films for download, from the camera of the page that asks.

They are ray traced here (view/render), so that the browser need not send what it draws. The robot,
its ground and the arrows of contact forces are shown, as in film strips.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from heelstrike.robot.rotations import turn_z_to
from heelstrike.view.browser.instances import HEAD_LENGTH, Colour, head, rod
from heelstrike.view.browser.overlays import COLOURS as OVERLAYS
from heelstrike.view.browser.run_arrays import RunArrays, Sample
from heelstrike.view.render.camera import Viewpoint
from heelstrike.view.render.raytrace import render
from heelstrike.view.render.robot_solids import place_solids
from heelstrike.view.render.solid import Rgb, Solid, solid
from heelstrike.view.render.surface_solids import recorded_surfaces, surface_solids

if TYPE_CHECKING:
    from viser import CameraHandle

PICTURE, FILM = 900, 320
"""Length of the longer side of a picture and of a film [pixels]."""
RATE = 10
"""Frames of a film per second of its time."""


def page_viewpoint(camera: CameraHandle) -> Viewpoint:
    """Return the viewpoint of a page."""
    position = np.array(camera.position, dtype=float)
    back = position - np.array(camera.look_at, dtype=float)
    distance = float(np.linalg.norm(back))
    back /= distance
    right = np.cross(np.array(camera.up_direction, dtype=float), back)
    right /= np.linalg.norm(right)
    aspect = float(np.clip(camera.aspect, 0.3, 3.0))
    slope = float(np.tan(camera.fov / 2)) * aspect
    return Viewpoint(
        np.array([right, np.cross(back, right), back]), position, slope, 1 / aspect, distance
    )


@dataclass(frozen=True, eq=False)
class Shown:
    """A run at one time, in its own colours or, as a ghost, in one."""

    run: RunArrays
    now: Sample
    ghost: Colour | None = None

    def solids(self, scale: float, size: float) -> list[Solid]:
        """Return the robot and its contact forces as solids; see `draw`."""
        robot = place_solids(self.run.robot, self.run.solids, self.now["q"])
        if self.ghost is not None:
            robot = [replace(part, colour=_rgb(self.ghost)) for part in robot]
        return [*robot, *_arrows(self.now, scale, size)]


def draw(
    shown: Sequence[Shown], view: Viewpoint, side: int, scale: float, size: float
) -> Image.Image:
    """Return a picture of runs on the ground of the first.

    Args:
        side: Length of the longer side [pixels].
        scale: Force of an arrow of 1 m [N/m].
        size: Extent of the robot, to which arrows and tiles are fitted [m].
    """
    from heelstrike.view import plot

    run, now = shown[0].run, shown[0].now
    ground = surface_solids(recorded_surfaces(run.info, run.world), run.robot, now["q"], view)
    parts = [part for one in shown for part in one.solids(scale, size)]
    width = round(side / max(1.0, view.ratio))
    drawn = render([*ground, *parts], view, width, plot.round_down(size / 4))
    return Image.fromarray(np.round(255 * np.clip(drawn, 0, 1)).astype(np.uint8))


def png(picture: Image.Image) -> bytes:
    """Return a picture as PNG."""
    written = io.BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()


def _arrows(now: Sample, scale: float, size: float) -> list[Solid]:
    """Return the forces of active contacts as solids."""
    if not {"touching", "force", "contact_position"} <= set(now):
        return []
    colour, found = _rgb(OVERLAYS["forces"]), []
    for k in np.flatnonzero(now["touching"]):
        vector, place = now["force"][k] / scale, now["contact_position"][k]
        length = float(np.linalg.norm(vector))
        if not 1e-3 * size < length < np.inf:
            continue
        wide = min(0.02 * size, length / (2 * HEAD_LENGTH))
        shaft, R = length - HEAD_LENGTH * wide, turn_z_to(vector / length)
        for (vertices, faces), sizes, low in (
            (rod(), (0.4 * wide, 0.4 * wide, shaft), 0.0),
            (head(), (wide, wide, HEAD_LENGTH * wide), shaft),
        ):
            part = solid((vertices * np.array(sizes), faces), colour)
            found.append(part.moved(R, place + low * vector / length))
    return found


def _rgb(colour: Colour) -> Rgb:
    """Return a colour of the page as shares of red, green and blue."""
    red, green, blue = (part / 255 for part in colour)
    return red, green, blue
