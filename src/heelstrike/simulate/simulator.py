"""The simulator: a scene, compiled, with the worlds that it runs in."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.simulate.advice import check_explicit_servo, explain, explain_gain
from heelstrike.simulate.control import Control, Direct
from heelstrike.simulate.controller import Controller
from heelstrike.simulate.couple import check_rules
from heelstrike.simulate.derive import check_variables, derived, needed, standard
from heelstrike.simulate.joints import Stops
from heelstrike.simulate.machine import Machine
from heelstrike.simulate.memory import check_memory, estimate
from heelstrike.simulate.parameters import Parameters
from heelstrike.simulate.record import sensor_frame
from heelstrike.simulate.recorder import recorded
from heelstrike.simulate.recording import Recording
from heelstrike.simulate.repeat import coordinates
from heelstrike.simulate.rollout import rollout
from heelstrike.simulate.scene import Scene
from heelstrike.simulate.servo import Servo, ServoPlan, positions
from heelstrike.simulate.start import check_outside, check_step
from heelstrike.simulate.state import State
from heelstrike.simulate.step import StepPlan, step_program
from heelstrike.simulate.target import Target, check_choice

if TYPE_CHECKING:
    from heelstrike.compile.cuda_batch import DeviceArray
    from heelstrike.compile.program import Program
    from heelstrike.dynamics.linearize import Linearizer, Slopes

INTEGRATORS = ("symplectic", "euler", "rk4")
MANY = 64
"""Worlds above which a run keeps only the end, unless told otherwise."""


class Simulator:
    """Steps one world or many worlds of a scene.

    Robot, laws and control are compiled when first needed; parameters are not part of the code and
    may change at any time.
    """

    def __init__(
        self,
        scene: Scene,
        dt: float = 1e-3,
        control: Servo | Controller | None = None,
        worlds: int = 1,
        integrator: str = "symplectic",
        dtype: str | None = None,
        device: str = "cpu",
        math: str = "exact",
        stops: Stops | None = Stops(),  # noqa: B008  frozen
        sensors: Sequence[str] = (),
    ) -> None:
        if not isinstance(scene, Scene):
            raise HeelstrikeError(f"a simulator takes a scene, hs.Scene(robot, ...), not {scene!r}")
        check_choice("integrator", integrator, INTEGRATORS)
        if integrator == "rk4" and any(
            law.couples and not law.accelerates for law in scene.laws.values()
        ):
            raise HeelstrikeError(
                "rk4 takes elastic laws, and hs.FeedbackLinearized(form='acceleration'); this law "
                'changes velocities within a step; take integrator="symplectic"'
            )
        if integrator == "euler" and any(
            getattr(law, "implicit", False) for law in scene.laws.values()
        ):
            raise HeelstrikeError(
                "an implicit elastic law needs the position after the step, which euler takes from "
                'the old velocity; take integrator="symplectic"'
            )
        check_rules(scene)
        target = Target.of(device, dtype, math)
        if not (isinstance(dt, int | float) and 0 < dt < 10):
            raise HeelstrikeError(f"dt is a time step in seconds, such as 1e-3, not {dt!r}")
        self.scene = scene
        self.robot = robot = scene.robot
        sensors = (sensors,) if isinstance(sensors, str) else tuple(sensors)
        for name in sensors:
            sensor_frame(robot, name)
        pose = np.array(next(iter(robot.poses.values()), robot.neutral), dtype=float)
        implicit = integrator == "symplectic"
        own = _control(scene, control, pose, implicit, dt)
        if isinstance(own, ServoPlan) and not implicit:
            check_explicit_servo(robot, pose, own.kd, dt)
        ends = stops.resolved(robot) if stops is not None else None
        exact = any(getattr(s.law, "rule", "") == "exact" for s in scene.surfaces)
        tolerance = 1e-5 if target.dtype != "float64" else 1e-11 if exact else 1e-9
        plan = StepPlan(scene, integrator, own, ends, sensors, tolerance=tolerance, pose=pose)
        self._machine = Machine(plan, dt, whole("worlds", worlds), target)
        self._linearizers: dict[tuple[object, ...], Linearizer] = {}
        self._told = False

    # what there is

    @property
    def worlds(self) -> int:
        return self._machine.worlds

    @property
    def parameters(self) -> Parameters:
        """Every run-time parameter by path."""
        return self._machine.parameters

    @property
    def state(self) -> State:
        """All memory of all worlds by name: q, v, ..."""
        self._machine.ready()
        return self._machine.state

    @property
    def time(self) -> np.ndarray:
        """Of each world [s]."""
        return self._machine.ready().get("clock")[:, 0] * self._dt

    @property
    def failed(self) -> np.ndarray:
        """The step at which each world diverged, -1 where it did not."""
        return self._machine.ready().get("failed")[:, 0].astype(int)

    @property
    def torque(self) -> np.ndarray:
        """What is added to the control's torque, by velocity index [N m or N]; with one world on
        a CPU a view, to be written before each step.
        """
        path = self._torque_path()
        view = self._machine.ready().view(path)
        return self.parameters[path] if view is None else view

    @torque.setter
    def torque(self, value: ArrayLike) -> None:
        self.parameters[self._torque_path()] = value

    @property
    def device(self) -> str:
        """Where it runs: cpu or cuda."""
        return self._machine.target.device

    @property
    def dtype(self) -> str:
        """Its numbers: float64 or float32."""
        return self._machine.target.dtype

    @property
    def start(self) -> dict[str, np.ndarray]:
        """q and v that a reset goes back to."""
        return dict(self._machine.begin)

    @property
    def program(self) -> Program:
        """The traced step, with nothing recorded: to count, export or compile elsewhere."""
        return step_program(self._machine.plan)

    # work

    def step(self, steps: int = 1, threads: int = 1) -> State:
        """Makes a step (or several) in all worlds; returns the state."""
        machine = self._machine
        batch = machine.ready(())
        batch.run(steps, 1, threads)
        if machine.failed is not None and machine.failed[0] >= 0:
            self._tell()
        return machine.state

    def run(
        self,
        duration: float | None = None,
        q0: ArrayLike | None = None,
        v0: ArrayLike | None = None,
        worlds: int | None = None,
        vary: Mapping[str, ArrayLike] | None = None,
        record: str | Sequence[str] | None = None,
        every: int = 1,
        steps: int | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Recording:
        """Simulates for a duration [s], or for a number of steps, and returns what was recorded.

        Starts from a state given, or goes on from the present one. `worlds` resizes; `vary` sets
        parameters world by world. `record` names variables, or is "standard" (the default up to 64
        worlds) or "final"; `every` says how often.
        """
        machine, vary = self._machine, vary or {}
        every = whole("every", every)
        variables = self._variables(record, worlds or self.worlds)
        self._make_room(worlds, vary)
        for path, value in vary.items():
            self.parameters[path] = value
        count, outputs = self._steps(duration, steps), needed(variables)
        if q0 is not None or v0 is not None:
            machine.ready(tuple(outputs))  # so that the step is compiled once
            self.reset(q0=q0, v0=v0)
        labels, records = coordinates(machine.plan), count // every + 1
        size = estimate(variables, labels, self.worlds, records, machine.target.dtype)
        if (note := check_memory(2 * size)) is not None:  # plain outputs beside what follows
            warnings.warn(note, HeelstrikeWarning, stacklevel=2)
        batch = machine.ready(tuple(outputs))
        before = batch.keep("clock", "work", "q", "v")
        threads = threads or (os.cpu_count() or 1 if self.worlds > MANY else 1)
        made = rollout(batch, count, every, outputs, threads, progress)
        self._tell(before)
        return recorded(machine, made, before, variables, every, vary)

    def reset(
        self,
        worlds: ArrayLike | None = None,
        q0: ArrayLike | None = None,
        v0: ArrayLike | None = None,
    ) -> None:
        """Back to the start, or to a state given, at time 0: all worlds, or where a mask holds."""
        mask = self._mask(worlds)
        begin = self._machine.begin | self._given_state(q0, v0)
        if worlds is None:
            self._machine.begin = begin
        self._machine.ready().reset(mask, **begin)
        self._follow_start(begin["q"], mask)
        self._told = False

    def begin_at(self, q0: ArrayLike, v0: ArrayLike | None = None) -> None:
        """The state that worlds will start from; nothing is compiled."""
        self._machine.begin = begin = self._machine.begin | self._given_state(q0, v0)
        self._follow_start(begin["q"], self._mask(None))

    def twin(self) -> Simulator:
        """Another of the same scene, parameters and start: one world, the first where they differ,
        and nothing compiled.
        """
        other, own = copy.copy(self), self._machine
        other._machine = Machine(own.plan, float(self._dt[0]), 1, own.target)
        for path, value in self.parameters.items():
            other.parameters[path] = np.atleast_2d(value)[0]
        other._machine.begin = {name: np.atleast_2d(x)[0] for name, x in own.begin.items()}
        other._linearizers, other._told = {}, False
        return other

    def check_start(self, q0: ArrayLike | None = None) -> None:
        """Refuses a start inside a surface, and steps in which nothing could rest on one. Nothing
        is compiled.
        """
        q = np.asarray(self._given_state(q0, None).get("q", self._machine.begin["q"]))
        for pose in np.atleast_2d(q):
            check_outside(self.scene, pose)
            check_step(self._machine.plan, pose, float(self._dt.max()))

    def free_masses(self, *names: str) -> None:
        """Makes the masses of bodies parameters, "BODY.mass" [kg], of a program compiled anew. A
        body's inertia goes with its mass.
        """
        bodies = [self.robot.bodies[self.robot.body(name)].name for name in names]
        for name, body in zip(names, bodies, strict=True):
            if name != body:
                raise HeelstrikeError(f"vary the mass of the whole body: '{body}.mass'")
        new = [body for body in bodies if f"{body}.mass" not in self.parameters]
        if new:
            self._machine.grow(varied=(*self._machine.plan.varied, *new))

    def compile(self, record: str | Sequence[str] | None = None) -> None:
        """Compiles now what a run with this `record` would compile."""
        self._machine.ready(tuple(needed(self._variables(record, self.worlds))))

    def observe(self, *names: str) -> dict[str, np.ndarray]:
        """Variables of a recording at the present state, (worlds, ...); nothing moves."""
        plan = self._machine.plan
        check_variables(self.scene, names, plan.sensors)
        values = self._machine.observed(needed(names))
        found = derived(names, {name: x[:, None] for name, x in values.items()})
        return {name: array[:, 0] for name, array in found.items()}

    def device_array(self, name: str) -> np.ndarray | DeviceArray:
        """The memory of a state or a parameter where it lies, (tiles, size, lanes), without a copy:
        a NumPy array, or on a GPU what torch, CuPy and JAX take. docs/gpu.md.
        """
        batch = self._machine.ready()
        if name not in self.state:
            self.parameters.known(name)
            if batch.device_array(name).shape[0] < batch.device_array("clock").shape[0]:
                self.parameters[name] = batch.get(name)  # one for all becomes one a world
        return batch.device_array(name)

    @property
    def stream(self) -> int | None:
        """CUDA's handle of the stream in which steps are launched; None on a CPU."""
        stream = getattr(self._machine.ready(()), "stream", None)
        return None if stream is None else int(stream.handle)

    def push(
        self,
        body: str,
        force: ArrayLike,
        duration: float,
        at: float | None = None,
        point: ArrayLike | None = None,
        worlds: ArrayLike | None = None,
    ) -> None:
        """A force [N, world axes] on a body for a while [s], from now or from a time on, at its
        centre of mass or at a point of its frame; in all worlds or where a mask holds.

        A body's first push compiles a step that has room for it.
        """
        index = self.robot.body(body)
        centre = self.robot.bodies[index].com if point is None else point
        force = np.asarray(force, dtype=float)
        if force.shape not in ((3,), (self.worlds, 3)):
            raise HeelstrikeError(f"a push is three numbers [N], not {force!r:.60}")
        if not duration > 0:
            raise HeelstrikeError(f"a push lasts for a time above 0 s, not {duration!r}")
        clock = self._machine.clock
        first = clock if at is None else np.round(at / self._dt)
        last = first + np.maximum(1, np.round(duration / self._dt))
        path = self._push_path(self.robot.bodies[index].name, clock)
        self.parameters[f"{path}.force"] = np.where(self._mask(worlds)[:, None], force, 0.0)
        self.parameters[f"{path}.point"] = centre
        self.parameters[f"{path}.first"] = first[:, None]
        self.parameters[f"{path}.last"] = last[:, None]

    def linearize(self, *inputs: str) -> Slopes:
        """Derivatives of a step of the first world: dx+ = A dx + B du for the named parameters.

        x = (motion of the joints, v), 2 nv numbers; the laws' memory is held. docs/derivatives.md.
        """
        from heelstrike.dynamics.linearize import Linearizer

        machine = self._machine
        for path in inputs:
            self.parameters.known(path)
        wanted = (machine.plan.pushes, machine.plan.varied, inputs)
        if wanted not in self._linearizers:
            program = step_program(machine.plan, thorough=True)
            self._linearizers[wanted] = Linearizer(self.robot, program, inputs)
        linearizer = self._linearizers[wanted]
        values = {path: np.atleast_2d(value)[0] for path, value in self.parameters.items()}
        values |= {name: value[0] for name, value in machine.ready().state().items()}
        taken = {port.name for port in linearizer.batch.layout.inputs}
        return linearizer(
            **{name: value for name, value in values.items() if name in taken}, **machine.tables()
        )

    # inside

    @property
    def _dt(self) -> np.ndarray:
        """Of each world [s]."""
        return np.broadcast_to(self.parameters["dt"].reshape(-1, 1)[:, 0], (self.worlds,))

    def _mask(self, worlds: ArrayLike | None) -> np.ndarray:
        mask = np.ones(self.worlds, bool) if worlds is None else np.asarray(worlds)
        if mask.shape != (self.worlds,) or mask.dtype != bool:
            raise HeelstrikeError(
                f"worlds= is a mask of {self.worlds} booleans, not an array of {mask.dtype} of "
                f"shape {mask.shape}"
            )
        return mask

    def _given_state(self, q0: ArrayLike | None, v0: ArrayLike | None) -> dict[str, np.ndarray]:
        found = {}
        for name, value, size in (("q", q0, self.robot.nq), ("v", v0, self.robot.nv)):
            if value is None:
                continue
            array = np.asarray(value, dtype=float)
            if array.shape not in ((size,), (self.worlds, size)) or not np.all(np.isfinite(array)):
                raise HeelstrikeError(
                    f"{name}0 of {self.robot.name} is {size} finite numbers, or "
                    f"({self.worlds}, {size}) with one row a world; got shape {array.shape}"
                )
            found[name] = array
        if q0 is not None and v0 is None:
            found["v"] = np.zeros(self.robot.nv)
        return found

    def _follow_start(self, q: np.ndarray, mask: np.ndarray) -> None:
        """A servo without a reference of its own holds the pose in which its world began."""
        control = self._machine.plan.control
        if not (isinstance(control, ServoPlan) and control.follows_start):
            return
        if q.ndim == 1 and mask.all():
            self.parameters["servo.q_ref"] = positions(self.robot, q)
            return
        rows = np.broadcast_to(q, (self.worlds, self.robot.nq))
        held = self.parameters["servo.q_ref"]
        held = np.array(np.broadcast_to(held, (self.worlds, self.robot.nv)))
        for world in np.flatnonzero(mask):
            held[world] = positions(self.robot, rows[world])
        self.parameters["servo.q_ref"] = held

    def _make_room(self, worlds: int | None, vary: Mapping[str, ArrayLike]) -> None:
        """For a number of worlds, and for masses that vary; refuses before anything changes."""
        worlds = self.worlds if worlds is None else whole("worlds", worlds)
        for path, value in vary.items():
            if path in self.parameters:
                self.parameters.shaped(path, value, worlds)
            elif not path.endswith(".mass"):
                self.parameters.known(path)
        for path in vary:
            if path.endswith(".mass") and path not in self.parameters:
                self.free_masses(path.removesuffix(".mass"))
        if worlds != self.worlds:
            self._machine.resize(worlds)
            self.reset()

    def _push_path(self, body: str, clock: np.ndarray) -> str:
        """Of a push on a body that is free to be used: a past one, or a new one."""
        pushes = self._machine.plan.pushes
        for k, name in enumerate(pushes):
            if name == body and np.all(self.parameters[f"push{k}.last"].ravel() <= clock):
                return f"push{k}"
        self._machine.grow(pushes=(*pushes, body))
        return f"push{len(pushes)}"

    def _torque_path(self) -> str:
        control = self._machine.plan.control
        if isinstance(control, Controller):
            raise HeelstrikeError(
                "a controller makes the torque by itself; give it a parameter for what you add"
            )
        return "servo.torque" if isinstance(control, ServoPlan) else "torque"

    def _steps(self, duration: float | None, steps: int | None) -> int:
        if (duration is None) == (steps is None):
            raise HeelstrikeError("a run takes a duration [s] or steps=, one of them")
        if steps is not None:
            return whole("steps", steps)
        if np.ptp(self._dt) > 0:
            raise HeelstrikeError("where dt varies from world to world say steps=, not a duration")
        if not (isinstance(duration, int | float | np.number) and 0 < duration < np.inf):
            raise HeelstrikeError(f"a duration is a time above 0 s, not {duration!r}")
        return max(1, round(float(duration) / float(self._dt[0])))

    def _variables(self, record: str | Sequence[str] | None, worlds: int) -> tuple[str, ...]:
        if record is None:
            record = "final" if worlds > MANY else "standard"
        if record == "final":
            return ()
        sensors = self._machine.plan.sensors
        if record == "standard":
            return standard(self.scene, sensors)
        names = (record,) if isinstance(record, str) else tuple(record)
        check_variables(self.scene, names, sensors)
        return names

    def _tell(self, before: Mapping[str, np.ndarray] | None = None) -> None:
        """Says once which worlds diverged, or were thrown by the ground, and what to try."""
        if self._told:
            return
        failed, note = self.failed, None
        if (failed >= 0).any():
            note = explain(self, self._machine.plan, failed)
        elif before is not None:
            worked = self._machine.ready().get("work")[:, 0] - before["work"][:, 0]
            note = explain_gain(self, self._machine.plan, before, worked)
        if note is not None:
            self._told = True
            warnings.warn(note, HeelstrikeWarning, stacklevel=3)


def _control(scene: Scene, control: object, pose: np.ndarray, implicit: bool, dt: float) -> Control:
    robot = scene.robot
    if control is None:
        return Direct(np.zeros(robot.nv))
    if isinstance(control, Servo):
        return control.resolved(robot, pose, implicit, dt)
    if isinstance(control, Controller):
        return control
    raise HeelstrikeError(
        f"control is hs.Servo(...), a function decorated with @hs.controller, or None, not "
        f"{control!r:.60}"
    )


def whole(what: str, value: int) -> int:
    if not isinstance(value, int | np.integer) or value < 1:
        raise HeelstrikeError(f"{what} is a whole number above 0, not {value!r}")
    return int(value)
