"""Many steps in chunks of about 0.1 s, with a progress bar and Ctrl-C, and what they record."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np

from heelstrike.runtime.batch import Batch
from heelstrike.simulate.target import Worlds

CHUNK = 0.1
"""Wall time of a chunk [s]."""
FIRST = 128
"""World-steps of the first chunk, about: some tenths of a millisecond."""
ROOM = 2**28
"""Of the records of a chunk, before they are copied [bytes]."""
PATIENCE = 1.0
"""A run that will take longer than this shows its progress [s]."""


@dataclass(frozen=True)
class Rollout:
    """What came of a run."""

    values: Mapping[str, np.ndarray]
    """Plain outputs, (worlds, records, ...), from the first step's start to the last step's end."""
    steps: int
    """Made; fewer than asked for where the user interrupted."""
    wall_time: float
    """[s]"""


def rollout(
    batch: Worlds, steps: int, every: int, outputs: list[str], threads: int, progress: bool | None
) -> Rollout:
    """Runs the batch; the state at the end is recorded too where `every` divides the steps."""
    records = steps // every + 1 if outputs else 0
    values = _room(batch, outputs, records)
    started = time.perf_counter()
    batch.steps_made = 0
    made, kept, chunk = 0, 0, max(1, FIRST // batch.worlds)
    into = None
    if isinstance(batch, Batch) and batch.layout.width == 1 and values:
        into = batch.record_into
    record = sum(array[:, :1].nbytes for array in values.values())
    most = every * max(1, ROOM // record) if record else steps
    with interruptible() as stopped, _bar(steps, progress) as show:
        while made < steps and not stopped.is_set():
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
            chunk = max(1, min(4 * chunk, int(chunk * CHUNK / spent)))
            show(made, time.perf_counter() - started)
    if outputs and made % every == 0:
        state = batch.state()
        batch.run()  # for what it records alone
        for name, array in values.items():
            array[:, kept] = batch.output(name)[:, 0]
        kept += 1
        batch.set(**state)
    spent = time.perf_counter() - started
    return Rollout({name: array[:, :kept] for name, array in values.items()}, made, spent)


def _keep(batch: Worlds, values: Mapping[str, np.ndarray], kept: int, new: int) -> None:
    """Copies the records of a chunk."""
    if new:
        for name, array in values.items():
            array[:, kept : kept + new] = batch.output(name)


def _room(batch: Worlds, outputs: list[str], records: int) -> dict[str, np.ndarray]:
    """Arrays for the outputs, side by side in one piece of memory: the system hands out a large one
    in large pages, which is several times as fast.
    """
    shapes = [(batch.worlds, records, *_shape(batch, name)) for name in outputs]
    ends = np.cumsum([0, *(prod(shape) for shape in shapes)])
    room = np.empty(ends[-1], batch.layout.real.dtype)
    parts = (room[a:b] for a, b in pairwise(ends))
    return {n: x.reshape(shape) for n, x, shape in zip(outputs, parts, shapes, strict=True)}


def _shape(batch: Worlds, name: str) -> tuple[int, ...]:
    return next(p.shape for p in batch.layout.outputs if p.name == name)


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Ctrl-C ends the run after the present chunk; a second one at once."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def stop(number: int, frame: object) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _bar(steps: int, wanted: bool | None) -> Iterator[Callable[[int, float], None]]:
    """A function that shows progress; a bar appears once the run is seen to be long."""
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield lambda made, spent: None
        return
    from rich.console import Console
    from rich.progress import Progress, TimeRemainingColumn

    bar = Progress(
        *Progress.get_default_columns()[:-1],
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("simulating", total=steps)
    shown = False

    def show(made: int, spent: float) -> None:
        nonlocal shown
        if not shown and (wanted or spent * steps / made > PATIENCE):
            bar.start()
            shown = True
        bar.update(task, completed=made)

    try:
        yield show
    finally:
        if shown:
            bar.stop()
