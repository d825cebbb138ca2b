"""Snapshots of a recording: the robot at chosen times, its ground, and the contact forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.checks import instance
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.robot.robot import Robot
from heelstrike.view import plot
from heelstrike.view.render.camera import Viewpoint
from heelstrike.view.render.raytrace import render
from heelstrike.view.render.robot_solids import (
    BodyCorners,
    BodySolids,
    outline,
    place_outline,
    place_solids,
    robot_solids,
)
from heelstrike.view.render.surface_solids import SurfaceRecord, recorded_surfaces, surface_solids

if TYPE_CHECKING:
    import xarray as xr

    from heelstrike.record.recording import Recording

FORCES = ("contact_position", "force", "touching")
"""Variables from which force arrows are drawn, if they were recorded."""
SELF_FORCES = ("self_position", "self_force", "self_pair")
"""The same of contacts between bodies; each has two arrows, one for each body."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A robot at one time."""

    time: float
    """[s]"""
    q: np.ndarray
    points: np.ndarray
    """Active contact points (n, 3) [m]."""
    forces: np.ndarray
    """Forces on the robot at these points (n, 3) [N]."""


@dataclass(frozen=True, eq=False)
class Snapshots:
    """The frames of a recording, with the robot and the surfaces in them."""

    label: str
    robot: Robot
    solids: BodySolids
    surfaces: list[SurfaceRecord]
    frames: list[Snapshot]

    @cached_property
    def outline(self) -> BodyCorners:
        """Corners of the convex hulls of the robot's bodies."""
        return outline(self.solids)

    def corners(self, frame: Snapshot) -> np.ndarray:
        """Return corners whose convex hull holds the robot in a frame, (n, 3) [m]."""
        return place_outline(self.robot, self.outline, frame.q)

    def image(self, frame: Snapshot, view: Viewpoint, width: int, tile: float) -> np.ndarray:
        """Return an image of the robot and its ground; see `render`."""
        ground = surface_solids(self.surfaces, self.robot, frame.q, view)
        return render([*ground, *place_solids(self.robot, self.solids, frame.q)], view, width, tile)


def take_snapshots(
    run: Recording,
    count: int = 6,
    times: Sequence[float] | str | None = None,
    world: int = 0,
    robot: Robot | None = None,
    label: str | None = None,
) -> Snapshots:
    """Return snapshots of a recording: `count` at even times, or those nearest to `times` [s].

    times="impacts" puts frames at the start, the end, and the largest peaks of force between them.
    The label defaults to the names of the recording's laws.
    """
    info, shown = run.info, world_over_time(run, world)
    if isinstance(times, str):
        times = impact_times(shown, count, times)
    at = _indices(shown["time"].values, count, times)
    robot = recorded_robot(run, robot)
    label = law_names(info) if label is None else label
    frames = [_frame(shown.isel(time=k)) for k in at]
    return Snapshots(label, robot, robot_solids(robot), recorded_surfaces(info, world), frames)


def world_over_time(run: Recording, world: int) -> xr.Dataset:
    """Return one world of a recording, with its own time; raise if q was not recorded over time."""
    data = run.data
    if "q" not in data or "time" not in data["q"].dims:
        raise HeelstrikeError(
            "this recording holds no q over time, from which the robot is drawn; run with "
            f"record='standard', or record=['q', {', '.join(map(repr, FORCES))}]"
        )
    return plot.of_world(data, world)


def recorded_robot(run: Recording, robot: Robot | None = None) -> Robot:
    """Return the robot of a recording: `robot`, or the one that its file names."""
    robot = run.robot if robot is None else instance("robot", robot, Robot, "a robot of hs.load")
    coordinates = run.data.sizes["coordinate"]
    if robot.nq != coordinates:
        raise HeelstrikeError(
            f"{robot.name} has {robot.nq} coordinates, but the recording has {coordinates}; "
            "pass the robot that was simulated, as robot=hs.load(...)"
        )
    return robot


def _frame(now: xr.Dataset) -> Snapshot:
    points = forces = np.zeros((0, 3))
    if set(FORCES) <= set(now):
        on = now["touching"].values
        points, forces = now["contact_position"].values[on], now["force"].values[on]
    if set(SELF_FORCES) <= set(now):
        on = now["self_pair"].values >= 0
        places, given = now["self_position"].values[on], now["self_force"].values[on]
        points, forces = np.vstack([points, places, places]), np.vstack([forces, given, -given])
    return Snapshot(float(now["time"]), now["q"].values, points, forces)


def _indices(clock: np.ndarray, count: int, times: Sequence[float] | None) -> list[int]:
    """Return the indices of the records nearest to the chosen times."""
    if times is None:
        if not isinstance(count, int | np.integer) or count < 1:
            raise ParameterError("frames", count, "integers from 1")
        times = np.linspace(clock[0], clock[-1], int(count)).tolist()
    chosen = np.asarray(times, dtype=float).ravel()
    step = clock[1] - clock[0] if len(clock) > 1 else np.inf
    if not len(chosen) or not np.all((chosen > clock[0] - step) & (chosen < clock[-1] + 2 * step)):
        allowed = f"times between {clock[0]:g} and {clock[-1]:g} s"
        raise ParameterError("times", chosen.tolist(), allowed)
    return [int(np.argmin(np.abs(clock - t))) for t in chosen]


def impact_times(shown: xr.Dataset, count: int, chosen: str = "impacts") -> list[float]:
    """Return start and end of a run, and the times of the largest peaks of normal force [s].

    A peak is the largest force within an eighth of the mean time between two frames.
    """
    if chosen != "impacts":
        raise ParameterError("times", chosen, 'times [s], or "impacts"')
    if "normal_force" not in shown:
        raise HeelstrikeError(
            "this recording holds no normal_force, whose peaks are the impacts",
            path="times",
            remedy="run with record='standard', or choose frames by times",
        )
    clock, force = shown["time"].values, shown["normal_force"].values.sum(-1)
    apart = (clock[-1] - clock[0]) / (8 * max(1, count - 1))
    found = [float(clock[0]), float(clock[-1])]
    for k in np.argsort(-force, kind="stable"):
        if len(found) >= count or force[k] <= 0:
            break
        near = np.abs(clock - clock[k]) < apart
        if force[k] >= force[near].max() and min(abs(clock[k] - t) for t in found) >= apart:
            found.append(float(clock[k]))
    return sorted(found)[:count]


def law_names(info: dict[str, Any]) -> str:
    """Return the short names of a recording's laws: of the normal law, if there is one."""
    names = [str(law.get("normal", law)["kind"]) for law in info["laws"].values()]
    return ", ".join(dict.fromkeys(names)) or "no ground"
