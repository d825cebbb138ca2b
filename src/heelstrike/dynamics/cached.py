"""Compiled programs of robots, from the cache where it has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from heelstrike.dynamics.fingerprint import fingerprint
from heelstrike.robot.robot import Robot
from heelstrike.runtime.cache import cached_kernel
from heelstrike.runtime.kernel import Kernel

if TYPE_CHECKING:
    from heelstrike.ir.program import Program


def flight_kernel(
    robot: Robot, integrator: str = "symplectic", vary: Sequence[str] = (), **options: Any
) -> Kernel:
    """The compiled `flight` of a robot; options are those of `cached_kernel`."""

    def build() -> Program:
        from heelstrike.dynamics.flight import flight  # what a hit does not need: CasADi

        return flight(robot, integrator, vary)

    key = ("flight", integrator, list(vary), fingerprint(robot))
    return cached_kernel(key, build, **options)
