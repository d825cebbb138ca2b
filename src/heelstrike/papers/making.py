"""Reproduce items of papers, one after another or in several processes.

Items of one module share simulations (they are cached there), and so do those of a family: one
process makes them. What takes longest starts first. A result does not depend on the number of
processes.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heelstrike.errors import HeelstrikeError
from heelstrike.papers import paper
from heelstrike.papers.report import Result, Row, Status

USUAL = 3.0
LONG = {
    ("rengifo2009", "fig6"): 5.0,
    ("rengifo2009", "independence"): 11.0,
    ("rengifo2009", "fig11"): 60.0,
    ("rengifo2009", "section5"): 6.0,
    ("rengifo2009", "states"): 5.0,
    ("sugihara2006", "maps"): 16.0,
    ("sugihara2006", "points"): 7.0,
    ("sugihara2006", "fig3"): 9.0,
    ("sugihara2006", "choices"): 24.0,
    ("sugihara2006", "fig6"): 27.0,
    ("sugihara2006", "fig7"): 29.0,
    ("sugihara2006", "vertices"): 25.0,
    ("sugihara2006", "fig9"): 33.0,
    ("sugihara2006", "fig10"): 8.0,
    ("sugihara2006", "fig11"): 7.0,
    ("sugihara2006", "fig12"): 9.0,
    ("sugihara2006", "cost"): 10.0,
    ("tsujita2009", "table1"): 25.0,
    ("tsujita2009", "table2"): 30.0,
    ("tsujita2009", "hrp4c"): 38.0,
    ("tsujita2009", "bounds"): 12.0,
    ("tsujita2009", "base"): 30.0,
    ("tsujita2009", "fig4"): 12.0,
    ("tsujita2009", "faster"): 25.0,
    ("tsujita2009", "zmp"): 20.0,
    ("tsujita2009", "plan"): 25.0,
}
"""What an item takes of a processor where nothing is compiled yet [s]: for the order and for the
time left. Others: USUAL."""
FAMILIES = {
    ("sugihara2006", "fig8"): "fig7",
    ("sugihara2006", "fig9"): "films",
    ("sugihara2006", "cost"): "films",
    ("tsujita2009", "table2"): "table1",
    ("tsujita2009", "table2-elastic"): "table1",
    ("tsujita2009", "table3-errors"): "table1",
    ("tsujita2009", "fig7"): "table1",
}
"""Items that share simulations with those of another module."""


@dataclass(frozen=True)
class Task:
    """An item that is to be made, and where its picture goes."""

    paper: str
    item: str
    picture: Path

    @property
    def seconds(self) -> float:
        """About what it takes [s]."""
        return LONG.get((self.paper, self.item), USUAL)

    @property
    def family(self) -> tuple[str, str]:
        """Tasks of one family share simulations."""
        module = paper(self.paper).item(self.item).home.split(":")[0]
        return self.paper, FAMILIES.get((self.paper, self.item), module)


@dataclass(frozen=True)
class Made:
    """Outcome of a task."""

    task: Task
    seconds: float
    """By the clock, with its picture [s]."""
    result: Result | None
    """Without its function that draws; None: it could not be made."""
    picture: Path | None = None
    error: str = ""
    """Why it could not be made."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Counts of the result, if there is one."""
        return self.result.rows if self.result else ()

    def count(self, status: Status) -> int:
        """Rows of that status."""
        return self.result.count(status) if self.result else 0

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome, ready for JSON."""
        picture = str(self.picture) if self.picture else None
        found = self.result.as_dict() if self.result else {"name": self.task.item, "rows": []}
        return found | {
            "figure": picture,
            "seconds": round(self.seconds, 3),
            "error": self.error or None,
        }


def make(tasks: Sequence[Task], jobs: int = 1) -> Iterator[Made]:
    """Results as they come: with one process in the order of the tasks."""
    families: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        families.setdefault(task.family, []).append(task)
    if min(jobs, len(families)) < 2:
        yield from map(make_one, tasks)
        return
    longest = sorted(families.values(), key=lambda some: -sum(one.seconds for one in some))
    yield from _in_processes(longest, min(jobs, len(families)))


def make_one(task: Task) -> Made:
    """Return the result of a task, in this process; its picture is written."""
    start = time.perf_counter()
    try:
        result = paper(task.paper).run(task.item)
        drawn = _draw(result, task.picture)
    except HeelstrikeError as error:
        return Made(task, time.perf_counter() - start, None, error=str(error))
    return Made(task, time.perf_counter() - start, replace(result, draw=None), drawn)


def _draw(result: Result, path: Path) -> Path | None:
    if result.draw is None:
        return None
    from heelstrike.view.plot import save

    return save(result.draw(), path)


def _in_processes(families: Sequence[list[Task]], jobs: int) -> Iterator[Made]:
    before = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    with _safe_path():  # also for the process that Python starts to watch the others
        pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_deaf)
        submitted = [pool.submit(_make_all, family) for family in families]
    try:
        for done in as_completed(submitted):
            yield from done.result()
    except BrokenProcessPool as error:
        raise HeelstrikeError(
            "a process that makes figures ended all at once, perhaps for want of memory; "
            "try --jobs 1"
        ) from error
    except BaseException:  # Ctrl-C too: what is at work now would go on for minutes
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Let processes that start now import nothing from the present folder."""
    before = os.environ.get("PYTHONSAFEPATH", "")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        os.environ["PYTHONSAFEPATH"] = before  # Python takes an empty one as none


def _make_all(family: Sequence[Task]) -> list[Made]:
    return [make_one(task) for task in family]


def _deaf() -> None:
    """Ctrl-C reaches the process that waits; it ends these."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
