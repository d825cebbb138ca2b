"""The state of a simulator's worlds: all memory by name, to read, write, save and bring back."""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError, ProgramError
from heelstrike.files import whole_file

if TYPE_CHECKING:
    from heelstrike.simulate.target import Worlds


class State(MutableMapping[str, np.ndarray]):
    """q, v, work, impulses, the laws' own memory, clock and failures of every world.

    With one world on a CPU an entry is a view, (size,), that the next step changes; else a copy,
    (worlds, size). Assigning takes (size,) for all worlds alike or (worlds, size).
    """

    def __init__(self, batch: Worlds) -> None:
        self._batch = batch
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
        try:
            self._batch.set(**{name: value})
        except ProgramError as error:
            raise HeelstrikeError(str(error).replace("input", "state")) from error

    def __delitem__(self, name: str) -> None:
        raise HeelstrikeError(f"'{name}' is part of the state and cannot be removed")

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __iter__(self) -> Iterator[str]:
        return (port.name for port in self._batch.layout.memory)

    def __len__(self) -> int:
        return len(self._batch.layout.memory)

    def initial(self, name: str) -> np.ndarray:
        """What a reset puts there, but for q and v."""
        self._check(name)
        return np.array(self._batch.layout.initial[name], dtype=float)

    def copy(self) -> dict[str, np.ndarray]:
        """All of it as it is now, (worlds, size) each: what `update` brings back."""
        return self._batch.state()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes everything to an .npz file, whole or not at all."""
        with whole_file(path) as part, open(part, "wb") as file:
            np.savez(file, **self.copy())  # type: ignore[arg-type]

    def load(self, path: str | os.PathLike[str]) -> None:
        """Brings back what `save` wrote, into a simulator of the same scene and worlds."""
        try:
            with np.load(path, allow_pickle=False) as file:
                found = dict(file)
        except (OSError, ValueError, EOFError) as error:
            raise HeelstrikeError(f"cannot read the state in '{path}': {error}") from error
        shapes = {name: value.shape for name, value in self.copy().items()}
        if {name: value.shape for name, value in found.items()} != shapes:
            raise HeelstrikeError(
                f"'{path}' holds the state of another scene or of another number of worlds"
            )
        self.update(found)

    def _check(self, name: str) -> None:
        if name not in self:
            raise HeelstrikeError(f"no state '{name}'; state: {', '.join(self)}")

    def __repr__(self) -> str:
        return f"State({', '.join(self)})"
