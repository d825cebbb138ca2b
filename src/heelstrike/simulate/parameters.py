"""Run-time parameters of a simulator by path, for all worlds alike or per world."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.checks import array_of_numbers
from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError, nearest


class Parameters(MutableMapping[str, np.ndarray]):
    """Values by path: (size,) for all worlds alike, or (worlds, size) with one row per world.

    Assigning a value takes effect in the next step; nothing is compiled again.
    """

    def __init__(
        self,
        values: dict[str, np.ndarray],
        check: Callable[[str, np.ndarray], None],
        changed: Callable[[str], None],
        extend: Callable[[str], None],
        present: Callable[[str], np.ndarray],
    ) -> None:
        """Take initial values, and callbacks.

        Args:
            values: initial values by path.
            check: raises if a value of a path is out of its range.
            changed: is called after the value of a path has changed.
            extend: makes an unknown path a parameter, or raises.
            present: returns what the worlds hold of a path that others write in place.
        """
        self._values = {path: np.array(value, dtype=float) for path, value in values.items()}
        self._check, self._changed, self._extend = check, changed, extend
        self._present = present
        self.in_place: set[str] = set()
        """Paths whose values are written into the arrays of the worlds."""
        self.unchecked: set[str] = set()
        """Paths that were assigned since their relations to others were last checked."""
        self.worlds = 1

    def __getitem__(self, path: str) -> np.ndarray:
        if path in self.in_place:
            return self._present(path)
        return self._values[self.known(path)].copy()

    def __setitem__(self, path: str, value: ArrayLike) -> None:
        if path not in self._values:
            self._extend(path)
        self._values[path] = self.checked(path, value, self.worlds)
        if self._values[path].ndim == 1:
            self.in_place.discard(path)
        self.unchecked.add(path)
        self._changed(path)

    def __delitem__(self, path: str) -> None:
        raise HeelstrikeError(f"parameter '{path}' cannot be removed", path=path)

    def __contains__(self, path: object) -> bool:
        return path in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def add(self, values: dict[str, np.ndarray]) -> None:
        """Add the parameters that a larger program has; known ones keep their values."""
        for path, value in values.items():
            self._values.setdefault(path, np.array(value, dtype=float))

    def size(self, path: str) -> int:
        """Return the number of entries of a parameter, in one world."""
        return self._values[self.known(path)].shape[-1]

    def of_world(self, world: int) -> dict[str, np.ndarray]:
        """Return the values of one world by path, (size,) each."""
        return {p: x if x.ndim == 1 else x[world] for p, x in self.items()}

    def known(self, path: str, others: Sequence[str] = ()) -> str:
        """Return the path; raise UnknownNameError if no parameter has it.

        The error suggests `others`, too, numbers that would become parameters, but lists none.
        """
        if not isinstance(path, str) or path not in self._values:
            near = others if nearest(str(path), others) else ()
            raise UnknownNameError("parameter", path, [*self._values, *near], path=path)
        return path

    def shaped(self, path: str, value: ArrayLike, worlds: int) -> np.ndarray:
        """Return a value as an array of shape (size,) or (worlds, size), finite throughout."""
        size = self.size(path)
        found = array_of_numbers(value)
        array = np.array(np.nan) if found is None else found
        if array.ndim == 0 and size == 1:
            array = array[None]
        elif array.ndim == 1 and size == 1 and len(array) == worlds:
            array = array[:, None]
        if array.shape not in ((size,), (worlds, size)) or not np.all(np.isfinite(array)):
            raise ParameterError(
                path,
                value,
                f"{size} finite number{'s' * (size > 1)} for all worlds alike, or an array of "
                f"shape ({worlds}, {size})",
            )
        return array

    def checked(self, path: str, value: ArrayLike, worlds: int) -> np.ndarray:
        """Return a value as `shaped` does; raise if its law or surface does not allow it."""
        array = self.shaped(path, value, worlds)
        self._check(path, array)
        return array

    def for_worlds(self, worlds: int) -> None:
        """Resize; of values per world, those of the first world are kept for all."""
        for path, value in self.items():
            if value.ndim == 2 and len(value) != worlds:
                self._values[path] = value[0].copy()
        self.in_place.clear()
        self.worlds = worlds

    def __repr__(self) -> str:
        return "\n".join(f"{path} = {_short(value)}" for path, value in self.items())


def _short(value: np.ndarray) -> str:
    if value.ndim == 2 and len(value) > 1:
        return f"array of shape {value.shape}"
    value = value.ravel()
    if value.size == 1:
        return f"{value[0]:g}"
    return np.array2string(value, precision=4, threshold=6, edgeitems=2)
