"""Pushes: forces on bodies for a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.ir.program import Program
from heelstrike.spatial.motion import Force, Motion, force_at
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
    poses: Sequence[Transform],
    external: list[Force | None],
) -> list[SX]:
    """Adds the pushes, whose parameters are symbols, to the bodies' forces; returns each push's
    force in its body's frame.
    """
    forces = []
    for body, push in pushes:
        with p.block("push"):
            on = ca.logic_and(p.clock >= push.first, p.clock < push.last)
            own = p.let("push", poses[body].unrotate(ca.if_else(on, SX(push.force), 0)))
            force = force_at(SX(push.point), own)
            old = external[body]
            total = force if old is None else old + force
            external[body] = Force(p.let("push", total.linear), p.let("push", total.angular))
            forces.append(own)
    return forces


def push_power(
    pushes: Sequence[tuple[int, Push]],
    forces: Sequence[SX],
    kin: Kinematics,
    poses: Sequence[Transform],
    felt: Sequence[Motion],
    gravity: SX,
    ahead: SX | float,
) -> SX:
    """Work of the pushes per time [W], at velocities `ahead` [s] of the step's start."""
    power = SX(0)
    for (body, push), force in zip(pushes, forces, strict=True):
        point = SX(push.point)
        rise = felt[body].at(point) + poses[body].unrotate(gravity)
        power = power + ca.dot(force, kin.velocities[body].at(point) + ahead * rise)
    return power
