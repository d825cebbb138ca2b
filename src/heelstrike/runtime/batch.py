"""Batches of worlds on the CPU: their arrays, and the compiled function that steps them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import partial
from threading import Lock

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.checks import MAX_COUNT, count
from heelstrike.codegen.layout import Layout
from heelstrike.errors import ProgramError
from heelstrike.runtime.arrays import PortArrays, aligned, world_mask
from heelstrike.runtime.threads import distribute

MAX_THREADS = 1024


class Batch(PortArrays):
    """A number of worlds, and the function that steps them.

    Inputs and tables that were never set are zero; memory starts at its initial values.
    """

    stream_handle: int | None = None
    """Handle of the stream in which steps are launched: there is none on a CPU."""

    def __init__(self, layout: Layout, function: Callable[..., None], worlds: int) -> None:
        super().__init__(layout, worlds)
        self.steps_made = 0
        """Number of steps that `run` has made: the phase of what is recorded."""
        self._external_outputs = False  # outputs are a caller's arrays, for the next run alone
        self._one_step = True  # the packed arguments stand for one recorded step
        self._lock = Lock()
        self._function = function
        self._frames = [self._new_frame()]
        self._arguments = self._packed(self._frames[0], 0, self.tiles, 1, 1, 0)
        self._run_all = partial(function, ctypes.c_void_p(ctypes.addressof(self._arguments)))
        self.reset()

    def reset(self, worlds: np.ndarray | None = None, **values: ArrayLike) -> None:
        """Set memory to its initial values, or to the values passed, (size,) or (worlds, size).

        `worlds` is a mask of the worlds to reset; None stands for all. Clocks go back to 0, and
        failures are cleared.
        """
        mask = world_mask(worlds, self.worlds)
        self.check_memory(values)
        for port in self.layout.memory:
            rows = self.get(port.name)
            rows[mask] = self.layout.initial[port.name]
            if port.name in values:
                new = np.broadcast_to(np.asarray(values[port.name]), rows.shape)
                rows[mask] = new[mask]
            self.set(**{port.name: rows})

    def continue_from(self, other: Batch) -> None:
        """Continue another batch: use its inputs, memory and count of steps in place of own ones.

        Both batches then work on the same arrays, so views of them stay valid, whichever runs.
        """
        self.share_arrays(other)
        self.steps_made = other.steps_made

    def state(self) -> dict[str, np.ndarray]:
        """Return all memory by name; `set(**state)` restores it, here or in another process."""
        return {port.name: self.get(port.name) for port in self.layout.memory}

    def snapshot(self, *names: str) -> Mapping[str, np.ndarray]:
        """Return copies of the present values of some ports."""
        return {name: self.get(name) for name in names}

    def view(self, name: str) -> np.ndarray | None:
        """Return the only world's values of an input or a memory, to read and write.

        With several worlds there is no such view, and the result is None.
        """
        return self.arrays[name][0, :, 0] if self.worlds == 1 else None

    def device_array(self, name: str) -> np.ndarray:
        """Return a port's own array, (tiles, size, lanes), to read and write."""
        return self.arrays[self.array_of(name)]

    def sync(self) -> None:
        """Wait until `run` is done: on a CPU it is when it returns."""

    def run(self, steps: int = 1, every: int = 1, threads: int = 1) -> None:
        """Make a number of steps in all worlds, and record outputs in every `every`-th step.

        Steps are counted from the batch's first. Calls from several threads run one after another.
        """
        with self._lock:
            if self._one_step and steps == every == threads == 1:  # a loop in Python: be quick
                self.steps_made += 1
                self._run_all()
                return
            check_counts(steps=steps, every=every, threads=threads)
            phase = self.steps_made % every
            if self.layout.memory:
                self._fit_records(steps, every, phase)
            self.steps_made += steps
            if threads == 1 or self.tiles == 1:
                self._arguments[6:9] = [steps, every, phase]
                self._one_step = steps == every == self.records == 1 and not self._external_outputs
                self._run_all()
            else:
                self._one_step = False
                self._run_threads(min(threads, self.tiles), steps, every, phase)
            if self._external_outputs:  # a caller's arrays are written once
                self.records, self._external_outputs = 0, False

    def peek(self) -> None:
        """Make a step for its outputs alone: memory stays as it is."""
        arrays = [self.arrays[port.name] for port in self.layout.memory]
        kept = [(array, array.copy()) for array in arrays]
        self.run()
        for array, values in kept:
            array[...] = values

    def record_into(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Let the next run write its records straight into arrays, (records, *shape) by output.

        This works for one world without lanes. The arrays must have space for exactly as many
        records as the run makes.
        """
        if self.worlds != 1 or self.layout.width != 1:
            raise ProgramError("records go straight into arrays only for one world without lanes")
        counts = {len(array) for array in arrays.values()}
        if set(arrays) != {port.name for port in self.layout.outputs} or len(counts) != 1:
            raise ProgramError("records need one array per output, all of the same length")
        for port in self.layout.outputs:
            array, real = arrays[port.name], self.layout.real
            if array.dtype != real.dtype or not array.flags.c_contiguous:
                raise ProgramError(
                    f"records of '{port.name}' need a contiguous array of {real.dtype}",
                    path=port.name,
                )
            own = array.reshape(1, len(array), port.size, 1)
            self.attach_output(port, own, port.size * real.bytes)
        self.records, self._one_step, self._external_outputs = counts.pop(), False, True

    def _fit_records(self, steps: int, every: int, phase: int) -> None:
        """Give the outputs space for as many records as these steps will make."""
        count = 1 if steps == every == 1 else len(range(-phase % every, steps, every))
        if count != self.records:
            self.allocate_records(count)

    def _run_threads(self, threads: int, steps: int, every: int, phase: int) -> None:
        while len(self._frames) < threads:
            self._frames.append(self._new_frame())

        def work(frame: np.ndarray, first: int, end: int) -> None:  # writes to nothing else
            arguments = self._packed(frame, first, end, steps, every, phase)
            self._function(ctypes.addressof(arguments))

        distribute(self.tiles, self._frames[:threads], work)

    def _packed(self, frame: np.ndarray, *counts: int) -> ctypes.Array[ctypes.c_int64]:
        """Return the nine arguments of a compiled program, in its order."""
        arrays = self.pointers, self.strides, self.record_strides
        addresses = (ctypes.addressof(x) for x in arrays)
        return (ctypes.c_int64 * 9)(*addresses, frame.ctypes.data, *counts)

    def _new_frame(self) -> np.ndarray:
        return aligned((max(self.layout.frame_size, 1), self.layout.width), self.layout.real)


def check_counts(**counts: int) -> None:
    """Raise an error unless `steps` is at least 0, and every other count at least 1."""
    for name, value in counts.items():
        most = MAX_THREADS if name == "threads" else MAX_COUNT
        count(name, value, least=0 if name == "steps" else 1, most=most)
