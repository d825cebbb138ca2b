"""Stops: springs and dampers at the ends of the joints' ranges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heelstrike.errors import ParameterError
from heelstrike.parameters import check_numbers
from heelstrike.robot.robot import Robot
from heelstrike.scene.servo import NO_LIMIT

DEFAULT_DEFLECTION = 0.01
"""Deflection of a stop of default stiffness under the joint's torque limit [rad or m]."""
DEFAULT_STIFFNESS = 1e3
"""Stiffness of a stop at a joint without a torque limit [N m/rad or N/m]."""
DAMPING_TIME = 0.01
"""Default damping of a stop over its stiffness [s]."""


@dataclass(frozen=True)
class Stops:
    """Springs and dampers at the ends of the joints' ranges.

    By default, the torque limit of a joint deflects its stop by 0.01 rad (1000 N m/rad at a joint
    without a limit), and the damping is the stiffness times 10 ms.

    Args:
        k: stiffness [N m/rad or N/m]; None: by the joint's torque limit.
        c: damping while the joint moves further into the stop [N m s/rad or N s/m]; None: 10 ms
            k.

    Examples:
        >>> stops = hs.Stops(k=500.0, c=5.0)
        >>> sim = hs.Simulator(hs.Scene(hs.load("hoap1"), hs.Plane()), stops=stops)
    """

    k: float | None = None
    c: float | None = None

    def __post_init__(self) -> None:
        for name in ("k", "c"):
            value = getattr(self, name)
            if not (value is None or (isinstance(value, int | float) and 0 <= value < NO_LIMIT)):
                raise ParameterError(name, value, "a number of at least 0", owner="Stops")

    def resolved(self, robot: Robot) -> StopsPlan:
        """Return stiffness and damping by velocity index."""
        limit = robot.torque_limit
        own = np.where(limit < NO_LIMIT, limit / DEFAULT_DEFLECTION, DEFAULT_STIFFNESS)
        k = np.broadcast_to(own if self.k is None else self.k, (robot.nv,)).astype(float)
        c = DAMPING_TIME * k if self.c is None else self.c
        return StopsPlan(k, np.broadcast_to(c, (robot.nv,)).astype(float))


@dataclass(frozen=True, eq=False)
class StopsPlan:
    """Stops of a robot: stiffness and damping by velocity index."""

    k: np.ndarray
    c: np.ndarray

    def __post_init__(self) -> None:
        check_numbers(self, k=(0, NO_LIMIT), c=(0, NO_LIMIT))
