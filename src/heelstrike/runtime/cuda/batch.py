"""The arrays of many worlds on a GPU, a warp's worth in a tile, and the launches that step them.

`set`, `get`, `reset`, `state`, `share` and `keep` are those of a CPU's batch. Values travel when
one of these is called, and only then: memory stays on the GPU from launch to launch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import ProgramError
from heelstrike.ir.code import output_of
from heelstrike.runtime.batch import Batch
from heelstrike.runtime.checks import check_counts
from heelstrike.runtime.cuda.dlpack import DeviceArray
from heelstrike.runtime.cuda.driver import copy_in, copy_out, copy_over, cuda_core, free_memory
from heelstrike.runtime.cuda.masked_write import LANES, Chosen

if TYPE_CHECKING:
    from heelstrike.runtime.cuda.kernel import CudaKernel


class CudaBatch:
    """Inputs, memory and outputs of a number of worlds on the GPU."""

    def __init__(self, kernel: CudaKernel, worlds: int) -> None:
        self.kernel = kernel
        self.layout = kernel.layout
        self.worlds = worlds
        self._check_room(worlds)
        self.host = Host(kernel.layout, _never, worlds)
        """Where values are laid out before they go and after they come."""
        self.stream = kernel.device.create_stream()
        self.buffers: dict[str, Any] = {}
        self._records = 1  # that the outputs have room for
        self._addresses: list[int] = []
        for port in self.layout.memory + self.layout.outputs:
            self._fit(port.array)
        self._upload(port.name for port in self.layout.inputs + self.layout.tables)
        self.reset()

    # values

    def set(self, **values: ArrayLike) -> None:
        self.host.set(**values)
        self._upload(values)

    def get(self, name: str) -> np.ndarray:
        array = self.host.array_of(name)
        self._download(array)
        return self.host.get(array)

    def output(self, name: str) -> np.ndarray:
        if output_of(name) in self.buffers:
            self._download(output_of(name))
        return self.host.output(name)

    def reset(self, worlds: np.ndarray | None = None, **values: ArrayLike) -> None:
        """Nothing comes from the GPU: what stays is not touched."""
        mask = np.ones(self.worlds, bool) if worlds is None else np.asarray(worlds, dtype=bool)
        if mask.shape != (self.worlds,):
            raise ProgramError(f"the mask has shape {mask.shape}; it takes ({self.worlds},)")
        names = [port.name for port in self.layout.memory]
        if unknown := [name for name in values if name not in names]:
            raise ProgramError(f"no memory {', '.join(unknown)}; memories: {', '.join(names)}")
        chosen = Chosen(self, mask)
        for port in self.layout.memory:
            given = np.asarray(values.get(port.name, self.layout.initial[port.name]))
            if given.ndim == 2:
                rows = np.broadcast_to(given, (self.worlds, port.size))
                self.host.set(**{port.name: rows})
                tiles = self.host.arrays[port.name]
            else:
                row: np.ndarray = np.broadcast_to(given, port.size).astype(self.layout.real.dtype)
                tiles = np.repeat(row[None, :, None], LANES, axis=2)
            chosen.write(self.buffers[port.name], tiles)
        self.sync()

    def share(self, other: CudaBatch) -> None:
        """Takes over another batch's inputs and memory where they fit, without a copy."""
        other.sync()
        self.host.share(other.host)
        theirs = {port.name: port for port in other.layout.inputs + other.layout.memory}
        for port in self.layout.inputs + self.layout.memory:
            if theirs.get(port.name) == port:
                self.buffers[port.name] = other.buffers[port.name]
        self._point()

    def state(self) -> dict[str, np.ndarray]:
        return {port.name: self.get(port.name) for port in self.layout.memory}

    def keep(self, *names: str) -> Mapping[str, np.ndarray]:
        """Values as they are now, in memory of the GPU; each is fetched when it is looked at."""
        return Kept(self, names)

    def view(self, name: str) -> None:
        """None: what lies on the GPU cannot be written in place."""

    def device_array(self, name: str) -> DeviceArray:
        """A port's values where they lie on the GPU, (tiles, size, 32), an output's (tiles,
        records, size, 32): torch.as_tensor, cupy.asarray and others take it without a copy.
        """
        self.sync()
        name = self.host.array_of(name)
        array = self.host.arrays[name]
        return DeviceArray(self.buffers[name], array.shape, array.dtype)

    # work

    @property
    def table(self) -> int:
        """Where on the GPU a launch finds the addresses of all ports; another one once any of them
        has moved.
        """
        return int(self._table.handle)

    @property
    def steps_made(self) -> int:
        """Steps of `run` so far: the phase of what is recorded."""
        return self.host.steps_made

    @steps_made.setter
    def steps_made(self, value: int) -> None:
        self.host.steps_made = value

    def run(self, steps: int = 1, every: int = 1, threads: int = 1) -> None:
        """Makes a number of steps in all worlds; returns when they are launched. `threads` are a
        CPU's.
        """
        check_counts(steps=steps, every=every)
        core = cuda_core()
        phase = self.steps_made % every
        if self.layout.memory:
            self._make_room(len(range(-phase % every, steps, every)))
            self.steps_made += steps
        ptx = self.kernel.ptx
        processors = self.kernel.device.properties.multiprocessor_count
        each = min(ptx.tiles, -(-self.host.tiles // processors))
        grid, block, shared = -(-self.host.tiles // each), each * ptx.threads, each * ptx.shared
        config = core.LaunchConfig(grid=grid, block=block, shmem_size=shared)
        counts = (self.host.tiles, steps, every, phase)
        arguments = [*self._tables, *(np.int64(x) for x in counts)]
        core.launch(self.stream, config, self.kernel.kernel, *arguments)

    def sync(self) -> None:
        """Waits until everything launched is done."""
        self.stream.sync()

    # inside

    def _make_room(self, records: int) -> None:
        """For the outputs; what they held is lost."""
        if records == self._records or not self.layout.outputs:
            return
        self.sync()
        for port in self.layout.outputs:
            self.host._attach_records(port, records)
            self._fit(port.array)
        self._records = records
        self._point()

    def _upload(self, names: Iterable[str]) -> None:
        self.sync()  # steps under way read what is about to be overwritten
        for name in names:
            self._fit(name)
            copy_in(self.buffers[name], np.ascontiguousarray(self.host.arrays[name]))
        self._point()

    def _download(self, name: str) -> None:
        self.sync()
        copy_out(self.host.arrays[name], self.buffers[name])

    def _fit(self, name: str) -> None:
        """A buffer that has room for a port."""
        size = self.host.arrays[name].nbytes
        if name not in self.buffers or self.buffers[name].size < max(size, 1):
            self.buffers[name] = self.allocate(size)

    def _point(self) -> None:
        """Writes addresses and strides where the compiled code reads them, if any has changed."""
        pointers = [int(self.buffers[port.array].handle) for port in self.layout.ports]
        addresses = [*pointers, *self.host._strides, *self.host._records]
        if addresses == self._addresses:
            return
        self._addresses = addresses
        table = np.array(addresses, dtype=np.int64)
        self._table = self.allocate(table.nbytes)
        copy_in(self._table, table)
        first, stride = int(self._table.handle), len(pointers) * table.itemsize
        self._tables = [np.int64(first + k * stride) for k in range(3)]

    def allocate(self, size: int) -> Any:
        """Memory of the GPU."""
        buffer = self.kernel.device.allocate(max(size, 1), stream=self.stream)
        self.sync()
        return buffer

    def put(self, array: np.ndarray) -> Any:
        """A copy of an array in memory of the GPU."""
        buffer = self.allocate(array.nbytes)
        copy_in(buffer, np.ascontiguousarray(array))
        return buffer

    def _check_room(self, worlds: int) -> None:
        """Refuses more worlds than fit, before anything is allocated."""
        each, fitting = self.kernel.world_bytes, self.kernel.fitting
        if worlds > fitting:
            raise ProgramError(
                f"{worlds} worlds of {each / 1e3:.3g} kB each need {worlds * each / 1e9:.3g} GB of "
                f"the GPU's memory, and {free_memory() / 1e9:.3g} GB are free; {fitting} worlds fit"
            )


class Host(Batch):
    """Arrays of the same layout, which need not hold what the GPU's do: no page of them is touched
    before values travel through it.
    """

    def reset(self, worlds: np.ndarray | None = None, **values: ArrayLike) -> None:
        """The GPU's memory is reset there."""


class Kept(Mapping[str, np.ndarray]):
    """Copies of a batch's values on the GPU, each fetched when it is first looked at."""

    def __init__(self, batch: CudaBatch, names: Iterable[str]) -> None:
        batch.sync()
        self._batch = batch
        self._copies: dict[str, Any] = {}
        self._values: dict[str, np.ndarray] = {}
        for name in names:
            size = batch.host.arrays[name].nbytes
            self._copies[name] = batch.allocate(size)
            copy_over(self._copies[name], batch.buffers[name], size)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._values:
            host = self._batch.host
            rows = np.empty_like(host.arrays[name])
            copy_out(rows, self._copies.pop(name))
            self._values[name] = host.rows(name, rows)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*self._copies, *self._values])

    def __len__(self) -> int:
        return len(self._copies) + len(self._values)


def _never(*_: object) -> None:
    raise AssertionError("the host's arrays of a GPU batch are not run")
