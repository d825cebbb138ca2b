"""Types of the objects of cuda-core that a batch uses; the package itself is optional."""

from __future__ import annotations

from typing import Protocol, SupportsInt


class Buffer(Protocol):
    """Memory of a GPU, as cuda-core has it."""

    @property
    def handle(self) -> SupportsInt:
        """Address on the GPU."""

    @property
    def size(self) -> int:
        """Size [bytes]."""

    @property
    def device_id(self) -> int:
        """Number of the GPU."""


class Stream(Protocol):
    """Queue of launches and copies on a GPU."""

    @property
    def handle(self) -> SupportsInt:
        """CUDA's handle of the stream."""

    def sync(self) -> None:
        """Wait until everything in the stream is done."""

    def wait(self, stream: Stream) -> None:
        """Let what follows in this stream wait for what is in another one now."""


class Properties(Protocol):
    """Properties of a GPU."""

    @property
    def multiprocessor_count(self) -> int:
        """Number of multiprocessors."""


class Device(Protocol):
    """A GPU."""

    @property
    def name(self) -> str:
        """Name of the product."""

    @property
    def arch(self) -> str:
        """Compute capability without a point, such as 90."""

    @property
    def device_id(self) -> int:
        """Number of the GPU."""

    @property
    def properties(self) -> Properties:
        """Properties of the GPU."""

    def set_current(self) -> None:
        """Make it the current GPU of this thread."""

    def create_stream(self) -> Stream:
        """Return a new stream."""

    def allocate(self, size: int, stream: Stream) -> Buffer:
        """Return a buffer of so many bytes."""


class KernelAttributes(Protocol):
    """Resources that a kernel uses."""

    @property
    def num_regs(self) -> int:
        """Registers per thread."""

    @property
    def local_size_bytes(self) -> int:
        """Local memory per thread [bytes]."""


class Occupancy(Protocol):
    """How many blocks of a kernel run at once."""

    def max_active_blocks_per_multiprocessor(
        self, block_size: int, dynamic_shared_memory_size: int
    ) -> int:
        """Return the number of blocks that a multiprocessor holds."""


class LoadedKernel(Protocol):
    """A kernel that is loaded on a GPU."""

    @property
    def handle(self) -> SupportsInt:
        """CUDA's handle of the kernel."""

    @property
    def attributes(self) -> KernelAttributes:
        """Resources that it uses."""

    @property
    def occupancy(self) -> Occupancy:
        """How many of its blocks run at once."""
