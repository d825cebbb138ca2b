"""A scene that is simulated in real time and changed between two steps.

Parameters are inputs of the compiled step, so that a change needs no compilation. Changes from
other threads wait in a queue, which also wakes the simulation: they take effect in the next step.
"""

from __future__ import annotations

import queue
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.record.variables import standard
from heelstrike.view.browser.live_history import History
from heelstrike.view.browser.live_pushes import Pushes
from heelstrike.view.browser.run_arrays import NAMES, RunArrays, run_arrays

if TYPE_CHECKING:
    from heelstrike.simulate.scene_file import SceneFile

FRAME = 1 / 30
"""Wall time between two frames [s]."""
MAX_LAG = 0.1
"""Largest wall time that is made up for; an older lag is dropped [s]."""
SMOOTHING = 0.9
"""Weight of earlier frames in the measured real-time factor: about the last ten count."""


class LiveSimulation:
    """A simulator that runs in step with the wall clock."""

    def __init__(self, scene: SceneFile) -> None:
        """Compile a step with a push on every body."""
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
        self._names = [n for n in standard(scene.scene, ()) if n in NAMES]
        self._pushes = Pushes(self.sim)
        self.sim.compile(self._names)
        self._dt = float(self.sim.parameters["dt"][0])
        self._lag = self._last = 0.0
        self.reset()

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self.sim.time[0])

    @property
    def values(self) -> RunArrays:
        """Records of the last seconds."""
        return self.history.values

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
        self.history.info["parameters"][path] = self.sim.parameters[path].tolist()

    def push(
        self, body: str, force: ArrayLike, duration: float, point: ArrayLike | None = None
    ) -> None:
        """Apply a force [N] to a body for a duration [s], at a point of its frame [m]."""
        self._pushes.push(body, force, round(duration / self._dt), point)

    def release(self) -> None:
        """End the user's pushes."""
        self._pushes.end()

    def pushes(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return the user's forces that act now [N] and their points [m], by body."""
        acting = self._pushes.acting()
        return {body: (force, self._pushes.point(body)) for body, force in acting.items()}

    def reset(self) -> None:
        """Return to the start of the scene; parameters stay, and the user's pushes end."""
        q0, v0 = self.scene.start
        self.sim.reset(q0=q0, v0=v0)
        self.release()
        self.note, self._lag = "", 0.0
        run = self.sim.run(steps=1, record=self._names, progress=False)
        first = run_arrays(run, self.scene.name, robot=self.scene.robot)
        self.history = History(first, self.sim.state.copy())

    def rewind(self, time: float) -> None:
        """Return to a time of the history [s]; parameters stay, and the user's pushes end."""
        self.sim.state.update(self.history.cut(time))
        self.release()
        self.note, self._lag = "", 0.0

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
        self.history.append(run.data.isel(world=0), self.sim.state.copy())
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


def _smoothed(old: float, new: float) -> float:
    return SMOOTHING * old + (1 - SMOOTHING) * new
