"""Machine code for this CPU: from LLVM IR to object code, from object code to a kernel that is
called on arrays of worlds.

Arrays are cut into tiles of W worlds, (tiles, size, W), so that a vector load takes one value of W
neighbours. The last tile of a batch is filled up with copies of the last world.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import ArrayLike

from heelstrike.compile.lanes import REALS, Real
from heelstrike.compile.llvm import Module, emit
from heelstrike.compile.program import Port, Program
from heelstrike.errors import ProgramError

SIGNATURE = ctypes.CFUNCTYPE(  # calls through it release the interpreter lock
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
)
ALIGNMENT = 64


@dataclass(frozen=True)
class Layout:
    """What a caller must know of compiled code: ports in the order of its arguments, lanes, scratch
    memory.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    width: int
    real: Real
    frame_size: int


def compile_program(
    program: Program,
    outputs: Sequence[str] | None = None,
    width: int | None = None,
    dtype: str = "float64",
    level: int = 2,
) -> Kernel:
    """A kernel for the named outputs (default: all) with `width` lanes (default: the host's widest)
    at LLVM's `level` 1 to 3.
    """
    if dtype not in REALS:
        raise ProgramError(f"no number type '{dtype}'; types: {', '.join(REALS)}")
    real = REALS[dtype]
    width = widest(real) if width is None else width
    names = list(program.outputs) if outputs is None else list(outputs)
    inputs = tuple(program.inputs.values())
    codes = program.code(names)
    results = tuple(program.outputs[name] for name in names)
    module = emit(program.name, codes, inputs + results, width, real)
    layout = Layout(program.name, inputs, results, width, real, module.frame_size)
    return Kernel(layout, object_code(module, level))


@cache
def host() -> tuple[str, str]:
    """Name and features of this CPU, as LLVM says them."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def widest(real: Real) -> int:
    """Lanes in this CPU's widest vector register."""
    features = host()[1].split(",")
    bits = 512 if "+avx512f" in features else 256 if "+avx2" in features else 128
    return bits // real.bits


def object_code(module: Module, level: int) -> bytes:
    """Object code of a module for this CPU."""
    machine = _target_machine(level)
    parsed = llvm.parse_assembly(module.text)
    parsed.triple = machine.triple
    parsed.data_layout = str(machine.target_data)
    parsed.verify()
    return machine.emit_object(parsed)


def _target_machine(level: int) -> llvm.TargetMachine:
    name, features = host()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=name, features=features, opt=level, reloc="pic", codemodel="small", jit=True
    )


class Kernel:
    """Compiled code, loaded."""

    def __init__(self, layout: Layout, code: bytes) -> None:
        self.layout = layout
        self.code = code
        host()
        # llvmlite's own memory manager keeps code and constants together, as the small code model
        # wants them
        self._engine = llvm.create_mcjit_compiler(
            llvm.parse_assembly(""), _target_machine(level=1), use_lmm=True
        )
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self.function = SIGNATURE(self._engine.get_function_address(layout.name))

    def __call__(self, threads: int = 1, **inputs: ArrayLike) -> dict[str, np.ndarray]:
        """Outputs by name, (worlds, size), or (size,) if every input is a single world's.

        An input is (worlds, size), or (size,): the same for all worlds.
        """
        arrays: dict[str, np.ndarray] = {
            name: np.asarray(value, dtype=self.layout.real.dtype) for name, value in inputs.items()
        }
        many = {len(array) for array in arrays.values() if array.ndim == 2}
        if len(many) > 1:
            raise ProgramError(f"inputs are for different numbers of worlds: {sorted(many)}")
        batch = self.batch(many.pop() if many else 1)
        batch.set(**arrays)
        batch.run(threads)
        single = all(array.ndim == 1 for array in arrays.values())
        return {
            port.name: batch.get(port.name)[0] if single else batch.get(port.name)
            for port in self.layout.outputs
        }

    def batch(self, worlds: int) -> Batch:
        """Arrays for a number of worlds, to be filled and run again and again."""
        return Batch(self, worlds)


