"""Box 8 of [Sugihara2006], Fig. 4: pushes, forces on bodies between two steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from heelstrike.spatial.motion import ForceVector, force_at
from heelstrike.spatial.vector import SX

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


def pushes(state: StepState) -> list[tuple[int, ForceVector]]:
    """Return the pushes with their bodies, about the origins and in the axes of these."""
    p, found = state.program, []
    for body, push in state.inputs.pushes:
        with p.block("push"):
            on = ca.logic_and(p.clock >= push.first, p.clock < push.last)
            own = p.let("push", state.poses[body].unrotate(ca.if_else(on, SX(push.force), 0)))
            force = force_at(SX(push.point), own)
            found.append((body, ForceVector(own, p.let("push", force.angular))))
    return found
