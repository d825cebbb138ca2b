"""The arrays of many worlds, laid out for the lanes.

Arrays are cut into tiles of W worlds, (tiles, size, W), so that a vector load takes one value of W
neighbours. The last tile of a batch is filled up with copies of the last world.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.compile.lanes import Real
from heelstrike.compile.program import Port
from heelstrike.errors import ProgramError

ALIGNMENT = 64


@dataclass(frozen=True)
class Layout:
    """What a caller must know of compiled code: ports in the order of its arguments, lanes, scratch
    memory.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    width: int
    real: Real
    frame_size: int


class Batch:
    """Inputs and outputs of a number of worlds, and the function that works on them.

    Inputs that were never set are zero.
    """

    def __init__(self, layout: Layout, function: Callable[..., None], worlds: int) -> None:
        if worlds < 1:
            raise ProgramError(f"a batch needs at least one world, not {worlds}")
        self.layout = layout
        self.worlds = worlds
        self.tiles = -(-worlds // layout.width)
        ports = layout.inputs + layout.outputs
        self.arrays = {port.name: self._tiles(port, self.tiles) for port in ports}
        self._ports = {port.name: port for port in ports}
        self._index = {port.name: k for k, port in enumerate(ports)}
        self._pointers = (ctypes.c_void_p * len(ports))()
        self._strides = (ctypes.c_int64 * len(ports))()
        for name, array in self.arrays.items():
            self._attach(name, array)
        self._frames = [self._new_frame()]
        self._call = partial(
            function, ctypes.addressof(self._pointers), ctypes.addressof(self._strides)
        )
        self._run_all = partial(self._call, self._frames[0].ctypes.data, 0, self.tiles)

    def set(self, **inputs: ArrayLike) -> None:
        """Fills inputs: (worlds, size) one row a world, (size,) the same for all worlds."""
        known = {port.name: port for port in self.layout.inputs}
        for name, value in inputs.items():
            if name not in known:
                raise ProgramError(f"no input '{name}'; inputs: {', '.join(known)}")
            array: np.ndarray = np.asarray(value, dtype=self.layout.real.dtype)
            size = known[name].size
            if array.shape not in ((size,), (self.worlds, size)):
                raise ProgramError(
                    f"input '{name}' has shape {array.shape}; it takes ({size},) for all "
                    f"worlds alike or ({self.worlds}, {size})"
                )
            tiles = self.tiles if array.ndim == 2 else 1
            if len(self.arrays[name]) != tiles:
                self.arrays[name] = self._tiles(known[name], tiles)
                self._attach(name, self.arrays[name])
            _fill(self.arrays[name], np.atleast_2d(array))

    def get(self, name: str) -> np.ndarray:
        """A copy of a port's values, (worlds, *shape)."""
        array = self.arrays[name]
        rows = array.transpose(0, 2, 1).reshape(-1, *self._ports[name].shape)
        if len(array) < self.tiles:  # the same for all worlds
            rows = np.broadcast_to(rows[0], (self.worlds, *rows[0].shape))
        return rows[: self.worlds].copy()

    def run(self, threads: int = 1) -> None:
        """Computes the outputs of all worlds from the inputs."""
        if threads == 1 or self.tiles == 1:
            self._run_all()
            return
        threads = min(threads, self.tiles)
        while len(self._frames) < threads:
            self._frames.append(self._new_frame())
        bounds = [self.tiles * k // threads for k in range(threads + 1)]
        # each worker has its own frame and its own tiles; nothing else is written
        pointers = [frame.ctypes.data for frame in self._frames[:threads]]
        list(_pool(threads).map(self._call, pointers, bounds[:-1], bounds[1:]))

    def _tiles(self, port: Port, tiles: int) -> np.ndarray:
        return _aligned((tiles, port.size, self.layout.width), self.layout.real)

    def _new_frame(self) -> np.ndarray:
        return _aligned((max(self.layout.frame_size, 1), self.layout.width), self.layout.real)

    def _attach(self, name: str, array: np.ndarray) -> None:
        k = self._index[name]
        self._pointers[k] = array.ctypes.data
        self._strides[k] = array[0].nbytes if len(array) == self.tiles else 0


def _fill(tiles: np.ndarray, rows: np.ndarray) -> None:
    """Rows (worlds, size) into tiles (tiles, size, W); the rest of the last tile repeats the last
    world.
    """
    n, size, width = tiles.shape
    full = len(rows) // width
    tiles[:full] = rows[: full * width].reshape(full, width, size).transpose(0, 2, 1)
    if full < n:
        rest = rows[full * width :]
        tiles[full, :, : len(rest)] = rest.T
        tiles[full, :, len(rest) :] = rest[-1][:, None]


def _aligned(shape: tuple[int, ...], real: Real) -> np.ndarray:
    size = int(np.prod(shape)) * real.bytes
    raw = np.zeros(size + ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(real.dtype).reshape(shape)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)
