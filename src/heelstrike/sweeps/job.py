"""What a worker needs, and its work: a chunk of worlds from start to end.

A job is plain data. Its program is the traced step, for no lanes in particular (ir/code.py):
each machine emits and compiles it for its own, and a world's bits do not depend on that. Laws that
a user wrote are in the graph like ours; their Python is not needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import heelstrike
from heelstrike.errors import HeelstrikeError
from heelstrike.runtime.kernel import Kernel
from heelstrike.runtime.key import digest
from heelstrike.simulate.target import Target
from heelstrike.sweeps.fall import Fall

if TYPE_CHECKING:
    from heelstrike.ir.code import TracedProgram
    from heelstrike.runtime.cuda.kernel import CudaKernel
    from heelstrike.simulate.simulator import Simulator
    from heelstrike.simulate.target import Worlds

STATE = ("q", "v")
"""At time 0: among a job's values, and no parameters."""
TURN = 0.1
"""Wall time between looks at progress and Ctrl-C [s]."""

Report = Callable[[int], None]
"""Told of steps that were made, in all worlds together; may raise."""


@dataclass(frozen=True)
class Job:
    """What all chunks have in common."""

    key: str
    """Tells one program from another."""
    program: TracedProgram | None
    """None where it stays in this process, with its kernel."""
    target: Target
    steps: int
    base: Mapping[str, np.ndarray]
    """Parameters, and q and v at time 0: the same in all worlds unless a chunk says otherwise."""
    tables: Mapping[str, np.ndarray]
    kept: tuple[str, ...]
    """Memory that is kept at the end."""
    fall: Fall | None = None
    """Who judges whether a world fell, where that is kept."""
    version: str = heelstrike.__version__

    @property
    def identity(self) -> str:
        """Tells one job from another."""
        numbers = [dict(self.base), dict(self.tables), list(self.kept), self._fall]
        return digest([self.key, astuple(self.target), self.steps, *numbers, self.version])

    @property
    def _fall(self) -> tuple[object, ...]:
        return () if self.fall is None else astuple(self.fall)

    def kernel(self, width: int | None = None) -> Kernel | CudaKernel:
        """The program, compiled for this machine or found in its cache."""
        program = self.program
        if program is None:
            raise HeelstrikeError("this job has no program to compile; see `shipped`")
        if self.version != heelstrike.__version__:
            raise HeelstrikeError(
                f"this sweep is of Heelstrike {self.version}, and this machine has "
                f"{heelstrike.__version__}; install the same version on all nodes"
            )
        return self.target.kernel(("job", self.key), lambda: program, [], width)

    def judge(self, width: int) -> Kernel | CudaKernel | None:
        """The program that judges who fell, for as many lanes as the other has."""
        fall, nq = self.fall, len(self.base["q"])
        if fall is None:
            return None
        key = ("fall", nq, *self._fall)
        return self.target.kernel(key, lambda: fall.program(nq), ["fell"], width)


class Worker:
    """A kernel and its arrays, for one chunk after another."""

    def __init__(self, job: Job, kernel: Kernel | CudaKernel, threads: int = 1) -> None:
        self.job, self.kernel, self.threads = job, kernel, threads
        self.judge = job.judge(kernel.layout.width)
        self._batch: Worlds | None = None
        self._judging: Worlds | None = None

    def work(
        self, worlds: int, rows: Mapping[str, np.ndarray], report: Report | None = None
    ) -> dict[str, np.ndarray]:
        """Memory at the end, (worlds, size) by name; `rows` are what varies, a row a world."""
        job, batch = self.job, self._ready(worlds)
        begin = {name: rows.get(name, job.base[name]) for name in STATE}
        inputs = {**job.base, **rows}  # all: another path may have varied in the last chunk
        batch.set(**{name: x for name, x in inputs.items() if name not in begin})
        batch.reset(**begin)
        made, turn = 0, 1
        while made < job.steps:
            turn = min(turn, job.steps - made)
            started = time.perf_counter()
            batch.run(turn, 1, self.threads)
            batch.sync()
            made += turn
            spent = max(time.perf_counter() - started, 1e-6)
            if report is not None:
                report(turn * worlds)
            turn = max(1, min(4 * turn, int(turn * TURN / spent)))
        found = {name: batch.get(name) for name in job.kept}
        if self._judging is not None:
            self._judging.run()
            found["fell"] = self._judging.get("fell")[:, 0] != 0
        return found

    def _ready(self, worlds: int) -> Worlds:
        if self._batch is None or self._batch.worlds != worlds:
            self._batch = self._judging = None  # what they take is given back first
            batch: Worlds = self.kernel.batch(worlds)
            batch.set(**self.job.tables)
            if self.judge is not None:
                judging: Worlds = self.judge.batch(worlds)
                judging.share(batch)
                self._judging = judging
            self._batch = batch
        return self._batch


def job_of(sim: Simulator, steps: int, kept: tuple[str, ...], key: str, fall: Fall | None) -> Job:
    """Of a simulator's worlds as they are now; where they differ, of the first."""
    base = {path: np.atleast_2d(value)[0] for path, value in sim.parameters.items()}
    base |= {name: np.atleast_2d(value)[0] for name, value in sim.start.items()}
    return Job(key, None, sim.compiled.target, steps, base, sim.compiled.tables(), kept, fall)


def shipped(job: Job, sim: Simulator) -> Job:
    """The same with its program, to go elsewhere."""
    from heelstrike.step.step import step_program

    return replace(job, program=step_program(sim.plan).trace([]))


def kernel_here(sim: Simulator) -> Kernel | CudaKernel:
    """The step of a simulator with nothing recorded, for many worlds on its own device."""
    from heelstrike.step.step import step_program

    plan = sim.plan
    return sim.compiled.target.kernel(plan.key(), lambda: step_program(plan), [], None)
