"""The arrays of a simulator's worlds on a GPU, as PyTorch tensors that share its memory.

Nothing here waits for the GPU or copies from it: if a mask chooses worlds, work is done for all and
kept where the mask is true. Steps and tensors share the simulator's stream; the caller's stream and
this one wait for one another by events.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from heelstrike.environments.arrays import Array, Arrays, WorldSubset
from heelstrike.errors import HeelstrikeError
from heelstrike.runtime.cuda.batch import CudaBatch
from heelstrike.simulate.simulator import Simulator


class GpuArrays(Arrays):
    """Arrays of a simulator's worlds on a GPU."""

    def __init__(self, sim: Simulator) -> None:
        try:
            import torch
        except ImportError as error:
            raise HeelstrikeError(
                'hs.Environments on device="cuda" needs PyTorch, which is not installed; run '
                "pip install torch"
            ) from error
        self.xp = torch
        self.device = torch.from_dlpack(sim.device_array("clock")).device
        super().__init__(sim)

    def tiles(self, name: str) -> Array:
        return self.xp.from_dlpack(self.sim.device_array(name))

    def external_stream(self) -> Any:
        """Return the simulator's stream as PyTorch has it."""
        return self.xp.cuda.ExternalStream(self.sim.stream, device=self.device)

    @contextmanager
    def stream(self) -> Iterator[None]:
        cuda = self.xp.cuda
        caller, ours = cuda.current_stream(self.device), self.external_stream()
        ours.wait_stream(caller)
        with cuda.stream(ours):
            yield
        caller.wait_stream(ours)

    @property
    def launched(self) -> tuple[CudaBatch, int]:
        """The batch and the address table that a captured launch of steps depends on."""
        batch = self.sim.compiled.batch(())
        assert isinstance(batch, CudaBatch)
        return batch, batch.address_table

    def real_array(self, values: Array) -> Array:
        return self.xp.asarray(values, dtype=self.real, device=self.device)

    def int_array(self, values: Array) -> Array:
        return self.xp.asarray(values, dtype=self.xp.int32, device=self.device)

    def index(self, values: Array) -> Array:
        return self.xp.asarray(values, dtype=self.xp.int64, device=self.device)

    def mask(self, values: Array) -> Array:
        return self.xp.asarray(values, dtype=self.xp.bool, device=self.device)

    def zeros(self, *shape: int) -> Array:
        return self.xp.zeros(shape, dtype=self.real, device=self.device)

    def subset(self, mask: Array) -> WorldSubset:
        return MaskedWorlds(self, mask)


class MaskedWorlds(WorldSubset):
    """A subset of the worlds, as a mask: `pick` and `put` have a row for every world."""

    def __init__(self, arrays: GpuArrays, mask: Array) -> None:
        self.arrays, self.mask = arrays, mask
        self.count = arrays.worlds
        lanes = mask[arrays.world] if arrays.spare else mask
        self._tiles = lanes.reshape(arrays.shape[0], 1, arrays.shape[1])

    def pick(self, rows: Array) -> Array:
        return rows

    def put(self, rows: Array, values: Array) -> None:
        mask = self.mask.reshape(-1, *[1] * (rows.ndim - 1))
        self.arrays.xp.where(mask, values, rows, out=rows)

    def write(self, tiles: Array, values: Array) -> None:
        if values.ndim == 1:
            new = values[None, :, None]
        else:
            new = values[self.arrays.world] if self.arrays.spare else values
            new = new.reshape(*self.arrays.shape, -1).swapaxes(1, 2)
        self.arrays.xp.where(self._tiles, new, tiles, out=tiles)
