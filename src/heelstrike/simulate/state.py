"""State of a simulator's worlds: all memory by name, to read, write, save and load."""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.files import whole_file

if TYPE_CHECKING:
    from heelstrike.simulate.target import Worlds


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
        shape, size = np.shape(np.atleast_1d(value)), self._sizes[name]
        if shape not in ((size,), (self._batch.worlds, size)):
            raise HeelstrikeError(
                f"state '{name}' has shape {shape}",
                path=name,
                value=value,
                allowed=f"({size},) for all worlds alike, or ({self._batch.worlds}, {size})",
            )
        self._batch.set(**{name: value})

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to an .npz file, whole or not at all."""
        with whole_file(path) as part, open(part, "wb") as file:
            np.savez(file, **self.copy())  # type: ignore[arg-type]

    def load(self, path: str | os.PathLike[str]) -> None:
        """Restore what `save` wrote, for the same scene and number of worlds."""
        try:
            with np.load(path, allow_pickle=False) as file:
                found = dict(file)
        except (OSError, ValueError, EOFError) as error:
            raise HeelstrikeError(
                f"cannot read the state in '{path}': {error}", path=os.fspath(path)
            ) from error
        shapes = {name: value.shape for name, value in self.copy().items()}
        if {name: value.shape for name, value in found.items()} != shapes:
            raise HeelstrikeError(
                f"'{path}' holds the state of another scene or of another number of worlds",
                path=os.fspath(path),
            )
        self.update(found)

    def _check(self, name: str) -> None:
        if name not in self:
            raise UnknownNameError("state", name, self, path=name)

    def __repr__(self) -> str:
        return f"State({', '.join(self)})"
