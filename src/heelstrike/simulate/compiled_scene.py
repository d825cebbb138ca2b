"""A scene's compiled step and the arrays of the worlds that it advances.

The code depends on the plan of the step and on what is recorded. Whenever one of these changes, the
step is compiled for the new choice (or found in the cache) and parameters and state are carried
over. Parameters themselves are never part of the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError, at_path
from heelstrike.parameters import with_values
from heelstrike.runtime.worlds import Advancing, Worlds
from heelstrike.scene.sensor import SEED
from heelstrike.scene.servo import ServoPlan, positions
from heelstrike.scene.surfaces import Surface
from heelstrike.simulate.adaptive import AdaptiveBatch
from heelstrike.simulate.arguments import push_values, start_values
from heelstrike.simulate.closed_start import closed_start
from heelstrike.simulate.parameters import Parameters
from heelstrike.simulate.sensors import Sensors, world_seeds
from heelstrike.simulate.start import check_apart, check_depths, contacts_at
from heelstrike.simulate.start_depths import start_depths
from heelstrike.simulate.state import State
from heelstrike.simulate.target import AnyKernel, CompileTarget
from heelstrike.simulate.validation import check_relations, check_value
from heelstrike.step.control import REFERENCE
from heelstrike.step.freed import COM, INERTIA, freeable
from heelstrike.step.hull_table import hull_tables
from heelstrike.step.plan import StepPlan, mass_path
from heelstrike.step.push import push_path
from heelstrike.step.shape_tables import shape_tables
from heelstrike.step.start_depths import placement_inputs
from heelstrike.step.step import step_program
from heelstrike.step.surfaces import surface_tables

FEW_STARTS = 16
"""Different starts whose depths are found one by one, 5 ms each; more: by a compiled program."""
MANY_STARTS = 64
"""Different starts in which bodies are checked against one another, at most."""


class CompiledScene:
    """The worlds of a simulator: plan, parameters, start state, and the batch that holds them.

    Nothing is compiled before `batch` is first called.
    """

    def __init__(
        self,
        plan: StepPlan,
        dt: float,
        worlds: int,
        target: CompileTarget,
        accuracy: float | None = None,
    ) -> None:
        self.plan = plan
        self.accuracy = accuracy
        """Error of a window with steps of variable size [m, rad]; None for steps of one size."""
        self.adaptive = None if accuracy is None else AdaptiveBatch(accuracy, worlds)
        self.target = target
        self.worlds = worlds
        values = {"dt": np.array([dt])} | plan.parameters()
        self.parameters = Parameters(
            values,
            self._check,
            self._write,
            lambda path: self.add_parameters([path]),
            lambda path: self.batch().get(path).astype(float),
        )
        self.parameters.worlds = worlds
        self.start = {"q": plan.pose, "v": np.zeros(plan.robot.nv)}
        """State that a reset restores: (size,) each, or (worlds, size)."""
        self.outputs: tuple[str, ...] | None = None
        """Outputs that the present batch records; None before it is compiled."""
        self.state: State
        self.sensors: Sensors
        self.failed: np.ndarray | None = None
        """View of the step at which a single world on a CPU failed, else None."""
        self._outside: int | None = None
        """Digest of the starts that were last found to be outside of all surfaces."""
        self._batch: Worlds | None = None
        self._observer: tuple[StepPlan, dict[tuple[str, ...], Worlds]] | None = None
        self._kernels: dict[tuple[object, ...], AnyKernel] = {}
        self._seed_sensors()

    @property
    def dt(self) -> np.ndarray:
        """Time step of each world [s], (worlds,)."""
        return np.broadcast_to(self.parameters["dt"].reshape(-1, 1)[:, 0], (self.worlds,))

    @property
    def clock(self) -> np.ndarray:
        """Steps that each world has made since its start, (worlds,); compiles nothing."""
        return np.zeros(self.worlds) if self._batch is None else self._batch.get("clock")[:, 0]

    @property
    def mass_paths(self) -> dict[str, str]:
        """Paths of masses that may become parameters, "NAME.mass", and the names in them.

        Names are those of bodies first, then of links, sites and joints.
        """
        robot = self.plan.robot
        bodies, joints = ([x.name for x in some] for some in (robot.bodies, robot.joints))
        return {mass_path(name): name for name in (*bodies, *robot.frames, *joints)}

    # compiling

    def batch(self, outputs: tuple[str, ...] | None = None) -> Worlds:
        """Return the worlds, compiled to record these outputs (None: whichever they record now)."""
        if self._batch is not None and outputs in (None, self.outputs):
            return self._batch
        old, outputs = self._batch, outputs or ()
        batch = self.new_batch(outputs)
        if old is not None:
            batch.continue_from(old)
        else:
            batch.reset(**self.start)
        self._attach(batch, outputs)
        return batch

    def advancing(self, batch: Worlds) -> Advancing:
        """Return what advances the worlds of a batch: itself, or windows of its steps."""
        if self.adaptive is None:
            return batch
        return self.adaptive.of(batch, self.plan)

    def new_batch(self, outputs: tuple[str, ...]) -> Worlds:
        """Return further worlds at their initial values, with the present parameters."""
        batch = self.kernel(outputs).batch(self.worlds)
        batch.set(**dict(self.parameters.items()), **self.tables())
        return batch

    def kernel(self, outputs: tuple[str, ...] = ()) -> AnyKernel:
        """Return the step compiled to record these outputs."""
        plan, width = self.plan, 1 if self.worlds == 1 else None
        few = plan.slots_couple and self.target.few(self.worlds)
        wanted = (plan.pushes, plan.varied, plan.freed, outputs, width, few)
        if wanted not in self._kernels:
            self._kernels[wanted] = self.target.kernel(
                plan.key(), lambda: step_program(plan, outputs), outputs, width, few
            )
        return self._kernels[wanted]

    def tables(self) -> dict[str, np.ndarray]:
        """Return what all worlds share: surfaces, shapes, the motion that a servo follows."""
        scene, control = self.plan.scene, self.plan.control
        found = surface_tables(scene) | shape_tables(scene.shape_contact) | hull_tables(scene)
        if isinstance(control, ServoPlan) and control.table is not None:
            found[REFERENCE] = control.table
        return found

    def observe(self, outputs: Sequence[str]) -> dict[str, np.ndarray]:
        """Return outputs at the present state, (worlds, ...), by a step whose result is dropped."""
        live, wanted = self.batch(), tuple(outputs)
        if self._observer is None or self._observer[0] is not self.plan:
            self._observer = self.plan, {}
        batch = self._observer[1].get(wanted) or self.new_batch(wanted)
        self._observer[1][wanted] = batch
        batch.continue_from(live)
        advancing = self.advancing(batch)
        advancing.peek()
        return {name: advancing.output(name)[:, 0] for name in outputs}

    # changing the program or the number of worlds

    def resize(self, worlds: int) -> None:
        """Change the number of worlds; all of them are to be reset.

        Parameters and start are kept; where they differed from world to world, the first world's.
        """
        self.worlds = worlds
        self.adaptive = None if self.accuracy is None else AdaptiveBatch(self.accuracy, worlds)
        self.parameters.for_worlds(worlds)
        self.start = {name: x[0] if x.ndim == 2 else x for name, x in self.start.items()}
        self._batch = self.outputs = self._observer = None
        self._seed_sensors()

    def add_parameters(self, paths: Iterable[str]) -> None:
        """Make masses, inertias, armature, damping and friction among these paths parameters.

        Raises:
            UnknownNameError: a path is unknown.
        """
        if not (new := [path for path in paths if path not in self.parameters]):
            return
        masses, others = self.mass_paths, freeable(self.plan.robot)
        freed = tuple(path for path in new if path in others)
        for path in new:
            if path not in masses and path not in others:
                self.parameters.known(path, [*masses, *others])  # raises
        heavy = [masses[path] for path in new if path not in others]
        paths = (*self.plan.freed, *freed)
        whole, moved = (
            {path.removesuffix(end) for path in paths if path.endswith(end)}
            for end in (INERTIA, COM)
        )
        for part, own in (("mass", {*self.plan.varied, *heavy}), ("centre of mass", moved)):
            if both := own & whole:
                raise HeelstrikeError(
                    f"{part} and inertia of '{min(both)}' cannot both vary",
                    path=f"{min(both)}{INERTIA}",
                    remedy="vary its inertia, which begins with mass and centre of mass",
                )
        self.free_masses(heavy)
        if freed:
            self._extend(replace(self.plan, freed=(*self.plan.freed, *freed)))

    def free_masses(self, names: Sequence[str]) -> None:
        """Make the masses of bodies parameters, "NAME.mass" [kg]; state and values are kept."""
        robot = self.plan.robot
        bodies = [robot.bodies[robot.body(name)].name for name in names]
        for name, body in zip(names, bodies, strict=True):
            if name != body:
                raise HeelstrikeError(
                    f"'{name}' is part of body '{body}'",
                    path=mass_path(name),
                    remedy=f"vary the mass of the whole body: '{mass_path(body)}'",
                )
        if new := tuple(body for body in bodies if body not in self.plan.varied):
            self._extend(replace(self.plan, varied=(*self.plan.varied, *new)))

    def add_push(self, body: str) -> str:
        """Add a push on a body to the program; return the path of its parameters."""
        pushes = self.plan.pushes
        self._extend(replace(self.plan, pushes=(*pushes, body)))
        return push_path(len(pushes))

    def _extend(self, plan: StepPlan) -> None:
        """Take a plan that has more parameters; state and values are kept."""
        self.plan = plan
        self.parameters.add(plan.parameters())
        if self._batch is not None:
            batch = self.new_batch(())
            batch.continue_from(self._batch)
            self._attach(batch, ())

    # acting on worlds

    def mask(self, worlds: ArrayLike | None) -> np.ndarray:
        """Return a mask of worlds, (worlds,) booleans; None selects all."""
        mask = np.ones(self.worlds, bool) if worlds is None else np.asarray(worlds)
        if mask.shape != (self.worlds,) or mask.dtype != bool:
            raise HeelstrikeError(
                f"worlds is an array of {mask.dtype}, shape {mask.shape}",
                path="worlds",
                value=worlds,
                allowed=f"a mask of {self.worlds} booleans",
            )
        return mask

    def start_state(self, q0: ArrayLike | None, v0: ArrayLike | None) -> dict[str, np.ndarray]:
        """Return the start with q0 or v0 in place of its own; v is 0 where only q0 is passed."""
        robot, worlds, found = self.plan.robot, self.worlds, dict(self.start)
        if q0 is not None and v0 is None:
            found["v"] = np.zeros(robot.nv)
        for name, value in (("q", q0), ("v", v0)):
            if value is not None:
                found[name] = start_values(robot, name, value, worlds)
        if q0 is not None:
            found["q"] = closed_start(robot, found["q"])
        return found

    def surfaces(self, world: int) -> list[Surface]:
        """Return the surfaces with the present parameters of a world."""
        values = self.parameters.of_world(world)
        return [with_values(s, values, f"{s.name}.") for s in self.plan.scene.surfaces]

    def check_outside(self, q: np.ndarray) -> None:
        """Raise StartError if a world would start deep inside a surface or with bodies in others.

        Args:
            q: coordinates at the start, (nq,) or (worlds, nq).
        """
        inputs = {path: self.parameters[path] for path in placement_inputs(self.plan)[1:]}
        digest = hash((q.tobytes(), *(value.tobytes() for value in inputs.values())))
        if digest == self._outside:
            return
        rows = np.concatenate(
            [np.broadcast_to(x, (self.worlds, x.shape[-1])) for x in (q, *inputs.values())], axis=1
        )
        different = np.unique(rows, axis=0, return_index=True)[1]
        scene = self.plan.scene
        poses = rows[different, : q.shape[-1]]
        if len(poses) > FEW_STARTS and scene.pairs:
            depths = start_depths(self.plan, {"q": q} | inputs)
            check_depths(scene, depths[depths.max(axis=1).argmax()])
        else:
            for world, pose in zip(different, poses, strict=True):
                check_depths(scene, contacts_at(scene, pose, self.surfaces(int(world)))[0])
        for pose in poses[:MANY_STARTS]:
            check_apart(scene, pose)
        self._outside = digest

    def reset(self, start: Mapping[str, np.ndarray], mask: np.ndarray) -> None:
        """Set the worlds of a mask to a state at time 0, with all other memory at its initial
        value. Worlds that are not compiled yet will begin at the common start.
        """
        if self._batch is not None or start is not self.start:
            self.batch().reset(mask, **start)
        self.hold(start["q"], mask)

    def hold(self, q: np.ndarray, mask: np.ndarray) -> None:
        """Let a servo without a reference of its own hold the pose in which its world starts."""
        control, robot = self.plan.control, self.plan.robot
        if not (isinstance(control, ServoPlan) and control.follows_start):
            return
        if q.ndim == 1 and mask.all():
            self.parameters["servo.q_ref"] = positions(robot, q)
            return
        rows = np.broadcast_to(q, (self.worlds, robot.nq))
        held = self.parameters["servo.q_ref"]
        held = np.array(np.broadcast_to(held, (self.worlds, robot.nv)))
        for world in np.flatnonzero(mask):
            held[world] = positions(robot, rows[world])
        self.parameters["servo.q_ref"] = held

    def push(
        self,
        body: str,
        force: ArrayLike,
        duration: float,
        at: float | None,
        point: ArrayLike | None,
        mask: np.ndarray,
    ) -> None:
        """Apply a force to a body in the worlds of a mask; see `Simulator.push`."""
        robot, dt, clock = self.plan.robot, self.dt, self.clock
        with at_path("body"):
            pushed = robot.bodies[robot.body(str(body))]
        forces, duration, at, point = push_values(force, duration, at, point, self.worlds)
        first = clock if at is None else np.round(at / dt)
        last = first + np.maximum(1, np.round(duration / dt))
        path = self._finished_push(pushed.name, clock) or self.add_push(pushed.name)
        self.parameters[f"{path}.force"] = np.where(mask[:, None], forces, 0.0)
        self.parameters[f"{path}.point"] = pushed.com if point is None else point
        self.parameters[f"{path}.first"] = first[:, None]
        self.parameters[f"{path}.last"] = last[:, None]

    def _finished_push(self, body: str, clock: np.ndarray) -> str | None:
        """Return the path of a push on a body that is over in all worlds, if there is one."""
        for k, name in enumerate(self.plan.pushes):
            if name == body and np.all(self.parameters[f"{push_path(k)}.last"].ravel() <= clock):
                return push_path(k)
        return None

    # parameters

    def _attach(self, batch: Worlds, outputs: tuple[str, ...]) -> None:
        self._batch, self.outputs = batch, outputs
        self.state, self.sensors = State(batch), Sensors(batch, self.plan.sensors)
        self.failed = batch.view("failed")

    def _seed_sensors(self) -> None:
        """Let the noise of sensors differ from world to world."""
        if SEED in self.parameters and self.worlds > 1:
            self.parameters[SEED] = world_seeds(self.worlds)

    def _check(self, path: str, value: np.ndarray) -> None:
        check_value(self.plan, path, value)

    def check_parameters(self) -> None:
        """Raise if parameters assigned since the last call do not go with one another."""
        if self.parameters.unchecked:
            check_relations(self.plan, self.parameters, self.parameters.unchecked)
            self.parameters.unchecked.clear()

    def _write(self, path: str) -> None:
        """Write a parameter into the batch, if there is one."""
        if self._batch is not None:
            self._batch.set(**{path: self.parameters[path]})
