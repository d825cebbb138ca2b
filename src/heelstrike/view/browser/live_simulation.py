"""A scene that is simulated in real time and changed between two steps.

Parameters are inputs of the compiled step, so that a change needs no compilation. Changes from
other threads wait in a queue, which also wakes the simulation: they take effect in the next step.
"""

from __future__ import annotations

import queue
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.record.variables import standard
from heelstrike.view.browser.run_arrays import NAMES, RunArrays, run_arrays

if TYPE_CHECKING:
    from heelstrike.record.recording import Recording
    from heelstrike.simulate.scene_file import SceneFile

FRAME = 1 / 30
"""Wall time between two frames [s]."""
MAX_LAG = 0.1
"""Largest wall time that is made up for; an older lag is dropped [s]."""
HISTORY, MAX_RECORDS = 4.0, 8000
"""Simulated time that is kept for curves [s], and its largest number of records."""
SMOOTHING = 0.9
"""Weight of earlier frames in the measured real-time factor: about the last ten count."""


class LiveSimulation:
    """A simulator that runs in step with the wall clock."""

    def __init__(self, scene: SceneFile, body: str | None = None) -> None:
        """Compile a step with a push on a body, by default the first."""
        self.scene, self.sim = scene, scene.simulator()
        self.paused = False
        self.speed = 1.0
        """Wanted ratio of simulated to wall time."""
        self.factor = 0.0
        """Measured ratio of simulated to wall time."""
        self.load = 0.0
        """Share of the wall time that steps take."""
        self.change_time: float | None = None
        """Time from the last request to the end of the first step with it [s]."""
        self.note = ""
        """The last warning or error, if any."""
        self._requests: queue.Queue[tuple[float, Callable[[], None]]] = queue.Queue()
        self._slots: dict[str, str] = {}
        self._names = [n for n in standard(scene.scene, ()) if n in NAMES]
        for name in dict.fromkeys([body or scene.robot.bodies[0].name, *_pushed_bodies(scene)]):
            self._slot(name)
        self.sim.compile(self._names)
        self._dt = float(self.sim.parameters["dt"][0])
        self._lag = self._last = 0.0
        self.reset()

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self.sim.time[0])

    @property
    def failed(self) -> bool:
        """True if the simulation diverged."""
        return bool(self.sim.failed[0] >= 0)

    def request(self, change: Callable[[], None]) -> None:
        """Have a change made between two steps; any thread may call this."""
        self._requests.put((time.perf_counter(), change))

    # the methods below are called between two steps: by requests, or by the simulating thread

    def set(self, path: str, value: float) -> None:
        """Set a parameter by its path from the next step on."""
        self.sim.parameters[path] = value
        self.values.info["parameters"][path] = self.sim.parameters[path].tolist()

    def push(self, body: str, force: ArrayLike, duration: float) -> None:
        """Apply a force [N] to a body for a duration [s]; the first push of a body compiles."""
        path, step = self._slot(body), round(self.time / self._dt)
        self.sim.parameters[f"{path}.force"] = force
        self.sim.parameters[f"{path}.first"] = step
        self.sim.parameters[f"{path}.last"] = step + max(1, round(duration / self._dt))

    def pushes(self) -> dict[str, np.ndarray]:
        """Return the forces that act now, by body [N]."""
        values, now = self.sim.parameters, self.time / self._dt
        acting = {
            body: values[f"{path}.force"]
            for body, path in self._slots.items()
            if values[f"{path}.first"][0] <= now < values[f"{path}.last"][0]
        }
        return {body: force for body, force in acting.items() if force.any()}

    def reset(self) -> None:
        """Return to the start of the scene; parameters stay, and the user's pushes end."""
        q0, v0 = self.scene.start
        self.sim.reset(q0=q0, v0=v0)
        for path in self._slots.values():
            self.sim.parameters[f"{path}.last"] = 0
        self.note, self._lag = "", 0.0
        run = self.sim.run(steps=1, record=self._names, progress=False)
        self.values: RunArrays = run_arrays(run, self.scene.name, robot=self.scene.robot)

    def frame(self) -> None:
        """Wait until the next frame is due, make the requested changes, and simulate."""
        requested = self._wait(time.perf_counter() + FRAME)
        if self.paused or self.failed:
            self.factor = self._last = 0.0
            return
        now = time.perf_counter()
        spent, self._last = now - (self._last or now - FRAME), now
        self._lag = min(self._lag + spent * self.speed, MAX_LAG * max(self.speed, 1.0))
        steps = max(int(self._lag / self._dt), 1 if requested else 0)
        if not steps:
            return
        self._lag -= steps * self._dt
        begun = time.perf_counter()
        ended = self.advance(steps)
        if requested:
            self.change_time = ended - requested
        self.factor = _smoothed(self.factor, steps * self._dt / max(spent, 1e-6))
        self.load = _smoothed(self.load, (ended - begun) / max(spent, 1e-6))

    def advance(self, steps: int) -> float:
        """Simulate a number of steps; return the wall clock at their end [s]."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", HeelstrikeWarning)
            run = self.sim.run(steps=steps, record=self._names, progress=False)
        ended = time.perf_counter()
        if run.data.sizes["time"] <= steps:  # Ctrl-C ended the run early
            raise KeyboardInterrupt
        self._append(run)
        for warning in caught:
            self.note = str(warning.message)
        return ended

    def _wait(self, until: float) -> float:
        """Make requested changes until a time; return the time of the first request, else 0."""
        first = 0.0
        while (left := until - time.perf_counter()) > 0 or not self._requests.empty():
            try:
                when, change = self._requests.get(timeout=max(left, 1e-4))
            except queue.Empty:
                break
            try:
                change()
            except HeelstrikeError as error:
                self.note = str(error)
            first = first or when
            if not self.paused and self._requests.empty():
                break
        return first

    def _slot(self, body: str) -> str:
        """Return the path of the parameters of the user's push on a body; make them if needed."""
        name = self.sim.robot.bodies[self.sim.robot.body(body)].name
        if name not in self._slots:
            before = set(self.sim.parameters)
            self.sim.push(name, [0.0, 0.0, 0.0], 1e-3)
            (new,) = {path.split(".")[0] for path in set(self.sim.parameters) - before}
            self.sim.parameters[f"{new}.last"] = 0
            self._slots[name] = new
        return self._slots[name]

    def _append(self, run: Recording) -> None:
        """Add the records of a run to the history."""
        data, old = run.data.isel(world=0), self.values
        longest = min(round(HISTORY / self._dt), MAX_RECORDS)
        first = max(0, len(old.time) + data.sizes["time"] - 1 - longest)
        arrays = {
            name: np.concatenate([array[first:-1], data[name].values])
            for name, array in old.arrays.items()
        }
        times = np.concatenate([old.time[first:-1], data["time"].values])
        self.values = replace(old, time=times, arrays=arrays)


def _smoothed(old: float, new: float) -> float:
    return SMOOTHING * old + (1 - SMOOTHING) * new


def _pushed_bodies(scene: SceneFile) -> list[str]:
    """Return the bodies that the scene itself pushes.

    They get a separate push for the user from the start, which would otherwise replace the scene's.
    """
    return [scene.robot.bodies[scene.robot.body(push.body)].name for push in scene.content.push]
