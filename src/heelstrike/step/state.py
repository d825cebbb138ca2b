"""State of a step, which one object carries through the boxes of the flowchart, and their results.

`StepInputs` holds the symbols that the whole step reads: parameters and memories. `StepState` is
the state of one evaluation of the equations of motion: the integrator rk4 makes four in a step,
the others one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from heelstrike.contact.surface_law import PointState, SurfaceLaw
from heelstrike.dynamics.bodies import varied_inertias
from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.dynamics.loop_sweep import ClosedLoop
from heelstrike.dynamics.tree import limbs, parts
from heelstrike.ir.arguments import LABEL
from heelstrike.ir.guard import OpenGuard
from heelstrike.ir.program import Program
from heelstrike.parameters import with_values
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.scene.scene import Pair, Scene
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, constant, zeros
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
    SurfaceState,
    memory_size,
    slot_memory_size,
)
from heelstrike.step.torque import Limbs

if TYPE_CHECKING:
    from heelstrike.step.body_forces import BodyForce
    from heelstrike.step.slot_contacts import ShapeContacts

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
FRICTION_MEMORY = ("joint friction, expected", "joint friction, last")
"""Memories of joints with dry friction, see joints.expected_friction."""
FIELD_MEMORY = "contact field"
"""Name of the memory of the coupled bodies' anchors: y of contact/solver/anchors.py, over dt."""
CLEARANCE_MEMORY = "clearance"
"""Name of the memory of how far shapes of moving bodies are apart (clearance.py)."""
PARTED_MEMORY = "parted"
"""Name of the memory of pairs that may overlap where a run starts (parted.py)."""
LOST_CONTACTS = "lost_contacts"
"""Name of the memory of how often a pair of shapes found no slot, summed over the steps."""
PASSED_CONTACTS = "passed_contacts"
"""Name of the memory of how often a point under an elastic law passed the middle of a box."""
SLOT_KEYS, SLOT_MEMORY = "slot keys", "slot memory"
"""Names of the memories of contacts between shapes of moving bodies (slots.py): which pair has each
slot, and what its contacts remember, which means nothing in free slots."""
LAST_ACCELERATION = "tendon acceleration"
"""Name of the memory of accelerations of joints that tendons couple (tendons.py)."""
HELD = "held acceleration"
"""Name of the input of accelerations that decide the pieces of the joints' rows."""
HALF_STEP = "half step"
"""Name of the memory of half the change of velocities in the last step (half_step.py)."""
UNSHARED_MEMORY = "contact field, unshared"
"""Name of the memory of how far fields moved since loads were shared (solver/sharing.py)."""


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
        """Accelerations that decide the pieces of the joints' rows (limits.py); None: a search."""
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
        self.friction = [p.memory(name, len(joints)) for name in FRICTION_MEMORY if joints]
        """Memories of joints with dry friction, in the order of FRICTION_MEMORY."""
        sizes = [memory_size(scene, pair) for pair in scene.pairs]
        memory = p.memory("contact memory", sum(sizes)) if sum(sizes) else SX(0, 1)
        self.law_memories = [memory[a:b, :] for a, b in pairwise(np.cumsum([0, *sizes]))]
        """Memory of the law of each pair, a column."""
        contact = scene.shape_contact
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
        self.impulses = p.memory("impulse memory", IMPULSE_MEMORY * coupled) if coupled else None
        """Memory of the coupled pairs, then of rows against their turning (turning.py), see
        IMPULSE_MEMORY; None if there are none."""
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


@dataclass(frozen=True)
class StepState:
    """State of a scene in one evaluation of the equations of motion, as symbols."""

    inputs: StepInputs
    q: SX
    """Coordinates of the robot."""
    v: SX
    """Velocities of the robot."""
    stage: float
    """Time of this evaluation since the start of the step, as a fraction of dt."""
    kinematics: Kinematics
    """Placements and velocities of the bodies, and their inertias."""
    poses: list[Transform]
    """Placements of the bodies in the world."""
    motions: dict[int, MotionVector]
    """Velocities of the bodies that take part in contacts, in world axes."""
    surfaces: list[SurfaceState]
    """Surfaces of the scene at this time."""

    @property
    def program(self) -> Program:
        return self.inputs.program

    @property
    def plan(self) -> StepPlan:
        return self.inputs.plan

    @property
    def scene(self) -> Scene:
        return self.plan.scene

    @property
    def robot(self) -> Robot:
        return self.plan.robot

    @property
    def dt(self) -> SX:
        """Time step [s]."""
        return self.inputs.dt

    @property
    def gravity(self) -> SX:
        """Gravity in world axes, (3,) [m/s^2]."""
        return self.inputs.gravity

    @property
    def ahead(self) -> SX | float:
        """Time from this state to that at which torques of the joints are taken [s]."""
        return self.dt if self.plan.implicit else 0.0

    @property
    def middle(self) -> SX | float:
        """Time from this state to the middle of the interval in which its forces act [s]."""
        return 0.0 if self.plan.integrator == "rk4" else 0.5 * self.dt

    @property
    def behind(self) -> SX | float:
        """Time by which velocities are behind coordinates: the symplectic step, which moves with
        the new velocity, makes them those of the middle of the last step [s]."""
        return 0.5 * self.dt if self.plan.implicit else 0.0

    @property
    def since_memory(self) -> SX:
        """Time for which the present slip has lasted since the laws' memory was written [s]."""
        return self.dt if self.plan.implicit else self.stage * self.dt


