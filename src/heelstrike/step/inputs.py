"""Inputs of a step: the symbols that all of it reads, parameters and memories."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import numpy as np

from heelstrike.dynamics.bodies import varied_inertias
from heelstrike.dynamics.tree import limbs, parts
from heelstrike.ir.adjoint import Implicit
from heelstrike.ir.program import Program
from heelstrike.parameters import with_values
from heelstrike.robot.robot import WORLD
from heelstrike.spatial.vector import SX
from heelstrike.step.control import JointControl
from heelstrike.step.freed import ARMATURE, COM, DAMPING, FRICTION, INERTIA, of_joints
from heelstrike.step.hull_table import HullTable
from heelstrike.step.plan import StepPlan, mass_path
from heelstrike.step.push import Push, push_path
from heelstrike.step.sensors import SensorMemory
from heelstrike.step.shape_tables import ShapeTables
from heelstrike.step.surfaces import (
    IMPULSE_MEMORY,
    TURNS,
    Surfaces,
    memory_size,
    slot_memory_size,
)
from heelstrike.step.torque import Limbs

WORKS = (
    "work_contact",
    "work_friction",
    "work_control",
    "work_stops",
    "work_joints",
    "work_push",
)
"""Names of the works that a step accounts for, in the order of its memory `work`; their sum is the
change of kinetic plus potential energy."""
FRICTION_EXPECTED = "joint friction, expected"
"""Name of the memory of states that dry friction of joints is expected to have in the next step
(joints.expected_friction)."""
FRICTION_LAST = "joint friction, last"
"""Name of the memory of torques of dry friction in the last step [N m or N]."""
FIELD_MEMORY = "contact field"
"""Name of the memory of the coupled bodies' anchors: y of contact/solver/anchors.py, over dt."""
CLEARANCE_MEMORY = "clearance"
"""Name of the memory of how far shapes of moving bodies are apart (clearance.py)."""
PARTED_MEMORY = "parted"
"""Name of the memory of pairs that may overlap where a run starts (parted.py)."""
LOST_CONTACTS = "lost_contacts"
"""Name of the memory of how often a pair of shapes found no slot, summed over the steps."""
PASSED_CONTACTS = "passed_contacts"
"""Name of the memory of how often a point under an elastic law passed the middle of a box, or a
shape that of another one."""
SLOT_KEYS, SLOT_MEMORY = "slot keys", "slot memory"
"""Names of the memories of contacts between shapes of moving bodies (slots.py): which pair has each
slot, and what its contacts remember, which means nothing in free slots."""
LAST_ACCELERATION = "tendon acceleration"
"""Name of the memory of accelerations of joints that tendons couple (tendons.py)."""
HELD = "held acceleration"
"""Name of the input of accelerations that decide the pieces of the joints' rows."""
IMPULSES = "impulse memory"
"""Name of the memory of coupled contacts, see IMPULSE_MEMORY."""
HELD_CONTACTS, HELD_FRICTION = "held contacts", "held friction"
"""Names of the inputs that are the memories of coupled contacts, and of the torques of dry
friction, after a step that was made (held.py)."""
HALF_STEP = "half step"
"""Name of the memory of half the change of velocities in the last step (half_step.py)."""
UNSHARED_MEMORY = "contact field, unshared"
"""Name of the memory of how far fields moved since loads were shared (solver/sharing.py)."""


@dataclass(frozen=True)
class FrictionMemory:
    """Memories of the dry friction of joints, as symbols."""

    expected: SX
    """State that each joint is expected to have: -1 or 1 where it slides, else 0."""
    last: SX
    """Torque of each joint in the last step [N m or N]."""

    @staticmethod
    def of(p: Program, count: int) -> FrictionMemory:
        """Declare the memories for a number of joints."""
        return FrictionMemory(*(p.memory(x, count) for x in (FRICTION_EXPECTED, FRICTION_LAST)))


