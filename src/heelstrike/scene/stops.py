"""Springs and dampers at the ends of the joints' ranges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heelstrike.errors import ParameterError
from heelstrike.parameters import check_numbers
from heelstrike.robot.robot import Robot
from heelstrike.scene.servo import NO_LIMIT

GIVE = 0.01
"""A stop's default stiffness lets the joint's largest torque turn it by this [rad or m]."""
PLAIN = 1e3
"""A stop's stiffness at a joint without a torque limit [N m/rad or N/m]."""
LAG = 0.01
"""A stop's default damping is its stiffness times this [s]."""


@dataclass(frozen=True)
class Stops:
    """Springs and dampers at the ends of the joints' ranges.

    By default a joint's torque limit bends its stop by 0.01 rad (without a limit: 1000 N m/rad),
    and the damping is the stiffness times 10 ms.
    """

    k: float | None = None
    """Stiffness [N m/rad or N/m]."""
    c: float | None = None
    """Damping on the way in [N m s/rad or N s/m]."""

    def __post_init__(self) -> None:
        for name in ("k", "c"):
            value = getattr(self, name)
            if not (value is None or (isinstance(value, int | float) and 0 <= value < NO_LIMIT)):
                raise ParameterError(name, value, "a number of at least 0", owner="Stops")

    def resolved(self, robot: Robot) -> StopsPlan:
        """By velocity index, for joints whose position is one number and has an end."""
        limit = robot.torque_limit
        k = np.where(limit < NO_LIMIT, limit / GIVE, PLAIN) if self.k is None else self.k
        k = np.broadcast_to(k, (robot.nv,)).astype(float)
        c = np.broadcast_to(LAG * k if self.c is None else self.c, (robot.nv,)).astype(float)
        return StopsPlan(k, c)


@dataclass(frozen=True, eq=False)
class StopsPlan:
    """Stops of a certain robot."""

    k: np.ndarray
    c: np.ndarray

    def __post_init__(self) -> None:
        check_numbers(self, k=(0, NO_LIMIT), c=(0, NO_LIMIT))
