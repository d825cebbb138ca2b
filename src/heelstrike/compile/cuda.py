"""Programs on a GPU: PTX loaded and launched by cuda-core, a thread a world.

Needs the extra heelstrike[cuda] and a GPU; `ptx.make_ptx` makes what it loads.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.compile.batch import Batch, Layout, check_counts
from heelstrike.compile.dlpack import CUDA, capsule
from heelstrike.errors import ProgramError

WARP = 32
"""Worlds of a tile: the threads of a warp."""
MARK = "// heelstrike "


@dataclass(frozen=True)
class Ptx:
    """PTX of a program, and what a caller must know of it."""

    layout: Layout
    text: str
    threads: int
    """Of a block."""
    tiles: int
    """That a block works on."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a PTX file that carries its layout in a comment, whole or not at all."""
        from heelstrike.compile.container import write

        head = {"layout": self.layout.as_dict(), "threads": self.threads, "tiles": self.tiles}
        content = f"{MARK}{json.dumps(head)}\n{self.text}"
        write(Path(path), content.encode(), mode=0o644)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Ptx:
        """Reads a file that `save` wrote; needs neither CasADi, LLVM nor a GPU."""
        try:
            head, _, text = Path(path).read_text().partition("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise ProgramError(f"{path} cannot be read: {error}") from error
        if not head.startswith(MARK):
            raise ProgramError(f"{path} is no PTX of Heelstrike: its first line has no layout")
        values = json.loads(head.removeprefix(MARK))
        layout = Layout.from_dict(values["layout"])
        return cls(layout, text, values["threads"], values["tiles"])


class CudaKernel:
    """PTX loaded on the current GPU."""

    def __init__(self, ptx: Ptx) -> None:
        self.layout = ptx.layout
        self.ptx = ptx
        self.device = _device()
        core = _cuda_core()
        code = core.ObjectCode.from_ptx(ptx.text.encode())
        self.kernel = code.get_kernel(ptx.layout.name)

    @property
    def registers(self) -> int:
        """Registers a thread."""
        return int(self.kernel.attributes.num_regs)

    @property
    def local_bytes(self) -> int:
        """Local memory a thread: frame and spills."""
        return int(self.kernel.attributes.local_size_bytes)

    def batch(self, worlds: int) -> CudaBatch:
        return CudaBatch(self, worlds)


class CudaBatch:
    """The arrays of a number of worlds on the GPU.

    `set`, `get`, `reset` and `state` are those of a CPU's batch; values travel when called.
    """

    def __init__(self, kernel: CudaKernel, worlds: int) -> None:
        self.kernel = kernel
        self.layout = kernel.layout
        self.worlds = worlds
        self.host = Batch(kernel.layout, _never, worlds)
        self.stream = kernel.device.create_stream()
        self.buffers: dict[str, Any] = {}
        self._room = 1
        self._upload([port.name for port in self.layout.ports])

    def set(self, **values: ArrayLike) -> None:
        self.host.set(**values)
        self._upload(list(values))

    def reset(self, worlds: np.ndarray | None = None, **values: ArrayLike) -> None:
        self._download([port.name for port in self.layout.memory])
        self.host.reset(worlds, **values)
        self._upload([port.name for port in self.layout.memory])

    def get(self, name: str) -> np.ndarray:
        self._download([name])
        return self.host.get(name)

    def state(self) -> dict[str, np.ndarray]:
        return {port.name: self.get(port.name) for port in self.layout.memory}

    def run(self, steps: int = 1, every: int = 1) -> None:
        """Makes a number of steps in all worlds; returns when they are launched."""
        check_counts(steps=steps, every=every)
        core = _cuda_core()
        phase = self.host.steps_made % every
        if self.layout.memory:
            count = len(range(-phase % every, steps, every))
            if count != self._room:
                for port in self.layout.outputs:
                    self.host._attach_records(port, count)
                self._room = count
                self._upload([port.name for port in self.layout.outputs])
            self.host.steps_made += steps
        ptx = self.kernel.ptx
        config = core.LaunchConfig(grid=-(-self.host.tiles // ptx.tiles), block=ptx.threads)
        counts = (self.host.tiles, steps, every, phase)
        arguments = [*self._tables, *(np.int64(x) for x in counts)]
        core.launch(self.stream, config, self.kernel.kernel, *arguments)

    def sync(self) -> None:
        """Waits until everything launched is done."""
        self.stream.sync()

    def device_array(self, name: str) -> DeviceArray:
        """A port's values where they lie on the GPU, (tiles, size, 32), an output's (tiles,
        records, size, 32): torch.as_tensor, cupy.asarray and others take it without a copy.
        """
        self.sync()
        array = self.host.arrays[name]
        return DeviceArray(self.buffers[name], array.shape, array.dtype)

    def _upload(self, names: list[str]) -> None:
        self.sync()  # steps under way read what is about to be overwritten
        for name in names:
            array = np.ascontiguousarray(self.host.arrays[name])
            if name not in self.buffers or self.buffers[name].size < max(array.nbytes, 1):
                self.buffers[name] = self._allocate(array.nbytes)
            _copy_in(self.buffers[name], array)
        pointers = [int(self.buffers[port.name].handle) for port in self.layout.ports]
        tables = (pointers, list(self.host._strides), list(self.host._records))
        self._buffers_of_tables = []
        for table in tables:
            column = np.array(table, dtype=np.int64)
            buffer = self._allocate(column.nbytes)
            _copy_in(buffer, column)
            self._buffers_of_tables.append(buffer)
        self._tables = [np.int64(int(buffer.handle)) for buffer in self._buffers_of_tables]

    def _allocate(self, size: int) -> Any:
        buffer = self.kernel.device.allocate(max(size, 1), stream=self.stream)
        self.sync()
        return buffer

    def _download(self, names: list[str]) -> None:
        self.sync()
        for name in names:
            _copy_out(self.host.arrays[name], self.buffers[name])


@dataclass(frozen=True)
class DeviceArray:
    """An array on the GPU, by the CUDA array interface and DLPack."""

    buffer: Any
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


def _never(*_: object) -> None:
    raise AssertionError("the host's arrays of a GPU batch are not run")


def _cuda_core() -> Any:
    try:
        import cuda.core as core
    except ImportError as error:
        raise ProgramError(
            "a GPU needs the package cuda-core: pip install 'heelstrike[cuda]'"
        ) from error
    return core


def _device() -> Any:
    core = _cuda_core()
    try:
        device = core.Device()
        device.set_current()
    except Exception as error:
        raise ProgramError(f"no usable GPU: {error}; compile_program serves the CPU") from error
    return device


def _copy_in(buffer: Any, array: np.ndarray) -> None:
    _check(_driver().cuMemcpyHtoD(int(buffer.handle), array.ctypes.data, array.nbytes))


def _copy_out(array: np.ndarray, buffer: Any) -> None:
    _check(_driver().cuMemcpyDtoH(array.ctypes.data, int(buffer.handle), array.nbytes))


def _check(answer: Any) -> None:
    if int(answer[0]) != 0:
        raise ProgramError(f"the GPU's driver reports {answer[0]}; is its memory full?")


def _driver() -> Any:
    from cuda.bindings import driver

    return driver
