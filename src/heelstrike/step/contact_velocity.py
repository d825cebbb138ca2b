"""Box 3 of [Sugihara2006], Fig. 4: contact velocities, normals, slip.

    d' = -nu . v,   slip = v - nu (nu . v)       [Sugihara2006] (4)-(6)

with v the point's velocity relative to the surface's material, and nu the normal (detect.py).

A contact that moves over an ellipsoid has the velocity of the body's material where the contact was
when the body had its velocity: in the middle of the last step (StepState.behind).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX, cross
from heelstrike.step.detect import Detection
from heelstrike.step.pair import PairInputs


@dataclass(frozen=True)
class ContactVelocity:
    """Velocity of a point relative to the material of a surface."""

    depth_rate: SX
    """Rate of the depth [m/s]."""
    slip: SX
    """Velocity along the two tangents, (2,) [m/s]."""
    flow: SX
    """Velocity of the surface's material, beyond that of its body, in world axes [m/s]."""


def contact_velocity(p: Program, pair: PairInputs, found: Detection) -> ContactVelocity:
    """Return the velocity of a detected pair; to be called inside a block."""
    flow = found.frame.rotate(pair.flow)
    velocity = -flow
    for side, lever in zip(found.sides, found.levers, strict=True):
        own = side.motion.at(lever)
        if side.share < 1:
            own = own - pair.behind * cross(side.motion.angular, side.lever_rate)
        velocity = velocity + own if side.sign > 0 else velocity - own
    rate = p.let("rate", -ca.dot(found.axes[2, :].T, velocity))
    slip = p.let("slip", found.axes[:2, :] @ velocity)
    return ContactVelocity(rate, slip, flow)


def tangent_position(
    point: SX, tangents: SX, memory: SX, slid: SX, slides: SX, touching: SX
) -> tuple[SX, SX]:
    """Return where a contact is on its surface, along its two tangents, and what to remember.

    `point` is the point on the surface's material, `tangents` has shape (2, 3). Tangents that
    change sum up the motion of the point along them, so that a law's anchor stays where it is. A
    sphere, whose contact moves while it rolls, sums up its slip: `slid` until now, `slides` until
    the next step [m].
    """
    if memory.numel() == 2:
        return memory + slid, ca.if_else(touching, memory + slides, 0)
    if memory.numel() == 5:
        along = memory[:2] + tangents @ (point - memory[2:])
        return along, ca.vertcat(along, point)
    return tangents @ point, memory
