"""Film strips: a robot at chosen times, with its ground and the contact forces.

    film_strip([elastic, rigid], "drop.png", times=[0, 0.1, 0.2])

Each recording has a row, or several if there are more frames than columns. One camera serves all
frames, so that equal lengths look equal; arrows have one scale, which is drawn below.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.robot.robot import Robot
from heelstrike.view import plot
from heelstrike.view.render.camera import Camera, Viewpoint, fit_camera
from heelstrike.view.render.sight import clear_camera
from heelstrike.view.render.snapshots import Snapshot, Snapshots, take_snapshots
from heelstrike.view.render.surface_solids import small_surface_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from heelstrike.record.recording import Recording

WIDTH = 9.0
"""Width of a strip [inch]."""
SIDE, ABOVE, BELOW, GAP = 0.3, 0.24, 0.34, 0.06
"""Margins for the law, for the time above a row, for the scale, and between frames [inch]."""
LONGEST_ARROW = 0.35
"""Length of the longest arrow over the size of the picture."""
LETTER = 110.0
"""Font size [pt] of which one letter fits into an inch."""
MIN_FORCE = 1e-6
"""Largest force that is drawn without an arrow [N]."""
FORCE_COLOUR = plot.COLOURS[1]


def film_strip(
    recordings: Recording | Sequence[Recording],
    path: str | os.PathLike[str],
    **options: Any,
) -> Path:
    """Write a film strip and return its path; `options` are those of `film_strip_figure`."""
    plot.check_format(path)
    return plot.save(film_strip_figure(recordings, **options), path, few_colours=True)


def film_strip_figure(
    recordings: Recording | Sequence[Recording],
    frames: int = 6,
    times: Sequence[float] | str | None = None,
    columns: int | None = None,
    camera: Camera | None = None,
    world: int = 0,
    labels: Sequence[str] | None = None,
    robot: Robot | None = None,
    forces: bool = True,
    width: float = WIDTH,
) -> Figure:
    """Return a film strip of one or several recordings.

    Args:
        frames: Number of frames, at even times.
        times: Times of the frames [s], in place of `frames`; "impacts" puts `frames` of them at
            the start, the end, and the largest peaks of force.
        columns: Number of frames in a row; by default all.
        camera: Direction of view; by default one from which surfaces do not hide the robot.
        world: The world that is shown.
        labels: Texts beside the recordings; by default the names of their laws.
        robot: The robot, if a recording from a file does not name the robot's file.
        forces: Whether contact forces are drawn as arrows.
        width: Width of the strip [inch].
    """
    runs = list(recordings) if isinstance(recordings, Sequence) else [recordings]
    if not runs:
        raise HeelstrikeError("nothing to draw; pass at least one recording")
    if labels is not None and len(labels) != len(runs):
        raise HeelstrikeError(
            f"{len(labels)} labels for {len(runs)} recordings; pass one label per recording"
        )
    if columns is not None and columns < 1:
        raise ParameterError("columns", columns, "integers from 1")
    names = [None] * len(runs) if labels is None else labels
    rows = [
        take_snapshots(run, frames, times, world, robot, name)
        for run, name in zip(runs, names, strict=True)
    ]
    across = min(columns or len(rows[0].frames), len(rows[0].frames))
    shown = [[row.corners(frame) for frame in row.frames] for row in rows]
    if camera is None:
        camera = clear_camera(np.vstack(shown[0]), rows[0].surfaces)
    arrow = arrow_scale(rows, viewpoints(rows, shown, camera)[0][0]) if forces else 0.0
    tips = [[f.points + arrow * f.forces for f in row.frames] for row in rows]
    shown = [
        list(map(np.vstack, zip(*both, strict=True))) for both in zip(shown, tips, strict=True)
    ]
    return _sheet(rows, viewpoints(rows, shown, camera), across, width, arrow)


def viewpoints(
    rows: list[Snapshots], shown: list[list[np.ndarray]], camera: Camera
) -> list[list[Viewpoint]]:
    """Return the viewpoint of every frame: one for all, or one each that follows the robot.

    `shown` are the points (n, 3) of each frame that must be inside the picture [m].
    """
    if not camera.follow:
        points = np.vstack([part for row in shown for part in row])
        points = np.vstack([points, *(small_surface_points(row.surfaces, points) for row in rows)])
        view = fit_camera(camera, points)
        return [[view] * len(row) for row in shown]
    ratio = max(fit_camera(camera, part).ratio for row in shown for part in row)
    views = [[fit_camera(camera, part, ratio) for part in row] for row in shown]
    distance = max(view.distance for row in views for view in row)
    return [[view.at_distance(distance) for view in row] for row in views]


@dataclass(frozen=True)
class Scale:
    """The scales of lengths and forces in the frames."""

    cell: float
    """Width of a frame [inch]."""
    half_width: float
    """Half the width that a frame shows [m]."""
    max_force: float
    """Largest force of any frame [N]."""
    arrow: float
    """Length of an arrow [m/N]; 0 for no arrows."""

    @property
    def tile(self) -> float:
        """Side of a tile of the floor [m]."""
        return plot.round_down(self.half_width / 2)


def arrow_scale(rows: list[Snapshots], view: Viewpoint) -> float:
    """Return the length of arrows [m/N] in a view that fits the robot; 0 if there is no force."""
    largest = _max_force(rows)
    longest = LONGEST_ARROW * 2 * view.half_width * max(1.0, view.ratio)
    return longest / largest if largest > MIN_FORCE else 0.0


def _max_force(rows: list[Snapshots]) -> float:
    """Return the largest force of any frame [N]."""
    magnitudes = [np.linalg.norm(f.forces, axis=1) for row in rows for f in row.frames]
    return float(np.concatenate(magnitudes).max(initial=0.0))


def _sheet(
    rows: list[Snapshots], views: list[list[Viewpoint]], columns: int, width: float, arrow: float
) -> Figure:
    """Return rows of pictures with times above them, laws beside them and scales below."""
    from matplotlib.figure import Figure

    cell = (width - SIDE - (columns - 1) * GAP) / columns
    scale = Scale(cell, views[0][0].half_width, _max_force(rows), arrow)
    lines = [-(-len(row.frames) // columns) for row in rows]
    line = cell * views[0][0].ratio + ABOVE
    height = sum(lines) * line + BELOW
    drawn = Figure(figsize=(width, height))
    top = height
    for row, viewpoints, count in zip(rows, views, lines, strict=True):
        letters = min(9.0, LETTER * count * line / max(len(row.label), 1))
        bold: dict[str, Any] = {"fontsize": letters, "fontweight": "bold", "color": plot.INK}
        middle = (0.12 / width, (top - count * line / 2 - ABOVE / 2) / height)
        drawn.text(*middle, row.label, rotation=90, ha="center", va="center", **bold)
        for k, (frame, view) in enumerate(zip(row.frames, viewpoints, strict=True)):
            left, low = SIDE + (k % columns) * (cell + GAP), top - (k // columns + 1) * line
            box = (left / width, low / height, cell / width, (line - ABOVE) / height)
            image = row.image(frame, view, round(cell * plot.DPI), scale.tile)
            _draw_frame(drawn.add_axes(box), image, view, frame, scale)
        top -= count * line
    _legend(drawn.add_axes((0, 0, 1, BELOW / height)), width, scale)
    return drawn


def _draw_frame(
    ax: Axes, image: np.ndarray, view: Viewpoint, frame: Snapshot, scale: Scale
) -> None:
    """Draw one frame with its time and its forces."""
    ax.imshow(image, extent=(-1, 1, -view.ratio, view.ratio), interpolation="antialiased")
    ax.set_axis_off()
    ax.set_title(f"{frame.time:.3g} s", fontsize=8, color=plot.INK, pad=3)
    if not scale.arrow or not len(frame.points):
        return
    tails = view.project(frame.points)
    tips = view.project(frame.points + scale.arrow * frame.forces)
    ax.plot(*tails.T, "o", color=FORCE_COLOUR, markersize=1.4)
    for tail, tip in zip(tails, tips, strict=True):
        _arrow(ax, tail, tip, scale.cell / 2)
    ax.set(xlim=(-1, 1), ylim=(-view.ratio, view.ratio))


def _arrow(ax: Axes, tail: np.ndarray, tip: np.ndarray, unit: float) -> None:
    """Draw an arrow whose head takes at most half of it; `unit` is a unit of the axes [inch]."""
    points = 72 * unit * float(np.linalg.norm(tip - tail))
    style = "-|>,head_width=0.12,head_length=0.25"
    look = {"arrowstyle": style, "color": FORCE_COLOUR, "lw": 0.8}
    fit = {"shrinkA": 0, "shrinkB": 0, "mutation_scale": min(10.0, 2 * points)}
    if points > 1:
        ax.annotate("", tuple(tip), tuple(tail), arrowprops=look | fit, annotation_clip=False)


def _legend(ax: Axes, width: float, scale: Scale) -> None:
    """Draw the scale of arrows and the side of a tile; the axes are in inches."""
    ax.set(xlim=(0, width), ylim=(0, BELOW))
    ax.set_axis_off()
    middle = 0.4 * BELOW
    text: dict[str, Any] = {"va": "center", "fontsize": 8, "color": plot.INK}
    if scale.arrow:
        newtons = plot.round_down(scale.max_force / 2)
        end = SIDE + newtons * scale.arrow * scale.cell / (2 * scale.half_width)
        _arrow(ax, np.array([SIDE, middle]), np.array([end, middle]), 1.0)
        ax.text(end + 0.06, middle, f"contact force of {newtons:g} N", **text)
    ax.text(width - 0.05, middle, f"tiles of {scale.tile:g} m", ha="right", **text)
