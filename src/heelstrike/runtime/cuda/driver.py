"""Access to GPUs through cuda-core and the driver's functions: device, memory, copies.

This needs the extra heelstrike[cuda] and a GPU; an error says which of them is missing. The driver
works on the GPU that is current for the calling thread, so every function here that depends on it
makes it current first.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import SupportsInt

import numpy as np

from heelstrike.errors import ProgramError
from heelstrike.runtime.cuda.interfaces import Buffer, Device, LoadedKernel


def cuda_core() -> ModuleType:
    """Import and return the package cuda.core."""
    try:
        import cuda.core as core
    except ImportError as error:
        raise ProgramError(
            "the package cuda-core, which a GPU needs, is not installed",
            remedy="pip install 'heelstrike[cuda]'",
        ) from error
    return core


def current_device(number: int = 0) -> Device:
    """Make a GPU, by its number in CUDA's list, the current one of this thread; return it."""
    core = cuda_core()
    try:
        device: Device = core.Device(number)
        device.set_current()
    except Exception as error:
        raise _unusable(error) from error
    return device


def device_count() -> int:
    """Return the number of GPUs; raise an error if there is none. None of them becomes current."""
    core = cuda_core()
    try:
        core.Device(0)  # which initializes the driver
    except Exception as error:
        raise _unusable(error) from error
    return int(_checked(_driver().cuDeviceGetCount())[0])


def architecture(device: Device) -> str:
    """Return the architecture of a device as PTX names it; sm_90 is Hopper."""
    return f"sm_{device.arch}"


def allow_shared(kernel: LoadedKernel, size: int, device: Device) -> None:
    """Allow a kernel's blocks to use so many bytes of shared memory."""
    driver = _driver()
    what = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    _checked(driver.cuKernelSetAttribute(what, size, int(kernel.handle), device.device_id))


def free_memory(number: int = 0) -> int:
    """Return the free memory of a GPU [bytes]."""
    current_device(number)
    return int(_checked(_driver().cuMemGetInfo())[0])


def copy_in(buffer: Buffer, array: np.ndarray) -> None:
    """Copy an array from the host into a buffer, and wait until it has arrived."""
    current_device(buffer.device_id)
    _checked(_driver().cuMemcpyHtoD(int(buffer.handle), array.ctypes.data, array.nbytes))
    _wait()


def copy_out(array: np.ndarray, buffer: Buffer) -> None:
    """Copy a buffer into an array of the host."""
    current_device(buffer.device_id)
    _checked(_driver().cuMemcpyDtoH(array.ctypes.data, int(buffer.handle), array.nbytes))


def copy_over(buffer: Buffer, other: Buffer, size: int) -> None:
    """Copy so many bytes from one buffer of a GPU to another, and wait until it is done."""
    current_device(buffer.device_id)
    _checked(_driver().cuMemcpyDtoD(int(buffer.handle), int(other.handle), size))
    _wait()


def _wait() -> None:
    """Wait for the stream of the copies on the current GPU.

    The driver returns from some copies before they have arrived, and the streams of batches do not
    wait for it.
    """
    _checked(_driver().cuStreamSynchronize(0))


def _unusable(error: Exception) -> ProgramError:
    return ProgramError(f"no usable GPU: {error}", remedy='take device="cpu", which needs none')


def _checked(answer: Sequence[SupportsInt]) -> Sequence[SupportsInt]:
    """Return the results of a driver function without its status; raise an error if it failed."""
    if int(answer[0]) != 0:
        raise ProgramError(
            f"the GPU's driver reports {answer[0]}", remedy="check that its memory is not full"
        )
    return answer[1:]


def _driver() -> ModuleType:
    import cuda.bindings.driver as driver

    return driver