@dataclass(frozen=True)
class MovingBody:
    """A moving body of a pair."""

    number: int = field(metadata=LABEL)
    pose: Transform
    """Its placement in the world."""
    motion: MotionVector
    """Its velocity, in world axes."""


@dataclass(frozen=True)
class PairInputs:
    """All that a pair of point and surface reads: symbols, and choices that decide its code."""

    position: SX
    """The point, of a sphere or an ellipsoid its centre, in the frame of its body [m]."""
    radius: float
    """Radius of a sphere; 0: a point [m]."""
    half_axes: SX | None
    """Half axes of an ellipsoid as columns, in the frame of its body, (3, 3) [m]; None: it is no
    ellipsoid."""
    extent: float
    """Largest half axis of a sphere or an ellipsoid [m]."""
    rolling_lever: float
    """Radius at which a sphere or an ellipsoid rolls [m]."""
    body: MovingBody | None
    """Body of the point; None: it is fixed."""
    carrier: MovingBody | None
    """Body that the surface rides on; None: the world."""
    surface: SurfaceState | None
    """Surface that the point may touch; None for a contact of two shapes."""
    part: int
    """Index in the surface's parts."""
    law: SurfaceLaw
    memory: SX
    """What the pair remembers of the last step, a column."""
    last: SX | None
    """Normal force of a coupled pair in the last step [N]."""
    gravity: SX
    """In world axes, (3,) [m/s^2]."""
    dt: SX
    """Time step [s]."""
    since_memory: SX
    """Time for which the present slip has lasted since the memory was written [s]."""
    behind: SX | float
    """Time by which velocities are behind coordinates [s]."""
    flow: SX
    """Velocity of the surface's material beyond that of its body, in its frame [m/s]."""
    halfway: SX | None = None
    """Depth from which on a contact may leave by the other side [m]; None: nothing is thin."""
    present: SX | None = None
    """1 where the pair exists; None: it always does."""

    @property
    def travel(self) -> SX:
        """Distance that the surface's material has moved, in its frame [m]."""
        return zeros() if self.surface is None else self.surface.travel


def pair_inputs(state: StepState, k: int) -> PairInputs:
    """Return what pair k reads."""
    inputs, pair = state.inputs, state.scene.pairs[k]
    law = inputs.surfaces.laws[pair.law]
    last = None
    if law.couples:
        assert inputs.impulses is not None
        last = inputs.impulses[IMPULSE_MEMORY * state.plan.coupled_pairs.index(k) + 2]

    def moving(body: int | None) -> MovingBody | None:
        if body is None or body == WORLD:
            return None
        return MovingBody(body, state.poses[body], state.motions[body])

    return PairInputs(
        position=constant(pair.point.position),
        radius=pair.point.radius,
        half_axes=None if pair.point.half_axes is None else constant(pair.point.half_axes),
        extent=pair.point.roundness,
        rolling_lever=pair.point.lever,
        body=moving(pair.point.body),
        carrier=moving(pair.carrier),
        surface=state.surfaces[pair.surface],
        part=pair.part,
        law=law,
        memory=inputs.law_memories[k],
        last=last,
        gravity=state.gravity,
        dt=state.dt,
        since_memory=state.since_memory,
        behind=state.behind,
        flow=state.surfaces[pair.surface].surface.material_velocity,
        halfway=_halfway(state, pair),
    )


def _halfway(state: StepState, pair: Pair) -> SX | None:
    """Return half the depth at which a point is in the middle of a thin surface [m].

    It is None for surfaces that are not thin, and for those on bodies.
    """
    thickness = state.surfaces[pair.surface].surface.thickness
    if thickness is None or pair.carrier is not None:
        return None
    return (thickness + 2 * pair.point.radius) / 4


@dataclass(frozen=True)
class Side:
    """A moving body that takes part in a contact."""

    body: int = field(metadata=LABEL)
    lever: SX
    """Vector from the body's origin to the contact, in world axes [m]."""
    sign: float
    """1 for the body of the point, -1 for the one that carries the surface."""
    lever_rate: SX
    """Rate of the lever; of a sphere, that of its centre [m/s]."""
    share: float
    """Part of the step after which a coupled contact has the velocity of its target: 1, the end;
    0.5, the middle, where the contact moves over an ellipsoid."""
    motion: MotionVector
    """Velocity of the body, in world axes."""


@dataclass(frozen=True)
class PairState:
    """A pair of point and surface in this step, with the force between them, as symbols."""

    position: SX
    """Position of the contact point in the world [m]."""
    depth: SX
    """Signed depth [m]."""
    depth_rate: SX
    """Rate of the depth, positive while approaching [m/s]."""
    slip: SX
    """Velocity along the two tangents, (2,) [m/s]."""
    normal: SX
    """Normal force [N]."""
    tangent: SX
    """Friction along the two tangents, (2,) [N]."""
    memory: SX
    """Memory of the pair for the next step."""
    axes: SX
    """Tangents and normal as rows, in the world, (3, 3)."""
    sides: tuple[Side, ...]
    """Moving bodies of the pair."""
    flow: SX
    """Velocity of the surface's material, beyond that of its body, in the world [m/s]."""
    moment: SX | None
    """Friction against rolling, about the two tangents, and spinning, (3,) [N m]; None: none."""
    point: PointState | None = None
    """State from which a law that couples sets its target."""
    passes: SX | None = None
    """1 where it will be past the middle of a box after the step; None: nothing keeps it from
    that, or nothing is thin."""


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
    friction_state: SX
    """State of joints with dry friction: -1 or 1 where one slides, else 0."""
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
