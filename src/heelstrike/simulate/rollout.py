"""Run many steps in chunks of about 0.1 s, with a progress bar and Ctrl-C; keep their records."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np

from heelstrike.interrupts import handled, keeps_partial_results
from heelstrike.progress import progress_bar
from heelstrike.runtime.batch import Batch
from heelstrike.runtime.worlds import Advancing
from heelstrike.simulate.python_control import PeriodicControl

CHUNK_TIME = 0.1
"""Wall time of a chunk [s]."""
FIRST_CHUNK = 128
"""World-steps of the first chunk, which take some tenths of a millisecond."""
MAX_RECORDS = 2**28
"""Largest size of the records of a chunk, before they are copied [bytes]."""


@dataclass(frozen=True)
class Rollout:
    """Result of a run."""

    values: Mapping[str, np.ndarray]
    """Outputs of the step, (worlds, records, ...), from the start of the first step on."""
    steps: int
    """Steps made; fewer than planned if the user interrupted the run."""
    wall_time: float
    """Duration of the run on the clock [s]."""


def rollout(
    batch: Advancing,
    steps: int,
    every: int,
    outputs: list[str],
    threads: int,
    progress: bool | None,
    control: PeriodicControl | None = None,
) -> Rollout:
    """Run a batch and return its records.

    The state at the end is recorded, too, if `every` divides the number of steps.

    Args:
        batch: the worlds, compiled to record `outputs`.
        steps: number of steps.
        every: steps from one record to the next.
        outputs: outputs of the step to keep.
        threads: threads that share the worlds, on a CPU.
        progress: whether to show a progress bar; None shows one for long runs in a terminal.
        control: controller in Python, which is called every few steps.
    """
    records = steps // every + 1 if outputs else 0
    values = _allocate(batch, outputs, records)
    started = time.perf_counter()
    batch.steps_made = 0
    made, kept, chunk = 0, 0, max(1, FIRST_CHUNK // batch.worlds)
    into = None
    if isinstance(batch, Batch) and batch.layout.width == 1 and values:
        into = batch.record_into
    record = sum(array[:, :1].nbytes for array in values.values())
    most = every * max(1, MAX_RECORDS // record) if record and control is None else steps
    shown = progress_bar("simulating", steps * batch.worlds, "steps", progress)
    ends = interruptible() if keeps_partial_results() else nullcontext(threading.Event())
    with ends as stopped, shown as advance:
        while made < steps and not stopped.is_set():
            if control is not None:
                control()
                chunk = control.every
            chunk = min(chunk, steps - made, most)
            begun = time.perf_counter()
            new = len(range(-made % every, chunk, every))
            if into and new:
                parts = {name: array[0, kept : kept + new] for name, array in values.items()}
                into(parts)
            batch.run(chunk, every, threads)
            if not into:
                _keep(batch, values, kept, new)
            batch.sync()
            kept += new
            made += chunk
            spent = max(time.perf_counter() - begun, 1e-6)
            chunk = max(1, min(4 * chunk, int(chunk * CHUNK_TIME / spent)))
            advance(chunk * batch.worlds)
    if outputs and made % every == 0:
        if into:
            into({name: array[0, kept : kept + 1] for name, array in values.items()})
        batch.peek()
        if not into:
            _keep(batch, values, kept, 1)
        kept += 1
    spent = time.perf_counter() - started
    return Rollout({name: array[:, :kept] for name, array in values.items()}, made, spent)


def _keep(batch: Advancing, values: Mapping[str, np.ndarray], kept: int, new: int) -> None:
    """Copy the records of a chunk."""
    if new:
        for name, array in values.items():
            array[:, kept : kept + new] = batch.output(name)


def _allocate(batch: Advancing, outputs: list[str], records: int) -> dict[str, np.ndarray]:
    """Return arrays for the outputs in one block of memory.

    The system backs a large block by large pages, which are several times as fast.
    """
    shapes = [(batch.worlds, records, *_shape(batch, name)) for name in outputs]
    ends = np.cumsum([0, *(prod(shape) for shape in shapes)])
    block = np.empty(ends[-1], batch.layout.real.dtype)
    parts = (block[a:b] for a, b in pairwise(ends))
    return {n: x.reshape(shape) for n, x, shape in zip(outputs, parts, shapes, strict=True)}


def _shape(batch: Advancing, name: str) -> tuple[int, ...]:
    return next(p.shape for p in batch.layout.outputs if p.name == name)


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Let Ctrl-C end the run after the present chunk, and a second Ctrl-C at once."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def stop(number: int, frame: object) -> None:
        handled()
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)
