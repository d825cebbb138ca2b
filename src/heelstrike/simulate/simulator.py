"""The simulator: a scene, compiled, with the worlds that it runs in."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeWarning
from heelstrike.record.derived import check_variables, derived, needed
from heelstrike.record.memory import check_memory, estimate
from heelstrike.record.provenance import coordinates
from heelstrike.record.recording import Recording
from heelstrike.scene.controller import Controller
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo
from heelstrike.scene.stops import Stops
from heelstrike.simulate.advice import explain, explain_gain
from heelstrike.simulate.begin import given_state, hold_start, mask_of
from heelstrike.simulate.compiled_scene import Machine
from heelstrike.simulate.parameters import Parameters
from heelstrike.simulate.planning import check_scene, planned
from heelstrike.simulate.pushing import push
from heelstrike.simulate.recorder import recorded
from heelstrike.simulate.rollout import rollout
from heelstrike.simulate.room import free_masses, make_room
from heelstrike.simulate.run_options import MANY, step_count, variables, whole
from heelstrike.simulate.start import check_outside, check_step
from heelstrike.simulate.state import State
from heelstrike.simulate.target import Target
from heelstrike.step.control import torque_path
from heelstrike.step.step import step_program

if TYPE_CHECKING:
    from heelstrike.ir.program import Program
    from heelstrike.runtime.cuda.dlpack import DeviceArray
    from heelstrike.simulate.linearize import Slopes, StepSlopes


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
        check_scene(scene, integrator)
        target = Target.of(device, dtype, math)
        plan = planned(scene, dt, control, integrator, target, stops, sensors)
        self.scene = scene
        self.robot = scene.robot
        self._machine = Machine(plan, dt, whole("worlds", worlds), target)
        self._slopes: StepSlopes | None = None
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
        return self._machine.ready().get("clock")[:, 0] * self._machine.dt

    @property
    def failed(self) -> np.ndarray:
        """The step at which each world diverged, -1 where it did not."""
        return self._machine.ready().get("failed")[:, 0].astype(int)

    @property
    def torque(self) -> np.ndarray:
        """What is added to the control's torque, by velocity index [N m or N]; with one world on
        a CPU a view, to be written before each step.
        """
        path = torque_path(self._machine.plan.control)
        view = self._machine.ready().view(path)
        return self.parameters[path] if view is None else view

    @torque.setter
    def torque(self, value: ArrayLike) -> None:
        self.parameters[torque_path(self._machine.plan.control)] = value

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
        kept = variables(machine.plan, record, worlds or self.worlds)
        outputs = needed(kept)
        if make_room(machine, worlds, vary):
            machine.ready(tuple(outputs))  # so that the step is compiled once
            self.reset()
        for path, value in vary.items():
            self.parameters[path] = value
        count = step_count(duration, steps, machine.dt)
        if q0 is not None or v0 is not None:
            machine.ready(tuple(outputs))
            self.reset(q0=q0, v0=v0)
        labels, records = coordinates(machine.plan), count // every + 1
        size = estimate(kept, labels, self.worlds, records, machine.target.dtype)
        if (note := check_memory(2 * size)) is not None:  # plain outputs beside what follows
            warnings.warn(note, HeelstrikeWarning, stacklevel=2)
        batch = machine.ready(tuple(outputs))
        before = batch.keep("clock", "work", "q", "v")
        threads = threads or (os.cpu_count() or 1 if self.worlds > MANY else 1)
        made = rollout(batch, count, every, outputs, threads, progress)
        self._tell(before)
        return recorded(machine, made, before, kept, every, vary)

    def reset(
        self,
        worlds: ArrayLike | None = None,
        q0: ArrayLike | None = None,
        v0: ArrayLike | None = None,
    ) -> None:
        """Back to the start, or to a state given, at time 0: all worlds, or where a mask holds."""
        machine, mask = self._machine, mask_of(self._machine, worlds)
        begin = machine.begin | given_state(machine, q0, v0)
        if worlds is None:
            machine.begin = begin
        machine.ready().reset(mask, **begin)
        hold_start(machine, begin["q"], mask)
        self._told = False

    def begin_at(self, q0: ArrayLike, v0: ArrayLike | None = None) -> None:
        """The state that worlds will start from; nothing is compiled."""
        machine = self._machine
        machine.begin = machine.begin | given_state(machine, q0, v0)
        hold_start(machine, machine.begin["q"], mask_of(machine, None))

    def twin(self) -> Simulator:
        """Another of the same scene, parameters and start: one world, the first where they differ,
        and nothing compiled.
        """
        other, own = copy.copy(self), self._machine
        other._machine = Machine(own.plan, float(own.dt[0]), 1, own.target)
        for path, value in self.parameters.items():
            other.parameters[path] = np.atleast_2d(value)[0]
        other._machine.begin = {name: np.atleast_2d(x)[0] for name, x in own.begin.items()}
        other._slopes, other._told = None, False
        return other

    def check_start(self, q0: ArrayLike | None = None) -> None:
        """Refuses a start inside a surface, and steps in which nothing could rest on one. Nothing
        is compiled.
        """
        machine = self._machine
        q = np.asarray(given_state(machine, q0, None).get("q", machine.begin["q"]))
        for pose in np.atleast_2d(q):
            check_outside(self.scene, pose)
            check_step(machine.plan, pose, float(machine.dt.max()))

    def free_masses(self, *names: str) -> None:
        """Makes the masses of bodies parameters, "BODY.mass" [kg], of a program compiled anew. A
        body's inertia goes with its mass.
        """
        free_masses(self._machine, names)

    def compile(self, record: str | Sequence[str] | None = None) -> None:
        """Compiles now what a run with this `record` would compile."""
        self._machine.ready(tuple(needed(variables(self._machine.plan, record, self.worlds))))

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
        push(self._machine, body, force, duration, at, point, mask_of(self._machine, worlds))

    def linearize(self, *inputs: str) -> Slopes:
        """Derivatives of a step of the first world: dx+ = A dx + B du for the named parameters.

        x = (motion of the joints, v), 2 nv numbers; the laws' memory is held. docs/derivatives.md.
        """
        from heelstrike.simulate.linearize import StepSlopes

        self._slopes = self._slopes or StepSlopes(self._machine)
        return self._slopes(*inputs)

    # inside

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
