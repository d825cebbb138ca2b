"""Copies of simulators, here or in another process, and their use by one thread at a time.

A copy has the plan, parameters, start and state of the original; its code comes from the cache.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.simulate.compiled_scene import CompiledScene
from heelstrike.simulate.target import CompileTarget
from heelstrike.step.plan import StepPlan


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
    accuracy: float | None


def content_of(compiled: CompiledScene) -> Content:
    """Return copies of what makes a simulator."""
    state = None if compiled.outputs is None else compiled.state.copy()
    values = {path: np.array(value) for path, value in compiled.parameters.items()}
    start = {name: np.array(value) for name, value in compiled.start.items()}
    return Content(
        compiled.plan, compiled.target, compiled.worlds, values, start, state, compiled.accuracy
    )


def content_of_first(compiled: CompiledScene) -> Content:
    """Return what makes a simulator of the first world, at its start."""
    values = {path: np.atleast_2d(value)[0] for path, value in compiled.parameters.items()}
    start = {name: np.atleast_2d(value)[0] for name, value in compiled.start.items()}
    return Content(compiled.plan, compiled.target, 1, values, start, None, compiled.accuracy)


def restored(content: Content) -> CompiledScene:
    """Return the worlds of a simulator with this content."""
    dt = float(content.parameters["dt"].ravel()[0])
    compiled = CompiledScene(content.plan, dt, content.worlds, content.target, content.accuracy)
    for path, value in content.parameters.items():
        compiled.parameters[path] = value
    compiled.start = dict(content.start)
    if content.state is not None:
        compiled.batch()
        compiled.state.update(content.state)
    return compiled


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
