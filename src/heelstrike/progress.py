"""Progress of long work on a terminal: what is done, how fast, and the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

BAR_AFTER = 1.0
"""Work that will take longer than this shows its progress [s]."""

Advance = Callable[[int], None]
"""Function of the amount of work that was done since it was last called."""


@contextmanager
def progress_bar(
    what: str, total: int, unit: str = "", wanted: bool | None = None
) -> Iterator[Advance]:
    """Yield a function that counts work, in a bar that appears once the work proves long.

    Args:
        what: what is done, such as "simulating".
        total: amount of work.
        unit: what is counted, such as "steps", whose rate is shown.
        wanted: whether to show the bar; None: in a terminal.
    """
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield lambda amount: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = TextColumn(what), BarColumn(bar_width=20), TextColumn("{task.description}")
    bar = Progress(*columns, console=console, transient=True, redirect_stdout=False)
    task, began, done, shown = bar.add_task("", total=total), time.perf_counter(), 0, False
    first: tuple[int, float] | None = None

    def advance(amount: int) -> None:
        nonlocal first, done, shown
        done, now = done + amount, time.perf_counter()
        first = first or (done, now)  # the first part may have to load or allocate
        text = standing(done - first[0], total - first[0], now - first[1], unit)
        bar.update(task, completed=done, description=f"{100 * done // max(total, 1)} %{text}")
        if not shown and (wanted or (now - began) * total / max(done, 1) > BAR_AFTER):
            bar.start()
            shown = True

    try:
        yield advance
    finally:
        if shown:
            bar.stop()


def standing(done: int, total: int, spent: float, unit: str) -> str:
    """Return the rate after `spent` seconds, and the time left; nothing where nothing is done."""
    if not done:
        return ""
    rate = f", {with_prefix(done / max(spent, 1e-9))} {unit}/s" if unit else ""
    return f"{rate}, {hours(spent * (total - done) / done)} left"


def with_prefix(number: float) -> str:
    """Format a number with three digits and k, M or G."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


def hours(seconds: float) -> str:
    """Format a time as h:mm:ss."""
    whole = round(min(seconds, 1e8))
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
