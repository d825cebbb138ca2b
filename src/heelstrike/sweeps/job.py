"""The data of a worker, and its work: chunks of worlds from start to end.

A job is plain data. Its program is the traced step, independent of the number of lanes
(ir/code.py): each machine compiles it for itself, and the bits of a world do not depend on that.
Laws of a user are part of the graph like built-in ones; their Python code is not needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import heelstrike
from heelstrike.errors import HeelstrikeError
from heelstrike.runtime.key import digest
from heelstrike.simulate.target import AnyKernel, CompileTarget
from heelstrike.sweeps.fell import FallCriterion

if TYPE_CHECKING:
    from heelstrike.ir.code import TracedProgram
    from heelstrike.runtime.worlds import Worlds
    from heelstrike.simulate.simulator import Simulator

STATE = ("q", "v")
"""The state at time 0; it is among a job's values, but no parameter."""
REPORT_PERIOD = 0.1
"""Wall time between reports of progress, which also handle Ctrl-C [s]."""

Report = Callable[[int], None]
"""Is called with the number of steps made, summed over worlds; may raise."""


@dataclass(frozen=True)
class SweepJob:
    """The data that all chunks of a sweep share."""

    key: str
    """Digest of the program."""
    program: TracedProgram | None
    """The traced step; None if the job stays in this process, with its kernel."""
    target: CompileTarget
    steps: int
    base: Mapping[str, np.ndarray]
    """Parameters, and q and v at time 0; rows of a chunk replace them."""
    tables: Mapping[str, np.ndarray]
    """Tables of the step, such as heights."""
    kept: tuple[str, ...]
    """Names of the memory that is kept at the end."""
    fall: FallCriterion | None = None
    """The criterion of a fall, if falls are kept."""
    version: str = heelstrike.__version__

    @property
    def identity(self) -> str:
        """Digest of the whole job."""
        numbers = [dict(self.base), dict(self.tables), list(self.kept), self._fall]
        return digest([self.key, astuple(self.target), self.steps, *numbers, self.version])

    @property
    def _fall(self) -> tuple[object, ...]:
        return () if self.fall is None else astuple(self.fall)

    def kernel(self, width: int | None = None) -> AnyKernel:
        """Return the program, compiled for this machine or from its cache."""
        program = self.program
        if program is None:
            raise HeelstrikeError("this job has no program to compile; see `with_program`")
        if self.version != heelstrike.__version__:
            raise HeelstrikeError(
                f"this sweep was started by Heelstrike {self.version}, but this machine has "
                f"{heelstrike.__version__}; install the same version on all nodes"
            )
        return self.target.kernel(("job", self.key), lambda: program, [], width)

    def fall_kernel(self, width: int) -> AnyKernel | None:
        """Return the compiled criterion of a fall, with as many lanes as the step has."""
        fall, nq = self.fall, len(self.base["q"])
        if fall is None:
            return None
        key = ("fall", nq, *self._fall)
        return self.target.kernel(key, lambda: fall.program(nq), ["fell"], width)


class Worker:
    """A kernel and its arrays, which compute one chunk after another."""

    def __init__(self, job: SweepJob, kernel: AnyKernel, threads: int = 1) -> None:
        self.job, self.kernel, self.threads = job, kernel, threads
        self._fall_kernel = job.fall_kernel(kernel.layout.width)
        self._batch: Worlds | None = None
        self._fall_batch: Worlds | None = None

    def work(
        self, worlds: int, rows: Mapping[str, np.ndarray], report: Report | None = None
    ) -> dict[str, np.ndarray]:
        """Simulate a chunk and return the memory at its end, (worlds, size) by name.

        `rows` are the inputs that vary, one row per world.
        """
        job, batch = self.job, self._ready(worlds)
        begin = {name: rows.get(name, job.base[name]) for name in STATE}
        inputs = {**job.base, **rows}  # all of them: the last chunk may have varied other inputs
        batch.set(**{name: x for name, x in inputs.items() if name not in begin})
        batch.reset(**begin)
        done, steps = 0, 1
        while done < job.steps:
            steps = min(steps, job.steps - done)
            started = time.perf_counter()
            batch.run(steps, 1, self.threads)
            batch.sync()
            done += steps
            spent = max(time.perf_counter() - started, 1e-6)
            if report is not None:
                report(steps * worlds)
            steps = max(1, min(4 * steps, int(steps * REPORT_PERIOD / spent)))
        found = {name: batch.get(name) for name in job.kept}
        if self._fall_batch is not None:
            self._fall_batch.run()
            found["fell"] = self._fall_batch.get("fell")[:, 0] != 0
        return found

    def _ready(self, worlds: int) -> Worlds:
        """Return arrays for a number of worlds; the last ones are used again if they fit."""
        if self._batch is None or self._batch.worlds != worlds:
            self._batch = self._fall_batch = None  # release their memory first
            batch: Worlds = self.kernel.batch(worlds)
            batch.set(**self.job.tables)
            if self._fall_kernel is not None:
                fall_batch: Worlds = self._fall_kernel.batch(worlds)
                fall_batch.continue_from(batch)
                self._fall_batch = fall_batch
            self._batch = batch
        return self._batch


def make_job(
    sim: Simulator, steps: int, kept: tuple[str, ...], key: str, fall: FallCriterion | None
) -> SweepJob:
    """Return the job of a simulator with its present parameters, those of its first world."""
    base = {path: np.atleast_2d(value)[0] for path, value in sim.parameters.items()}
    base |= {name: np.atleast_2d(value)[0] for name, value in sim.start.items()}
    return SweepJob(key, None, sim.compiled.target, steps, base, sim.compiled.tables(), kept, fall)


def with_program(job: SweepJob, sim: Simulator) -> SweepJob:
    """Return a job with its program, so that another process can compile it."""
    from heelstrike.step.step import step_program

    return replace(job, program=step_program(sim.plan).trace([]))


def local_kernel(sim: Simulator) -> AnyKernel:
    """Return the compiled step of a simulator without recording, for its own device."""
    from heelstrike.step.step import step_program

    plan = sim.plan
    return sim.compiled.target.kernel(plan.key(), lambda: step_program(plan), [], None)
