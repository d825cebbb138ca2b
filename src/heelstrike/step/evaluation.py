"""Results of an evaluation of the equations of motion: contacts, loads, accelerations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from heelstrike.dynamics.loop_sweep import ClosedLoop
from heelstrike.ir.guard import OpenGuard
from heelstrike.ir.program import Program
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.pair import PairState
from heelstrike.step.state import StepState

if TYPE_CHECKING:
    from heelstrike.step.body_forces import BodyForce
    from heelstrike.step.slot_contacts import ShapeContacts


@dataclass(frozen=True)
class Load:
    """Effect of normal forces, or of friction, on a body, in world axes."""

    force: ForceVector
    """Force and moment about the body's origin [N, N m]."""
    power: SX
    """Power at the start of the step [W]."""

    def __add__(self, other: Load) -> Load:
        return Load(self.force + other.force, self.power + other.power)

    def let(self, p: Program) -> Load:
        """Return the same load as symbols of the program."""
        force = ForceVector(p.let("load", self.force.linear), p.let("load", self.force.angular))
        return Load(force, p.let("power", self.power))


NO_LOAD = Load(ForceVector(zeros(), zeros()), SX(0))
"""No effect."""
Loads = dict[int, tuple[Load, Load]]
"""Loads by body: of the normal forces and of friction."""
Group = tuple[int, ...]
"""Moving bodies that a pair joins, see Scene.groups."""


@dataclass(frozen=True)
class Contacts:
    """All pairs of an evaluation, and their forces on the bodies."""

    pairs: list[PairState]
    """In the order of the scene. Of pairs under a guard, depth, forces and memory can be read
    outside it; they are 0 where it is skipped."""
    forces: dict[int, ForceVector]
    """Forces on each body that takes part, in its frame."""
    loads: list[tuple[OpenGuard | None, Loads]]
    """Guards, and loads that exist inside them."""
    guards: dict[Group, OpenGuard | None]
    """Guards of the groups (near.py); None: always evaluated."""
    slots: ShapeContacts | None = None
    """Contacts between shapes of moving bodies."""


@dataclass(frozen=True)
class CoupledSolution:
    """Solution of the coupled problem."""

    a: SX
    """Joint accelerations."""
    specific: list[MotionVector]
    """Accelerations of the bodies less gravity, in their frames."""
    contacts: Contacts
    """Contacts with the coupled forces added."""
    memory: SX
    """Memory of the coupled pairs for the next step, see IMPULSE_MEMORY."""
    rounds: SX
    """Evaluations of the problem."""
    ended: SX
    """Criterion that ended it (contact/solver/criteria.Ended)."""
    residual: SX
    """Velocity by which contacts miss their law [m/s]."""
    multipliers: list[SX] = field(default_factory=list)
    """Forces of the rows of each constraint of the robot."""


@dataclass(frozen=True)
class Evaluation:
    """Result of one evaluation of the equations of motion: boxes 1 to 8."""

    state: StepState
    contacts: Contacts
    a: SX
    """Joint accelerations."""
    specific: list[MotionVector]
    """Accelerations of the bodies less gravity, in their frames."""
    torque: SX
    """Torque applied by the control, by velocity index [N m or N]."""
    sliding: SX
    """Whether each joint with dry friction slides, 1 or 0."""
    friction_torque: SX
    """Torque of dry friction, by velocity index [N m or N]."""
    passive_torque: SX
    """Torque of damping and springs, by velocity index [N m or N]."""
    body_forces: list[BodyForce]
    """Pushes and gravity compensation."""
    coupled: CoupledSolution | None
    power: SX
    """Powers in the order of WORKS [W]."""
    pushed: dict[int, SX]
    """Contact force on each body that takes part, in world axes [N]."""
    loops: list[ClosedLoop]
    """Closed loops of the robot."""
    multipliers: list[SX]
    """Forces of the rows of each constraint of the robot."""
