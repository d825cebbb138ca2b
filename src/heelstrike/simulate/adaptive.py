"""Steps whose size follows an estimate of their error: dt="auto".

Time advances in windows of T. From the same state a window is simulated with 1, 2, 4, ... steps,
and a world keeps the first result that agrees with the one before, of twice the step:

    e_k = max ( |q_k - q_(k-1)|, T |v_k - v_(k-1)| ) <= accuracy,       dt = T / 2^k

where the maximum is over all entries of q [m, rad] and v. The leading error of both, of order p in
dt, then cancels in

    x = x_k + (x_k - x_(k-1)) / (2^p - 1)           [Hairer1993] II.4, p = 1, of rk4 4

for x = q and v; unit quaternions are normalized, and all other memory is that of x_k. Every world
has a step of its own, which depends on its own state alone, so that its bits depend neither on
other worlds nor on what was simulated before. A world that no step serves keeps the result of the
smallest, and is counted.

Nothing is compiled again: dt is an input of the step. Between windows, the parameter dt is T, and
clocks count windows.
"""

from __future__ import annotations

import numpy as np

from heelstrike.checks import number
from heelstrike.codegen.layout import Layout
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.runtime.batch import Batch, check_counts
from heelstrike.runtime.worlds import Worlds
from heelstrike.scene.controller import Controller
from heelstrike.scene.motors import Motors
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo
from heelstrike.simulate.target import CompileTarget
from heelstrike.step.plan import StepPlan
from heelstrike.step.push import push_path

WINDOW = 0.02
"""Time that is simulated with one size of step, T [s]."""
MAX_LEVEL = 10
"""Smallest step: WINDOW / 2^MAX_LEVEL, 20 us."""
NOMINAL_STEP = 1e-3
"""Time step for which a scene is checked and prepared [s]."""
ORDERS = {"symplectic": 1, "euler": 1, "rk4": 4}
"""Order p of the error of each integrator."""
UNIT = {"free": range(3, 7), "spherical": range(4), "continuous": range(2), "planar": range(2, 4)}
"""Entries of a joint's coordinates that form a unit vector."""
ENDS = ("first", "last")
"""Parameters of a push that count steps."""


def checked_accuracy(dt: object, accuracy: object) -> float | None:
    """Return the accuracy of a simulator with dt="auto", None for a fixed step; raise if wrong."""
    if not (isinstance(dt, str) and dt == "auto"):
        if accuracy is not None:
            raise HeelstrikeError(
                "accuracy goes with steps of variable size",
                path="accuracy",
                value=accuracy,
                remedy='pass dt="auto", or leave out accuracy',
            )
        if isinstance(dt, str):
            raise ParameterError("dt", dt, 'a time step above 0 s, such as 1e-3, or "auto"')
        return None
    return number(
        "accuracy",
        1e-4 if accuracy is None else accuracy,
        "an error above 0 [m, rad], such as 1e-4",
        above=0.0,
    )


def check_served(
    scene: Scene, target: CompileTarget, control: object, sensors: object, motors: Motors | None
) -> None:
    """Raise if a part of a simulator counts steps, or does not bear extrapolation."""
    counted = {
        "@hs.controller functions": isinstance(control, Controller),
        "a servo's control_every": isinstance(control, Servo) and control.control_every > 1,
        "a servo's delay": isinstance(control, Servo) and bool(np.any(control.delay)),
        "sensors": bool(sensors),
        "hs.Motors": motors is not None,
    }
    for what, there in counted.items():
        if there:
            raise _refused(f"{what} count time steps, which vary under dt='auto'")
    if isinstance(scene, Scene) and scene.robot.constraints:
        raise _refused("extrapolation under dt='auto' would violate equality constraints")
    if target.device != "cpu":
        raise _refused("dt='auto' runs on the CPU only")


def _refused(sentence: str) -> HeelstrikeError:
    return HeelstrikeError(
        sentence, path="dt", value="auto", remedy="pass a time step, such as dt=1e-3"
    )


def refuse(accuracy: float | None, what: str) -> None:
    """Raise under dt="auto", because something needs steps of one size."""
    if accuracy is not None:
        raise _refused(f"{what} needs steps of one size")


