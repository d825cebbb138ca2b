"""Kernels on a GPU: PTX loaded and launched by cuda-core.

This needs the extra heelstrike[cuda] and a GPU. `codegen/cuda/ptx.py` makes the PTX.
"""

from __future__ import annotations

from functools import cached_property

from heelstrike.codegen.cuda.module import Ptx
from heelstrike.runtime.arrays import world_bytes
from heelstrike.runtime.cuda import masked_write
from heelstrike.runtime.cuda.batch import CudaBatch
from heelstrike.runtime.cuda.driver import allow_shared, cuda_core, current_device, free_memory
from heelstrike.runtime.cuda.interfaces import LoadedKernel


class CudaKernel:
    """PTX loaded on a GPU."""

    def __init__(self, ptx: Ptx, number: int = 0) -> None:
        """Load PTX on the GPU of this number in CUDA's list."""
        self.layout = ptx.layout
        self.ptx = ptx
        self.device = current_device(number)
        self.kernel = _loaded(ptx.text, ptx.layout.name)
        if ptx.shared:
            allow_shared(self.kernel, ptx.shared * ptx.tiles, self.device)

    @property
    def registers(self) -> int:
        """Registers per thread."""
        self.device.set_current()
        return int(self.kernel.attributes.num_regs)

    @property
    def local_bytes(self) -> int:
        """Local memory per thread [bytes]: frame and spills."""
        self.device.set_current()
        return int(self.kernel.attributes.local_size_bytes)

    @property
    def world_bytes(self) -> int:
        """Memory of the GPU per world [bytes]."""
        return world_bytes(self.layout)

    @property
    def max_worlds(self) -> int:
        """Number of worlds that fit into the free memory of the GPU."""
        return free_memory(self.device.device_id) // self.world_bytes

    def resident_blocks(self, tiles: int) -> int:
        """Return how many blocks, each with a number of tiles, the GPU works on at once."""
        self.device.set_current()
        occupancy, properties = self.kernel.occupancy, self.device.properties
        block, shared = tiles * self.ptx.threads, tiles * self.ptx.shared
        each = occupancy.max_active_blocks_per_multiprocessor(block, shared)
        return each * properties.multiprocessor_count

    @cached_property
    def masked_write(self) -> LoadedKernel:
        """Loaded kernel that writes values where a mask of worlds holds."""
        self.device.set_current()
        return _loaded(masked_write.ptx(self.layout.real.bytes), masked_write.NAME)

    def batch(self, worlds: int) -> CudaBatch:
        """Return a batch of a number of worlds, at their initial values."""
        return CudaBatch(self, worlds)


def _loaded(ptx: str, name: str) -> LoadedKernel:
    """Load PTX on the current GPU, and return its kernel of a name."""
    kernel: LoadedKernel = cuda_core().ObjectCode.from_ptx(ptx.encode()).get_kernel(name)
    return kernel
