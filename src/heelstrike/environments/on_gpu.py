"""The worlds' arrays on a GPU, as tensors of PyTorch over the very memory of the simulator.

Nothing here waits for the GPU or copies from it: where worlds are chosen by a mask, work is done
for all of them and kept where the mask holds. Steps and tensors share the simulator's stream; the
caller's stream waits for it, and it for the caller's, by events.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from heelstrike.environments.arrays import Arrays, Some
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
                'hs.Environments on device="cuda" hands out tensors of PyTorch: pip install torch'
            ) from error
        self.xp = torch
        self.device = torch.from_dlpack(sim.device_array("clock")).device
        super().__init__(sim)

    def tiles(self, name: str) -> Any:
        return self.xp.from_dlpack(self.sim.device_array(name))

    @contextmanager
    def stream(self) -> Iterator[None]:
        cuda = self.xp.cuda
        caller, ours = cuda.current_stream(self.device), cuda.ExternalStream(self.sim.stream)
        ours.wait_stream(caller)
        with cuda.stream(ours):
            yield
        caller.wait_stream(ours)

    @property
    def launched(self) -> tuple[CudaBatch, int]:
        """What a captured launch of steps holds on to: whose it is, and where the kernel reads."""
        batch = self.sim.compiled.batch(())
        assert isinstance(batch, CudaBatch)
        return batch, batch.address_table

    def given(self, values: Any) -> Any:
        return self.xp.asarray(values, dtype=self.real, device=self.device)

    def whole(self, values: Any) -> Any:
        return self.xp.asarray(values, dtype=self.xp.int32, device=self.device)

    def index(self, values: Any) -> Any:
        return self.xp.asarray(values, dtype=self.xp.int64, device=self.device)

    def mask(self, values: Any) -> Any:
        return self.xp.asarray(values, dtype=self.xp.bool, device=self.device)

    def nothing(self, *shape: int) -> Any:
        return self.xp.zeros(shape, dtype=self.real, device=self.device)

    def some(self, mask: Any) -> Some:
        return Masked(self, mask)


class Masked(Some):
    """Some of the worlds, as a mask: what is picked and put has a row for every world."""

    def __init__(self, arrays: GpuArrays, mask: Any) -> None:
        self.arrays, self.mask = arrays, mask
        self.count = arrays.worlds
        lanes = mask[arrays.world] if arrays.spare else mask
        self._tiles = lanes.reshape(arrays.shape[0], 1, arrays.shape[1])

    def pick(self, rows: Any) -> Any:
        return rows

    def put(self, rows: Any, values: Any) -> None:
        mask = self.mask.reshape(-1, *[1] * (rows.ndim - 1))
        self.arrays.xp.where(mask, values, rows, out=rows)

    def write(self, tiles: Any, values: Any) -> None:
        if values.ndim == 1:
            new = values[None, :, None]
        else:
            new = values[self.arrays.world] if self.arrays.spare else values
            new = new.reshape(*self.arrays.shape, -1).swapaxes(1, 2)
        self.arrays.xp.where(self._tiles, new, tiles, out=tiles)
