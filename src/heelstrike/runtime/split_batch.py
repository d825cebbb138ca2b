"""Worlds shared out over several batches, one for each GPU, that make the same steps.

Worlds follow one another from part to part. Values with a row per world are split, others go to
every part, and results are joined. The bits of a world do not depend on the part that holds it. A
run is launched in all parts before anything waits for one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import ProgramError
from heelstrike.runtime.arrays import checked_values, world_mask

if TYPE_CHECKING:
    from heelstrike.runtime.worlds import Worlds


class SplitBatch:
    """Batches of one program, used as one batch of all their worlds."""

    def __init__(self, parts: Sequence[Worlds]) -> None:
        self.parts = parts
        self.layout = parts[0].layout
        ends = np.cumsum([part.worlds for part in parts])
        self.worlds = int(ends[-1])
        self._spans = [slice(end - part.worlds, end) for part, end in zip(parts, ends, strict=True)]
        """The worlds of each part."""
        self._tables = {port.name for port in self.layout.tables}

    @property
    def steps_made(self) -> int:
        """Number of steps that `run` has made: the phase of what is recorded."""
        return self.parts[0].steps_made

    @steps_made.setter
    def steps_made(self, count: int) -> None:
        for part in self.parts:
            part.steps_made = count

    @property
    def stream_handle(self) -> NoReturn:
        """Raise an error: each part has a stream of its own."""
        raise _apart("no stream has the steps of all worlds")

    def set(self, **values: ArrayLike) -> None:
        """Set inputs, memory and tables, as `Batch.set` does."""
        for port, array in checked_values(self.layout, self.worlds, values):
            rows = array.ndim == 2 and port.name not in self._tables
            for part, span in zip(self.parts, self._spans, strict=True):
                part.set(**{port.name: array[span] if rows else array})

    def get(self, name: str) -> np.ndarray:
        """Return a copy of a port's values, as `Batch.get` does."""
        if name in self._tables:
            return self.parts[0].get(name)
        return self._joined(lambda part: part.get(name))

    def output(self, name: str) -> np.ndarray:
        """Return a copy of an output, as `Batch.output` does."""
        return self._joined(lambda part: part.output(name))

    def reset(self, worlds: np.ndarray | None = None, **values: ArrayLike) -> None:
        """Reset memory where a mask of worlds holds, as `Batch.reset` does."""
        mask = world_mask(worlds, self.worlds)
        arrays = {name: np.asarray(value) for name, value in values.items()}
        for name, array in arrays.items():
            if array.ndim == 2:
                arrays[name] = np.broadcast_to(array, (self.worlds, array.shape[1]))
        for part, span in zip(self.parts, self._spans, strict=True):
            own = {name: x[span] if x.ndim == 2 else x for name, x in arrays.items()}
            part.reset(mask[span], **own)

    def continue_from(self, other: SplitBatch) -> None:
        """Continue another batch, part by part, as `Batch.continue_from` does."""
        if [part.worlds for part in self.parts] != [part.worlds for part in other.parts]:
            raise ProgramError("batches share arrays only if the same worlds lie in each part")
        for part, theirs in zip(self.parts, other.parts, strict=True):
            part.continue_from(theirs)

    def state(self) -> dict[str, np.ndarray]:
        """Return copies of all memory by name."""
        return {port.name: self.get(port.name) for port in self.layout.memory}

    def snapshot(self, *names: str) -> Mapping[str, np.ndarray]:
        """Return the present values of some ports, which each part keeps until they are read."""
        return JoinedSnapshot([part.snapshot(*names) for part in self.parts])

    def view(self, name: str) -> None:
        """Return None: no array holds all worlds, to be written in place."""

    def device_array(self, name: str) -> NoReturn:
        """Raise an error: each part has an array of its own."""
        raise _apart(f"no array holds '{name}' of all worlds")

    def run(self, steps: int = 1, every: int = 1, threads: int = 1) -> None:
        """Make a number of steps in all worlds; on GPUs, return when they are launched."""
        for part in self.parts:
            part.run(steps, every, threads)

    def peek(self) -> None:
        """Make a step for its outputs alone: memory stays as it is."""
        for part in self.parts:
            part.peek()

    def sync(self) -> None:
        """Wait until everything launched is done."""
        for part in self.parts:
            part.sync()

    def _joined(self, rows: Callable[[Worlds], np.ndarray]) -> np.ndarray:
        return np.concatenate([rows(part) for part in self.parts])


class JoinedSnapshot(Mapping[str, np.ndarray]):
    """Snapshots of the parts of a batch; their values are joined whenever they are read."""

    def __init__(self, parts: Sequence[Mapping[str, np.ndarray]]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> np.ndarray:
        return np.concatenate([part[name] for part in self._parts])

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts[0])

    def __len__(self) -> int:
        return len(self._parts[0])


def even_shares(worlds: int, parts: int) -> list[int]:
    """Return the worlds of each part, as even as possible; there are no parts without a world."""
    count = max(1, min(worlds, parts))
    return [worlds // count + (k < worlds % count) for k in range(count)]


def _apart(problem: str) -> ProgramError:
    return ProgramError(
        f"the worlds are shared out over several GPUs, and {problem}",
        path="device",
        remedy='use one simulator for each GPU, such as device="cuda:0" and device="cuda:1"',
    )
