"""Progress of a sweep: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from heelstrike.progress import hours, with_prefix

if TYPE_CHECKING:
    from rich.progress import Progress

LINE_PERIOD = 10.0
"""Time between two lines without a terminal [s]."""


class Meter:
    """A counter of steps, summed over worlds, and of the time that they take."""

    def __init__(self, worlds: int, steps: int, done: int) -> None:
        """Start the clock; `done` worlds were computed before."""
        self.worlds, self.steps = worlds, steps
        self.before = done * steps
        self.made = 0
        """Steps that this process made, summed over worlds."""
        self._started = time.perf_counter(), time.process_time()
        self._stopped: tuple[float, float] | None = None

    def add(self, steps: int) -> None:
        """Count steps, summed over worlds."""
        self.made += steps

    def stop(self) -> None:
        """Stop the clock."""
        self._stopped = time.perf_counter(), time.process_time()

    @property
    def spent(self) -> float:
        """Wall time [s]."""
        return (self._stopped[0] if self._stopped else time.perf_counter()) - self._started[0]

    @property
    def cpu(self) -> float:
        """CPU time of this process [s]."""
        return (self._stopped[1] if self._stopped else time.process_time()) - self._started[1]

    @property
    def rate(self) -> float:
        """Steps per second, summed over worlds."""
        return self.made / max(self.spent, 1e-9)

    @property
    def share(self) -> float:
        """Share of the sweep that is done, 0 to 1."""
        return (self.before + self.made) / (self.worlds * self.steps)

    def text(self) -> str:
        """Return the number of worlds done, the rate, and the remaining time."""
        done = int(self.share * self.worlds)
        left = self.worlds * self.steps - self.before - self.made
        worlds = f"{done:,} of {self.worlds:,} worlds"
        if not self.made:
            return worlds
        return f"{worlds}, {with_prefix(self.rate)} steps/s, {hours(left / self.rate)} left"


@contextmanager
def show_progress(meter: Meter, show: bool | None) -> Iterator[Callable[[int], None]]:
    """Provide a function that counts steps, summed over worlds, and shows the progress.

    With `show=None` progress is shown on a terminal only.
    """
    terminal = sys.stderr.isatty()
    if show is False or (show is None and not terminal):
        yield meter.add
        return
    if not terminal:
        yield _lines(meter)
        return
    with _bar() as bar:
        task = bar.add_task(meter.text(), total=1.0)

        def advance(steps: int) -> None:
            meter.add(steps)
            bar.update(task, completed=meter.share, description=meter.text())

        advance(0)
        yield advance


def _lines(meter: Meter) -> Callable[[int], None]:
    last = time.perf_counter()

    def advance(steps: int) -> None:
        nonlocal last
        meter.add(steps)
        if time.perf_counter() - last > LINE_PERIOD:
            last = time.perf_counter()
            print(meter.text(), file=sys.stderr, flush=True)

    return advance


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = BarColumn(bar_width=20), TextColumn("{task.description}")
    return Progress(*columns, console=console, transient=True, redirect_stdout=False)
