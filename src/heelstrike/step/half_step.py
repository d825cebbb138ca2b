"""Box 8 of [Sugihara2006], Fig. 4: velocities at the time of the coordinates.

The symplectic step moves with the new velocity, so that its velocities are those of the middle of
the last step, half a step behind the coordinates. Forces that are quadratic in velocities, those of
Coriolis and the bias J' v of constraints, are of the wrong time then, and the energy of fast
linkages drifts in proportion to dt. Robots with equality constraints take them at

    v + dt a / 2,        a of the last step

in joints with one coordinate, which is right to the second order; free bases have a correction of
their own (dynamics/flight.py). Where contacts couple, the velocities are as they are: an impact
would count one and a half times.
"""

from __future__ import annotations

from dataclasses import dataclass

from heelstrike.dynamics.kinematics import Kinematics, with_velocity
from heelstrike.spatial.vector import SX
from heelstrike.step.state import HALF_STEP, StepInputs, StepState


@dataclass(frozen=True)
class Moving:
    """Velocities for forces that are quadratic in them."""

    kinematics: Kinematics
    v: SX


def moving_ahead(state: StepState) -> Moving:
    """Return the velocities at the time of the coordinates; outside blocks."""
    half, p = state.inputs.half_step, state.program
    if half is None:
        return Moving(state.kinematics, state.v)
    with p.block("half step"):
        v = SX(state.v)
        v[[*state.plan.ahead]] = p.let("v", state.v[[*state.plan.ahead]] + half)
    return Moving(with_velocity(p, state.robot, state.kinematics, v), v)


def remember_half_step(inputs: StepInputs, a: SX) -> None:
    """Update the memory of the change of velocities; outside blocks."""
    if inputs.half_step is not None:
        with inputs.program.block("half step"):
            inputs.program.update(HALF_STEP, 0.5 * inputs.dt * a[[*inputs.plan.ahead]])
