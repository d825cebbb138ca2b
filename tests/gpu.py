"""A mock GPU: the interfaces of cuda-core and of the driver, implemented on this CPU.

A launch runs the same program compiled for 32 lanes, which has the layout of a GPU's tiles; PTX
that was written by hand is interpreted (ptx_machine.py). This tests everything around a launch:
what is copied, shared, kept and recorded. That a real GPU computes the same bits was measured
(benchmarks/gpu.md).
"""

from __future__ import annotations

import ctypes
import sys
from collections import ChainMap
from types import ModuleType, SimpleNamespace

import numpy as np

from heelstrike.codegen.cuda import ptx
from heelstrike.errors import HeelstrikeError
from heelstrike.runtime.compiler import compile_program
from heelstrike.runtime.cuda import masked_write
from heelstrike.runtime.cuda.driver import current_device
from heelstrike.simulate import target
from tests import ptx_machine

FREE = 2**30
"""Memory that the mock GPU reports [bytes]."""


def found() -> bool:
    """Return whether this machine has a real GPU."""
    try:
        current_device()
    except HeelstrikeError:
        return False
    return True


REAL = found()
STREAM = 7
"""Handle of every stream."""


class Buffer:
    def __init__(self, size: int) -> None:
        self._room = np.zeros(size + 64, np.uint8)
        self.handle = -(-self._room.ctypes.data // 64) * 64
        self.size, self.device_id = size, 0


class Driver(ModuleType):
    """Mock driver, which counts the bytes that are copied each way."""

    def __init__(self) -> None:
        super().__init__("cuda.bindings.driver")
        self.copied = {"in": 0, "out": 0, "over": 0}
        self.waits = 0
        self.launches = 0
        self.free = FREE

    def cuMemGetInfo(self):
        return 0, self.free, FREE

    def cuMemcpyHtoD(self, to, source, size):
        return self._move("in", to, source, size)

    def cuMemcpyDtoH(self, to, source, size):
        return self._move("out", to, source, size)

    def cuMemcpyDtoD(self, to, source, size):
        return self._move("over", to, source, size)

    def cuStreamSynchronize(self, stream):
        assert stream == 0  # that of the copies
        self.waits += 1
        return (0,)

    def _move(self, way, to, source, size):
        self.copied[way] += size
        ctypes.memmove(to, source, size)
        return (0,)


class Kernel:
    """A compiled program as a loaded kernel, of which a multiprocessor holds one block."""

    def __init__(self, compiled) -> None:
        self.layout, self.function = compiled.layout, compiled.function
        self.occupancy = SimpleNamespace(max_active_blocks_per_multiprocessor=lambda *_: 1)


class Device:
    name, arch = "mock", "90"

    properties = SimpleNamespace(multiprocessor_count=2)

    def set_current(self) -> None:
        pass

    def create_stream(self):
        return SimpleNamespace(sync=lambda: None, wait=lambda stream: None, handle=STREAM)

    def allocate(self, size, stream):
        return Buffer(size)


def install(monkeypatch) -> Driver:
    """Install the mock GPU in place of cuda-core, and return its driver."""
    compiled = {}

    def make(program, outputs=None, dtype="float32", arch="sm_90", math="exact", mapping="auto"):
        made = real(program, outputs, dtype, arch, math, "world")
        compiled[made.text.encode()] = Kernel(compile_program(program, outputs, 32, dtype))
        return made

    def launch(stream, config, kernel, *arguments):
        driver.config = config
        if isinstance(kernel, str):
            ptx_machine.run(kernel, config.grid, config.block, [*map(int, arguments)])
            return
        driver.launches += 1
        pointers, strides, records, tiles, *counts = arguments
        layout = kernel.layout
        frame = np.zeros(max(layout.frame_size, 1) * 32 * layout.real.bytes + 64, np.uint8)
        start = -(-frame.ctypes.data // 64) * 64
        values = (pointers, strides, records, start, 0, tiles, *counts)
        packed = (ctypes.c_int64 * 9)(*(int(x) for x in values))
        kernel.function(ctypes.addressof(packed))

    real, driver, core = ptx.make_ptx, Driver(), ModuleType("cuda.core")
    core.Device, core.launch, core.LaunchConfig = Device, launch, SimpleNamespace
    own = {masked_write.ptx(width).encode(): masked_write.ptx(width) for width in (4, 8)}
    known = ChainMap(compiled, own)
    load = staticmethod(lambda text: SimpleNamespace(get_kernel=lambda name: known[text]))
    core.ObjectCode = SimpleNamespace(from_ptx=load)
    bindings, cuda = ModuleType("cuda.bindings"), ModuleType("cuda")
    bindings.driver, cuda.core, cuda.bindings = driver, core, bindings
    modules = {"cuda": cuda, "cuda.core": core, "cuda.bindings": bindings}
    for name, module in (modules | {"cuda.bindings.driver": driver}).items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(ptx, "make_ptx", make)
    # what lies in the cache this process has not compiled for its lanes
    monkeypatch.setattr(target, "cached_ptx", lambda _, build, *options: make(build(), *options))
    return driver
