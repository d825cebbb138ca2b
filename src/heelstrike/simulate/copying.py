"""Copies of simulators, here or in another process, and their use by one thread at a time.

A copy has the plan, parameters, start and state of the original; its code comes from the cache.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.simulate.target import CompileTarget
from heelstrike.step.plan import StepPlan

if TYPE_CHECKING:
    from heelstrike.simulate.compiled_scene import CompiledScene


@dataclass(frozen=True)
class Content:
    """All that makes a simulator."""

    plan: StepPlan
    target: CompileTarget
    worlds: int
    parameters: Mapping[str, np.ndarray]
    start: Mapping[str, np.ndarray]
    state: Mapping[str, np.ndarray] | None
    """Memory of the worlds; None if nothing was compiled yet."""


def content_of(compiled: CompiledScene) -> Content:
    """Return copies of what makes a simulator."""
    state = None if compiled.outputs is None else compiled.state.copy()
    values = {path: np.array(value) for path, value in compiled.parameters.items()}
    start = {name: np.array(value) for name, value in compiled.start.items()}
    return Content(compiled.plan, compiled.target, compiled.worlds, values, start, state)


def check_pickled(content: Content) -> None:
    """Raise if a part of a simulator cannot go to another process."""
    try:
        pickle.dumps(content.plan)
    except Exception as error:  # whatever an object of the user's raises
        raise HeelstrikeError(
            "this simulator cannot be pickled: a law or controller of its own is a function",
            remedy="make the simulator in the other process; copy.deepcopy copies it in this one",
        ) from error


def two_threads() -> HeelstrikeError:
    """Return the error of a simulator that two threads use at once."""
    return HeelstrikeError(
        "two threads use one simulator at the same time",
        remedy="give each its own, copy.deepcopy(sim), or pass threads= to share its worlds",
    )


@contextmanager
def alone(lock: threading.RLock) -> Iterator[None]:  # type: ignore[valid-type]
    """Hold a simulator's lock; raise at once if another thread does."""
    if not lock.acquire(blocking=False):  # type: ignore[attr-defined]
        raise two_threads()
    try:
        yield
    finally:
        lock.release()  # type: ignore[attr-defined]
