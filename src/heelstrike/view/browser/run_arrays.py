"""One world of a recording as plain arrays over time, from which the viewer's nodes are placed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.robot.robot import Robot
from heelstrike.view.render.robot_solids import BodySolids, place_solids, robot_solids
from heelstrike.view.render.snapshots import SELF_FORCES, recorded_robot, world_over_time

if TYPE_CHECKING:
    import xarray as xr

    from heelstrike.record.recording import Recording

NAMES = (
    "q",
    "v",
    "torque",
    "contact_position",
    "depth",
    "slip",
    "normal_force",
    "force",
    "touching",
    "cop",
    "zmp",
    "com",
    "kinetic",
    "potential",
    "work_contact",
    "work_friction",
    "work_control",
    "work_push",
    *SELF_FORCES,
)
"""Variables of a recording that the viewer shows, if they were recorded."""

FORCE_QUANTILE = 0.9
"""Quantile of the contact force that sets the scale of arrows."""

Sample = Mapping[str, np.ndarray]
"""Variables at one time, by name."""


@dataclass(frozen=True, eq=False)
class RunArrays:
    """The arrays of a run that the viewer shows."""

    label: str
    robot: Robot
    info: dict[str, Any]
    """Attributes of the recording: laws, surfaces, parameters."""
    world: int
    time: np.ndarray
    """(n,) [s]"""
    arrays: Mapping[str, np.ndarray]
    """Variables by name, (n, ...)."""
    points: tuple[str, ...] = ()
    """Names of the contacts."""
    laws: tuple[str, ...] = ()
    """The surface, or body, whose law applies at each contact."""
    surfaces: tuple[str, ...] = ()
    """The surface of each contact."""

    @cached_property
    def solids(self) -> BodySolids:
        """The solids of the robot."""
        return robot_solids(self.robot)

    def vertices(self, k: int) -> np.ndarray:
        """Return the vertices of the robot at record k, (n, 3) [m]."""
        return self.vertices_at(self.arrays["q"][k])

    def vertices_at(self, q: np.ndarray) -> np.ndarray:
        """Return the vertices of the robot at coordinates q, (n, 3) [m]."""
        solids = place_solids(self.robot, self.solids, q)
        return np.vstack([solid.vertices for solid in solids])

    def index(self, time: float) -> int:
        """Return the index of the last record up to a time [s]."""
        return max(int(np.searchsorted(self.time, time + 1e-9, side="right")) - 1, 0)

    def at(self, k: int) -> Sample:
        """Return the variables at record k."""
        return {name: array[k] for name, array in self.arrays.items()}

    def typical_peak_force(self) -> float:
        """Return the largest contact force at a time, without the rare peaks of impacts [N]."""
        forces = np.linalg.norm(self.arrays.get("force", np.zeros((1, 1, 3))), axis=-1)
        largest = forces.max(axis=1, initial=0.0)
        acting = largest[largest > 0]
        return float(np.quantile(acting, FORCE_QUANTILE)) if len(acting) else 0.0


def run_arrays(
    run: Recording, label: str = "", world: int = 0, robot: Robot | None = None
) -> RunArrays:
    """Return the arrays of one world of a recording that holds q over time."""
    shown, robot = world_over_time(run, world), recorded_robot(run, robot)
    arrays = {name: shown[name].values for name in NAMES if _over_time(shown, name)}
    labels: dict[str, tuple[str, ...]] = {}
    if "point" in shown.coords:
        law = "point_law" if "point_law" in shown.coords else "surface"
        for name, coordinate in (("points", "point"), ("laws", law), ("surfaces", "surface")):
            labels[name] = tuple(str(x) for x in shown[coordinate].values)
    return RunArrays(label, robot, run.info, world, shown["time"].values, arrays, **labels)


def _over_time(shown: xr.Dataset, name: str) -> bool:
    return name in shown and "time" in shown[name].dims
