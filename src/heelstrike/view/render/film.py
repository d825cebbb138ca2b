"""Films of a recording, .mp4 or .gif: the robot on its ground, with the contact forces.

    film(run, "fall.mp4", speed=0.25)

One camera serves all frames, or follows the robot; arrows have one scale. A .gif is written by
Pillow, an .mp4 by ffmpeg, which the extra `heelstrike[film]` brings.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.checks import count, instance, number
from heelstrike.checks import path as checked_path
from heelstrike.errors import MissingPackageError, ParameterError
from heelstrike.files import whole_file
from heelstrike.progress import Advance, progress_bar
from heelstrike.robot.robot import Robot
from heelstrike.view import plot
from heelstrike.view.render.camera import Camera, Viewpoint
from heelstrike.view.render.film_strip import FORCE_COLOUR, arrow_scale, viewpoints
from heelstrike.view.render.gif import gif
from heelstrike.view.render.sight import clear_camera
from heelstrike.view.render.snapshots import Snapshot, Snapshots, take_snapshots, world_over_time

if TYPE_CHECKING:
    from heelstrike.record.recording import Recording

SUFFIXES = (".mp4", ".gif")
MAX_FRAMES = 20_000
HEAD = 5.0
"""Length of an arrow's head over the thickness of its line."""


def film(
    run: Recording,
    path: str | os.PathLike[str],
    speed: float = 1.0,
    fps: int = 25,
    width: int = 480,
    world: int = 0,
    camera: Camera | None = None,
    robot: Robot | None = None,
    forces: bool = True,
) -> Path:
    """Write a film of a recording and return its path.

    Args:
        run: a recording with q over time.
        path: file, .mp4 or .gif.
        speed: simulated time over time of the film: 1 is real time, 0.1 a tenth of it.
        fps: frames per second; a .gif shows whole hundredths of a second.
        width: width of a frame [pixels].
        world: the world that is shown.
        camera: direction of view; `Camera(follow=True)` moves with the robot. By default one from
            which surfaces do not hide the robot.
        robot: the robot, if a recording from a file does not name the robot's file.
        forces: whether contact forces are drawn as arrows.
    """
    check_film(path)
    speed = number("speed", speed, "a number above 0", above=0.0)
    fps, width = count("fps", fps, most=240), count("width", width, least=16, most=4096)
    instance("forces", forces, bool, "True or False")
    if camera is not None:
        instance("camera", camera, Camera, "heelstrike.view.render.camera.Camera(...)")
    clock = world_over_time(run, world)["time"].values
    if (clock[-1] - clock[0]) * fps > MAX_FRAMES * speed:
        raise ParameterError("speed", speed, f"speeds that make at most {MAX_FRAMES} frames")
    times = np.arange(clock[0], clock[-1] + 0.5 * speed / fps, speed / fps)
    chosen = np.minimum(times, clock[-1]).tolist()
    taken = take_snapshots(run, times=chosen, world=world, robot=robot)
    bar = progress_bar("drawing", len(taken.frames), "frames")
    with whole_file(path) as place, bar as advance:
        images = _counted(_images(taken, camera, width, forces), advance)
        _write(place, Path(path).suffix.lower(), images, fps)
    return Path(path)


def check_film(path: str | os.PathLike[str]) -> None:
    """Raise if a film cannot be written to a file of this name."""
    suffix = checked_path("path", path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError("path", os.fspath(path), "a file .mp4 or .gif")
    if suffix == ".mp4":
        _ffmpeg()


def _ffmpeg() -> Any:
    try:
        return import_module("imageio_ffmpeg")
    except ImportError as error:
        raise MissingPackageError(
            "films in .mp4 need imageio-ffmpeg, which is not installed; run pip install "
            "'heelstrike[film]', or write a .gif"
        ) from error


def _counted(images: Iterator[np.ndarray], advance: Advance) -> Iterator[np.ndarray]:
    """Yield frames and count them."""
    for image in images:
        advance(1)
        yield image


def _images(
    taken: Snapshots, camera: Camera | None, width: int, forces: bool
) -> Iterator[np.ndarray]:
    """Yield the frames, (height, width, 3) of bytes, all of one size."""
    shown = [taken.corners(frame) for frame in taken.frames]
    camera = camera or clear_camera(np.vstack(shown[:: max(1, len(shown) // 8)]), taken.surfaces)
    views = viewpoints([taken], [shown], camera)[0]
    arrow = arrow_scale([taken], views[0]) if forces else 0.0
    tile = plot.round_down(views[0].half_width / 2)
    for frame, view in zip(taken.frames, views, strict=True):
        yield draw(taken, frame, view, width, tile, arrow)


def draw(
    taken: Snapshots, frame: Snapshot, view: Viewpoint, width: int, tile: float, arrow: float
) -> np.ndarray:
    """Return one frame with its time and its forces, (height, width, 3) of bytes.

    Both sides are even, as video codecs want them. `arrow` is the length of arrows [m/N].
    """
    from PIL import Image, ImageDraw

    image = taken.image(frame, view, width, tile)
    rows, columns = (side - side % 2 for side in image.shape[:2])
    picture = Image.fromarray((255 * image[:rows, :columns] + 0.5).astype(np.uint8))
    pen, line = ImageDraw.Draw(picture), max(1, round(width / 240))
    pen.text((6, 4), f"{frame.time:.2f} s", fill=plot.INK)
    half = columns / 2
    for start, force in zip(frame.points, frame.forces, strict=True):
        if arrow:
            ends = view.project(np.array([start, start + arrow * force]))
            places = np.column_stack([half * (1 + ends[:, 0]), rows / 2 - half * ends[:, 1]])
            _arrow(pen, places[0], places[1], line)
    return np.asarray(picture)


def _arrow(pen: Any, tail: np.ndarray, tip: np.ndarray, line: int) -> None:
    """Draw an arrow whose head takes at most half of it, in pixels."""
    along = tip - tail
    length = float(np.linalg.norm(along))
    if length < 1:
        return
    along = along / length
    head = min(HEAD * line, 0.5 * length)
    neck, across = tip - head * along, 0.4 * head * np.array([-along[1], along[0]])
    pen.line([*tail, *neck], fill=FORCE_COLOUR, width=line)
    pen.polygon([*tip, *(neck + across), *(neck - across)], fill=FORCE_COLOUR)


def _write(place: Path, suffix: str, images: Iterator[np.ndarray], fps: int) -> None:
    if suffix == ".gif":
        from PIL import Image

        place.write_bytes(gif([Image.fromarray(image) for image in images], fps))
        return
    first = next(images)
    size = first.shape[1], first.shape[0]
    options = ["-f", "mp4", "-movflags", "faststart"]
    writer = _ffmpeg().write_frames(
        str(place), size, fps=fps, quality=7, macro_block_size=2, output_params=options
    )
    writer.send(None)
    try:
        for image in (first, *images):
            writer.send(np.ascontiguousarray(image))
    finally:
        writer.close()
