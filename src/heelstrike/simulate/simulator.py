"""The simulator: a scene, compiled, with the worlds that it advances."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.checks import count, mapping
from heelstrike.errors import HeelstrikeError, HeelstrikeWarning, ParameterError
from heelstrike.record.labels import dimension_labels
from heelstrike.record.memory import check_memory, estimate
from heelstrike.record.recording import Recording
from heelstrike.record.variables import check_variables, derive, needed_outputs
from heelstrike.scene.actuators import Actuators
from heelstrike.scene.controller import Controller
from heelstrike.scene.motors import Motors
from heelstrike.scene.placing import placed
from heelstrike.scene.scene import Scene
from heelstrike.scene.sensor import Sensor
from heelstrike.scene.servo import Servo
from heelstrike.scene.stops import Stops
from heelstrike.simulate.adaptive import (
    NOMINAL_STEP,
    WINDOW,
    check_served,
    checked_accuracy,
    refuse,
)
from heelstrike.simulate.advice import counts_of, explanation
from heelstrike.simulate.compiled_scene import CompiledScene
from heelstrike.simulate.controls import Controls
from heelstrike.simulate.copying import (
    Content,
    alone,
    check_pickled,
    content_of,
    content_of_first,
    restored,
    two_threads,
)
from heelstrike.simulate.parameters import Parameters
from heelstrike.simulate.python_control import BatchController, PeriodicControl
from heelstrike.simulate.recorder import make_recording
from heelstrike.simulate.rollout import rollout
from heelstrike.simulate.run_options import (
    MANY_WORLDS,
    recorded_variables,
    step_count,
    step_plan,
    world_count,
)
from heelstrike.simulate.sensors import Sensors
from heelstrike.simulate.start import check_step, warn_out_of_range
from heelstrike.simulate.state import State
from heelstrike.simulate.target import CompileTarget
from heelstrike.step.control import torque_path
from heelstrike.step.plan import StepPlan
from heelstrike.step.step import step_program

if TYPE_CHECKING:
    from heelstrike.ir.program import Program
    from heelstrike.runtime.cuda.dlpack import DeviceArray
    from heelstrike.simulate.linearize import SceneLinearizer, StepDerivatives


class Simulator:
    """Simulates one world or many worlds of a scene in time steps, fixed ones or dt="auto".

    Robot, laws and control are compiled when they are first needed. Parameters (stiffness,
    friction, gains, gravity, dt, ...) are not part of the code: they may change between steps, and
    differ from world to world, without compiling again. Change dt at a reset only:
    the time of a world is its number of steps times dt.

    Examples:
        >>> robot = hs.load("hoap1")
        >>> sim = hs.Simulator(hs.Scene(robot, hs.Plane()), dt=1e-3, control=hs.Servo())
        >>> run = sim.run(0.1, q0=robot.pose("stance"))
        >>> force = run.data["normal_force"].sum("point")       # an xarray.DataArray [N]
    """

    def __init__(
        self,
        scene: Scene,
        dt: float | str = 1e-3,
        control: Servo | Actuators | Controller | None = None,
        worlds: int = 1,
        integrator: str = "symplectic",
        dtype: str | None = None,
        device: str = "cpu",
        math: str = "exact",
        stops: Stops | None = Stops(),  # noqa: B008  frozen
        sensors: Sequence[str | Sensor] = (),
        motors: Motors | None = None,
        accuracy: float | None = None,
    ) -> None:
        """Plan the simulation of a scene; nothing is compiled yet.

        Args:
            scene: robot and surfaces, `hs.Scene(robot, surface, ...)`.
            dt: time step [s]; also the run-time parameter "dt". "auto": each world steps as
                `accuracy` demands, and a step of the simulator is a window of 20 ms.
            control: `hs.Servo(...)`, `hs.Actuators()` for those of the robot's file, a function
                decorated with `@hs.controller`, or None for no torque but `sim.torque`.
            worlds: number of copies of the scene that are stepped together.
            integrator: "symplectic" (implicit servo and joint damping), "euler" or "rk4" (both with
                an explicit servo; "rk4" takes elastic laws and acceleration-level laws only).
            dtype: "float64" (the default on a CPU) or "float32" (the default on a GPU).
            device: "cpu", or "cuda" for an NVIDIA GPU (needs the extra `heelstrike[cuda]`), by
                number "cuda:1"; "cuda:0,1" shares the worlds out over several.
            math: "exact": the same bits on every CPU and GPU; "fast": approximate division, for
                float32 on a GPU only.
            stops: stiffness and damping of the joints' ends, `hs.Stops(...)`; None lets joints pass
                their limits.
            sensors: quantities that every step measures, names such as "zmp" or "WAIST.gyro", or
                `hs.Sensor(...)` with noise, latency or history: docs/control.md.
            motors: delay, lag, torque-speed curve and gear friction between the control and the
                joints, `hs.Motors(...)`; None: torques act as they are.
            accuracy: under dt="auto", the largest change of any coordinate in a window that
                steps of half the size may make [m, rad], 1e-4 by default: docs/simulating.md.

        Raises:
            HeelstrikeError: the integrator cannot serve a law of the scene, the device is missing,
                or an argument is out of range.
        """
        target = CompileTarget.of(device, dtype, math)
        accuracy = checked_accuracy(dt, accuracy)
        if accuracy is not None:
            check_served(scene, target, control, sensors, motors)
        step = NOMINAL_STEP if isinstance(dt, str) else dt
        plan = step_plan(scene, step, control, integrator, target, stops, sensors, motors)
        self.scene = scene
        self.robot = scene.robot
        step = WINDOW if isinstance(dt, str) else dt
        size = world_count(worlds, scene.robot.nq + scene.robot.nv)
        self.compiled = CompiledScene(plan, step, size, target, accuracy)
        """Compiled step and arrays of the worlds, for code that builds on a simulator."""
        self._begin()

    def _begin(self) -> None:
        self._linearizer: SceneLinearizer | None = None
        self._reported = False
        self._lock = threading.RLock()

    @classmethod
    def _of(cls, content: Content) -> Simulator:
        """Return a simulator with this content."""
        sim = cls.__new__(cls)
        sim.scene, sim.robot = content.plan.scene, content.plan.robot
        sim.compiled = restored(content)
        sim._begin()
        return sim

    def __reduce__(self) -> tuple[object, ...]:
        content = content_of(self.compiled)
        check_pickled(content)
        return type(self)._of, (content,)

    def __deepcopy__(self, memo: object) -> Simulator:
        return self._of(content_of(self.compiled))

    # properties

    def __repr__(self) -> str:
        return (
            f"<Simulator of {self.robot.name}: {self.worlds} world(s), dt {self.dt[0]:g} s, "
            f"{self.plan.integrator}, {self.dtype} on {self.device}>"
        )

    def _repr_html_(self) -> str:
        """Return a picture and a table, for notebooks."""
        from heelstrike.view.pages.notebook import simulator_html

        return simulator_html(self)

    @property
    def worlds(self) -> int:
        """Number of worlds."""
        return self.compiled.worlds

    @property
    def plan(self) -> StepPlan:
        """Everything that decides over the compiled step: scene, control, integrator, pushes."""
        return self.compiled.plan

    @property
    def parameters(self) -> Parameters:
        """Every run-time parameter by path, such as "ground.normal.k"; assign to change one."""
        return self.compiled.parameters

    @property
    def state(self) -> State:
        """All memory of all worlds by name: q, v, work, peaks, impulses, memory of the laws."""
        self.compiled.batch()
        return self.compiled.state

    @property
    def sensors(self) -> Sensors:
        """Readings of the sensors after the last step by name: docs/control.md."""
        self.compiled.batch()
        return self.compiled.sensors

    @property
    def dt(self) -> np.ndarray:
        """Time step of each world [s], (worlds,)."""
        return self.compiled.dt

    @property
    def step_size(self) -> np.ndarray:
        """Time step that each world last used [s], (worlds,): dt, but under dt="auto"."""
        adaptive = self.compiled.adaptive
        return self.dt if adaptive is None else adaptive.step_size.copy()

    @property
    def time(self) -> np.ndarray:
        """Time of each world since its start [s], (worlds,)."""
        return self.compiled.batch().get("clock")[:, 0] * self.compiled.dt

    @property
    def failed(self) -> np.ndarray:
        """Step at which each world diverged, -1 where it did not, (worlds,)."""
        return self.compiled.batch().get("failed")[:, 0].astype(int)

    @property
    def torque(self) -> np.ndarray:
        """Torque added to the control's, by velocity index [N m or N].

        With one world on a CPU it is a view, which may be written before each step.
        """
        path = torque_path(self.plan.control)
        view = self.compiled.batch().view(path)
        return self.parameters[path] if view is None else view

    @torque.setter
    def torque(self, value: ArrayLike) -> None:
        self.parameters[torque_path(self.plan.control)] = value

    @property
    def control(self) -> Controls:
        """Controls of the robot's actuators by name, under control=hs.Actuators()."""
        return Controls(self.robot, self.plan.control, self.parameters)

    @property
    def device(self) -> str:
        """Device that steps the worlds: "cpu", "cuda", or GPUs by number."""
        return self.compiled.target.device

    @property
    def dtype(self) -> str:
        """Type of the numbers: "float64" or "float32"."""
        return self.compiled.target.dtype

    @property
    def math(self) -> str:
        """Precision of the operations: "exact" or "fast"."""
        return self.compiled.target.math

    @property
    def start(self) -> dict[str, np.ndarray]:
        """State q and v that `reset` restores, (size,) each or (worlds, size)."""
        return dict(self.compiled.start)

    @property
    def program(self) -> Program:
        """Traced step with nothing recorded: to count, export or compile elsewhere."""
        return step_program(self.plan)

    @property
    def stream(self) -> int | None:
        """CUDA handle of the stream in which steps are launched; None on a CPU.

        Worlds on several GPUs have several streams, and asking for one raises an error.
        """
        return self.compiled.batch(()).stream_handle

    # simulating

    def step(self, steps: int = 1, threads: int = 1) -> State:
        """Advance all worlds by one step or several, and return the state.

        Args:
            steps: number of steps.
            threads: threads that share the worlds, on a CPU.
        """
        compiled, lock = self.compiled, self._lock
        if not lock.acquire(blocking=False):  # not by alone(), which takes 1.2 us more
            raise two_threads()
        try:
            compiled.check_parameters()
            compiled.advancing(compiled.batch(())).run(steps, 1, threads)
        finally:
            lock.release()
        if compiled.failed is not None and compiled.failed[0] >= 0:
            self._report()
        return compiled.state

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
        check: bool = True,
        controller: BatchController | None = None,
        control_every: int = 1,
    ) -> Recording:
        """Simulate for a duration, or for a number of steps, and return a recording.

        The run starts from q0 and v0 at time 0 if one of them is passed, and else continues from
        the present state. A world that diverges keeps its last finite state; the others go on, and
        a warning names the cause.

        Args:
            duration: simulated time [s]; or pass `steps`.
            q0: coordinates at the start, (nq,) or (worlds, nq).
            v0: velocities at the start, (nv,) or (worlds, nv); 0 where only q0 is passed.
            worlds: new number of worlds, which are all reset; None keeps the number.
            vary: values of parameters by path: a number or a vector for all worlds alike, or with
                one row per world. "BODY.mass" makes a mass a parameter, which compiles once more.
            record: names of variables (docs/recording.md), "standard" for the usual ones, or
                "final" for the state at the end, peaks, impulses and failures alone. None is
                "standard" for up to 64 worlds and "final" for more.
            every: number of steps from one record to the next.
            steps: number of steps, in place of a duration.
            threads: threads that share the worlds, on a CPU; None uses one for up to 64 worlds and
                all cores for more.
            progress: whether to show a progress bar; None shows one for long runs in a terminal.
            check: whether to raise if a point starts more than 10 mm inside a surface, or shapes
                of the robot start inside one another, and to warn if a joint starts more than
                0.01 rad or m outside its range.
            controller: function of the arrays of all worlds (docs/control.md) that returns torques
                or values of parameters; it is called in Python.
            control_every: steps from one call of the controller to the next.

        Returns:
            The recording: `run.data` is an `xarray.Dataset` with units and labels.

        Raises:
            HeelstrikeError: an argument is out of range, the recording exceeds the free memory, or
                a point starts more than 10 mm inside a surface.

        Examples:
            >>> robot = hs.load("hoap1")
            >>> sim = hs.Simulator(hs.Scene(robot, hs.Plane(name="ground")), control=hs.Servo())
            >>> friction = {"ground.friction.mu_k": np.linspace(0.1, 0.8, 100)}
            >>> many = sim.run(0.1, q0=robot.pose("stance"), worlds=100, vary=friction)
            >>> many.data["peak_force"].max("point").shape
            (100,)
        """
        with alone(self._lock):
            compiled = self.compiled
            allowed = "values by path: {'ground.normal.k': [1e4, 2e4]}"
            vary = mapping("vary", {} if vary is None else vary, allowed)
            every = count("every", every)
            worlds = None if worlds is None else count("worlds", worlds)
            kept = recorded_variables(self.plan, record, worlds or self.worlds)
            outputs = tuple(needed_outputs(kept))
            self._prepare(worlds, vary, outputs)
            for path, value in vary.items():
                self.parameters[path] = value
            compiled.check_parameters()
            total = step_count(duration, steps, self.dt)
            starts = q0 is not None or v0 is not None
            if check and (starts or not compiled.clock.any()):
                start = compiled.start_state(q0, v0)["q"]
                compiled.check_outside(start)
                warn_out_of_range(self.plan, start)
            batch = compiled.batch(outputs)
            if starts:
                self.reset(q0=q0, v0=v0)
            size = estimate(
                kept, dimension_labels(self.plan), self.worlds, total // every + 1, self.dtype
            )
            if (note := check_memory(2 * size)) is not None:  # outputs beside variables
                warnings.warn(note, HeelstrikeWarning, stacklevel=2)
            before = batch.snapshot("clock", "work", "q", "v", *counts_of(self.scene))
            if threads is None:
                threads = os.cpu_count() or 1 if self.worlds > MANY_WORLDS else 1
            own = None
            if controller is not None:
                refuse(compiled.accuracy, "controller=")
                own = PeriodicControl(compiled, controller, control_every)
            if compiled.adaptive is not None:
                compiled.adaptive.recorded_sizes.clear()
            advancing = compiled.advancing(batch)
            made = rollout(advancing, total, every, list(outputs), threads, progress, own)
            self._report(before)
            if compiled.adaptive is not None and (note := compiled.adaptive.note()) is not None:
                warnings.warn(note, HeelstrikeWarning, stacklevel=2)
            return make_recording(compiled, made, before, kept, every, vary)

    def reset(
        self,
        worlds: ArrayLike | None = None,
        q0: ArrayLike | None = None,
        v0: ArrayLike | None = None,
    ) -> None:
        """Set worlds back to the start, or to another state, at time 0.

        Parameters stay, and so do pushes, which occur again at their times; see `push`.

        Args:
            worlds: mask of the worlds to reset, (worlds,) booleans; None resets all, and q0 and v0
                then become the start.
            q0: coordinates, (nq,) or (worlds, nq).
            v0: velocities, (nv,) or (worlds, nv); 0 where only q0 is passed.
        """
        compiled, mask = self.compiled, self.compiled.mask(worlds)
        start = compiled.start_state(q0, v0)
        with alone(self._lock):
            if worlds is None:
                compiled.start = start
            compiled.reset(start, mask)
            self._reported = False

    def begin_at(self, q0: ArrayLike, v0: ArrayLike | None = None) -> None:
        """Set the state that worlds will start from, without compiling anything.

        Args:
            q0: coordinates, (nq,) or (worlds, nq).
            v0: velocities, (nv,) or (worlds, nv); 0 if None.
        """
        compiled = self.compiled
        compiled.start = compiled.start_state(q0, v0)
        compiled.hold(compiled.start["q"], compiled.mask(None))

    def push(
        self,
        body: str,
        force: ArrayLike,
        duration: float,
        at: float | None = None,
        point: ArrayLike | None = None,
        worlds: ArrayLike | None = None,
    ) -> None:
        """Apply a force to a body for a while.

        The first push on a body compiles a step that includes it. A push is tied to its time: after
        `reset`, or a `run` with q0, it occurs again. `sim.parameters["push0.force"] = [0, 0, 0]`
        removes the first push; `sim.plan.pushes` lists the bodies that are pushed.

        Args:
            body: body, link or site.
            force: force in world axes [N], (3,) or (worlds, 3).
            duration: how long the force acts [s].
            at: time at which it begins [s]; None for now.
            point: where it acts, in the body's frame [m]; None for the centre of mass.
            worlds: mask of the worlds that are pushed, (worlds,) booleans; None for all.
        """
        mask = self.compiled.mask(worlds)
        self.compiled.push(body, force, duration, at, point, mask)

    def observe(self, *names: str) -> dict[str, np.ndarray]:
        """Return variables of a recording at the present state, (worlds, ...); time stands still.

        Args:
            names: variables, such as "com" or "normal_force".
        """
        if not all(isinstance(name, str) for name in names):
            raise ParameterError("observe", names, 'names one by one, as observe("com", "depth")')
        check_variables(self.scene, names, [sensor.name for sensor in self.plan.sensors])
        values = self.compiled.observe(needed_outputs(names))
        found = derive(names, {name: x[:, None] for name, x in values.items()})
        return {name: array[:, 0] for name, array in found.items()}

    def linearize(self, *inputs: str) -> StepDerivatives:
        """Return derivatives of a step of the first world: dx+ = A dx + B du.

        x = (motion of the joints, v) has 2 nv entries; the memory of laws is held constant. See
        docs/derivatives.md.

        Args:
            inputs: paths of the parameters u.
        """
        from heelstrike.simulate.linearize import SceneLinearizer

        refuse(self.compiled.accuracy, "linearize")
        self._linearizer = self._linearizer or SceneLinearizer(self.compiled)
        return self._linearizer(*inputs)

    # preparing

    def place(self, q0: ArrayLike | None = None, drop: float = 0.0) -> np.ndarray:
        """Put the robot on the surfaces of the scene, or above them, and let worlds start there.

        The free base is moved vertically until the first contact, on slopes and stairs too; a
        robot without one stays where it is. Nothing is compiled.

        Args:
            q0: coordinates, (nq,); None for the present start.
            drop: height of fall until the first contact [m].

        Returns:
            The coordinates, (nq,).

        Examples:
            >>> sim = hs.Simulator(hs.Scene(hs.load("hoap1"), hs.Plane()), control=hs.Servo())
            >>> run = sim.run(0.1, q0=sim.place(drop=0.02))
        """
        pose = np.atleast_2d(self.compiled.start_state(q0, None)["q"])[0]
        warn_out_of_range(self.plan, pose)
        found = placed(self.scene, pose, drop, self.compiled.surfaces(0))
        self.begin_at(found)
        return found

    def check_start(self, q0: ArrayLike | None = None) -> None:
        """Raise if the robot starts inside a surface or itself, or if dt is too large to rest.

        Nothing is compiled.

        Args:
            q0: coordinates, (nq,) or (worlds, nq); None for the present start.
        """
        start = self.compiled.start_state(q0, None)["q"]
        self.compiled.check_outside(start)
        for pose in np.unique(np.atleast_2d(start), axis=0):
            check_step(self.plan, pose, float(self.dt.max()))

    def free_masses(self, *names: str) -> None:
        """Make masses of bodies parameters, "BODY.mass" [kg]; inertias scale with them.

        The step is compiled once more: at once if worlds exist, else when it is first needed.
        """
        self.compiled.free_masses(names)

    def compile(self, record: str | Sequence[str] | None = None) -> None:
        """Compile now what a run with this `record` would compile."""
        self.compiled.batch(
            tuple(needed_outputs(recorded_variables(self.plan, record, self.worlds)))
        )

    def twin(self) -> Simulator:
        """Return a simulator of one world with the same scene, parameters and start.

        Where worlds differ, the first one counts. Nothing is compiled.
        """
        return self._of(content_of_first(self.compiled))

    def device_array(self, name: str) -> np.ndarray | DeviceArray:
        """Return the memory of a state or a parameter in place, (tiles, size, lanes).

        It is a NumPy array, or on a GPU what torch, CuPy and JAX accept without a copy. Worlds on
        several GPUs have no such array. See docs/gpu.md.

        Args:
            name: name of a state or sensor, or path of a parameter, which becomes one per world.
        """
        batch = self.compiled.batch()
        if name not in self.state:
            self.parameters.known(name)
            if batch.device_array(name).shape[0] < batch.device_array("clock").shape[0]:
                self.parameters[name] = batch.get(name)
            self.parameters.in_place.add(name)
        return batch.device_array(name)

    # internals

    def _prepare(
        self, worlds: int | None, vary: Mapping[str, ArrayLike], outputs: tuple[str, ...]
    ) -> None:
        """Resize and add varied masses; raise before anything changes if a value does not fit.

        Where so many worlds do not fit into memory, there are as many as before, reset.
        """
        wanted = self.worlds if worlds is None else count("worlds", worlds)
        for path, value in vary.items():
            if path in self.parameters:
                self.parameters.shaped(path, value, wanted)
        self.compiled.add_parameters(vary)
        if wanted != self.worlds:
            before = self.worlds
            self.compiled.resize(wanted)
            try:
                self.compiled.batch(outputs)  # so that the step is compiled once
            except HeelstrikeError:
                self.compiled.resize(before)
                raise
            self.reset()

    def _report(self, before: Mapping[str, np.ndarray] | None = None) -> None:
        """Warn once of worlds that diverged, gained energy or lost contacts, with a remedy."""
        note = None if self._reported else explanation(self, before)
        if note is not None:
            self._reported = True
            warnings.warn(note, HeelstrikeWarning, stacklevel=3)
