"""Film strips: a robot at chosen times, with its ground and the forces of contact.

    film_strip([elastic, rigid], "drop.png", times=[0, 0.1, 0.2])

A row each recording, or several where there are more frames than columns. One camera serves all
frames, so a length in one is the same length in another; arrows have one scale, which is drawn.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import Robot
from heelstrike.view import plot
from heelstrike.view.render.camera import Camera, Viewpoint, fit_camera
from heelstrike.view.render.snapshots import Snapshot, Snapshots, take_snapshots
from heelstrike.view.render.surface_solids import small_surface_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from heelstrike.record.recording import Recording

WIDTH = 9.0
"""Of a strip [inch]."""
SIDE, ABOVE, BELOW, GAP = 0.3, 0.24, 0.34, 0.06
"""Room for the law, for the time over a row, for the scale, between frames [inch]."""
LONGEST = 0.35
"""Length of the longest arrow over the size of what is shown."""
LETTER = 110.0
"""Size of letters [pt] of which one fits into an inch."""
FAINT = 1e-6
"""Force that no arrow shows [N]."""
FORCE = plot.COLOURS[1]


def film_strip(
    recordings: Recording | Sequence[Recording],
    path: str | os.PathLike[str],
    **options: Any,
) -> Path:
    """Writes a film strip, whole or not at all, and returns its path; options are `strip`'s."""
    plot.check_ending(path)
    return plot.save(film_strip_figure(recordings, **options), path, few_colours=True)


def film_strip_figure(
    recordings: Recording | Sequence[Recording],
    frames: int = 6,
    times: Sequence[float] | None = None,
    columns: int | None = None,
    camera: Camera | None = None,
    world: int = 0,
    labels: Sequence[str] | None = None,
    robot: Robot | None = None,
    forces: bool = True,
    width: float = WIDTH,
) -> Figure:
    """A film strip.

    `frames` at even times, or those at `times` [s]; `columns` of them in a row. `labels` stand
    beside the recordings, by default their laws. `robot` is needed where a recording from a file
    does not know where its robot was loaded from. `width` of the whole in inches.
    """
    runs = list(recordings) if isinstance(recordings, Sequence) else [recordings]
    if not runs:
        raise HeelstrikeError("there is nothing to show; give a recording, or several")
    if labels is not None and len(labels) != len(runs):
        raise HeelstrikeError(f"{len(labels)} labels for {len(runs)} recordings; give one each")
    if columns is not None and columns < 1:
        raise HeelstrikeError(f"columns={columns}: a row holds at least one frame")
    names = [None] * len(runs) if labels is None else labels
    reels = [
        take_snapshots(run, frames, times, world, robot, name)
        for run, name in zip(runs, names, strict=True)
    ]
    across = min(columns or len(reels[0].frames), len(reels[0].frames))
    return _sheet(reels, _views(reels, camera or Camera()), across, width, forces)


def _views(reels: list[Snapshots], camera: Camera) -> list[list[Viewpoint]]:
    """Of every frame: one for all, or one each that goes along with the robot."""
    corners = [[one.corners(frame) for frame in one.frames] for one in reels]
    if not camera.follow:
        places = np.vstack([place for row in corners for place in row])
        places = np.vstack([places, *(small_surface_points(one.surfaces, places) for one in reels)])
        view = fit_camera(camera, places)
        return [[view] * len(row) for row in corners]
    ratio = max(fit_camera(camera, place).ratio for row in corners for place in row)
    alone = [[fit_camera(camera, place, ratio) for place in row] for row in corners]
    distance = max(view.distance for row in alone for view in row)
    return [[view.from_distance(distance) for view in row] for row in alone]


@dataclass(frozen=True)
class Scale:
    """What lengths in the frames mean."""

    cell: float
    """Width of a frame [inch]."""
    size: float
    """Half the width that a frame shows [m]."""
    strongest: float
    """Force of any frame [N]."""
    arrow: float
    """Length of an arrow [m/N]; 0 for none."""

    @property
    def tile(self) -> float:
        """Side of a tile of the floor [m]."""
        return rounded(self.size / 2)