class AdaptiveBatch:
    """Worlds that advance by windows, where a batch advances by steps."""

    def __init__(self, accuracy: float, worlds: int) -> None:
        self.accuracy, self.worlds = accuracy, worlds
        self.steps_made = 0
        """Windows made: the phase of what is recorded."""
        self.step_size = np.full(worlds, np.nan)
        """Step that each world kept in the last window [s]; NaN before the first."""
        self.at_smallest = np.zeros(worlds, int)
        """Windows in which a world kept the smallest step although it was not accurate."""
        self.recorded_sizes: list[np.ndarray] = []
        """Steps of the recorded windows, (worlds,) each [s]; a run begins anew."""
        self.batch: Batch
        self._records: dict[str, list[np.ndarray]] = {}

    def of(self, batch: Worlds, plan: StepPlan) -> AdaptiveBatch:
        """Let a batch make the steps of a plan."""
        assert isinstance(batch, Batch), "other devices are refused"
        self.batch, self._pushes = batch, len(plan.pushes)
        self._share = 1 / (2 ** ORDERS[plan.integrator] - 1)
        joints = [joint for joint in plan.robot.joints if joint.kind in UNIT]
        self._units = [[joint.iq + k for k in UNIT[joint.kind]] for joint in joints]
        return self

    @property
    def layout(self) -> Layout:
        """Layout of the batch."""
        return self.batch.layout

    def run(self, steps: int = 1, every: int = 1, threads: int = 1) -> None:
        """Advance by a number of windows, and record the start of every `every`-th one."""
        check_counts(steps=steps, every=every, threads=threads)
        self._records = {port.name: [] for port in self.layout.outputs}
        for _ in range(steps):
            values = self._window(threads)
            if self.steps_made % every == 0:
                self._record(values)
            self.steps_made += 1

    def peek(self) -> None:
        """Record the present state by a window whose result is dropped."""
        arrays = [self.batch.arrays[port.name] for port in self.layout.memory]
        arrays += [self.step_size, self.at_smallest]
        kept = [array.copy() for array in arrays]
        self._records = {port.name: [] for port in self.layout.outputs}
        self._record(self._window(threads=1))
        for array, values in zip(arrays, kept, strict=True):
            array[...] = values

    def output(self, name: str) -> np.ndarray:
        """Return the records of the last run, (worlds, records, ...)."""
        return np.stack(self._records[name], axis=1)

    def sync(self) -> None:
        """Do nothing: a run is done when it returns."""

    def note(self) -> str | None:
        """Return a sentence if a world was not accurate with the smallest step, and forget it."""
        windows, worlds = self.at_smallest.sum(), np.count_nonzero(self.at_smallest)
        self.at_smallest[:] = 0
        if not windows:
            return None
        return (
            f"steps of {WINDOW / 2**MAX_LEVEL * 1e6:.0f} us did not reach the accuracy of "
            f"{self.accuracy:g} in {windows} windows of {worlds} worlds; impacts and laws whose "
            "force depends on dt may have no limit; pass a larger accuracy, or a fixed dt"
        )

    def _record(self, values: dict[str, np.ndarray]) -> None:
        self.recorded_sizes.append(self.step_size.copy())
        for name, value in values.items():
            self._records[name].append(value)

    def _window(self, threads: int) -> dict[str, np.ndarray]:
        """Advance by one window; return the outputs at its start, (worlds, ...)."""
        arrays = self.batch.arrays
        memory = {port.name: arrays[port.name] for port in self.layout.memory}
        start = {name: array.copy() for name, array in memory.items()}
        window = arrays["dt"].copy()
        kept = start  # if the search is interrupted
        try:
            kept, outputs = self._search(memory, start, window, threads)
        finally:
            for name, array in memory.items():
                array[...] = kept[name]
            arrays["dt"][...] = window
        return outputs

    def _search(
        self,
        memory: dict[str, np.ndarray],
        start: dict[str, np.ndarray],
        window: np.ndarray,
        threads: int,
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return the memory after the window, each world by its own step, and the outputs."""
        kept = {name: array.copy() for name, array in start.items()}
        outputs: dict[str, np.ndarray] = {}
        before: tuple[np.ndarray, ...] = ()
        waiting = start["failed"][:, 0] < 0
        for level in range(MAX_LEVEL + 1):
            self._simulate(memory, start, window, 2**level, threads)
            now = tuple(memory[name].copy() for name in ("q", "v", "failed"))
            accurate = waiting & self._accepted(before, now, window)
            chosen = waiting if level == MAX_LEVEL else accurate
            self._keep_outputs(outputs, chosen)
            if chosen.any():
                for name, array in memory.items():
                    np.copyto(kept[name], array, where=chosen[:, None])
                self._extrapolate(kept, before, now, accurate)
                self._note(chosen, accurate, window / 2**level)
                waiting = waiting & ~chosen
            if not waiting.any():
                break
            before = now
        lived = start["failed"] < 0
        kept["clock"] = np.where(lived, start["clock"] + 1, start["clock"])
        kept["failed"] = np.where(lived & (kept["failed"] >= 0), start["clock"], kept["failed"])
        return kept, outputs

    def _simulate(
        self,
        memory: dict[str, np.ndarray],
        start: dict[str, np.ndarray],
        window: np.ndarray,
        parts: int,
        threads: int,
    ) -> None:
        """Simulate the window from its start in so many steps, by clocks that count them."""
        arrays = self.batch.arrays
        for name, array in memory.items():
            array[...] = start[name]
        memory["clock"][...] *= parts
        arrays["dt"][...] = window / parts
        times = [arrays[f"{push_path(k)}.{end}"] for k in range(self._pushes) for end in ENDS]
        for array in times:
            array *= parts
        self.batch.steps_made = 0
        self.batch.run(parts, parts, threads)
        for array in times:
            array /= parts  # by a power of two: exact

    def _accepted(
        self, before: tuple[np.ndarray, ...], now: tuple[np.ndarray, ...], window: np.ndarray
    ) -> np.ndarray:
        """Return which worlds agree with the result of twice the step, (tiles, lanes)."""
        if not before:
            return np.zeros(now[2][:, 0].shape, bool)
        with np.errstate(invalid="ignore", over="ignore"):
            q, v = (
                np.abs(new - old).max(axis=1) for new, old in zip(now[:2], before, strict=False)
            )
            near = np.maximum(q, window[:, 0] * v) <= self.accuracy  # False for NaN
        return near & (now[2][:, 0] < 0) & (before[2][:, 0] < 0)

    def _extrapolate(
        self,
        kept: dict[str, np.ndarray],
        before: tuple[np.ndarray, ...],
        now: tuple[np.ndarray, ...],
        mask: np.ndarray,
    ) -> None:
        """Let the leading errors of two results cancel in the worlds of a mask."""
        with np.errstate(invalid="ignore", over="ignore"):
            q, v = (now[k] + self._share * (now[k] - before[k]) for k in (0, 1))
            for entries in self._units:
                squares = [q[:, k] ** 2 for k in entries]
                q[:, entries] /= np.sqrt(sum(squares[1:], squares[0]))[:, None]
        for name, value in (("q", q), ("v", v)):
            np.copyto(kept[name], value, where=mask[:, None])

    def _keep_outputs(self, outputs: dict[str, np.ndarray], chosen: np.ndarray) -> None:
        """Take over the outputs of the chosen worlds; at first, those of all."""
        mask = chosen.reshape(-1)[: self.worlds]
        for port in self.layout.outputs:
            new = self.batch.output(port.name)[:, 0]
            old = outputs.get(port.name, new)
            outputs[port.name] = np.where(mask.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    def _note(self, chosen: np.ndarray, accurate: np.ndarray, size: np.ndarray) -> None:
        """Keep the steps of the worlds that are done, and count those that are not accurate."""
        mask = chosen.reshape(-1)[: self.worlds]
        self.at_smallest += (chosen & ~accurate).reshape(-1)[: self.worlds]
        sizes = np.broadcast_to(size[:, 0], chosen.shape).reshape(-1)[: self.worlds]
        self.step_size[mask] = sizes[mask]
