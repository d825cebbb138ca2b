"""The simulator: a scene, compiled, with the worlds that it runs in."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.compile.batch import Batch
from heelstrike.compile.cache import cached_kernel
from heelstrike.compile.kernel import Kernel
from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.simulate.advice import check_explicit_servo, explain
from heelstrike.simulate.control import REFERENCE, Control, Direct
from heelstrike.simulate.controller import Controller
from heelstrike.simulate.derive import body_indices, check_variables, derived, needed, standard
from heelstrike.simulate.joints import Stops
from heelstrike.simulate.memory import check_memory, estimate
from heelstrike.simulate.parameters import Parameters
from heelstrike.simulate.record import output_name, sensor_frame
from heelstrike.simulate.recording import Recording
from heelstrike.simulate.repeat import circumstances, coordinates, described
from heelstrike.simulate.rollout import Rollout, rollout
from heelstrike.simulate.scene import Scene
from heelstrike.simulate.servo import Servo, ServoPlan, positions
from heelstrike.simulate.state import State
from heelstrike.simulate.step import StepPlan, step_program
from heelstrike.simulate.variables import dataset

if TYPE_CHECKING:
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
        dtype: str = "float64",
        device: str = "cpu",
        math: str = "exact",
        stops: Stops | None = Stops(),  # noqa: B008  frozen
        sensors: Sequence[str] = (),
    ) -> None:
        if not isinstance(scene, Scene):
            raise HeelstrikeError(f"a simulator takes a scene, hs.Scene(robot, ...), not {scene!r}")
        _check_choice("integrator", integrator, INTEGRATORS)
        _check_choice("dtype", dtype, ("float64", "float32"))
        _check_choice("device", device, ("cpu",))
        _check_choice("math", math, ("exact",))
        if not (isinstance(dt, int | float) and 0 < dt < 10):
            raise HeelstrikeError(f"dt is a time step in seconds, such as 1e-3, not {dt!r}")
        robot = scene.robot
        sensors = (sensors,) if isinstance(sensors, str) else tuple(sensors)
        for name in sensors:
            sensor_frame(robot, name)
        self.scene = scene
        self.robot = robot
        self.dtype = dtype
        self.start = np.array(next(iter(robot.poses.values()), robot.neutral), dtype=float)
        """The pose that a reset goes back to."""
        implicit = integrator == "symplectic"
        own = _control(scene, control, self.start, implicit, dt)
        if isinstance(own, ServoPlan) and not implicit:
            check_explicit_servo(robot, self.start, own.kd, dt)
        self._plan = StepPlan(
            scene,
            integrator,
            own,
            stops.resolved(robot) if stops is not None else None,
            sensors,
            pose=self.start,
        )
        self.parameters = Parameters({"dt": np.array([dt])} | self._plan.parameters(), self._set)
        """Every run-time parameter by path."""
        self._kernels: dict[tuple[object, ...], Kernel] = {}
        self._linearizers: dict[tuple[object, ...], Linearizer] = {}
        self._outputs: tuple[str, ...] | None = None
        self._batch: Batch | None = None
        self._worlds = _checked_worlds(worlds)
        self.parameters.worlds = self._worlds
        self._begin: dict[str, np.ndarray] = {"q": self.start, "v": np.zeros(robot.nv)}
        self._told = False

    # the state

    @property
    def worlds(self) -> int:
        return self._worlds

    @property
    def state(self) -> State:
        """All memory of all worlds by name: q, v, ..."""
        self._ready()
        return self._state

    @property
    def time(self) -> np.ndarray:
        """Of each world [s]."""
        return self._ready().get("clock")[:, 0] * self.parameters["dt"].reshape(-1, 1)[:, 0]

    @property
    def failed(self) -> np.ndarray:
        """The step at which each world diverged, -1 where it did not."""
        return self._ready().get("failed")[:, 0].astype(int)

    @property
    def torque(self) -> np.ndarray:
        """What is added to the control's torque, by velocity index [N m or N]; with one world a
        view, to be written before each step.
        """
        path = self._torque_path()
        if self.worlds > 1:
            return self.parameters[path]
        return self._ready().arrays[path][0, :, 0]

    @torque.setter
    def torque(self, value: ArrayLike) -> None:
        self.parameters[self._torque_path()] = value

    def reset(
        self,
        worlds: ArrayLike | None = None,
        q0: ArrayLike | None = None,
        v0: ArrayLike | None = None,
    ) -> None:
        """Back to the start, or to a state given, at time 0: all worlds, or where a mask holds."""
        mask = np.ones(self.worlds, bool) if worlds is None else np.asarray(worlds)
        if mask.shape != (self.worlds,) or mask.dtype != bool:
            raise HeelstrikeError(
                f"worlds= is a mask of {self.worlds} booleans, not an array of {mask.dtype} of "
                f"shape {mask.shape}"
            )
        begin = {"q": self._begin["q"], "v": self._begin["v"]}
        begin |= self._start_state(q0, v0, self.worlds)
        if worlds is None:
            self._begin = begin
        self._ready().reset(mask, **begin)
        self._follow_start(begin["q"], mask)
        self._told = False

    # work

    def step(self, steps: int = 1) -> State:
        """Makes a step (or several) in all worlds; returns the state."""
        if self._outputs != ():
            self._ready(())
        self._batch.run(steps) if steps != 1 else self._batch.run()  # type: ignore[union-attr]
        if self._failed_view is not None and self._failed_view[0] >= 0:
            self._tell()
        return self._state

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
        self._resize(worlds, vary)
        for path, value in (vary or {}).items():
            self.parameters[path] = value
        if q0 is not None or v0 is not None:
            self.reset(q0=q0, v0=v0)
        count = self._steps(duration, steps)
        every = _whole("every", every)
        variables = self._variables(record)
        outputs = needed(variables)
        records = count // every + 1 if variables else 0
        labels = coordinates(self._plan)
        room = estimate(variables, labels, self.worlds, records, self.dtype)
        if (note := check_memory(2 * room)) is not None:
            warnings.warn(note, HeelstrikeWarning, stacklevel=2)
        batch = self._ready(tuple(outputs))
        before = batch.state()
        threads = threads or (os.cpu_count() or 1 if self.worlds > MANY else 1)
        made = rollout(batch, count, every, outputs, threads, progress)
        self._tell()
        return self._recording(made, before, variables, every, vary or {})

    def observe(self, *names: str) -> dict[str, np.ndarray]:
        """Variables of a recording at the present state, (worlds, ...); nothing moves."""
        check_variables(self.scene, names, self._plan.sensors)
        outputs = needed(names)
        values = self._observed(outputs)
        found = derived(self.scene, names, {name: values[name][:, None] for name in outputs})
        return {name: array[:, 0] for name, array in found.items()}

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
        robot = self.robot
        index = robot.body(body)
        centre = robot.bodies[index].com if point is None else point
        force = np.asarray(force, dtype=float)
        if force.shape not in ((3,), (self.worlds, 3)):
            raise HeelstrikeError(f"a push is three numbers [N], not {force!r:.60}")
        if not duration > 0:
            raise HeelstrikeError(f"a push lasts for a time above 0 s, not {duration!r}")
        clock = self._ready().get("clock")[:, 0]
        dt = np.broadcast_to(self.parameters["dt"].reshape(-1, 1)[:, 0], (self.worlds,))
        first = clock if at is None else np.round(at / dt)
        last = first + np.maximum(1, np.round(duration / dt))
        slot = self._slot(robot.bodies[index].name, clock)
        chosen = np.ones(self.worlds, bool) if worlds is None else np.asarray(worlds, dtype=bool)
        values = np.where(chosen[:, None], force, 0.0)
        self.parameters[f"push {slot}.force"] = values
        self.parameters[f"push {slot}.point"] = centre
        self.parameters[f"push {slot}.first"] = first[:, None]
        self.parameters[f"push {slot}.last"] = last[:, None]

    def linearize(self, *inputs: str) -> Slopes:
        """Derivatives of a step of the first world: dx+ = A dx + B du for the named parameters.

        x = (motion of the joints, v), 2 nv numbers; the laws' memory is held. docs/derivatives.md.
        """
        from heelstrike.dynamics.linearize import Linearizer

        for path in inputs:
            self.parameters.known(path)
        wanted = (self._plan.pushes, self._plan.varied, inputs)
        if wanted not in self._linearizers:
            program = step_program(self._plan)
            self._linearizers[wanted] = Linearizer(self.robot, program, inputs)
        linearizer = self._linearizers[wanted]
        state = {name: value[0] for name, value in self._ready().state().items()}
        known = {port.name for port in linearizer.batch.layout.inputs}
        values = {path: np.atleast_2d(value)[0] for path, value in self.parameters.items()}
        tables = self._tables()
        return linearizer(**{n: x for n, x in (state | values).items() if n in known}, **tables)

    @property
    def program(self) -> Program:
        """The traced step, with nothing recorded: to count, export or compile elsewhere."""
        return step_program(self._plan)

    # inside

    def _ready(self, outputs: tuple[str, ...] | None = None) -> Batch:
        """The batch, compiled for these outputs (None: whichever there is)."""
        if self._batch is not None and outputs in (None, self._outputs):
            return self._batch
        outputs = outputs or ()
        old = self._batch
        batch = self._new_batch(outputs, self.worlds)
        if old is not None and old.worlds == self.worlds:
            batch.set(**old.state())
        else:
            batch.reset(**self._begin)
        self._attach(batch, outputs)
        if old is None:
            self._follow_start(self._begin["q"], np.ones(self.worlds, bool))
        return batch

    def _attach(self, batch: Batch, outputs: tuple[str, ...]) -> None:
        self._batch, self._outputs = batch, outputs
        self._state = State(batch)
        self._failed_view = batch.arrays["failed"][0, :, 0] if self.worlds == 1 else None

    def _new_batch(self, outputs: tuple[str, ...], worlds: int) -> Batch:
        batch = self._kernel(outputs, 1 if worlds == 1 else None).batch(worlds)
        batch.set(**dict(self.parameters.items()), **self._tables())
        return batch

    def _kernel(self, outputs: tuple[str, ...], width: int | None) -> Kernel:
        plan = self._plan
        wanted = (plan.pushes, plan.varied, outputs, width)
        if wanted not in self._kernels:
            names = [output_name(name) for name in outputs]
            self._kernels[wanted] = cached_kernel(
                plan.key(), lambda: step_program(plan, outputs), names, width, self.dtype
            )
        return self._kernels[wanted]

    def _tables(self) -> dict[str, np.ndarray]:
        control = self._plan.control
        if isinstance(control, ServoPlan) and control.table is not None:
            return {REFERENCE: control.table}
        return {}

    def _set(self, path: str) -> None:
        if self._batch is not None:
            self._batch.set(**{path: self.parameters[path]})

    def _observed(self, outputs: Sequence[str]) -> dict[str, np.ndarray]:
        state = self._ready().state()
        batch = self._new_batch(tuple(outputs), self.worlds)
        batch.set(**state)
        batch.run()
        return {name: batch.get(output_name(name))[:, 0] for name in outputs}

    def _start_state(
        self, q0: ArrayLike | None, v0: ArrayLike | None, worlds: int
    ) -> dict[str, np.ndarray]:
        found = {}
        for name, value, size in (("q", q0, self.robot.nq), ("v", v0, self.robot.nv)):
            if value is None:
                continue
            array = np.asarray(value, dtype=float)
            if array.shape not in ((size,), (worlds, size)) or not np.all(np.isfinite(array)):
                raise HeelstrikeError(
                    f"{name}0 of {self.robot.name} is {size} finite numbers, or ({worlds}, {size}) "
                    f"with one row a world; got shape {array.shape}"
                )
            found[name] = array
        if q0 is not None and v0 is None:
            found["v"] = np.zeros(self.robot.nv)
        return found

    def _follow_start(self, q: np.ndarray, mask: np.ndarray) -> None:
        """A servo without a reference of its own holds the pose in which its world began."""
        control = self._plan.control
        if not (isinstance(control, ServoPlan) and control.follows_start and not control.rows):
            return
        if q.ndim == 1 and mask.all():
            self.parameters["servo.q_ref"] = positions(self.robot, q)
            return
        rows = np.broadcast_to(q, (self.worlds, self.robot.nq))
        held = np.array(
            np.broadcast_to(self.parameters["servo.q_ref"], (self.worlds, self.robot.nv))
        )
        held[mask] = [positions(self.robot, pose) for pose in rows[mask]]
        self.parameters["servo.q_ref"] = held

    def _resize(self, worlds: int | None, vary: Mapping[str, ArrayLike] | None) -> None:
        """A new number of worlds, and room for masses that vary; both start anew."""
        masses = [
            path.removesuffix(".mass")
            for path in vary or {}
            if path.endswith(".mass") and path not in self.parameters
        ]
        for name in masses:
            self._grow(varied=(*self._plan.varied, self.robot.bodies[self.robot.body(name)].name))
        if worlds is None or worlds == self.worlds:
            return
        self._worlds = _checked_worlds(worlds)
        self.parameters.for_worlds(self._worlds)
        self._begin = {name: _first(value) for name, value in self._begin.items()}
        self._batch = self._outputs = None

    def _grow(self, **changes: Any) -> None:
        """The same simulator with a larger program; the state stays."""
        state = self._batch.state() if self._batch is not None else None
        self._plan = replace(self._plan, **changes)
        self.parameters.add(self._plan.parameters())
        if state is not None:
            batch = self._new_batch((), self.worlds)
            batch.set(**state)
            self._attach(batch, ())

    def _slot(self, body: str, clock: np.ndarray) -> int:
        """The number of a push on a body that is free to be used: a past one, or a new one."""
        for k, name in enumerate(self._plan.pushes):
            if name == body and np.all(self.parameters[f"push {k}.last"].ravel() <= clock):
                return k
        self._grow(pushes=(*self._plan.pushes, body))
        return len(self._plan.pushes) - 1

    def _torque_path(self) -> str:
        control = self._plan.control
        if isinstance(control, Controller):
            raise HeelstrikeError(
                "a controller makes the torque by itself; give it a parameter for what you add"
            )
        return "servo.torque" if isinstance(control, ServoPlan) else "torque"

    def _steps(self, duration: float | None, steps: int | None) -> int:
        if (duration is None) == (steps is None):
            raise HeelstrikeError("a run takes a duration [s] or steps=, one of them")
        if steps is not None:
            return _whole("steps", steps)
        dt = np.unique(self.parameters["dt"])
        if len(dt) > 1:
            raise HeelstrikeError("where dt varies from world to world say steps=, not a duration")
        if not (isinstance(duration, int | float | np.number) and 0 < duration < np.inf):
            raise HeelstrikeError(f"a duration is a time above 0 s, not {duration!r}")
        return max(1, round(float(duration) / float(dt[0])))

    def _variables(self, record: str | Sequence[str] | None) -> tuple[str, ...]:
        if record is None:
            record = "final" if self.worlds > MANY else "standard"
        if record == "final":
            return ()
        if record == "standard":
            return standard(self.scene, self._plan.sensors)
        names = (record,) if isinstance(record, str) else tuple(record)
        check_variables(self.scene, names, self._plan.sensors)
        return names

    def _recording(
        self,
        made: Rollout,
        before: Mapping[str, np.ndarray],
        variables: Sequence[str],
        every: int,
        vary: Mapping[str, ArrayLike],
    ) -> Recording:
        batch = self._ready()
        finals = {
            "failed": batch.get("failed")[:, 0],
            "steps": batch.get("clock")[:, 0] - before["clock"][:, 0],
            "q0": before["q"],
            "v0": before["v"],
        }
        if self.scene.pairs:
            bodies = len(body_indices(self.scene))
            finals |= {name: batch.get(name) for name in ("peak_force", "peak_depth")}
            finals["impulse"] = batch.get("impulse").reshape(self.worlds, bodies, 3)
        if not variables:
            finals |= {"q": batch.get("q"), "v": batch.get("v")}
        dt = self.parameters["dt"].reshape(-1, 1)
        labels = coordinates(self._plan)
        if variables:
            records = len(next(iter(made.values.values()))[0])
            clock = before["clock"][:, :1] + every * np.arange(records)
            times = clock * dt
            labels["time"] = times[0] if np.ptp(times, axis=0).max() == 0 else times
        attrs = described(self._plan) | circumstances(self.parameters)
        attrs |= {
            "dt": float(dt[0, 0]),
            "dtype": self.dtype,
            "device": "cpu",
            "duration": float(made.steps * dt[0, 0]),
            "steps": made.steps,
            "every": every,
            "seed": None,
            "wall_time": made.wall_time,
            "varied": {p: self.parameters[p] for p in vary if self.parameters[p].ndim == 2},
        }
        series = derived(self.scene, variables, made.values)
        return Recording(dataset(series, finals, labels, attrs))

    def _tell(self) -> None:
        """Says once which worlds diverged, where, and what to try."""
        failed = self.failed
        if self._told or not (failed >= 0).any():
            return
        self._told = True
        warnings.warn(explain(self, failed), HeelstrikeWarning, stacklevel=3)


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


def _check_choice(what: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise HeelstrikeError(f"no {what} '{value}'; {what}: {', '.join(choices)}")


def _checked_worlds(worlds: int) -> int:
    return _whole("worlds", worlds)


def _whole(what: str, value: int) -> int:
    if not isinstance(value, int | np.integer) or value < 1:
        raise HeelstrikeError(f"{what} is a whole number above 0, not {value!r}")
    return int(value)


def _first(value: np.ndarray) -> np.ndarray:
    return value[0] if value.ndim == 2 else value