class Batch:
    """The arrays of a number of worlds, laid out as the kernel wants them."""

    def __init__(self, kernel: Kernel, worlds: int) -> None:
        if worlds < 1:
            raise ProgramError(f"a batch needs at least one world, not {worlds}")
        layout = kernel.layout
        self.kernel = kernel
        self.worlds = worlds
        self.tiles = -(-worlds // layout.width)
        ports = layout.inputs + layout.outputs
        self.arrays = {
            port.name: _aligned((self.tiles, port.size, layout.width), layout.real)
            for port in ports
        }
        self._index = {port.name: k for k, port in enumerate(ports)}
        self._pointers = (ctypes.c_void_p * len(ports))()
        self._strides = (ctypes.c_int64 * len(ports))()
        for name, array in self.arrays.items():
            self._attach(name, array)
        self._addresses = ctypes.addressof(self._pointers), ctypes.addressof(self._strides)
        self._frames = [self._new_frame()]
        self._run_all = partial(
            kernel.function, *self._addresses, self._frames[0].ctypes.data, 0, self.tiles
        )

    def set(self, **inputs: ArrayLike) -> None:
        """Fills inputs: (worlds, size) one row a world, (size,) the same for all worlds."""
        known = {port.name: port for port in self.kernel.layout.inputs}
        for name, value in inputs.items():
            if name not in known:
                raise ProgramError(f"no input '{name}'; inputs: {', '.join(known)}")
            array: np.ndarray = np.asarray(value, dtype=self.kernel.layout.real.dtype)
            size = known[name].size
            if array.shape not in ((size,), (self.worlds, size)):
                raise ProgramError(
                    f"input '{name}' has shape {array.shape}; it takes ({size},) for all "
                    f"worlds alike or ({self.worlds}, {size})"
                )
            tiles = self.tiles if array.ndim == 2 else 1
            if len(self.arrays[name]) != tiles:
                self.arrays[name] = _aligned(
                    (tiles, size, self.kernel.layout.width), self.kernel.layout.real
                )
                self._attach(name, self.arrays[name])
            _fill(self.arrays[name], np.atleast_2d(array))

    def get(self, name: str) -> np.ndarray:
        """A copy of a port's values, (worlds, size)."""
        array = self.arrays[name]
        rows = array.transpose(0, 2, 1).reshape(-1, array.shape[1])
        return (
            rows[: self.worlds].copy()
            if len(rows) >= self.worlds
            else np.tile(rows[0], (self.worlds, 1))
        )

    def run(self, threads: int = 1) -> None:
        """Computes the outputs of all worlds from the inputs."""
        if threads == 1 or self.tiles == 1:
            self._run_all()
            return
        threads = min(threads, self.tiles)
        while len(self._frames) < threads:
            self._frames.append(self._new_frame())
        bounds = [self.tiles * k // threads for k in range(threads + 1)]
        # each worker has its own frame and its own tiles; nothing else is written
        list(_pool(threads).map(self._worker, self._frames[:threads], bounds[:-1], bounds[1:]))

    def _worker(self, frame: np.ndarray, first: int, last: int) -> None:
        self.kernel.function(*self._addresses, frame.ctypes.data, first, last)

    def _new_frame(self) -> np.ndarray:
        layout = self.kernel.layout
        return _aligned((max(layout.frame_size, 1), layout.width), layout.real)

    def _attach(self, name: str, array: np.ndarray) -> None:
        k = self._index[name]
        self._pointers[k] = array.ctypes.data
        self._strides[k] = array[0].nbytes if len(array) == self.tiles else 0


def _fill(tiles: np.ndarray, rows: np.ndarray) -> None:
    """Rows (worlds, size) into tiles (tiles, size, W); the rest of the last tile repeats the last
    world.
    """
    n, size, width = tiles.shape
    full = len(rows) // width
    tiles[:full] = rows[: full * width].reshape(full, width, size).transpose(0, 2, 1)
    if full < n:
        rest = rows[full * width :]
        tiles[full, :, : len(rest)] = rest.T
        tiles[full, :, len(rest) :] = rest[-1][:, None]


def _aligned(shape: tuple[int, ...], real: Real) -> np.ndarray:
    size = int(np.prod(shape)) * real.bytes
    raw = np.zeros(size + ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(real.dtype).reshape(shape)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)
