"""An action as a CUDA graph: its many small kernels, captured once and launched together.

The first action runs normally; PyTorch captures the second, including the simulator's launch, and
replays it from then on, with the same bits. The arrays of a graph stay in place, so an action is
copied in and its results are copied out, on the GPU. A graph does not call Python again: functions
that read anything besides their arguments must not be captured.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heelstrike.environments.arrays import Array
from heelstrike.environments.gpu_arrays import GpuArrays
from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.runtime.cuda.batch import CudaBatch

if TYPE_CHECKING:
    from torch.cuda import CUDAGraph

Work = Callable[[Array, bool], Any]
"""Applies an action, and new pushes if the flag is set; returns arrays in tuples and dicts."""
Held = Callable[..., tuple[Array, ...]]
"""Returns the arrays that are kept for the next action; replaces them if others are passed."""


@dataclass(frozen=True)
class Captured:
    """A graph, and the arrays that it reads, returns and keeps."""

    graph: CUDAGraph
    action: Array
    found: Any
    held: tuple[Array, ...]


class GraphReplay:
    """Does the work of an action by a graph, as soon as there is one."""

    def __init__(self, arrays: GpuArrays, work: Work, held: Held, required: bool) -> None:
        """Capture the work of an action; if a capture fails, raise if it is `required`, or warn."""
        self.arrays, self.work, self.held, self.required = arrays, work, held, required
        self.captures = True
        """Whether graphs are used; false after a capture failed."""
        self._graphs: dict[bool, Captured | None] = {}
        self._launched: tuple[CudaBatch, int] | None = None

    def __call__(self, action: Array, pushes: bool) -> Any:
        if self._launched != self.arrays.launched:  # worlds, parameters or program have moved
            self._graphs.clear()
            self._launched = self.arrays.launched
        if not self.captures or pushes not in self._graphs:
            self._graphs[pushes] = None
            return self.work(action, pushes)
        captured = self._graphs[pushes] or self._capture(action, pushes)
        if captured is None:
            return self.work(action, pushes)
        captured.action[...] = action
        captured.graph.replay()
        self.held(captured.held)
        return copied(captured.found)

    def forget(self) -> None:
        """Capture actions again, after something that they use was replaced."""
        self._graphs.clear()

    def _capture(self, action: Array, pushes: bool) -> Captured | None:
        """Return the work of an action as a graph; None if it cannot be captured."""
        cuda = self.arrays.xp.cuda
        own, graph = 1 * action, cuda.CUDAGraph()
        stream = self.arrays.external_stream()
        try:
            with cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
                found = self.work(own, pushes)
        except Exception as error:  # of PyTorch, of cuda-core, or of a user's function
            self._refuse(error)
            return None
        captured = Captured(graph, own, found, self.held())
        self._graphs[pushes] = captured
        return captured

    def _refuse(self, error: Exception) -> None:
        """Raise if graphs are required; otherwise warn, and use none from now on."""
        reason = (str(error) or type(error).__name__).splitlines()[0]
        problem = f"an action cannot be captured as a CUDA graph: {reason}"
        if self.required:
            raise HeelstrikeError(
                f"{problem}; functions must not read values on the CPU (item, cpu, if): change "
                "them, or omit graph=True"
            ) from error
        self.captures = False
        warnings.warn(f"{problem}; actions run without it, slower", HeelstrikeWarning, stacklevel=4)


def copied(found: Any) -> Any:
    """Return copies of arrays, in the same tuples and dicts."""
    if isinstance(found, dict):
        return {name: copied(value) for name, value in found.items()}
    if isinstance(found, tuple):
        return tuple(copied(value) for value in found)
    return found.clone()
