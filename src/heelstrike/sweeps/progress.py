"""How far a sweep is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

EVERY = 10.0
"""From line to line where there is no terminal [s]."""


class Meter:
    """Counts steps of worlds."""

    def __init__(self, worlds: int, steps: int, done: int) -> None:
        """`done` worlds are there already."""
        self.worlds, self.steps = worlds, steps
        self.before = done * steps
        self.made = 0
        """In all worlds together, since the start of this process's work."""
        self._started = time.perf_counter(), time.process_time()
        self._stopped: tuple[float, float] | None = None

    def add(self, made: int) -> None:
        self.made += made

    def stop(self) -> None:
        """The work is done."""
        self._stopped = time.perf_counter(), time.process_time()

    @property
    def spent(self) -> float:
        """[s]"""
        return (self._stopped[0] if self._stopped else time.perf_counter()) - self._started[0]

    @property
    def cpu(self) -> float:
        """Time that this process's threads worked [s]."""
        return (self._stopped[1] if self._stopped else time.process_time()) - self._started[1]

    @property
    def rate(self) -> float:
        """Steps of worlds per second."""
        return self.made / max(self.spent, 1e-9)

    @property
    def share(self) -> float:
        return (self.before + self.made) / (self.worlds * self.steps)

    def text(self) -> str:
        """Worlds, rate and time left."""
        done = int(self.share * self.worlds)
        left = self.worlds * self.steps - self.before - self.made
        said = f"{done:,} of {self.worlds:,} worlds"
        if not self.made:
            return said
        return f"{said}, {counted(self.rate)} steps/s, {clock(left / self.rate)} left"


@contextmanager
def shown(meter: Meter, wanted: bool | None) -> Iterator[Callable[[int], None]]:
    """What to tell of steps made, in all worlds together: counts and shows them. None: on a
    terminal alone.
    """
    terminal = sys.stderr.isatty()
    if wanted is False or (wanted is None and not terminal):
        yield meter.add
        return
    if not terminal:
        yield _lines(meter)
        return
    with _bar() as bar:
        task = bar.add_task(meter.text(), total=1.0)

        def move(made: int) -> None:
            meter.add(made)
            bar.update(task, completed=meter.share, description=meter.text())

        move(0)
        yield move


def _lines(meter: Meter) -> Callable[[int], None]:
    last = time.perf_counter()

    def tell(made: int) -> None:
        nonlocal last
        meter.add(made)
        if time.perf_counter() - last > EVERY:
            last = time.perf_counter()
            print(meter.text(), file=sys.stderr, flush=True)

    return tell


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = BarColumn(bar_width=20), TextColumn("{task.description}")
    return Progress(*columns, console=console, transient=True, redirect_stdout=False)


def counted(number: float) -> str:
    """Three digits with k, M or G."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


def clock(seconds: float) -> str:
    """h:mm:ss."""
    whole = round(min(seconds, 1e8))
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
