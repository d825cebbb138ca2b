"""Batches of worlds on a GPU: a tile per warp, and the launches that step them.

A CudaBatch has the methods of a CPU's Batch. Values are copied between host and GPU only when
`set`, `get` or `reset` is called; memory stays on the GPU from launch to launch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import ProgramError
from heelstrike.ir.code import output_of
from heelstrike.runtime.arrays import PortArrays, world_mask
from heelstrike.runtime.batch import check_counts
from heelstrike.runtime.cuda.dlpack import DeviceArray
from heelstrike.runtime.cuda.driver import copy_in, copy_out, copy_over, cuda_core, free_memory
from heelstrike.runtime.cuda.interfaces import Buffer
from heelstrike.runtime.cuda.masked_write import LANES, MaskedWrite
from heelstrike.runtime.cuda.shares import shares, steps_of_launches

if TYPE_CHECKING:
    from heelstrike.runtime.cuda.kernel import CudaKernel


class CudaBatch:
    """Inputs, memory and outputs of a number of worlds on the GPU."""

    def __init__(self, kernel: CudaKernel, worlds: int) -> None:
        self.kernel = kernel
        self.layout = kernel.layout
        self.worlds = worlds
        self.steps_made = 0
        """Number of steps that `run` has launched: the phase of what is recorded."""
        self._check_memory(worlds)
        kernel.device.set_current()
        self.host = PortArrays(kernel.layout, worlds)
        """Staging arrays of the same layout, through which values are copied. They need not hold
        what the GPU's arrays hold, and no page of them is touched before values are copied."""
        self.stream = kernel.device.create_stream()
        processors = kernel.device.properties.multiprocessor_count
        self._per_block = min(kernel.ptx.tiles, -(-self.host.tiles // processors))
        self._resident = kernel.resident_blocks(self._per_block)
        self._shares = shares(self.host.tiles, self._per_block, self._resident)
        self._streams = [kernel.device.create_stream() for _ in self._shares[1:]]
        """Streams of the shares but the first, which has the batch's own."""
        self.buffers: dict[str, Buffer] = {}
        """Memory of the GPU by `port.array`."""
        self._addresses: list[int] = []
        for port in self.layout.memory + self.layout.outputs:
            self._fit(port.array)
        self._upload(port.name for port in self.layout.inputs + self.layout.tables)
        self.reset()

    def set(self, **values: ArrayLike) -> None:
        """Set inputs, memory and tables, as `Batch.set` does, and copy them to the GPU."""
        self.host.set(**values)
        self._upload(values)

    def get(self, name: str) -> np.ndarray:
        """Wait for the GPU, and return a copy of a port's values, as `Batch.get` does."""
        array = self.host.array_of(name)
        self._download(array)
        return self.host.get(array)

    def output(self, name: str) -> np.ndarray:
        """Wait for the GPU, and return a copy of an output, as `Batch.output` does."""
        if output_of(name) in self.buffers:
            self._download(output_of(name))
        return self.host.output(name)

    def reset(self, worlds: np.ndarray | None = None, **values: ArrayLike) -> None:
        """Reset memory where a mask of worlds holds, as `Batch.reset` does.

        Nothing is copied from the GPU, and other worlds are not touched.
        """
        mask = world_mask(worlds, self.worlds)
        self.host.check_memory(values)
        writer = MaskedWrite(self, mask)
        for port in self.layout.memory:
            new = np.asarray(values.get(port.name, self.layout.initial[port.name]))
            if new.ndim == 2:
                rows = np.broadcast_to(new, (self.worlds, port.size))
                self.host.set(**{port.name: rows})
                tiles = self.host.arrays[port.name]
            else:
                row: np.ndarray = np.broadcast_to(new, port.size).astype(self.layout.real.dtype)
                tiles = np.repeat(row[None, :, None], LANES, axis=2)
            writer.write(self.buffers[port.name], tiles)
        self.sync()

    def continue_from(self, other: CudaBatch) -> None:
        """Continue another batch: use its inputs, memory and count of steps, without a copy."""
        other.sync()
        self.host.share_arrays(other.host)
        self.steps_made = other.steps_made
        theirs = {port.name: port for port in other.layout.inputs + other.layout.memory}
        for port in self.layout.inputs + self.layout.memory:
            if theirs.get(port.name) == port:
                self.buffers[port.name] = other.buffers[port.name]
        self._write_addresses()

    def state(self) -> dict[str, np.ndarray]:
        """Return copies of all memory by name."""
        return {port.name: self.get(port.name) for port in self.layout.memory}

    def snapshot(self, *names: str) -> Mapping[str, np.ndarray]:
        """Copy the present values of some ports within the GPU.

        Each is copied to the host when it is first read from the mapping.
        """
        return Snapshot(self, names)

    def view(self, name: str) -> None:
        """Return None: arrays on the GPU cannot be written in place."""

    def device_array(self, name: str) -> DeviceArray:
        """Return a port's array on the GPU, (tiles, size, 32), an output's (tiles, records, size,
        32), which torch.as_tensor, cupy.asarray and others take without a copy.
        """
        self.sync()
        name = self.host.array_of(name)
        array = self.host.arrays[name]
        return DeviceArray(self.buffers[name], array.shape, array.dtype)

    @property
    def address_table(self) -> int:
        """Address on the GPU of the table of all ports' addresses, which a launch reads.

        It changes whenever one of the ports has moved.
        """
        return int(self._table.handle)

    @property
    def stream_handle(self) -> int | None:
        """Handle of the stream in which steps are launched, as CUDA knows it."""
        return int(self.stream.handle)

    def run(self, steps: int = 1, every: int = 1, threads: int = 1) -> None:
        """Launch a number of steps in all worlds, and return without waiting for them.

        `threads` is for a CPU's batch and has no effect here.
        """
        check_counts(steps=steps, every=every)
        self.kernel.device.set_current()
        phase, launches = self.steps_made % every, [steps]
        if self.layout.memory:
            records = len(range(-phase % every, steps, every))
            self._fit_records(records)
            self.steps_made += steps
            if len(self._shares) > 1 and (records <= 1 or not self.layout.outputs):
                waves = self.host.tiles / (self._per_block * self._resident)
                launches = steps_of_launches(steps, waves)  # each writes records from the first on
        for stream in self._streams:
            stream.wait(self.stream)
        made = phase
        for count in launches:
            self._launch(count, every, made % every)
            made += count
        for stream in self._streams:
            self.stream.wait(stream)

    def _launch(self, steps: int, every: int, phase: int) -> None:
        """Launch a number of steps of each share in its stream."""
        core, ptx, each = cuda_core(), self.kernel.ptx, self._per_block
        block, memory = each * ptx.threads, each * ptx.shared
        streams = (self.stream, *self._streams)
        for share, stream, tables in zip(self._shares, streams, self._tables, strict=True):
            grid = -(-share.tiles // each)
            config = core.LaunchConfig(grid=grid, block=block, shmem_size=memory)
            counts = (np.int64(x) for x in (share.tiles, steps, every, phase))
            core.launch(stream, config, self.kernel.kernel, *tables, *counts)

    def peek(self) -> None:
        """Make a step for its outputs alone: memory stays as it is."""
        kept = self.state()
        self.run()
        self.set(**kept)

    def sync(self) -> None:
        """Wait until everything launched is done."""
        self.stream.sync()

    def allocate(self, size: int) -> Buffer:
        """Allocate a buffer of so many bytes on the GPU."""
        self.kernel.device.set_current()
        buffer = self.kernel.device.allocate(max(size, 1), stream=self.stream)
        self.sync()
        return buffer

    def copied(self, array: np.ndarray) -> Buffer:
        """Return a copy of an array in memory of the GPU."""
        buffer = self.allocate(array.nbytes)
        copy_in(buffer, np.ascontiguousarray(array))
        return buffer

    def _fit_records(self, records: int) -> None:
        """Give the outputs space for a number of records; what they held is lost."""
        if records == self.host.records or not self.layout.outputs:
            return
        self.sync()
        self.host.allocate_records(records)
        for port in self.layout.outputs:
            self._fit(port.array)
        self._write_addresses()

    def _upload(self, names: Iterable[str]) -> None:
        self.sync()  # steps under way read what is about to be overwritten
        for name in names:
            self._fit(name)
            copy_in(self.buffers[name], np.ascontiguousarray(self.host.arrays[name]))
        self._write_addresses()

    def _download(self, array: str) -> None:
        self.sync()
        copy_out(self.host.arrays[array], self.buffers[array])

    def _fit(self, name: str) -> None:
        """Give a port a buffer that is large enough."""
        size = self.host.arrays[name].nbytes
        if name not in self.buffers or self.buffers[name].size < max(size, 1):
            self.buffers[name] = self.allocate(size)

    def _write_addresses(self) -> None:
        """Write addresses and strides where the compiled code reads them, if any has changed."""
        pointers = [int(self.buffers[port.array].handle) for port in self.layout.ports]
        addresses = [*pointers, *self.host.strides, *self.host.record_strides]
        if addresses == self._addresses:
            return
        self._addresses = addresses
        table = np.array(addresses, dtype=np.int64).reshape(3, len(pointers))
        own = np.stack([table] * len(self._shares))
        own[:, 0] += np.outer([share.first for share in self._shares], table[1])
        self._table = self.allocate(own.nbytes)
        copy_in(self._table, own)
        rows = int(self._table.handle) + np.arange(own[..., 0].size) * own[0, 0].nbytes
        self._tables = rows.reshape(len(own), 3)
        """Addresses of the rows of each share's table: pointers, strides, strides of records."""

    def _check_memory(self, worlds: int) -> None:
        """Raise an error for more worlds than fit, before anything is allocated."""
        each, most = self.kernel.world_bytes, self.kernel.max_worlds
        if worlds > most:
            free = free_memory(self.kernel.device.device_id)
            raise ProgramError(
                f"{worlds} worlds of {each / 1e3:.3g} kB each need {worlds * each / 1e9:.3g} GB of "
                f"the GPU's memory, and {free / 1e9:.3g} GB are free",
                value=worlds,
                remedy=f"{most} worlds fit",
            )


class Snapshot(Mapping[str, np.ndarray]):
    """Copies of a batch's values on the GPU; each is copied to the host when it is first read."""

    def __init__(self, batch: CudaBatch, names: Iterable[str]) -> None:
        batch.sync()
        self._batch = batch
        self._copies: dict[str, Buffer] = {}
        self._values: dict[str, np.ndarray] = {}
        for name in names:
            size = batch.host.arrays[name].nbytes
            self._copies[name] = batch.allocate(size)
            copy_over(self._copies[name], batch.buffers[name], size)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._values:
            host = self._batch.host
            tiles = np.empty_like(host.arrays[name])
            copy_out(tiles, self._copies.pop(name))
            self._values[name] = host.world_rows(name, tiles)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*self._copies, *self._values])

    def __len__(self) -> int:
        return len(self._copies) + len(self._values)
