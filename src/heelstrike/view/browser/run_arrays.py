"""A world of a recording as plain arrays over time: what the browser's nodes are placed by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.robot.robot import Robot
from heelstrike.view.render.robot_solids import BodySolids, place_solids, robot_solids
from heelstrike.view.render.snapshots import recorded_robot, world_over_time

if TYPE_CHECKING:
    from heelstrike.record.recording import Recording

NAMES = (
    "q",
    "contact_position",
    "depth",
    "slip",
    "normal_force",
    "force",
    "touching",
    "cop",
    "zmp",
    "com",
)
"""Variables of a recording that are shown, where it has them."""

USUAL = 0.9
"""Share of the time with contact in which arrows are not longer than planned."""

Sample = Mapping[str, np.ndarray]
"""Variables at one time, by name."""


@dataclass(frozen=True, eq=False)
class RunArrays:
    """What is shown of a run."""

    label: str
    robot: Robot
    info: dict[str, Any]
    """Of the recording: laws, surfaces, parameters."""
    world: int
    time: np.ndarray
    """(n,) [s]"""
    arrays: Mapping[str, np.ndarray]
    """Variables by name, (n, ...)."""
    points: tuple[str, ...] = ()
    """Names of the contacts."""
    laws: tuple[str, ...] = ()
    """The surface, or body, whose law holds at each of them."""
    surfaces: tuple[str, ...] = ()
    """The surface that each of them may touch."""

    @cached_property
    def worn(self) -> BodySolids:
        """What the robot looks like."""
        return robot_solids(self.robot)

    def corners(self, k: int) -> np.ndarray:
        """Places of the robot at a record, (n, 3) [m]."""
        solids = place_solids(self.robot, self.worn, self.arrays["q"][k])
        return np.vstack([solid.vertices for solid in solids])

    def index(self, time: float) -> int:
        """Of the record at a time, or the last one before [s]."""
        return max(int(np.searchsorted(self.time, time + 1e-9, side="right")) - 1, 0)

    def at(self, k: int) -> Sample:
        return {name: array[k] for name, array in self.arrays.items()}

    def strongest(self) -> float:
        """Largest contact force at a time, less the rare peaks of impacts [N]."""
        forces = np.linalg.norm(self.arrays.get("force", np.zeros((1, 1, 3))), axis=-1)
        largest = forces.max(axis=1, initial=0.0)
        acting = largest[largest > 0]
        return float(np.quantile(acting, USUAL)) if len(acting) else 0.0


def run_arrays(
    run: Recording, label: str = "", world: int = 0, robot: Robot | None = None
) -> RunArrays:
    """A world of a recording that holds q over time."""
    shown, robot = world_over_time(run, world), recorded_robot(run, robot)
    arrays = {name: shown[name].values for name in NAMES if _over_time(shown, name)}
    labels: dict[str, tuple[str, ...]] = {}
    if "point" in shown.coords:
        law = "point_law" if "point_law" in shown.coords else "surface"
        for name, coordinate in (("points", "point"), ("laws", law), ("surfaces", "surface")):
            labels[name] = tuple(str(x) for x in shown[coordinate].values)
    return RunArrays(label, robot, run.info, world, shown["time"].values, arrays, **labels)


def _over_time(shown: Any, name: str) -> bool:
    return name in shown and "time" in shown[name].dims
