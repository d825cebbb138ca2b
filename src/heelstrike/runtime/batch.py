"""The arrays of many worlds, laid out for the lanes.

Arrays are cut into tiles of W worlds, (tiles, size, W), so that a vector load takes one value of W
neighbours; outputs are (tiles, records, size, W). The last tile of a batch is filled up with copies
of the last world. Tables are plain arrays, the same for all worlds.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import partial
from threading import Lock

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.codegen.layout import Layout
from heelstrike.errors import ProgramError
from heelstrike.ir.code import Port, output_of
from heelstrike.runtime.checks import as_numbers, check_counts
from heelstrike.runtime.threads import share_out
from heelstrike.runtime.tiles import aligned, fill


class Batch:
    """Inputs, memory and outputs of a number of worlds, and the function that works on them.

    Inputs and tables that were never set are zero; memory starts at its initial values.
    """

    def __init__(self, layout: Layout, function: Callable[..., None], worlds: int) -> None:
        if worlds < 1:
            raise ProgramError(f"a batch needs at least one world, not {worlds}")
        self.layout = layout
        self.worlds = worlds
        self.tiles = -(-worlds // layout.width)
        self.steps_made = 0
        """Steps of `run` so far: the phase of what is recorded."""
        n = len(layout.ports)
        self.arrays: dict[str, np.ndarray] = {}
        self._index = {port.array: k for k, port in enumerate(layout.ports)}
        self._ports = {port.array: port for port in layout.ports}
        self._pointers = (ctypes.c_void_p * n)()
        self._strides = (ctypes.c_int64 * n)()
        self._records = (ctypes.c_int64 * n)()
        for port in layout.inputs + layout.memory:
            self._attach(port.name, self._tiles(port, self.tiles))
        for port in layout.tables:
            self._attach_table(port.name, aligned(port.shape, layout.real))
        for port in layout.outputs:
            self._attach_records(port, 1)
        self._room = 1  # records that the outputs have room for
        self._lent = False  # the outputs are a caller's arrays
        self._single = True  # the arguments say one step, recorded
        self._lock = Lock()
        self._function = function
        self._frames = [self._new_frame()]
        self._arguments = self._packed(self._frames[0], 0, self.tiles, 1, 1, 0)
        self._run_all = partial(function, ctypes.c_void_p(ctypes.addressof(self._arguments)))
        self.reset()

    # values

    def set(self, **values: ArrayLike) -> None:
        """Fills inputs and memory: (worlds, size) one row a world, (size,) the same for all;
        tables as they are.
        """
        settable = {p.name: p for p in self.layout.inputs + self.layout.memory}
        tables = {p.name: p for p in self.layout.tables}
        for name, value in values.items():
            array = as_numbers(name, value, self.layout.real)
            if name in tables:
                self._set_table(tables[name], array)
                continue
            if name not in settable:
                raise ProgramError(f"no input '{name}'; inputs: {', '.join([*settable, *tables])}")
            size = settable[name].size
            if array.shape not in ((size,), (self.worlds, size)):
                raise ProgramError(
                    f"input '{name}' has shape {array.shape}; it takes ({size},) for all "
                    f"worlds alike or ({self.worlds}, {size})"
                )
            shared = array.ndim == 1 and settable[name] in self.layout.inputs
            tiles = 1 if shared else self.tiles
            if len(self.arrays[name]) != tiles:
                self._attach(name, self._tiles(settable[name], tiles))
            rows = 1 if shared else self.worlds
            fill(self.arrays[name], np.broadcast_to(array, (rows, size)))

    def get(self, name: str) -> np.ndarray:
        """A copy of a port's values: (worlds, *shape); an output of a program with memory
        (worlds, records, *shape); a table as it is.
        """
        array = self.array_of(name)
        return self.rows(array, self.arrays[array])

    def output(self, name: str) -> np.ndarray:
        """Return a copy of an output: (worlds, records, *shape), without memory no records."""
        array = output_of(name)
        if array not in self._ports:
            names = ", ".join(port.name for port in self.layout.outputs)
            raise ProgramError(f"no output '{name}'; outputs: {names}")
        return self.rows(array, self.arrays[array])

    def array_of(self, name: str) -> str:
        """Return the name of a port's array: of an input, a memory or a table, else an output."""
        for array in (name, output_of(name)):
            if array in self._ports:
                return array
        names = ", ".join(port.name for port in self.layout.ports)
        raise ProgramError(f"no port '{name}'; ports: {names}")

    def rows(self, name: str, array: np.ndarray) -> np.ndarray:
        """A copy of an array that is laid out as a port's is, a row a world."""
        port = self._ports[name]
        if port in self.layout.tables:
            return array.copy()
        if port in self.layout.outputs:
            rows = array.transpose(0, 3, 1, 2).reshape(-1, array.shape[1], *port.shape)
            rows = rows if self.layout.memory else rows[:, 0]
        else:
            rows = array.transpose(0, 2, 1).reshape(-1, *port.shape)
        if len(array) < self.tiles:  # the same for all worlds
            rows = np.broadcast_to(rows[0], (self.worlds, *rows[0].shape))
        return rows[: self.worlds].copy()

    def reset(self, worlds: np.ndarray | None = None, **values: ArrayLike) -> None:
        """Memory back to its initial values, or those given, in all worlds or where a mask holds;
        clocks to 0, failures forgotten.
        """
        mask = np.ones(self.worlds, bool) if worlds is None else np.asarray(worlds, dtype=bool)
        if mask.shape != (self.worlds,):
            raise ProgramError(f"the mask has shape {mask.shape}; it takes ({self.worlds},)")
        for port in self.layout.memory:
            rows = self.get(port.name)
            rows[mask] = self.layout.initial[port.name]
            if port.name in values:
                given = np.broadcast_to(np.asarray(values.pop(port.name)), rows.shape)
                rows[mask] = given[mask]
            self.set(**{port.name: rows})
        if values:
            names = ", ".join(port.name for port in self.layout.memory)
            raise ProgramError(f"no memory {', '.join(values)}; memories: {names}")

    def share(self, other: Batch) -> None:
        """Takes over the very arrays of another batch's inputs and memory where they fit: views
        of them stay true, whichever of the two runs.
        """
        if other.worlds != self.worlds or other.layout.width != self.layout.width:
            raise ProgramError("batches share arrays only if they have the same worlds and lanes")
        for port in self.layout.inputs + self.layout.memory:
            if other._ports.get(port.name) == port:
                self._attach(port.name, other.arrays[port.name])
        self.steps_made = other.steps_made

    def state(self) -> dict[str, np.ndarray]:
        """All memory by name: what `set(**state)` brings back, here or in another process."""
        return {port.name: self.get(port.name) for port in self.layout.memory}

    def keep(self, *names: str) -> Mapping[str, np.ndarray]:
        """Copies of values as they are now."""
        return {name: self.get(name) for name in names}

    def view(self, name: str) -> np.ndarray | None:
        """The only world's values of an input or a memory, to read and write; None of many."""
        return self.arrays[name][0, :, 0] if self.worlds == 1 else None

    def device_array(self, name: str) -> np.ndarray:
        """A port's values where they lie, (tiles, size, lanes), to read and write."""
        return self.arrays[self.array_of(name)]

    # work

    def sync(self) -> None:
        """Waits for what `run` began: nothing, on a CPU."""

    def run(self, steps: int = 1, every: int = 1, threads: int = 1) -> None:
        """Makes a number of steps in all worlds; outputs are recorded in every `every`-th step,
        counted from the batch's first. Only one `run` of a batch goes on at a time.
        """
        with self._lock:
            if self._single and steps == every == threads == 1:  # a loop in Python: be quick
                self.steps_made += 1
                self._run_all()
                return
            check_counts(steps=steps, every=every, threads=threads)
            phase = self.steps_made % every
            if self.layout.memory:
                self._make_room(steps, every, phase)
            self.steps_made += steps
            if threads == 1 or self.tiles == 1:
                self._arguments[6:9] = [steps, every, phase]
                self._single = steps == every == self._room == 1 and not self._lent
                self._run_all()
            else:
                self._single = False
                self._run_threads(min(threads, self.tiles), steps, every, phase)
            if self._lent:  # what was lent is not written to again
                self._room, self._lent = 0, False

    def record_into(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Lets the next run of one world without lanes write its records straight into arrays,
        (records, *shape) by output, which must have room for just as many as it makes.
        """
        if self.worlds != 1 or self.layout.width != 1:
            raise ProgramError("records go straight into arrays only for one world without lanes")
        counts = {len(array) for array in arrays.values()}
        if set(arrays) != {port.name for port in self.layout.outputs} or len(counts) != 1:
            raise ProgramError("records go into one array an output, all of the same length")
        for port in self.layout.outputs:
            array, real = arrays[port.name], self.layout.real
            if array.dtype != real.dtype or not array.flags.c_contiguous:
                raise ProgramError(f"records of '{port.name}' need a contiguous array of its type")
            self._attach(port.array, array.reshape(1, len(array), port.size, 1))
            self._records[self._index[port.array]] = port.size * real.bytes
        self._room, self._single, self._lent = counts.pop(), False, True

    def _make_room(self, steps: int, every: int, phase: int) -> None:
        """Outputs for as many records as these steps will make."""
        count = 1 if steps == every == 1 else len(range(-phase % every, steps, every))
        if count != self._room:
            for port in self.layout.outputs:
                self._attach_records(port, count)
            self._room = count

    def _run_threads(self, threads: int, steps: int, every: int, phase: int) -> None:
        while len(self._frames) < threads:
            self._frames.append(self._new_frame())

        def work(frame: np.ndarray, first: int, end: int) -> None:  # writes to nothing else
            arguments = self._packed(frame, first, end, steps, every, phase)
            self._function(ctypes.addressof(arguments))

        share_out(self.tiles, self._frames[:threads], work)

    # layout

    def _packed(self, frame: np.ndarray, *counts: int) -> ctypes.Array[ctypes.c_int64]:
        """The nine arguments of a compiled program, in its order."""
        tables = (ctypes.addressof(x) for x in (self._pointers, self._strides, self._records))
        return (ctypes.c_int64 * 9)(*tables, frame.ctypes.data, *counts)

    def _tiles(self, port: Port, tiles: int) -> np.ndarray:
        return aligned((tiles, port.size, self.layout.width), self.layout.real)

    def _new_frame(self) -> np.ndarray:
        return aligned((max(self.layout.frame_size, 1), self.layout.width), self.layout.real)

    def _attach(self, name: str, array: np.ndarray) -> None:
        self.arrays[name] = array
        k = self._index[name]
        self._pointers[k] = array.ctypes.data
        self._strides[k] = array[0].nbytes if len(array) == self.tiles else 0

    def _attach_records(self, port: Port, records: int) -> None:
        shape = (self.tiles, records, port.size, self.layout.width)
        self._attach(port.array, aligned(shape, self.layout.real))
        self._records[self._index[port.array]] = (
            port.size * self.layout.width * self.layout.real.bytes
        )

    def _attach_table(self, name: str, array: np.ndarray) -> None:
        self.arrays[name] = array
        self._pointers[self._index[name]] = array.ctypes.data

    def _set_table(self, port: Port, array: np.ndarray) -> None:
        if array.shape != port.shape:
            raise ProgramError(
                f"table '{port.name}' has shape {array.shape}; it takes {port.shape}"
            )
        self.arrays[port.name][...] = array
