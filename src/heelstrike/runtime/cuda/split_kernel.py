"""Programs loaded on several GPUs, whose batches share their worlds out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from heelstrike.errors import ProgramError
from heelstrike.runtime.cuda.driver import free_memory
from heelstrike.runtime.cuda.kernel import CudaKernel
from heelstrike.runtime.split_batch import SplitBatch, even_shares


class SplitKernel:
    """A program loaded on several GPUs."""

    def __init__(self, kernels: Sequence[CudaKernel]) -> None:
        """Use the kernel of each GPU; one that occurs twice holds two parts of the worlds."""
        self.kernels = kernels
        self.layout = kernels[0].layout

    @property
    def world_bytes(self) -> int:
        """Memory of a GPU per world [bytes]."""
        return self.kernels[0].world_bytes

    @property
    def max_worlds(self) -> int:
        """Number of worlds that fit, shared out evenly, into the free memory of the GPUs."""
        parts = Counter(kernel.device.device_id for kernel in self.kernels)
        least = min(free_memory(number) // count for number, count in parts.items())
        return len(self.kernels) * (least // self.world_bytes)

    def batch(self, worlds: int) -> SplitBatch:
        """Return a batch of a number of worlds, at their initial values."""
        self._check_memory(worlds)
        sizes = even_shares(worlds, len(self.kernels))
        return SplitBatch(
            [kernel.batch(size) for kernel, size in zip(self.kernels, sizes, strict=False)]
        )

    def _check_memory(self, worlds: int) -> None:
        """Raise an error for more worlds than fit, before anything is allocated."""
        each, most = self.world_bytes, self.max_worlds
        if worlds > most:
            numbers = sorted({kernel.device.device_id for kernel in self.kernels})
            free = ", ".join(f"{free_memory(n) / 1e9:.3g} GB on GPU {n}" for n in numbers)
            raise ProgramError(
                f"{worlds} worlds of {each / 1e3:.3g} kB each need {worlds * each / 1e9:.3g} GB of "
                f"memory, shared out evenly, and {free} are free",
                value=worlds,
                remedy=f"{most} worlds fit",
            )
