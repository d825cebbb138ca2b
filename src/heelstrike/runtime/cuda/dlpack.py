"""Arrays on a GPU as DLPack capsules, which torch, jax and cupy take without a copy."""

from __future__ import annotations

import atexit
import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from heelstrike.runtime.cuda.interfaces import Buffer

CUDA = 2
"""DLPack's number of the device type kDLCUDA."""
FLOAT = 2
"""DLPack's number of the type code kDLFloat."""


class _Tensor(ctypes.Structure):
    """DLManagedTensor of DLPack 0.8, with its nested structures written out."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


_DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Tensor))
_alive: dict[int, Any] = {}  # tensors that consumers still use, by address


@_DELETER  # type: ignore[untyped-decorator]
def _delete(tensor: Any) -> None:
    _alive.pop(ctypes.addressof(tensor.contents), None)


@atexit.register
def _remove_deleters() -> None:
    """Remove the deleters, which are Python's, for consumers that outlive the interpreter."""
    for tensor, *_ in _alive.values():
        tensor.deleter = None
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_alive))


def capsule(
    pointer: int, shape: tuple[int, ...], dtype: np.dtype[Any], device: int, owner: object
) -> Any:
    """Return a capsule of a contiguous array; it keeps `owner` alive until the consumer is done."""
    sizes = (ctypes.c_int64 * len(shape))(*shape)
    tensor = _Tensor(
        data=pointer,
        device_type=CUDA,
        device_id=device,
        ndim=len(shape),
        code=FLOAT,
        bits=8 * dtype.itemsize,
        lanes=1,
        shape=sizes,
        deleter=ctypes.cast(_delete, ctypes.c_void_p),
    )
    _alive[ctypes.addressof(tensor)] = tensor, sizes, owner
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.addressof(tensor), b"dltensor", None)


@dataclass(frozen=True)
class DeviceArray:
    """An array on the GPU that offers the CUDA array interface and DLPack."""

    buffer: Buffer
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = (int(self.buffer.handle), False)
        return {"shape": self.shape, "typestr": self.dtype.str, "data": data, "version": 3}

    def __dlpack__(self, **_: Any) -> Any:
        pointer = int(self.buffer.handle)
        return capsule(pointer, self.shape, self.dtype, self.buffer.device_id, self.buffer)

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self.buffer.device_id
