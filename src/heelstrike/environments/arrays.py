"""The arrays of a simulator's worlds in place, by NumPy.

Arrays are tiles (tiles, size, lanes), which are read and written as rows (worlds, size), in all
worlds or in some. The last tile is filled up with copies of the last world, which must stay copies.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from heelstrike.simulate.simulator import Simulator

Array: TypeAlias = Any
"""A NumPy array on a CPU, a PyTorch tensor on a GPU."""


class Arrays:
    """Arrays of a simulator's worlds on a CPU."""

    xp: ModuleType = np
    """The module whose functions take these arrays."""

    def __init__(self, sim: Simulator) -> None:
        self.sim = sim
        clock = self.tiles("clock")
        self.shape = clock.shape[0], clock.shape[2]
        """Numbers of tiles and of lanes."""
        self.real = clock.dtype
        """The dtype of real numbers, of NumPy or PyTorch."""
        self.worlds = sim.worlds
        self.spare = self.shape[0] * self.shape[1] - self.worlds
        """Lanes of the last tile that repeat the last world."""
        lanes = np.arange(self.worlds + self.spare)
        self.world = self.index(np.minimum(lanes, self.worlds - 1))
        """World of each lane."""

    # whole arrays

    def tiles(self, name: str) -> Array:
        """Return a state or parameter in place; what is written there is used by the next step."""
        return self.sim.device_array(name)

    def rows(self, *parts: Array) -> Array:
        """Return a copy of tiles side by side with a row per world, (worlds, size)."""
        tiles = self.xp.concatenate(parts, 1)
        return tiles.swapaxes(1, 2).reshape(-1, tiles.shape[1])[: self.worlds]

    def column(self, tiles: Array, i: int) -> Array:
        """Return a copy of one column, (worlds,)."""
        return (1 * tiles[:, i]).reshape(-1)[: self.worlds]

    def fill(self, tiles: Array, rows: Array, columns: Array = slice(None)) -> None:
        """Write (worlds, columns) into some columns of the tiles."""
        if self.spare:
            rows = rows[self.world]
        tiles[:, columns] = rows.reshape(*self.shape, -1).swapaxes(1, 2)

    def stream(self) -> AbstractContextManager[None]:
        """Return a context for all work on these arrays, in order with the simulator's steps."""
        return nullcontext()

    # new arrays

    def real_array(self, values: Array) -> Array:
        """Return values as real numbers on this device; TypeError for text, objects and complex."""
        return np.asarray(values).astype(self.real, copy=False, casting="same_kind")

    def per_lane(self, values: Array) -> Array:
        """Return one number per column, repeated for every lane of a tile, (size, lanes)."""
        wide = np.repeat(np.asarray(values, dtype=float)[:, None], self.shape[1], 1)
        return self.real_array(wide)

    def per_world(self, values: Array) -> Array:
        """Return one number per column, repeated for every world, (worlds, size)."""
        return self.real_array(np.tile(np.asarray(values, dtype=float), (self.worlds, 1)))

    def int_array(self, values: Array) -> Array:
        """Return values as integers of 32 bits on this device."""
        return np.asarray(values, dtype=np.int32)

    def index(self, values: Array) -> Array:
        """Return integers that choose rows or columns; real numbers are cut off."""
        return np.asarray(values, dtype=np.int64)

    def zeros(self, *shape: int) -> Array:
        """Return zeros as real numbers on this device."""
        return np.zeros(shape, dtype=self.real)

    def mask(self, values: Array) -> Array:
        """Return values as booleans on this device."""
        return np.asarray(values, dtype=bool)

    # some worlds

    def subset(self, mask: Array) -> WorldSubset | None:
        """Return the worlds of a mask; None if there are none."""
        worlds = np.flatnonzero(mask)
        return WorldSubset(self, worlds) if len(worlds) else None


class WorldSubset:
    """A subset of the worlds: `pick` and `put` have a row for each of them."""

    def __init__(self, arrays: Arrays, worlds: np.ndarray) -> None:
        self.arrays, self.worlds = arrays, worlds
        self.count = len(worlds)
        self._places = np.divmod(worlds, arrays.shape[1])
        self._last = arrays.spare > 0 and worlds[-1] == arrays.worlds - 1

    def pick(self, rows: Array) -> Array:
        """Return the rows of these worlds from an array with a row per world."""
        return rows[self.worlds]

    def put(self, rows: Array, values: Array) -> None:
        """Write the rows of these worlds into an array with a row per world."""
        rows[self.worlds] = values

    def write(self, tiles: Array, values: Array) -> None:
        """Write (count, size), or (size,) for all of them, into tiles."""
        tile, lane = self._places
        tiles[tile, :, lane] = values
        if self._last:
            spare = self.arrays.spare
            tiles[-1, :, -spare:] = tiles[-1, :, -spare - 1, None]


def columns(arrays: Arrays, indices: list[int]) -> Array:
    """Return an index of columns: a slice if they are consecutive."""
    if indices and indices == list(range(indices[0], indices[-1] + 1)):
        return slice(indices[0], indices[-1] + 1)
    return arrays.index(np.array(indices, dtype=int))
