"""Machine code for this CPU: from LLVM IR to object code, from object code to a kernel."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import ArrayLike

from heelstrike.compile.batch import Batch, Layout, as_numbers
from heelstrike.compile.lanes import REALS, Real
from heelstrike.compile.llvm import Module, emit
from heelstrike.compile.program import Program
from heelstrike.errors import ProgramError

SIGNATURE = ctypes.CFUNCTYPE(  # calls through it release the interpreter lock
    None, *[ctypes.c_void_p] * 4, *[ctypes.c_int64] * 5
)


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
    if dtype not in list(REALS):
        raise ProgramError(f"no number type '{dtype}'; types: {', '.join(REALS)}")
    if level not in (1, 2, 3):
        raise ProgramError(f"LLVM's level is 1, 2 or 3, not {level}")
    real = REALS[dtype]
    if width is not None and width not in (1, 2, 4, 8, 16, 32):
        raise ProgramError(f"the width is a power of two from 1 to 32, not {width}")
    traced = program.trace(outputs)
    module = emit(traced, widest(real) if width is None else width, real)
    layout = Layout(
        name=program.name,
        inputs=traced.inputs,
        tables=traced.tables,
        memory=traced.memory,
        outputs=traced.outputs,
        initial=dict(program.initial),
        width=module.width,
        real=real,
        frame_size=module.frame_size,
    )
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
        # llvmlite's memory manager keeps code and constants together: the small code model's terms
        engine = llvm.create_mcjit_compiler(
            llvm.parse_assembly(""), _target_machine(level=1), use_lmm=True
        )
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        self.function = SIGNATURE(engine.get_function_address(layout.name))
        # who holds the function keeps its code alive
        setattr(self.function, "engine", engine)  # noqa: B010

    def __call__(self, threads: int = 1, **inputs: ArrayLike) -> dict[str, np.ndarray]:
        """Outputs by name, (worlds, *shape), or of that shape if every input is one world's.

        An input is (worlds, size), or (size,): the same for all worlds.
        """
        if missing := [
            p.name for p in self.layout.inputs + self.layout.tables if p.name not in inputs
        ]:
            raise ProgramError(f"program '{self.layout.name}' needs also {', '.join(missing)}")
        real = self.layout.real
        arrays = {name: as_numbers(name, value, real) for name, value in inputs.items()}
        tables = {port.name for port in self.layout.tables}
        given = [array for name, array in arrays.items() if name not in tables]
        many = {len(array) for array in given if array.ndim > 1}
        if len(many) > 1:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise ProgramError(f"inputs are for different numbers of worlds: {shapes}")
        batch = Batch(self.layout, self.function, many.pop() if many else 1)
        batch.set(**arrays)
        batch.run(threads=threads)
        single = all(array.ndim == 1 for array in given)
        results = {port.name: batch.get(port.name) for port in self.layout.outputs}
        return {name: value[0] for name, value in results.items()} if single else results

    def batch(self, worlds: int) -> Batch:
        """Arrays for a number of worlds, to be filled and run again and again."""
        return Batch(self.layout, self.function, worlds)
