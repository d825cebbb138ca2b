"""Box 8 of [Sugihara2006], Fig. 4: pushes, forces on bodies between two steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from heelstrike.spatial.motion import ForceVector, MotionVector, force_at
from heelstrike.spatial.vector import SX, add_cross

if TYPE_CHECKING:
    from heelstrike.step.state import StepState


@dataclass(frozen=True)
class Push:
    """A force on a body from one step to another."""

    force: Sequence[float] = (0.0, 0.0, 0.0)
    """Force in world axes [N]."""
    point: Sequence[float] = (0.0, 0.0, 0.0)
    """Point of application in the body's frame [m]."""
    first: float = 0.0
    """Step at which it begins."""
    last: float = 0.0
    """Step at which it has ended."""


def push_path(number: int) -> str:
    """Return the path of the parameters of a push, which are numbered from 0."""
    return f"push{number}"


def add_pushes(state: StepState, external: list[ForceVector | None]) -> list[SX]:
    """Add the pushes to the forces on the bodies, which are in the bodies' frames.

    Returns the force of each push in the frame of its body [N].
    """
    p, forces = state.program, []
    for body, push in state.inputs.pushes:
        with p.block("push"):
            on = ca.logic_and(p.clock >= push.first, p.clock < push.last)
            own = p.let("push", state.poses[body].unrotate(ca.if_else(on, SX(push.force), 0)))
            force = force_at(SX(push.point), own)
            old = external[body]
            total = force if old is None else old + force
            external[body] = ForceVector(p.let("push", total.linear), p.let("push", total.angular))
            forces.append(own)
    return forces


def push_power(
    state: StepState, forces: Sequence[SX], specific: Sequence[MotionVector], ahead: SX | float
) -> SX:
    """Return the power of the pushes [W] at velocities `ahead` [s] of the start of the step.

    `specific` are the bodies' accelerations less gravity, in their frames.
    """
    power = SX(0)
    for (body, push), force in zip(state.inputs.pushes, forces, strict=True):
        point = SX(push.point)
        moving = state.kinematics.velocities[body]
        turned = add_cross(state.poses[body].unrotate(state.gravity), moving.angular, moving.linear)
        rise = specific[body].at(point) + turned
        power = power + ca.dot(force, moving.at(point) + ahead * rise)
    return power
