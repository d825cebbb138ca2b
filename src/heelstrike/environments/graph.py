"""An action as a CUDA graph: its many small kernels, captured once and launched together.

The first action runs as it is; the second is captured by PyTorch, the simulator's launch and all,
and from then on replayed, with the same bits. What a graph reads and writes stays where it is, so
an action is copied in and what came of it is copied out, on the GPU. A graph does not ask Python
again: functions that read anything but what they are given must not be captured.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from heelstrike.environments.on_gpu import GpuArrays
from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.runtime.cuda.batch import CudaBatch

Work = Callable[[Any, bool], Any]
"""Of an action, and whether pushes are looked after; returns arrays in tuples and dicts."""
Held = Callable[..., tuple[Any, Any]]
"""What the worker holds besides; holds something else, if given."""


@dataclass(frozen=True)
class Captured:
    """A graph, and the arrays that it reads, returns and leaves held."""

    graph: Any
    action: Any
    found: Any
    held: tuple[Any, Any]


class Replay:
    """Does the work of an action, by a graph as soon as there is one."""

    def __init__(self, arrays: GpuArrays, work: Work, held: Held, asked: bool) -> None:
        self.arrays, self.work, self.held, self.asked = arrays, work, held, asked
        self.captures = True
        """Whether it is done by graphs: not once a capture has failed."""
        self._known: dict[bool, Captured | None] = {}
        self._launched: tuple[CudaBatch, int] | None = None

    def __call__(self, action: Any, pushes: bool) -> Any:
        if self._launched != self.arrays.launched:  # worlds, parameters or program have moved
            self._known.clear()
            self._launched = self.arrays.launched
        if not self.captures or pushes not in self._known:
            self._known[pushes] = None
            return self.work(action, pushes)
        known = self._known[pushes] or self._captured(action, pushes)
        if known is None:
            return self.work(action, pushes)
        known.action[...] = action
        known.graph.replay()
        self.held(known.held)
        return copied(known.found)

    def _captured(self, action: Any, pushes: bool) -> Captured | None:
        cuda = self.arrays.xp.cuda
        own, graph = 1 * action, cuda.CUDAGraph()
        stream = cuda.ExternalStream(self.arrays.sim.stream)
        try:
            with cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
                found = self.work(own, pushes)
        except Exception as error:  # of PyTorch, of cuda-core, or of a user's function
            self._refuse(error)
            return None
        made = Captured(graph, own, found, self.held())
        self._known[pushes] = made
        return made

    def _refuse(self, error: Exception) -> None:
        why = (str(error) or type(error).__name__).splitlines()[0]
        said = f"an action cannot be captured as a CUDA graph: {why}"
        if self.asked:
            raise HeelstrikeError(
                f"{said}; functions that ask for a value (item, cpu, if) keep it from being one: "
                "leave graph=True out"
            ) from error
        self.captures = False
        warnings.warn(f"{said}; it runs without, slower", HeelstrikeWarning, stacklevel=4)


def copied(found: Any) -> Any:
    """Arrays of their own, in the same tuples and dicts."""
    if isinstance(found, dict):
        return {name: copied(value) for name, value in found.items()}
    if isinstance(found, tuple):
        return tuple(copied(value) for value in found)
    return found.clone()
