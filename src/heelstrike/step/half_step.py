"""Box 8 of [Sugihara2006], Fig. 4: velocities at the time of the coordinates.

The symplectic step moves with the new velocity, so that its velocities are those of the middle of
the last step, half a step behind the coordinates. Forces that are quadratic in velocities, those of
Coriolis and the bias J' v of constraints, are of the wrong time then, and the energy of fast
linkages drifts in proportion to dt. Robots with equality constraints take them at

    v + dt a / 2,        a of the last step

in joints with one coordinate, which is right to the second order; free bases have a correction of
their own (dynamics/flight.py). Where contacts couple, the velocities are as they are after steps in
which something touched: an impact would count one and a half times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from heelstrike.contact.solver.criteria import Ended
from heelstrike.dynamics.kinematics import Kinematics, with_velocity
from heelstrike.ir.guard import guarded
from heelstrike.spatial.motion import MotionVector
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.inputs import HALF_STEP, StepInputs
from heelstrike.step.state import StepState


@dataclass(frozen=True)
class Moving:
    """Velocities for forces that are quadratic in them."""

    kinematics: Kinematics
    v: SX


def moving_ahead(state: StepState) -> Moving:
    """Return the velocities at the time of the coordinates; outside blocks."""
    half, p, kin = state.inputs.half_step, state.program, state.kinematics
    if half is None:
        return Moving(kin, state.v)
    with p.block("half step"):
        v = SX(state.v)
        v[[*state.plan.ahead]] = p.let("v", state.v[[*state.plan.ahead]] + half)
    if not state.plan.couples:
        return Moving(with_velocity(p, state.robot, kin, v), v)
    return Moving(replace(kin, velocities=_in_flight(state, half)), v)


def _in_flight(state: StepState, half: SX) -> list[MotionVector]:
    """Return the velocities of the bodies, which change after steps in which nothing touched."""
    p, limb_of, change = state.program, state.inputs.limb_of, zeros(state.robot.nv)
    change[[*state.plan.ahead]] = half
    with p.block("half step"):
        flies = p.let("flies", ca.mmax(ca.fabs(half)) > 0)
    with guarded(p, "half step", flies) as guard:
        moved = with_velocity(p, state.robot, state.kinematics, change).velocities
        changes = []
        for i, own in enumerate(moved):
            with p.block("half step", limb=limb_of[i], member=i):
                changes.append(guard.leave("change", own.column))
    found = []
    for i, (now, own) in enumerate(zip(state.kinematics.velocities, changes, strict=True)):
        with p.block("ahead", limb=limb_of[i], member=i):
            linear = p.let("velocity", now.linear + own[:3])
            found.append(MotionVector(linear, p.let("velocity", now.angular + own[3:])))
    return found


def remember_half_step(inputs: StepInputs, a: SX, ended: SX | None) -> None:
    """Update the memory of the change of velocities; outside blocks.

    `ended` is the criterion that ended the coupled problem, if there is one.
    """
    if inputs.half_step is not None:
        with inputs.program.block("half step"):
            half = 0.5 * inputs.dt * a[[*inputs.plan.ahead]]
            if ended is not None:
                half = ca.if_else(ended == Ended.NO_CONTACT, half, 0)
            inputs.program.update(HALF_STEP, half)
