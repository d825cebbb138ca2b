"""A scene that is simulated while one watches: paced by the clock, changed between two steps.

Parameters are inputs of the compiled step, so a change costs no compilation. What is asked from
other threads waits in a queue, which also wakes the pace: it takes effect in the very next step.
"""

from __future__ import annotations

import queue
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.record.derived import standard
from heelstrike.view.browser.run_arrays import NAMES, RunArrays, run_arrays

if TYPE_CHECKING:
    from heelstrike.record.recording import Recording
    from heelstrike.simulate.scene_file import SceneFile

FRAME = 1 / 30
"""Wall time from one picture to the next [s]."""
BEHIND = 0.1
"""Wall time that is caught up with at most; what lies further back is given up [s]."""
KEPT, RECORDS = 4.0, 8000
"""Simulated time that is remembered for curves [s], in at most so many records."""
SHARE = 0.9
"""Of the measured factor that a new picture keeps: over the last ten."""


class LiveSimulation:
    """A simulator that keeps pace with the clock."""

    def __init__(self, scene: SceneFile, body: str | None = None) -> None:
        """Compiles a step with room for a push on a body, the first if none is named."""
        self.scene, self.sim = scene, scene.simulator()
        self.paused, self.speed, self.factor, self.share = False, 1.0, 0.0, 0.0
        """`factor` is simulated over wall time, `share` the part of the wall time it takes."""
        self.change_time: float | None = None
        """From the last change that was asked for to the end of the step that has it [s]."""
        self.note = ""
        """What went wrong, if anything did."""
        self._asked: queue.Queue[tuple[float, Callable[[], None]]] = queue.Queue()
        self._slots: dict[str, str] = {}
        self._names = [n for n in standard(scene.scene, ()) if n in NAMES]
        for name in dict.fromkeys([body or scene.robot.bodies[0].name, *_pushed(scene)]):
            self._slot(name)
        self.sim.compile(self._names)
        self._dt = float(self.sim.parameters["dt"][0])
        self._debt = self._last = 0.0
        self.reset()

    @property
    def time(self) -> float:
        """[s]"""
        return float(self.sim.time[0])

    @property
    def failed(self) -> bool:
        return bool(self.sim.failed[0] >= 0)

    # what one may ask, from any thread

    def ask(self, change: Callable[[], None]) -> None:
        """Has something done between two steps."""
        self._asked.put((time.perf_counter(), change))

    # what is done, between two steps

    def set(self, path: str, value: float) -> None:
        """A parameter by its path, from the next step on."""
        self.sim.parameters[path] = value
        self.values.info["parameters"][path] = self.sim.parameters[path].tolist()

    def push(self, body: str, force: ArrayLike, duration: float) -> None:
        """A force on a body from now on [N], for a while [s]; a body's first one compiles."""
        path, step = self._slot(body), round(self.time / self._dt)
        self.sim.parameters[f"{path}.force"] = force
        self.sim.parameters[f"{path}.first"] = step
        self.sim.parameters[f"{path}.last"] = step + max(1, round(duration / self._dt))

    def pushes(self) -> dict[str, np.ndarray]:
        """Forces that act now, by body [N]."""
        values, now = self.sim.parameters, self.time / self._dt
        acting = {
            body: values[f"{path}.force"]
            for body, path in self._slots.items()
            if values[f"{path}.first"][0] <= now < values[f"{path}.last"][0]
        }
        return {body: force for body, force in acting.items() if force.any()}

    def reset(self) -> None:
        """Back to the scene's start; parameters stay, pushes of one's own are over."""
        q0, v0 = self.scene.start
        self.sim.reset(q0=q0, v0=v0)
        for path in self._slots.values():
            self.sim.parameters[f"{path}.last"] = 0
        self.note, self._debt = "", 0.0
        run = self.sim.run(steps=1, record=self._names, progress=False)
        self.values: RunArrays = run_arrays(run, self.scene.name, robot=self.scene.robot)

    # time

    def frame(self) -> None:
        """Waits until the next picture is due, does what was asked, and lets time go on."""
        begun = time.perf_counter()
        asked = self._wait(begun + FRAME)
        if self.paused or self.failed:
            self.factor = self._last = 0.0
            return
        now = time.perf_counter()
        spent, self._last = now - (self._last or now - FRAME), now
        self._debt = min(self._debt + spent * self.speed, BEHIND * max(self.speed, 1.0))
        steps = max(int(self._debt / self._dt), 1 if asked else 0)
        if not steps:
            return
        self._debt -= steps * self._dt
        begun = time.perf_counter()
        stepped = self.advance(steps)
        if asked:
            self.change_time = stepped - asked
        self.factor = SHARE * self.factor + (1 - SHARE) * steps * self._dt / max(spent, 1e-6)
        self.share = SHARE * self.share + (1 - SHARE) * (stepped - begun) / max(spent, 1e-6)

    def advance(self, steps: int) -> float:
        """Makes steps; returns the wall clock when they were made [s]."""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", HeelstrikeWarning)
            run = self.sim.run(steps=steps, record=self._names, progress=False)
        stepped = time.perf_counter()
        if run.data.sizes["time"] <= steps:  # a run keeps what it has when one presses Ctrl-C
            raise KeyboardInterrupt
        self._keep(run)
        for warning in told:
            self.note = str(warning.message)
        return stepped

    def _wait(self, until: float) -> float:
        """Does what is asked until a time; returns when the first of it was asked, else 0."""
        first = 0.0
        while (left := until - time.perf_counter()) > 0 or not self._asked.empty():
            try:
                when, change = self._asked.get(timeout=max(left, 1e-4))
            except queue.Empty:
                break
            try:
                change()
            except HeelstrikeError as error:
                self.note = str(error)
            first = first or when
            if not self.paused and self._asked.empty():
                break
        return first

    def _slot(self, body: str) -> str:
        """The parameters of a push of one's own on a body."""
        name = self.sim.robot.bodies[self.sim.robot.body(body)].name
        if name not in self._slots:
            before = set(self.sim.parameters)
            self.sim.push(name, [0.0, 0.0, 0.0], 1e-3)
            (new,) = {path.split(".")[0] for path in set(self.sim.parameters) - before}
            self.sim.parameters[f"{new}.last"] = 0
            self._slots[name] = new
        return self._slots[name]

    def _keep(self, run: Recording) -> None:
        """Adds a run's records to those that are remembered."""
        data, old = run.data.isel(world=0), self.values
        most = min(round(KEPT / self._dt), RECORDS)
        first = max(0, len(old.time) + data.sizes["time"] - 1 - most)
        arrays: dict[str, Any] = {
            name: np.concatenate([array[first:-1], data[name].values])
            for name, array in old.arrays.items()
        }
        clock = np.concatenate([old.time[first:-1], data["time"].values])
        self.values = replace(old, time=clock, arrays=arrays)


def _pushed(scene: SceneFile) -> list[str]:
    """Bodies that the scene itself pushes: they get a push of one's own before those are over, or
    it would take their place.
    """
    return [scene.robot.bodies[scene.robot.body(push.body)].name for push in scene.content.push]