class StepInputs:
    """Parameters and memories of a step, as symbols of its program."""

    def __init__(self, plan: StepPlan, thorough: bool = False, held: bool = False) -> None:
        self.plan = plan
        self.thorough = thorough
        """Whether coupled contacts are solved in full however well they began."""
        robot, scene = plan.robot, plan.scene
        self.limbs: Limbs = parts(robot)
        """Names of the limbs, and their velocity indices."""
        self.limb_of = {i: limb.name for limb in limbs(robot) for i in limb.joints}
        """Name of the limb of each body."""
        self.limb_of[WORLD] = "world"
        self.program = p = Program("step")
        self.q = p.memory("q", robot.nq, initial=robot.neutral)
        self.v = p.memory("v", robot.nv)
        self.work = p.memory("work", len(WORKS))
        """Works since the start [J], in the order of WORKS."""
        self.dt = p.input("dt", 1)
        self.held = p.input(HELD, robot.nv) if held else None
        """Accelerations that decide the pieces of the joints' rows (limits.py), and where contacts
        couple are those of the step (held.py); None: a search."""
        self.implicit: Implicit | None = None
        """Equations that the held values solve, of coupled contacts."""
        parameters = plan.parameters_without_masses()
        values = {path: p.input(path, value.size) for path, value in parameters.items()}
        masses = {name: p.input(mass_path(name), 1) for name in plan.varied}
        freed = {path: p.input(path, value.size) for path, value in plan.freed_values().items()}
        coms, whole = (
            {k.removesuffix(end): x for k, x in freed.items() if k.endswith(end)}
            for end in (COM, INERTIA)
        )
        self.inertias = varied_inertias(robot, masses, coms, whole)
        """Inertias of the bodies."""
        self.damping = of_joints(robot, DAMPING, robot.damping, freed)
        """Viscous damping by velocity index [N m s/rad, N s/m]."""
        self.armature = of_joints(robot, ARMATURE, robot.armature, freed)
        """Inertia of the rotors by velocity index [kg m^2, kg]."""
        self.dry = of_joints(robot, FRICTION, robot.friction, freed)
        """Dry friction by velocity index [N m, N]."""
        self.gravity = values["gravity"]
        self.stops = plan.stops and with_values(plan.stops, values, "stops.")
        self.surfaces = Surfaces(p, scene, values)
        self.pushes = [
            (robot.body(name), with_values(Push(), values, f"{push_path(k)}."))
            for k, name in enumerate(plan.pushes)
        ]
        """Bodies that are pushed, and their pushes."""
        joined = p.memory(LAST_ACCELERATION, len(plan.joined)) if plan.joined else SX(0, 1)
        self.last = dict(zip(plan.joined, ca.vertsplit(joined), strict=True)) if plan.joined else {}
        """Accelerations in the last step of joints that tendons couple, by velocity index."""
        self.sensors = SensorMemory(p, plan.sensors, values, self.dt)
        """Sensors, with what they showed after the last step."""
        own = values, self.dt, plan.implicit, self.last, self.sensors.readings()
        self.control = JointControl(p, robot, plan.control, *own, plan.motors)
        if (motors := self.control.motors) is not None:
            self.dry = motors.friction(self.dry)
            self.damping = self.damping + SX(motors.motors.damping)
        joints = plan.friction_joints
        self.friction = FrictionMemory.of(p, len(joints)) if joints else None
        """Memories of joints with dry friction; None: there are none."""
        sizes = [memory_size(scene, pair) for pair in scene.pairs]
        memory = p.memory("contact memory", sum(sizes)) if sum(sizes) else SX(0, 1)
        self.law_memories = [memory[a:b, :] for a, b in pairwise(np.cumsum([0, *sizes]))]
        """Memory of the law of each pair, a column."""
        contact = None if held else scene.shape_contact
        self.hulls = HullTable(p, scene)
        """Hulls of many corners."""
        self.shapes = None if contact is None else ShapeTables(p, contact)
        """Shapes of moving bodies that may touch; None: there are none."""
        slots = 0 if contact is None else contact.slots
        size = slot_memory_size(scene)
        kept = p.memory(SLOT_MEMORY, slots * size) if slots else SX(0, 1)
        self.slot_memories = [kept[n * size : (n + 1) * size] for n in range(slots)]
        """Memory of each slot, a column: its normal, then what its contacts remember."""
        self.slot_keys = ca.vertsplit(p.memory(SLOT_KEYS, slots)) if slots else []
        """Key of each slot, see Slot.key."""
        self.clearance = SX(0, 1) if contact is None else p.memory(CLEARANCE_MEMORY, 2)
        """Least distance of shapes that may touch [m], and a sum over q; see clearance.py."""
        started = 0 if contact is None else len(contact.overlapping)
        self.parted = p.memory(PARTED_MEMORY, started) if started else SX(0, 1)
        """Memory of the pairs that may overlap where a run starts, see parted.py."""
        coupled = len(plan.coupled_pairs) + TURNS * len(plan.turning_pairs)
        self.impulses = p.memory(IMPULSES, IMPULSE_MEMORY * coupled) if coupled else None
        """Memory of the coupled pairs, then of rows against their turning (turning.py), see
        IMPULSE_MEMORY; None if there are none."""
        self.held_contacts, self.held_friction = SX(0, 1), SX(0, 1)
        """Memories of coupled contacts and of dry friction after the step, where it is held."""
        if held and coupled:
            self.held_contacts = p.input(HELD_CONTACTS, IMPULSE_MEMORY * coupled)
            self.held_friction = p.input(HELD_FRICTION, len(joints)) if joints else SX(0, 1)
        bodies = sum(len(group) == 1 for group in plan.coupled_groups) if plan.is_swept else 0
        self.fields = p.memory(FIELD_MEMORY, 6 * bodies) if bodies else SX(0, 1)
        """Memory of the anchors of bodies that may touch the ground."""
        self.unshared = p.memory(UNSHARED_MEMORY, 1) if bodies and plan.shares_loads else None
        """Memory of UNSHARED_MEMORY; None where the motion decides how bodies share loads."""
        self.half_step = p.memory(HALF_STEP, len(plan.ahead)) if plan.ahead else None
        """Half the change of velocities in the last step of `plan.ahead`; None: there are none."""
        self.tolerance = values.get("solver.tolerance", SX(0))
        """Relative tolerance of the coupled problem [-]."""
        self.compliances = values.get("solver.compliance", SX(0, 1))
        """Velocity per impulse of the contacts of each coupled body [1/kg]."""
        self.correction = values.get("constraints.correction", SX(0))
        """Share of what constraints miss that a step takes off [-]."""
        self.softness = values.get("constraints.softness", SX(0))
        """Share of a loop's mobility below which its rows count as redundant [-]."""
