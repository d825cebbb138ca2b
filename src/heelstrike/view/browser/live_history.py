"""The last seconds of a live scene: records for curves, and states to go back to.

A chunk holds what one frame simulated, and the whole state at its end, from which the simulation
can go on exactly as it did.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.view.browser.run_arrays import RunArrays, Sample

if TYPE_CHECKING:
    import xarray as xr

LENGTH = 10.0
"""Simulated time that is kept [s]."""
MIN_STEP = 1e-3
"""Smallest time between two records; steps in between are dropped [s]."""

WholeState = dict[str, np.ndarray]
"""All memory of a simulator by name."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Records of a frame, and the state after the last."""

    time: np.ndarray
    arrays: dict[str, np.ndarray]
    state: WholeState

    @property
    def end(self) -> float:
        """Time of the last record [s]."""
        return float(self.time[-1])


class History:
    """Chunks of the last seconds, oldest first."""

    def __init__(self, first: RunArrays, state: WholeState) -> None:
        self._like = first
        self._chunks = deque([Chunk(first.time, dict(first.arrays), state)])
        self._values: RunArrays | None = first

    @property
    def begin(self) -> float:
        """The earliest time to go back to [s]."""
        return self._chunks[0].end

    @property
    def end(self) -> float:
        """The present [s]."""
        return self._chunks[-1].end

    @property
    def info(self) -> dict[str, Any]:
        """Attributes of the recording: laws, surfaces, parameters."""
        return self._like.info

    @property
    def now(self) -> Sample:
        """The variables at present."""
        return {name: array[-1] for name, array in self._chunks[-1].arrays.items()}

    @property
    def values(self) -> RunArrays:
        """All records."""
        if self._values is None:
            time = np.concatenate([chunk.time for chunk in self._chunks])
            arrays = {
                name: np.concatenate([chunk.arrays[name] for chunk in self._chunks])
                for name in self._like.arrays
            }
            self._values = replace(self._like, time=time, arrays=arrays)
        return self._values

    def append(self, data: xr.Dataset, state: WholeState) -> None:
        """Add the records of a run of one world, whose first is the last one known already."""
        time = data["time"].values
        stride = max(1, round(MIN_STEP * (len(time) - 1) / max(time[-1] - time[0], 1e-12)))
        kept = np.arange(len(time) - 1, 0, -stride)[::-1]
        arrays = {name: data[name].values[kept] for name in self._like.arrays}
        self._chunks.append(Chunk(time[kept], arrays, state))
        while self._chunks[0].end < self.end - LENGTH:
            self._chunks.popleft()
        self._values = None

    def at(self, time: float) -> Chunk:
        """Return the chunk that ends nearest to a time [s]."""
        return min(self._chunks, key=lambda chunk: abs(chunk.end - time))

    def sample(self, time: float) -> Sample:
        """Return the variables at the end of the chunk nearest to a time [s]."""
        return {name: array[-1] for name, array in self.at(time).arrays.items()}

    def cut(self, time: float) -> WholeState:
        """Forget what came after the chunk nearest to a time [s]; return the state there."""
        last = self.at(time)
        while self._chunks[-1] is not last:
            self._chunks.pop()
        self._values = None
        return last.state
