"""Box 8 of [Sugihara2006], Fig. 4: acceleration.

    (H + diag(slope)) a + b = tau + sum J^T f       [Sugihara2006] (1)

with the torques of control, damping, springs, dry friction and stops (torque.py, limits.py), and
the forces of contacts and on bodies (body_forces.py). Where contacts couple, boxes 5 to 7
(coupled.py) find it: whether a joint reaches its limit depends on the contact forces.
"""

from __future__ import annotations

from dataclasses import dataclass

from heelstrike.dynamics.aba import forward_dynamics
from heelstrike.dynamics.loop_sweep import ClosedLoop
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.vector import SX
from heelstrike.step.body_forces import BodyForce, add_body_forces
from heelstrike.step.closed_loops import closed_loops
from heelstrike.step.evaluation import Contacts, CoupledSolution
from heelstrike.step.half_step import Moving, moving_ahead
from heelstrike.step.held import accelerate_held
from heelstrike.step.joints import friction_torque, passive_torque, stop_torque
from heelstrike.step.limits import solve_limited
from heelstrike.step.literal import accelerate_literal
from heelstrike.step.state import StepState
from heelstrike.step.swept import accelerate_swept
from heelstrike.step.torque import LimitedSolution, Torque


@dataclass(frozen=True)
class Acceleration:
    """Accelerations, and the forces and torques that cause them."""

    a: SX
    """Joint accelerations."""
    specific: list[MotionVector]
    """Accelerations of the bodies less gravity, in their frames."""
    contacts: Contacts
    """Contacts with all forces, coupled ones included."""
    coupled: CoupledSolution | None
    """Solution of the coupled problem, if any contact couples."""
    torques: list[SX]
    """Applied torques of the control, damping with springs, dry friction and, where there are any,
    stops [N m or N]."""
    sliding: SX
    """Whether each joint with dry friction slides, 1 or 0."""
    body_forces: list[BodyForce]
    """Pushes and gravity compensation."""
    loops: list[ClosedLoop]
    """Closed loops of the robot."""
    multipliers: list[SX]
    """Forces of the rows of each constraint of the robot."""


def accelerate(state: StepState, contacts: Contacts) -> Acceleration:
    """Return the accelerations under elastic forces, pushes, torques and coupled contacts."""
    robot, inputs = state.robot, state.inputs
    external: list[ForceVector | None] = [contacts.forces.get(i) for i in range(len(robot.joints))]
    body_forces = add_body_forces(state, external)
    torques = [
        inputs.control.torque(state.q, state.v, state.stage),
        passive_torque(state),
        friction_torque(state),
    ]
    if inputs.stops is not None:
        torques.append(stop_torque(state))
    coupled: CoupledSolution | None = None
    moving = moving_ahead(state)
    loops = closed_loops(state, moving)
    if not state.plan.couples:
        limited, specific, multipliers = _accelerate(state, moving, external, torques, loops)
    else:
        memory = SX(0, 1) if inputs.impulses is None else inputs.impulses
        if inputs.held is not None:
            limited, coupled = accelerate_held(state, contacts, external, torques, memory)
        elif state.plan.is_swept:
            problem = contacts, external, torques, memory, loops
            limited, coupled = accelerate_swept(state, moving, *problem)
        else:
            limited, coupled = accelerate_literal(state, contacts, external, torques, memory)
        specific, contacts = coupled.specific, coupled.contacts
        multipliers = coupled.multipliers
    joints = limited.a, specific, contacts, coupled, limited.applied, limited.sliding
    return Acceleration(*joints, body_forces, loops, multipliers)


def _accelerate(
    state: StepState,
    moving: Moving,
    external: list[ForceVector | None],
    torques: list[Torque],
    loops: list[ClosedLoop],
) -> tuple[LimitedSolution, list[MotionVector], list[SX]]:
    """Return accelerations of joints and bodies without coupled contacts, and forces of loops."""
    p, robot, solved = state.program, state.robot, []

    def solve(tau: SX, slope: SX) -> tuple[SX, SX]:
        diagonal = state.inputs.armature + slope
        motion = robot, moving.kinematics, moving.v, tau, state.gravity, diagonal
        solved.append(forward_dynamics(p, *motion, external, loops=loops))
        return solved[0].a, SX(0, 1)

    limited = solve_limited(p, state.inputs.limbs, torques, solve, held=state.inputs.held)
    return limited, solved[0].bodies, solved[0].multipliers
