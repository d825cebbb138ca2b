"""Run-time parameters of a simulator by path, for all worlds alike or one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError, UnknownNameError


class Parameters(MutableMapping[str, np.ndarray]):
    """Values by path: a number, a vector, or with one row a world (worlds, size).

    Assigning changes the next step; nothing is compiled anew.
    """

    def __init__(
        self,
        values: dict[str, np.ndarray],
        check: Callable[[str, np.ndarray], None],
        changed: Callable[[str], None],
    ) -> None:
        self._values = {path: np.array(value, dtype=float) for path, value in values.items()}
        self._check, self._changed = check, changed
        self.worlds = 1

    def __getitem__(self, path: str) -> np.ndarray:
        return self._values[self.known(path)].copy()

    def __setitem__(self, path: str, value: ArrayLike) -> None:
        self._values[path] = self.checked(path, value, self.worlds)
        self._changed(path)

    def __delitem__(self, path: str) -> None:
        raise HeelstrikeError(f"'{path}' is a parameter and cannot be removed")

    def __contains__(self, path: object) -> bool:
        return path in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def add(self, values: dict[str, np.ndarray]) -> None:
        """Parameters that a larger program has."""
        for path, value in values.items():
            self._values.setdefault(path, np.array(value, dtype=float))

    def size(self, path: str) -> int:
        return self._values[self.known(path)].shape[-1]

    def known(self, path: str) -> str:
        """The path, if there is such a parameter."""
        if path not in self._values:
            raise UnknownNameError("parameter", path, self._values, path=path)
        return path

    def shaped(self, path: str, value: ArrayLike, worlds: int) -> np.ndarray:
        """The value as (size,), or (worlds, size)."""
        size = self.size(path)
        try:
            array = np.array(value, dtype=float)
        except (TypeError, ValueError):
            array = np.array(np.nan)
        if array.ndim == 0 and size == 1:
            array = array[None]
        elif array.ndim == 1 and size == 1 and len(array) == worlds:
            array = array[:, None]
        if array.shape not in ((size,), (worlds, size)) or not np.all(np.isfinite(array)):
            raise HeelstrikeError(
                f"parameter '{path}' takes {size} finite number{'s' * (size > 1)} for all worlds "
                f"alike, or an array of shape ({worlds}, {size}); got {value!r:.60}"
            )
        return array

    def checked(self, path: str, value: ArrayLike, worlds: int) -> np.ndarray:
        """The value as `shaped` makes it, if what it belongs to would take it."""
        array = self.shaped(path, value, worlds)
        self._check(path, array)
        return array

    def for_worlds(self, worlds: int) -> None:
        """Resizes: what was given world by world becomes the first world's."""
        for path, value in self._values.items():
            if value.ndim == 2 and len(value) != worlds:
                self._values[path] = value[0].copy()
        self.worlds = worlds

    def __repr__(self) -> str:
        return "\n".join(f"{path} = {_short(value)}" for path, value in self._values.items())


def _short(value: np.ndarray) -> str:
    if value.ndim == 2:
        return f"array of shape {value.shape}"
    if value.size == 1:
        return f"{value[0]:g}"
    return np.array2string(value, precision=4, threshold=6, edgeitems=2)
