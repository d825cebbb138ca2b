"""Two mock GPUs: the interfaces of cuda-core and of the driver, implemented on this CPU.

A launch runs the same program compiled for 32 lanes, which has the layout of a GPU's tiles; PTX
that was written by hand is interpreted (ptx_machine.py). This tests everything around a launch:
what is copied, shared, kept and recorded, and that every use of a GPU first makes it current for
its thread. That a real GPU computes the same bits was measured (benchmarks/gpu.md).
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections import ChainMap
from types import ModuleType, SimpleNamespace
from weakref import WeakSet

import numpy as np

from heelstrike.codegen.cuda import ptx
from heelstrike.errors import HeelstrikeError
from heelstrike.runtime.compiler import compile_program
from heelstrike.runtime.cuda import masked_write
from heelstrike.runtime.cuda.driver import current_device
from heelstrike.simulate import target
from tests import ptx_machine

FREE = 2**30
"""Memory that a mock GPU reports [bytes]."""
GPUS = 2
"""Number of mock GPUs."""


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


class Current(threading.local):
    """The GPU that is current for a thread: none at first."""

    number: int | None = None


current = Current()


buffers: WeakSet[Buffer] = WeakSet()


class Buffer:
    def __init__(self, size: int, number: int) -> None:
        self._room = np.zeros(size + 64, np.uint8)
        self.handle = -(-self._room.ctypes.data // 64) * 64
        self.size, self.device_id = size, number
        buffers.add(self)


def check_owner(*addresses: int) -> None:
    """Fail unless all addresses lie in buffers of the current GPU."""
    own = [(x.handle, x.handle + x.size) for x in buffers if x.device_id == current.number]
    first, last = np.array(sorted(own)).reshape(-1, 2).T
    place = np.searchsorted(first, addresses, side="right") - 1
    assert (place >= 0).all()
    assert (np.array(addresses) < last[place]).all()


class Driver(ModuleType):
    """Mock driver, which counts the bytes that are copied each way."""

    def __init__(self) -> None:
        super().__init__("cuda.bindings.driver")
        self.copied = {"in": 0, "out": 0, "over": 0}
        self.waits = 0
        self.launches = 0
        self.order: list[tuple[str, int]] = []
        """Launches of programs and waits for streams, each with the number of its GPU."""
        self.free = FREE
        self.taken = [0] * GPUS
        """Memory of each GPU that others use [bytes]."""

    def cuDeviceGetCount(self):
        return 0, GPUS

    def cuMemGetInfo(self):
        return 0, self.free - self.taken[current.number], FREE

    def cuMemcpyHtoD(self, to, source, size):
        return self._move("in", to, source, size, to)

    def cuMemcpyDtoH(self, to, source, size):
        return self._move("out", to, source, size, source)

    def cuMemcpyDtoD(self, to, source, size):
        return self._move("over", to, source, size, to, source)

    def cuStreamSynchronize(self, stream):
        assert stream == 0  # that of the copies
        assert current.number is not None
        self.waits += 1
        return (0,)

    def _move(self, way, to, source, size, *owned):
        check_owner(*owned)
        self.copied[way] += size
        ctypes.memmove(to, source, size)
        return (0,)


class Kernel:
    """A compiled program as a loaded kernel, of which a multiprocessor holds one block."""

    def __init__(self, compiled) -> None:
        self.layout, self.function = compiled.layout, compiled.function
        self.occupancy = SimpleNamespace(max_active_blocks_per_multiprocessor=lambda *_: 1)


class Loaded:
    """A kernel that is loaded on a GPU: a compiled program, or the text of PTX."""

    def __init__(self, kernel: Kernel | str) -> None:
        self.kernel, self.number = kernel, current.number

    @property
    def occupancy(self):
        assert current.number == self.number
        return self.kernel.occupancy


class Stream:
    handle = STREAM

    def __init__(self, driver: Driver, number: int) -> None:
        self.driver, self.number = driver, number

    def sync(self) -> None:
        self.driver.order.append(("wait", self.number))

    def wait(self, stream: Stream) -> None:
        assert current.number == self.number == stream.number  # an event belongs to a GPU


class Device:
    name = "mock"
    properties = SimpleNamespace(multiprocessor_count=2)
    architectures = ["90"] * GPUS

    def __init__(self, driver: Driver, number: int | None) -> None:
        self.driver, self.device_id = driver, current.number or 0 if number is None else number
        if not 0 <= self.device_id < GPUS:
            raise ValueError(f"device_id must be within [0, {GPUS}), got {number}")
        self.arch = self.architectures[self.device_id]

    def set_current(self) -> None:
        current.number = self.device_id

    def create_stream(self):
        assert current.number == self.device_id
        return Stream(self.driver, self.device_id)

    def allocate(self, size, stream):
        assert current.number == self.device_id == stream.number
        return Buffer(size, self.device_id)


def install(monkeypatch) -> Driver:
    """Install the mock GPUs in place of cuda-core, and return their driver."""
    compiled, current.number = {}, None

    def make(program, outputs=None, dtype="float32", arch="sm_90", math="exact", few=False):
        made = real(program, outputs, dtype, arch, math, "world")
        compiled[made.text.encode()] = Kernel(compile_program(program, outputs, 32, dtype))
        return made

    def launch(stream, config, loaded, *arguments):
        assert current.number == stream.number == loaded.number
        driver.config, kernel = config, loaded.kernel
        check_owner(*map(int, arguments[:3]))
        if isinstance(kernel, str):
            ptx_machine.run(kernel, config.grid, config.block, [*map(int, arguments)])
            return
        driver.launches += 1
        driver.order.append(("launch", stream.number))
        pointers, strides, records, tiles, *counts = arguments
        layout = kernel.layout
        check_owner(*(ctypes.c_int64 * len(layout.ports)).from_address(int(pointers)))
        frame = np.zeros(max(layout.frame_size, 1) * 32 * layout.real.bytes + 64, np.uint8)
        start = -(-frame.ctypes.data // 64) * 64
        values = (pointers, strides, records, start, 0, tiles, *counts)
        packed = (ctypes.c_int64 * 9)(*(int(x) for x in values))
        kernel.function(ctypes.addressof(packed))

    real, driver, core = ptx.make_ptx, Driver(), ModuleType("cuda.core")
    core.launch, core.LaunchConfig = launch, SimpleNamespace
    core.Device = lambda number=None: Device(driver, number)
    own = {masked_write.ptx(width).encode(): masked_write.ptx(width) for width in (4, 8)}
    known = ChainMap(compiled, own)
    load = staticmethod(lambda text: SimpleNamespace(get_kernel=lambda name: Loaded(known[text])))
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
