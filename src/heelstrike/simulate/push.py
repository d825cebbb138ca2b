"""Pushes: forces on bodies for a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from heelstrike.compile.program import Program
from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.spatial.motion import Force, force_at
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX


@dataclass(frozen=True)
class Push:
    """A force on a body from one step to another."""

    force: Sequence[float] = (0.0, 0.0, 0.0)
    """In world axes [N]."""
    point: Sequence[float] = (0.0, 0.0, 0.0)
    """Where it acts, in the body's frame [m]."""
    first: float = 0.0
    """Step at which it begins."""
    last: float = 0.0
    """Step at which it has ended."""


def pushed(
    p: Program,
    pushes: Sequence[tuple[int, Push]],
    kin: Kinematics,
    poses: Sequence[Transform],
    external: list[Force | None],
) -> SX:
    """Adds the pushes, whose parameters are symbols, to the bodies' forces; returns their power."""
    power = SX(0)
    if not pushes:
        return power
    with p.block("push"):
        for body, push in pushes:
            on = ca.logic_and(p.clock >= push.first, p.clock < push.last)
            own = poses[body].unrotate(ca.if_else(on, SX(push.force), 0))
            power = power + ca.dot(own, kin.velocities[body].at(SX(push.point)))
            force = force_at(SX(push.point), own)
            old = external[body]
            total = force if old is None else old + force
            external[body] = Force(p.let("push", total.linear), p.let("push", total.angular))
        return p.let("power", power)
