"""The worlds' arrays where they lie, by NumPy: tiles (tiles, size, lanes) that are read as rows
(worlds, size), and written as rows, in all worlds or in some.

The last tile is filled up with copies of the last world, which must stay copies.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from heelstrike.simulate.simulator import Simulator


class Arrays:
    """Arrays of a simulator's worlds on a CPU."""

    xp: Any = np
    """The module whose functions take these arrays."""

    def __init__(self, sim: Simulator) -> None:
        self.sim = sim
        clock = self.tiles("clock")
        self.shape = clock.shape[0], clock.shape[2]
        self.real: Any = clock.dtype
        self.worlds = sim.worlds
        self.spare = self.shape[0] * self.shape[1] - self.worlds
        """Lanes of the last tile that repeat the last world."""
        lanes = np.arange(self.worlds + self.spare)
        self.world = self.index(np.minimum(lanes, self.worlds - 1))
        """Of each lane."""

    # whole arrays

    def tiles(self, name: str) -> Any:
        """Of a state or a parameter; what is written there counts in the next step."""
        return self.sim.device_array(name)

    def rows(self, *parts: Any) -> Any:
        """A copy with a row a world, (worlds, size), of tiles side by side."""
        tiles = self.xp.concatenate(parts, 1)
        return tiles.swapaxes(1, 2).reshape(-1, tiles.shape[1])[: self.worlds]

    def column(self, tiles: Any, i: int) -> Any:
        """A copy of one column, (worlds,)."""
        return (1 * tiles[:, i]).reshape(-1)[: self.worlds]

    def fill(self, tiles: Any, rows: Any, columns: Any = slice(None)) -> None:
        """Writes (worlds, columns) into some columns of the tiles."""
        if self.spare:
            rows = rows[self.world]
        tiles[:, columns] = rows.reshape(*self.shape, -1).swapaxes(1, 2)

    def stream(self) -> AbstractContextManager[Any]:
        """In which all work on these arrays happens, in order with the simulator's steps."""
        return nullcontext()

    # numbers

    def given(self, values: Any) -> Any:
        """What a user hands in, as real numbers of this device."""
        return np.asarray(values, dtype=self.real)

    def each(self, values: Any) -> Any:
        """One number a column, for every lane of a tile: (size, lanes)."""
        return self.given(np.repeat(np.asarray(values, dtype=float)[:, None], self.shape[1], 1))

    def alike(self, values: Any) -> Any:
        """One number a column, for every world: (worlds, size)."""
        return self.given(np.tile(np.asarray(values, dtype=float), (self.worlds, 1)))

    def whole(self, values: Any) -> Any:
        """The same as whole numbers of 32 bits."""
        return np.asarray(values, dtype=np.int32)

    def index(self, values: Any) -> Any:
        """Whole numbers that choose rows or columns."""
        return np.asarray(values)

    def nothing(self, *shape: int) -> Any:
        return np.zeros(shape, dtype=self.real)

    def mask(self, values: Any) -> Any:
        return np.asarray(values, dtype=bool)

    # some worlds

    def some(self, mask: Any) -> Some | None:
        """The worlds where a mask holds; None if there are none."""
        who = np.flatnonzero(mask)
        return Some(self, who) if len(who) else None


class Some:
    """Some of the worlds: what is picked and put has a row for each of them."""

    def __init__(self, arrays: Arrays, who: np.ndarray) -> None:
        self.arrays, self.who = arrays, who
        self.count = len(who)
        self._places = np.divmod(who, arrays.shape[1])
        self._last = arrays.spare > 0 and who[-1] == arrays.worlds - 1

    def pick(self, rows: Any) -> Any:
        """Of an array with a row a world."""
        return rows[self.who]

    def put(self, rows: Any, values: Any) -> None:
        """Into an array with a row a world."""
        rows[self.who] = values

    def write(self, tiles: Any, values: Any) -> None:
        """Into tiles: (count, size), or (size,) for all of them."""
        tile, lane = self._places
        tiles[tile, :, lane] = values
        if self._last:
            spare = self.arrays.spare
            tiles[-1, :, -spare:] = tiles[-1, :, -spare - 1, None]


def columns(arrays: Arrays, indices: list[int]) -> Any:
    """A slice where it can be one."""
    if indices and indices == list(range(indices[0], indices[-1] + 1)):
        return slice(indices[0], indices[-1] + 1)
    return arrays.index(np.array(indices, dtype=int))
