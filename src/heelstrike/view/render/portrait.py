"""Portraits: robots in a pose, from a side, on a floor at z = 0; nothing is simulated.

    robot = hs.load("hrp2")
    portrait([(robot, "stance", 0), (robot, "crouch", 90)], "hrp2.png", labels=["front", "side"])

All are seen from one distance, so a length in one picture is the same length in another.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.placement import placements
from heelstrike.robot.robot import Robot
from heelstrike.view import plot
from heelstrike.view.render.camera import Camera, Viewpoint, fit_camera
from heelstrike.view.render.film_strip import GAP, Scale
from heelstrike.view.render.robot_solids import robot_solids
from heelstrike.view.render.snapshots import Snapshot, Snapshots

Shot = tuple[Robot, str | Sequence[float] | np.ndarray, float]
"""A robot, the name of its pose or its q, and the azimuth that it is seen from [deg]."""
FLOOR: dict[str, Any] = {"kind": "Plane", "normal": (0, 0, 1), "point": (0, 0, 0)}
ABOVE, BELOW = 0.24, 0.24
"""Room for the label over a picture and for the scale below [inch]."""


def portrait(
    shots: Sequence[Shot],
    path: str | os.PathLike[str],
    labels: Sequence[str] | None = None,
    points: bool = False,
    columns: int | None = None,
    width: float = 9.0,
    elevation: float = 10.0,
) -> Path:
    """Writes the pictures in rows, whole or not at all, and returns the path.

    `points` marks the contact points of the robots, hidden ones too. `columns` pictures stand in a
    row, by default all. `width` of the whole [inch], `elevation` of the camera [deg].
    """
    from matplotlib.figure import Figure

    plot.check_ending(path)
    if not shots:
        raise HeelstrikeError("there is nothing to show; give (robot, pose, azimuth), or several")
    if labels is not None and len(labels) != len(shots):
        raise HeelstrikeError(f"{len(labels)} labels for {len(shots)} pictures; give one each")
    reels = [_reel(robot, pose) for robot, pose, _ in shots]
    cameras = [Camera(azimuth=azimuth, elevation=elevation) for _, _, azimuth in shots]
    views = _views(reels, cameras)
    across = min(columns or len(shots), len(shots))
    down = -(-len(shots) // across)
    cell = (width - (across - 1) * GAP) / across
    scale = Scale(cell, views[0].distance * views[0].slope, 0.0, 0.0)
    line = cell * views[0].ratio + ABOVE
    height = down * line + BELOW
    drawn = Figure(figsize=(width, height))
    ink: dict[str, Any] = {"fontsize": 8, "color": plot.INK}
    for k, (reel, view) in enumerate(zip(reels, views, strict=True)):
        left, low = (k % across) * (cell + GAP), height - (k // across + 1) * line
        ax = drawn.add_axes((left / width, low / height, cell / width, (line - ABOVE) / height))
        picture = reel.picture(reel.frames[0], view, round(cell * plot.DPI), scale.tile)
        ax.imshow(picture, extent=(-1, 1, -view.ratio, view.ratio), interpolation="antialiased")
        ax.set_axis_off()
        ax.set_title(labels[k] if labels else "", pad=3, **ink)
        if points:
            ax.plot(*view.project(reel.frames[0].points).T, "o", color=plot.COLOURS[1], ms=1.6)
            ax.set(xlim=(-1, 1), ylim=(-view.ratio, view.ratio))
    drawn.text(1 - 0.05 / width, 0.08 / height, f"tiles of {scale.tile:g} m", ha="right", **ink)
    return plot.save(drawn, path, few_colours=True)


def _reel(robot: Robot, pose: str | Sequence[float] | np.ndarray) -> Snapshots:
    """One frame: the robot at q, and where its contact points are."""
    q = robot.pose(pose) if isinstance(pose, str) else np.asarray(pose, dtype=float)
    if q.shape != (robot.nq,):
        raise HeelstrikeError(f"{robot.name} has {robot.nq} coordinates, the pose {q.size}")
    places = placements(robot, q)
    points = [places[p.body][0] @ p.position + places[p.body][1] for p in robot.points]
    frame = Snapshot(0.0, q, np.array(points).reshape(-1, 3), np.zeros((len(points), 3)))
    return Snapshots(robot.name, robot, robot_solids(robot), [FLOOR], [frame])


def _views(reels: list[Snapshots], cameras: list[Camera]) -> list[Viewpoint]:
    """Of one shape and from one distance, each with its robot in the middle."""
    corners = [reel.corners(reel.frames[0]) for reel in reels]
    both = list(zip(cameras, corners, strict=True))
    ratio = max(fit_camera(camera, places).ratio for camera, places in both)
    views = [fit_camera(camera, places, ratio) for camera, places in both]
    distance = max(view.distance for view in views)
    return [view.from_distance(distance) for view in views]