def _scale(reels: list[Snapshots], view: Viewpoint, cell: float, forces: bool) -> Scale:
    strengths = [np.linalg.norm(f.forces, axis=1) for one in reels for f in one.frames]
    strongest = float(np.concatenate(strengths).max(initial=0.0))
    size = view.distance * view.slope
    longest = LONGEST * 2 * size * max(1.0, view.ratio)
    return Scale(
        cell, size, strongest, longest / strongest if forces and strongest > FAINT else 0.0
    )


def _sheet(
    reels: list[Snapshots], views: list[list[Viewpoint]], columns: int, width: float, forces: bool
) -> Figure:
    """Rows of pictures, times above them, laws beside them, scales below."""
    from matplotlib.figure import Figure

    cell = (width - SIDE - (columns - 1) * GAP) / columns
    scale = _scale(reels, views[0][0], cell, forces)
    lines = [-(-len(one.frames) // columns) for one in reels]
    line = cell * views[0][0].ratio + ABOVE
    height = sum(lines) * line + BELOW
    drawn = Figure(figsize=(width, height))
    top = height
    for one, row, count in zip(reels, views, lines, strict=True):
        letters = min(9.0, LETTER * count * line / max(len(one.label), 1))
        bold: dict[str, Any] = {"fontsize": letters, "fontweight": "bold", "color": plot.INK}
        middle = (0.12 / width, (top - count * line / 2 - ABOVE / 2) / height)
        drawn.text(*middle, one.label, rotation=90, ha="center", va="center", **bold)
        for k, frame in enumerate(one.frames):
            left, low = SIDE + (k % columns) * (cell + GAP), top - (k // columns + 1) * line
            place = (left / width, low / height, cell / width, (line - ABOVE) / height)
            picture = one.picture(frame, row[k], round(cell * plot.DPI), scale.tile)
            _show(drawn.add_axes(place), picture, row[k], frame, scale)
        top -= count * line
    _legend(drawn.add_axes((0, 0, 1, BELOW / height)), width, scale)
    return drawn


def _show(ax: Axes, picture: np.ndarray, view: Viewpoint, frame: Snapshot, scale: Scale) -> None:
    """One frame, with its time and its forces."""
    ax.imshow(picture, extent=(-1, 1, -view.ratio, view.ratio), interpolation="antialiased")
    ax.set_axis_off()
    ax.set_title(f"{frame.time:.3g} s", fontsize=8, color=plot.INK, pad=3)
    if not scale.arrow or not len(frame.points):
        return
    tails = view.project(frame.points)
    tips = view.project(frame.points + scale.arrow * frame.forces)
    ax.plot(*tails.T, "o", color=FORCE, markersize=1.4)
    for tail, tip in zip(tails, tips, strict=True):
        _arrow(ax, tail, tip, scale.cell / 2)
    ax.set(xlim=(-1, 1), ylim=(-view.ratio, view.ratio))


def _arrow(ax: Axes, tail: np.ndarray, tip: np.ndarray, unit: float) -> None:
    """An arrow whose head is never longer than half of it; a unit of the axes in inches."""
    points = 72 * unit * float(np.linalg.norm(tip - tail))
    look = {"arrowstyle": "-|>,head_width=0.12,head_length=0.25", "color": FORCE, "lw": 0.8}
    fit = {"shrinkA": 0, "shrinkB": 0, "mutation_scale": min(10.0, 2 * points)}
    if points > 1:
        ax.annotate("", tuple(tip), tuple(tail), arrowprops=look | fit, annotation_clip=False)


def _legend(ax: Axes, width: float, scale: Scale) -> None:
    """What an arrow's length and a tile's side mean; the axes are in inches."""
    ax.set(xlim=(0, width), ylim=(0, BELOW))
    ax.set_axis_off()
    middle = 0.4 * BELOW
    text: dict[str, Any] = {"va": "center", "fontsize": 8, "color": plot.INK}
    if scale.arrow:
        newtons = rounded(scale.strongest / 2)
        end = SIDE + newtons * scale.arrow * scale.cell / (2 * scale.size)
        _arrow(ax, np.array([SIDE, middle]), np.array([end, middle]), 1.0)
        ax.text(end + 0.06, middle, f"contact force of {newtons:g} N", **text)
    ax.text(width - 0.05, middle, f"tiles of {scale.tile:g} m", ha="right", **text)


def rounded(value: float) -> float:
    """The largest of 1, 2, 5 times a power of ten below a value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * max(step for step in (1, 2, 5) if step * power <= value * (1 + 1e-9)))
