"""Plan of a step: everything that decides its compiled code, and its run-time parameters."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np

from heelstrike.contact.surface_law import CouplingRule
from heelstrike.dynamics.effective_mass import contact_compliances
from heelstrike.dynamics.loop_mobility import SOFTNESS
from heelstrike.dynamics.loops import is_joined
from heelstrike.dynamics.tree import is_overdetermined
from heelstrike.errors import HeelstrikeError
from heelstrike.parameters import parameters, structure
from heelstrike.robot.fingerprint import fingerprint
from heelstrike.robot.robot import Robot
from heelstrike.scene.actuators import ActuatorPlan
from heelstrike.scene.motors import MotorPlan
from heelstrike.scene.scene import Scene, bodies_in
from heelstrike.scene.sensor import SEED, SensorPlan
from heelstrike.scene.stops import StopsPlan
from heelstrike.step.cones import cone_indices
from heelstrike.step.control import MOTORS, Control, control_key, parameter_prefix
from heelstrike.step.freed import INERTIA, freeable
from heelstrike.step.push import Push, push_path
from heelstrike.step.surfaces import patch_of
from heelstrike.step.tendons import joined

CORRECTION = 1.0
"""Share of what constraints miss that a step takes off [-]."""
FREEDOMS = {1: 3, 2: 5}
"""Independent velocities of one or two points of a body; more points have 6."""


@dataclass(frozen=True)
class StepPlan:
    """All choices that decide the compiled step of a scene."""

    scene: Scene
    integrator: str
    """"symplectic", "euler" or "rk4"."""
    control: Control
    """What drives the joints."""
    stops: StopsPlan | None
    """Stops at the ends of the joints' ranges; None: joints have no stops."""
    motors: MotorPlan | None = None
    """Motors between the control and the joints; None: torques act as they are."""
    sensors: tuple[SensorPlan, ...] = ()
    """Quantities that every step measures."""
    pushes: tuple[str, ...] = ()
    """Bodies that pushes act on."""
    varied: tuple[str, ...] = ()
    """Bodies whose mass is a parameter."""
    freed: tuple[str, ...] = ()
    """Paths of inertias, damping and friction of the robot that are parameters (freed.py)."""
    tolerance: float = 1e-9
    """Relative tolerance of the coupled problem [-]."""
    softness: float = SOFTNESS
    """Share of a loop's mobility below which its rows count as redundant [-]."""
    pose: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Coordinates q whose inertia scales dry friction and the compliance of contacts."""
    servo_inertia: np.ndarray | float = 0.0
    """Addition of an implicit servo to the diagonal of H, for the compliance of contacts."""

    @property
    def robot(self) -> Robot:
        return self.scene.robot

    @property
    def implicit(self) -> bool:
        """True if forces at the joints are those at the end of the step."""
        return self.integrator == "symplectic"

    @property
    def ahead(self) -> tuple[int, ...]:
        """Velocity indices of joints whose forces that are quadratic in velocities take those of
        half a step ahead (half_step.py)."""
        literal = self.couples and not self.is_swept
        if not self.implicit or not self.robot.constraints or literal:
            return ()
        return tuple(joint.iv for joint in self.robot.joints if joint.nv == 1)

    @property
    def friction_joints(self) -> tuple[int, ...]:
        """Velocity indices of joints whose dry friction has a memory: it sticks or slides."""
        return self.dry_joints if self.implicit else ()

    @property
    def dry_joints(self) -> tuple[int, ...]:
        """Velocity indices that have dry friction, of the robot's file or of a motor's gear."""
        own = np.flatnonzero(self.robot.friction > 0)
        return tuple(sorted({*map(int, own), *(self.motors.rubbing if self.motors else ())}))

    @property
    def joined(self) -> tuple[int, ...]:
        """Velocity indices that tendons, actuators or ranges of ball joints couple."""
        driven = self.robot.actuators if isinstance(self.control, ActuatorPlan) else ()
        if not self.implicit:
            return ()
        cones = cone_indices(self.robot) if self.stops is not None else ()
        return tuple(sorted({*joined((*self.robot.tendons, *driven)), *cones}))

    @property
    def coupled_pairs(self) -> list[int]:
        """Numbers of the pairs whose law couples, in the order of the scene."""
        laws = self.scene.laws
        return [k for k, pair in enumerate(self.scene.pairs) if laws[pair.law].couples]

    @property
    def turning_pairs(self) -> list[int]:
        """Numbers of the coupled pairs that resist rolling and spinning."""
        scene = self.scene
        return [
            k
            for k in self.coupled_pairs
            if patch_of(scene.laws[scene.pairs[k].law], scene.pairs[k].point.roundness) is not None
        ]

    @property
    def couples(self) -> bool:
        """True if forces of some contacts depend on one another."""
        return bool(self.coupled_pairs) or self.slots_couple

    @property
    def slots_couple(self) -> bool:
        """True if contacts between shapes of moving bodies couple."""
        contact = self.scene.shape_contact
        return contact is not None and self.scene.laws[contact.law].couples

    @property
    def coupled_bodies(self) -> list[int]:
        """Moving bodies of the coupled pairs."""
        return bodies_in([self.scene.pairs[k] for k in self.coupled_pairs])

    @property
    def is_swept(self) -> bool:
        """True if the swept problem serves the coupled contacts: their rule is not literal."""
        rule = coupling_rule(self.scene)
        return rule is not None and not rule.literal

    @property
    def coupled_groups(self) -> list[tuple[int, ...]]:
        """Bodies that touch the ground, one each, then pairs that touch one another."""
        pairs = [self.scene.pairs[k] for k in self.coupled_pairs]
        groups = {tuple(bodies_in([pair])) for pair in pairs}
        return sorted(groups, key=lambda bodies: (len(bodies), bodies))

    @property
    def shares_loads(self) -> bool:
        """True if coupled bodies may share loads in several ways."""
        counts = Counter(b for k in self.coupled_pairs for b in bodies_in([self.scene.pairs[k]]))
        wanted = {b: FREEDOMS.get(n, 6) for b, n in counts.items()}
        return is_overdetermined(self.robot, wanted) or is_joined(self.robot, counts)

    @cached_property
    def compliances(self) -> np.ndarray:
        """Velocity per impulse of contacts of each coupled group, each by itself [1/kg].

        There is a number for each body of each group, of a surface's body at its origin, then one
        for each body whose shapes may touch others, at its centre of mass.
        """
        pairs = [self.scene.pairs[k] for k in self.coupled_pairs]
        places = []
        for group in self.coupled_groups:
            own = [pair for pair in pairs if tuple(bodies_in([pair])) == group]
            for body in group:
                at = [x.point.position if x.point.body == body else np.zeros(3) for x in own]
                places.append((body, at))
        if self.slots_couple and self.scene.shape_contact is not None:
            bodies = self.robot.bodies
            places += [(body, [bodies[body].com]) for body in self.scene.shape_contact.bodies]
        return contact_compliances(self.robot, self.pose, places, self.servo_inertia)

    def masses(self) -> dict[str, np.ndarray]:
        """Return the masses [kg] that are parameters, by the names of their bodies."""
        bodies, number = self.robot.bodies, self.robot.body
        return {name: np.array([bodies[number(name)].mass]) for name in self.varied}

    def parameters(self) -> dict[str, np.ndarray]:
        """Return the values of all run-time parameters by path, dt excepted."""
        masses = {mass_path(name): value for name, value in self.masses().items()}
        return self.parameters_without_masses() | masses | self.freed_values()

    def freed_values(self) -> dict[str, np.ndarray]:
        """Return the robot's numbers that are parameters, by path (freed.py)."""
        known = freeable(self.robot) if self.freed else {}
        return {path: known[path] for path in self.freed}

    @property
    def heavier(self) -> tuple[str, ...]:
        """Bodies whose mass may change at run time."""
        whole = (path.removesuffix(INERTIA) for path in self.freed if path.endswith(INERTIA))
        return (*self.varied, *whole)

    def parameters_without_masses(self) -> dict[str, np.ndarray]:
        """Return the values of the run-time parameters by path, dt and masses excepted."""
        found = {"gravity": self.scene.gravity}
        found |= parameters(self.control, parameter_prefix(self.control))
        if self.stops is not None:
            found |= parameters(self.stops, "stops.")
        if self.motors is not None:
            found |= parameters(self.motors, MOTORS)
        for surface in self.scene.surfaces:
            found |= parameters(surface, f"{surface.name}.")
        for name, law in self.scene.materials.items():
            found |= parameters(law, f"{name}.")
        if self.couples:
            found["solver.tolerance"] = np.array([self.tolerance])
            found["solver.compliance"] = self.compliances
        if self.robot.constraints:
            found["constraints.correction"] = np.array([CORRECTION])
            found["constraints.softness"] = np.array([self.softness])
        for k, _ in enumerate(self.pushes):
            found |= parameters(Push(), f"{push_path(k)}.")
        for sensor in self.sensors:
            found |= {path: np.array([x]) for path, x in sensor.parameters().items()}
        if any(sensor.draws for sensor in self.sensors):
            found[SEED] = np.zeros(1)
        return found

    def key(self) -> tuple[object, ...]:
        """Return what tells one compiled step from another, without tracing it."""
        shapes = {sensor.name: sensor.reading_shape for sensor in self.sensors}
        own = control_key(self.control, self.robot, shapes)
        scene = self.scene
        surfaces = [structure(surface) for surface in scene.surfaces]
        bodies = [[name, structure(law)] for name, law in scene.materials.items()]
        fixed = [[point.position, point.radius] for point in scene.points]
        stops = None if self.stops is None else structure(self.stops)
        motors = None if self.motors is None else structure(self.motors)
        sensors = [sensor.structure() for sensor in self.sensors]
        changing = [*self.varied, *self.freed]
        rest = (self.integrator, sensors, list(self.pushes), changing)
        pose = self.pose if self.dry_joints else None
        bodies_touch = scene.shape_contact and scene.shape_contact.structure()
        return (
            "step",
            own,
            surfaces,
            bodies,
            fixed,
            stops,
            motors,
            *rest,
            pose,
            bodies_touch,
            scene.edges,
            fingerprint(self.robot),
        )


def mass_path(body: str) -> str:
    """Return the path of the parameter that holds a body's mass."""
    return f"{body}.mass"


def coupling_rule(scene: Scene) -> CouplingRule | None:
    """Return the rule by which the coupled contacts of a scene are solved, None if it has none."""
    rules = {rule for law in scene.laws.values() if (rule := law.coupling) is not None}
    if len(rules) > 1:
        differing = [
            f"{option.name} is {' and '.join(repr(value) for value in sorted(values))}"
            for option in fields(CouplingRule)
            if len(values := {getattr(rule, option.name) for rule in rules}) > 1
        ]
        raise HeelstrikeError(
            "all coupled contacts of a scene are solved together, but their rules do not mix: "
            + ", ".join(differing),
            remedy="give every surface that couples the same rule, bias and forces; hs.Signorini "
            "mixes with no other law",
        )
    return next(iter(rules), None)
