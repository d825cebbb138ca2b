"""Portraits: robots in a pose on a floor at z = 0; nothing is simulated.

    robot = hs.load("hrp2")
    portrait([(robot, "stance", 0), (robot, "crouch", 90)], "hrp2.png", labels=["front", "side"])

All cameras have the same distance, so that equal lengths look equal.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.placement import lowest_place, placements
from heelstrike.robot.robot import Robot
from heelstrike.view import plot
from heelstrike.view.render.camera import Camera, Viewpoint, fit_camera
from heelstrike.view.render.film_strip import GAP, Scale
from heelstrike.view.render.robot_solids import robot_solids
from heelstrike.view.render.snapshots import Snapshot, Snapshots
from heelstrike.view.render.surface_solids import SurfaceRecord

Shot = tuple[Robot, str | Sequence[float] | np.ndarray, float]
"""A robot, the name of its pose or its q, and the azimuth of the camera [deg]."""
FLOOR: SurfaceRecord = {"kind": "Plane", "normal": (0, 0, 1), "point": (0, 0, 0)}
ABOVE, BELOW = 0.24, 0.24
"""Margins for the label above a picture and for the scale below [inch]."""

FEW_POINTS = 20
"""Number of contact points up to which their marks are large."""


def portrait(
    shots: Sequence[Shot],
    path: str | os.PathLike[str],
    labels: Sequence[str] | None = None,
    points: bool = False,
    columns: int | None = None,
    width: float = 9.0,
    elevation: float = 10.0,
) -> Path:
    """Write the pictures in rows and return the path.

    Args:
        labels: Texts above the pictures.
        points: Whether contact points are marked, also hidden ones.
        columns: Number of pictures in a row; by default all.
        width: Width of the figure [inch].
        elevation: Elevation of the cameras [deg].
    """
    from matplotlib.figure import Figure

    plot.check_format(path)
    if not shots:
        raise HeelstrikeError("nothing to draw; pass at least one (robot, pose, azimuth)")
    if labels is not None and len(labels) != len(shots):
        raise HeelstrikeError(
            f"{len(labels)} labels for {len(shots)} pictures; pass one label per picture"
        )
    scenes = [_pose_snapshot(robot, pose) for robot, pose, _ in shots]
    cameras = [Camera(azimuth=azimuth, elevation=elevation) for _, _, azimuth in shots]
    views = _viewpoints(scenes, cameras)
    across = min(columns or len(shots), len(shots))
    down = -(-len(shots) // across)
    cell = (width - (across - 1) * GAP) / across
    tile = Scale(cell, views[0].half_width, 0.0, 0.0).tile
    line = cell * views[0].ratio + ABOVE
    height = down * line + BELOW
    drawn = Figure(figsize=(width, height))
    size = 4.0 if max(len(scene.frames[0].points) for scene in scenes) <= FEW_POINTS else 2.0
    ink: dict[str, Any] = {"fontsize": 8, "color": plot.INK}
    for k, (scene, view) in enumerate(zip(scenes, views, strict=True)):
        left, low = (k % across) * (cell + GAP), height - (k // across + 1) * line
        ax = drawn.add_axes((left / width, low / height, cell / width, (line - ABOVE) / height))
        image = scene.image(scene.frames[0], view, round(cell * plot.DPI), tile)
        ax.imshow(image, extent=(-1, 1, -view.ratio, view.ratio), interpolation="antialiased")
        ax.set_axis_off()
        ax.set_title(labels[k] if labels else "", pad=3, **ink)
        if points:
            places = view.project(scene.frames[0].points).T
            ax.plot(*places, "o", color=plot.COLOURS[1], ms=size, mec="white", mew=size / 6)
            ax.set(xlim=(-1, 1), ylim=(-view.ratio, view.ratio))
    drawn.text(1 - 0.05 / width, 0.08 / height, f"tiles of {tile:g} m", ha="right", **ink)
    return plot.save(drawn, path, few_colours=True)


def _pose_snapshot(robot: Robot, pose: str | Sequence[float] | np.ndarray) -> Snapshots:
    """Return one frame: the robot at q with its contact points."""
    q = robot.pose(pose) if isinstance(pose, str) else np.asarray(pose, dtype=float)
    if q.shape != (robot.nq,):
        raise HeelstrikeError(
            f"{robot.name} has {robot.nq} coordinates, but the pose has {q.size}; pass as many"
        )
    places = placements(robot, q)
    points = [lowest_place(p, places[p.body]) for p in robot.points]
    frame = Snapshot(0.0, q, np.array(points).reshape(-1, 3), np.zeros((len(points), 3)))
    return Snapshots(robot.name, robot, robot_solids(robot), [FLOOR], [frame])


def _viewpoints(scenes: list[Snapshots], cameras: list[Camera]) -> list[Viewpoint]:
    """Return viewpoints of one aspect ratio and one distance, each centred on its robot."""
    vertices = [scene.corners(scene.frames[0]) for scene in scenes]
    both = list(zip(cameras, vertices, strict=True))
    ratio = max(fit_camera(camera, points).ratio for camera, points in both)
    views = [fit_camera(camera, points, ratio) for camera, points in both]
    distance = max(view.distance for view in views)
    return [view.at_distance(distance) for view in views]
