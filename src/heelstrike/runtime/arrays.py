"""Arrays of a program's ports for a number of worlds, laid out for vector lanes.

Values are stored in tiles of W worlds, (tiles, size, W), so that one vector load takes one value of
W neighbouring worlds. Outputs are (tiles, records, size, W). The last tile is filled up with copies
of the last world. Tables are plain arrays, which all worlds share.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.codegen.layout import Layout
from heelstrike.codegen.real import Real
from heelstrike.errors import ProgramError
from heelstrike.ir.code import Port, output_of
from heelstrike.machine import free_memory

ALIGNMENT = 64
"""Alignment of an array's first value [bytes]: a cache line, and a vector of AVX-512."""


class PortArrays:
    """Inputs, tables, memory and outputs of a number of worlds, and where each of them lies.

    All values are zero at first.
    """

    def __init__(self, layout: Layout, worlds: int) -> None:
        if worlds < 1:
            raise ProgramError(f"a batch needs at least one world, not {worlds}", value=worlds)
        self.layout = layout
        self.worlds = worlds
        self.tiles = -(-worlds // layout.width)
        self.records = 1
        """Records that the outputs have space for."""
        self.arrays: dict[str, np.ndarray] = {}
        """Arrays of the ports by `port.array`."""
        self.ports = {port.array: port for port in layout.ports}
        n = len(layout.ports)
        self.pointers = (ctypes.c_void_p * n)()
        """Address of each port's array, in the order of `layout.ports`."""
        self.strides = (ctypes.c_int64 * n)()
        """Bytes from tile to tile; 0 where all tiles share one."""
        self.record_strides = (ctypes.c_int64 * n)()
        """Bytes from record to record of an output; 0 elsewhere."""
        self._index = {port.array: k for k, port in enumerate(layout.ports)}
        for port in layout.inputs + layout.memory:
            self._attach(port.name, self._new_tiles(port, self.tiles))
        for port in layout.tables:
            self._attach_table(port.name, aligned(port.shape, layout.real))
        self.allocate_records(1)

    def set(self, **values: ArrayLike) -> None:
        """Set inputs, memory and tables by name.

        Inputs and memory take (worlds, size), one row per world, or (size,) for all worlds; tables
        take their own shape.
        """
        for port, array in checked_values(self.layout, self.worlds, values):
            if port in self.layout.tables:
                self.arrays[port.name][...] = array
                continue
            shared = array.ndim == 1 and port in self.layout.inputs
            tiles = 1 if shared else self.tiles
            if len(self.arrays[port.name]) != tiles:
                self._attach(port.name, self._new_tiles(port, tiles))
            rows = 1 if shared else self.worlds
            fill_tiles(self.arrays[port.name], np.broadcast_to(array, (rows, port.size)))

    def get(self, name: str) -> np.ndarray:
        """Return a copy of a port's values, (worlds, *shape).

        An output of a program with memory is (worlds, records, *shape); a table has its own shape.
        """
        array = self.array_of(name)
        return self.world_rows(array, self.arrays[array])

    def output(self, name: str) -> np.ndarray:
        """Return a copy of an output, (worlds, records, *shape); (worlds, *shape) without memory.

        `get` does the same unless an input, memory or table has the same name.
        """
        array = output_of(name)
        if array not in self.ports:
            raise _unknown("output", "outputs", name, [port.name for port in self.layout.outputs])
        return self.world_rows(array, self.arrays[array])

    def array_of(self, name: str) -> str:
        """Return the name of a port's array: of an input, memory or table, else of an output."""
        for array in (name, output_of(name)):
            if array in self.ports:
                return array
        raise _unknown("port", "ports", name, [port.name for port in self.layout.ports])

    def world_rows(self, name: str, array: np.ndarray) -> np.ndarray:
        """Return a copy of an array that has the layout of `arrays[name]`, one row per world."""
        port = self.ports[name]
        if port in self.layout.tables:
            return array.copy()
        if port in self.layout.outputs:
            rows = array.transpose(0, 3, 1, 2).reshape(-1, array.shape[1], *port.shape)
            rows = rows if self.layout.memory else rows[:, 0]
        else:
            rows = array.transpose(0, 2, 1).reshape(-1, *port.shape)
        if len(array) < self.tiles:  # shared by all worlds
            rows = np.broadcast_to(rows[0], (self.worlds, *rows[0].shape))
        return rows[: self.worlds].copy()

    def share_arrays(self, other: PortArrays) -> None:
        """Use the inputs and memory of another batch in place of own ones, where ports agree.

        Both batches then work on the same arrays, and views of them stay valid.
        """
        if other.worlds != self.worlds or other.layout.width != self.layout.width:
            raise ProgramError("batches share arrays only if they have the same worlds and lanes")
        for port in self.layout.inputs + self.layout.memory:
            if other.ports.get(port.name) == port:
                new = other.arrays[port.name]
                if new is not self.arrays[port.name]:
                    self._attach(port.name, new)

    def allocate_records(self, count: int) -> None:
        """Allocate outputs for a number of records; what they held is lost."""
        for port in self.layout.outputs:
            shape = (self.tiles, count, port.size, self.layout.width)
            array = aligned(shape, self.layout.real)
            self.attach_output(port, array, port.size * self.layout.width * self.layout.real.bytes)
        self.records = count

    def attach_output(self, port: Port, array: np.ndarray, record_stride: int) -> None:
        """Let an output be written into an array, `record_stride` bytes from record to record."""
        self._attach(port.array, array)
        self.record_strides[self._index[port.array]] = record_stride

    def check_memory(self, names: Iterable[str]) -> None:
        """Raise an error for a name that no memory has."""
        known = [port.name for port in self.layout.memory]
        for name in names:
            if name not in known:
                raise _unknown("memory", "memories", name, known)

    def _new_tiles(self, port: Port, tiles: int) -> np.ndarray:
        return aligned((tiles, port.size, self.layout.width), self.layout.real)

    def _attach(self, name: str, array: np.ndarray) -> None:
        self.arrays[name] = array
        k = self._index[name]
        self.pointers[k] = array.ctypes.data
        self.strides[k] = array[0].nbytes if len(array) == self.tiles else 0

    def _attach_table(self, name: str, array: np.ndarray) -> None:
        self.arrays[name] = array
        self.pointers[self._index[name]] = array.ctypes.data


def checked_values(
    layout: Layout, worlds: int, values: Mapping[str, ArrayLike]
) -> Iterator[tuple[Port, np.ndarray]]:
    """Yield the ports and arrays of values to set; raise if a name or a shape is wrong."""
    settable = {p.name: p for p in layout.inputs + layout.memory}
    tables = {p.name: p for p in layout.tables}
    for name, value in values.items():
        array = as_numbers(name, value, layout.real)
        if name in tables:
            if array.shape != tables[name].shape:
                raise ProgramError(
                    f"table '{name}' has shape {array.shape}",
                    path=name,
                    allowed=f"{tables[name].shape}",
                )
            yield tables[name], array
            continue
        if name not in settable:
            raise _unknown("input", "inputs", name, [*settable, *tables])
        size = settable[name].size
        if array.shape not in ((size,), (worlds, size)):
            raise ProgramError(
                f"input '{name}' has shape {array.shape}",
                path=name,
                value=value,
                allowed=f"({size},) for all worlds, or ({worlds}, {size})",
            )
        yield settable[name], array


def world_mask(mask: np.ndarray | None, worlds: int) -> np.ndarray:
    """Return a mask of worlds, (worlds,) booleans; None stands for all of them."""
    found = np.ones(worlds, bool) if mask is None else np.asarray(mask, dtype=bool)
    if found.shape != (worlds,):
        raise ProgramError(f"the mask of worlds has shape {found.shape}", allowed=f"({worlds},)")
    return found


def world_bytes(layout: Layout) -> int:
    """Return the memory that a world takes [bytes]."""
    ports = layout.inputs + layout.memory + layout.outputs
    return sum(port.size for port in ports) * layout.real.bytes


def check_memory(layout: Layout, worlds: int) -> None:
    """Raise ProgramError for more worlds than fit, before anything is allocated."""
    each, free = world_bytes(layout), free_memory()
    if worlds * each > free:
        raise ProgramError(
            f"{worlds} worlds of {each / 1e3:.3g} kB each need {worlds * each / 1e9:.3g} GB of "
            f"memory, and {free / 1e9:.3g} GB are free",
            path="worlds",
            value=worlds,
            remedy=f"{free // each} worlds fit",
        )


def as_numbers(name: str, value: ArrayLike, real: Real) -> np.ndarray:
    """Return a value as an array of at least one dimension and of a program's number type."""
    try:
        array = np.atleast_1d(np.asarray(value))
        if array.dtype.kind not in "fiub":
            raise TypeError
        return array.astype(real.dtype)
    except (TypeError, ValueError) as error:
        raise ProgramError(
            f"'{name}' is {value!r:.60}",
            path=name,
            value=value,
            allowed="numbers in a rectangular array",
        ) from error


def fill_tiles(tiles: np.ndarray, rows: np.ndarray) -> None:
    """Copy rows (worlds, size) into tiles (tiles, size, W); the last world fills up its tile."""
    n, size, width = tiles.shape
    full = len(rows) // width
    tiles[:full] = rows[: full * width].reshape(full, width, size).transpose(0, 2, 1)
    if full < n:
        rest = rows[full * width :]
        tiles[full, :, : len(rest)] = rest.T
        tiles[full, :, len(rest) :] = rest[-1][:, None]


def aligned(shape: tuple[int, ...], real: Real) -> np.ndarray:
    """Return an array of zeros that begins at a multiple of ALIGNMENT."""
    size = int(np.prod(shape)) * real.bytes
    raw = np.zeros(size + ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(real.dtype).reshape(shape)


def _unknown(kind: str, plural: str, name: str, known: Iterable[str]) -> ProgramError:
    choices = ", ".join(known) or "none"
    return ProgramError(f"no {kind} '{name}'", path=name, remedy=f"{plural}: {choices}")
