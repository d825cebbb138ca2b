"""The GPU by way of cuda-core and the driver's own functions: device, memory, copies.

Needs the extra heelstrike[cuda] and a GPU; where either is missing a sentence says which.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from heelstrike.errors import ProgramError


def cuda_core() -> Any:
    """The package cuda.core."""
    try:
        import cuda.core as core
    except ImportError as error:
        raise ProgramError(
            "a GPU needs the package cuda-core: pip install 'heelstrike[cuda]'"
        ) from error
    return core


def current_device() -> Any:
    """The GPU that CUDA names first, made this thread's own."""
    core = cuda_core()
    try:
        device = core.Device()
        device.set_current()
    except Exception as error:
        raise ProgramError(f'no usable GPU: {error}; device="cpu" needs none') from error
    return device


def architecture(device: Any) -> str:
    """Of a device, as PTX names it: sm_90 is Hopper."""
    return f"sm_{device.arch}"


def allow_shared(kernel: Any, size: int, device: Any) -> None:
    """Lets a kernel's blocks take so many bytes of shared memory."""
    driver = _driver()
    what = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    _checked(driver.cuKernelSetAttribute(what, size, int(kernel.handle), device.device_id))


def free_memory() -> int:
    """Bytes that the current GPU has left."""
    free, _ = _checked(_driver().cuMemGetInfo())
    return int(free)


def copy_in(buffer: Any, array: np.ndarray) -> None:
    """From the host; it is there when this returns."""
    _checked(_driver().cuMemcpyHtoD(int(buffer.handle), array.ctypes.data, array.nbytes))
    _wait()


def copy_out(array: np.ndarray, buffer: Any) -> None:
    """To the host."""
    _checked(_driver().cuMemcpyDtoH(array.ctypes.data, int(buffer.handle), array.nbytes))


def copy_over(buffer: Any, other: Any, size: int) -> None:
    """From one buffer of the GPU to another; done when this returns."""
    _checked(_driver().cuMemcpyDtoD(int(buffer.handle), int(other.handle), size))
    _wait()


def _wait() -> None:
    """For the stream of the copies: the driver returns from some before they have arrived, and the
    streams of batches do not wait for it.
    """
    _checked(_driver().cuStreamSynchronize(0))


def _checked(answer: Any) -> Any:
    """What a function of the driver returns beside its status."""
    if int(answer[0]) != 0:
        raise ProgramError(f"the GPU's driver reports {answer[0]}; is its memory full?")
    return answer[1:]


def _driver() -> Any:
    from cuda.bindings import driver

    return driver
