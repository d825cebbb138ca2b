"""State of a simulator's worlds: all memory by name, to read, write, save and load."""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.checks import numbers
from heelstrike.errors import FileError, HeelstrikeError, UnknownNameError
from heelstrike.files import PathLike
from heelstrike.npz import read_arrays, write_arrays

if TYPE_CHECKING:
    from heelstrike.runtime.worlds import Worlds


class State(MutableMapping[str, np.ndarray]):
    """Memory of every world by name: q, v, work, impulses, memory of laws, clock and failures.

    With one world on a CPU an entry is a view, (size,), which the next step changes; else it is a
    copy, (worlds, size). Assign (size,) for all worlds alike, or (worlds, size).
    """

    def __init__(self, batch: Worlds) -> None:
        self._batch = batch
        self._sizes = {port.name: port.size for port in batch.layout.memory}
        views = {port.name: batch.view(port.name) for port in batch.layout.memory}
        self._views = {name: view for name, view in views.items() if view is not None}

    def __getitem__(self, name: str) -> np.ndarray:
        found = self._views.get(name)
        if found is not None:
            return found
        self._check(name)
        return self._batch.get(name)

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        self._check(name)
        worlds, size = self._batch.worlds, self._sizes[name]
        shapes = [(size,), (worlds, size), *([()] if size == 1 else [])]
        allowed = f"finite numbers, ({size},) for all worlds alike, or ({worlds}, {size})"
        array = numbers(name, value, shapes, allowed, finite=name in ("q", "v"))
        self._batch.set(**{name: array})

    def __delitem__(self, name: str) -> None:
        raise HeelstrikeError(f"state '{name}' cannot be removed", path=name)

    def __contains__(self, name: object) -> bool:
        return name in self._sizes

    def __iter__(self) -> Iterator[str]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def initial(self, name: str) -> np.ndarray:
        """Return the value that a reset restores, (size,); q and v have a start of their own."""
        self._check(name)
        return np.array(self._batch.layout.initial[name], dtype=float)

    def copy(self) -> dict[str, np.ndarray]:
        """Return a copy of all of it, (worlds, size) each, which `update` restores."""
        return self._batch.state()

    def save(self, path: PathLike) -> None:
        """Write all of it to an .npz file, whole or not at all."""
        write_arrays(path, self.copy())

    def load(self, path: PathLike) -> None:
        """Restore what `save` wrote, for the same scene and number of worlds."""
        found = read_arrays(path)
        shapes = {name: value.shape for name, value in self.copy().items()}
        if {name: value.shape for name, value in found.items()} != shapes:
            raise FileError(
                f"'{path}' holds the state of another scene or of another number of worlds",
                path=os.fspath(path),
            )
        self.update(found)

    def _check(self, name: str) -> None:
        if name not in self:
            raise UnknownNameError("state", name, self, path=name)

    def __repr__(self) -> str:
        return f"State({', '.join(self)})"
