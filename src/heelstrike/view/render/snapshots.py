"""Frames of a recording: the robot at chosen times, its ground, and the forces on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import Robot
from heelstrike.view import plot
from heelstrike.view.render.camera import Viewpoint
from heelstrike.view.render.raytrace import render
from heelstrike.view.render.robot_solids import BodySolids, place_solids, robot_solids
from heelstrike.view.render.surface_solids import recorded_surfaces, surface_solids

if TYPE_CHECKING:
    import xarray as xr

    from heelstrike.record.recording import Recording

FORCES = ("contact_position", "force", "touching")
"""What arrows are drawn from, where it was recorded."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A robot at one time."""

    time: float
    """[s]"""
    q: np.ndarray
    points: np.ndarray
    """Places that touch (n, 3) [m]."""
    forces: np.ndarray
    """On the robot, there (n, 3) [N]."""


@dataclass(frozen=True, eq=False)
class Snapshots:
    """The frames of a recording, and what stands in them."""

    label: str
    robot: Robot
    worn: BodySolids
    surfaces: list[dict[str, Any]]
    frames: list[Snapshot]

    def corners(self, frame: Snapshot) -> np.ndarray:
        """Places of the robot, (n, 3) [m]."""
        return np.vstack([s.vertices for s in place_solids(self.robot, self.worn, frame.q)])

    def picture(self, frame: Snapshot, view: Viewpoint, width: int, tile: float) -> np.ndarray:
        """Of the robot and its ground, as `render` has it."""
        ground = surface_solids(self.surfaces, self.robot, frame.q, view)
        return render([*ground, *place_solids(self.robot, self.worn, frame.q)], view, width, tile)


def take_snapshots(
    run: Recording,
    count: int = 6,
    times: Sequence[float] | None = None,
    world: int = 0,
    robot: Robot | None = None,
    label: str | None = None,
) -> Snapshots:
    """A recording's frames: `count` at even times, or the records nearest to `times` [s]."""
    info, shown = run.info, world_over_time(run, world)
    at = _indices(shown["time"].values, count, times)
    robot = recorded_robot(run, robot)
    label = law_names(info) if label is None else label
    frames = [_frame(shown.isel(time=k)) for k in at]
    return Snapshots(label, robot, robot_solids(robot), recorded_surfaces(info, world), frames)


def world_over_time(run: Recording, world: int) -> xr.Dataset:
    """A world of a recording that holds q over time, with its own clock."""
    data = run.data
    if "q" not in data or "time" not in data["q"].dims:
        raise HeelstrikeError(
            "to show a robot takes q over time, which this recording does not hold; run with "
            f"record='standard', or record=['q', {', '.join(map(repr, FORCES))}]"
        )
    return plot.of_world(data, world)


def recorded_robot(run: Recording, robot: Robot | None = None) -> Robot:
    """The robot of a recording, loaded again unless given."""
    robot, coordinates = robot or run.robot, run.data.sizes["coordinate"]
    if robot.nq != coordinates:
        raise HeelstrikeError(
            f"{robot.name} has {robot.nq} coordinates, the recording {coordinates}; "
            "give the robot that was simulated, as robot=hs.load(...)"
        )
    return robot


def _frame(now: xr.Dataset) -> Snapshot:
    points = forces = np.zeros((0, 3))
    if set(FORCES) <= set(now):
        on = now["touching"].values
        points, forces = now["contact_position"].values[on], now["force"].values[on]
    return Snapshot(float(now["time"]), now["q"].values, points, forces)


def _indices(clock: np.ndarray, count: int, times: Sequence[float] | None) -> list[int]:
    """Of the records nearest to the wanted times."""
    if times is None:
        if not isinstance(count, int | np.integer) or count < 1:
            raise HeelstrikeError(f"frames={count!r}: a film strip has at least one frame")
        times = np.linspace(clock[0], clock[-1], int(count)).tolist()
    wanted = np.asarray(times, dtype=float).ravel()
    step = clock[1] - clock[0] if len(clock) > 1 else np.inf
    if not len(wanted) or not np.all((wanted > clock[0] - step) & (wanted < clock[-1] + 2 * step)):
        raise HeelstrikeError(
            f"times of frames lie between {clock[0]:g} and {clock[-1]:g} s, not {wanted.tolist()}"
        )
    return [int(np.argmin(np.abs(clock - t))) for t in wanted]


def law_names(info: dict[str, Any]) -> str:
    """Short names of a recording's laws: the normal law's, where there is one."""
    names = [str(law.get("normal", law)["kind"]) for law in info["laws"].values()]
    return ", ".join(dict.fromkeys(names)) or "no ground"
