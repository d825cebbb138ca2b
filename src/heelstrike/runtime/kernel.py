"""Kernels: loaded object code. Running one needs nothing but llvmlite and numpy."""

from __future__ import annotations

import ctypes

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import ArrayLike

from heelstrike.codegen.host import host, target_machine
from heelstrike.codegen.layout import Layout
from heelstrike.errors import ProgramError
from heelstrike.runtime.arrays import as_numbers, check_memory
from heelstrike.runtime.batch import Batch

SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
"""Signature of NAME_packed; calls through it release the interpreter lock."""


class Kernel:
    """A compiled program, loaded into this process."""

    def __init__(self, layout: Layout, code: bytes) -> None:
        self.layout = layout
        self.code = code
        host()
        # llvmlite's memory manager keeps code and constants together, as the small code model needs
        engine = llvm.create_mcjit_compiler(
            llvm.parse_assembly(""), target_machine(level=1), use_lmm=True
        )
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        self.function = SIGNATURE(engine.get_function_address(f"{layout.name}_packed"))
        # a reference to the function keeps its code alive
        setattr(self.function, "engine", engine)  # noqa: B010

    def __call__(self, threads: int = 1, **inputs: ArrayLike) -> dict[str, np.ndarray]:
        """Run the program once and return its outputs by name, (worlds, *shape).

        An input is (worlds, size), or (size,) for all worlds. If every input is (size,), outputs
        are those of one world, without the first dimension.
        """
        if missing := [
            p.name for p in self.layout.inputs + self.layout.tables if p.name not in inputs
        ]:
            raise ProgramError(
                f"program '{self.layout.name}' needs more inputs: {', '.join(missing)}"
            )
        real = self.layout.real
        arrays = {name: as_numbers(name, value, real) for name, value in inputs.items()}
        tables = {port.name for port in self.layout.tables}
        per_world = [array for name, array in arrays.items() if name not in tables]
        many = {len(array) for array in per_world if array.ndim > 1}
        if len(many) > 1:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise ProgramError(f"inputs are for different numbers of worlds: {shapes}")
        batch = Batch(self.layout, self.function, many.pop() if many else 1)
        batch.set(**arrays)
        batch.run(threads=threads)
        single = all(array.ndim == 1 for array in per_world)
        results = {port.name: batch.output(port.name) for port in self.layout.outputs}
        return {name: value[0] for name, value in results.items()} if single else results

    def batch(self, worlds: int) -> Batch:
        """Return a batch of a number of worlds, to set, step and read any number of times."""
        check_memory(self.layout, worlds)
        return Batch(self.layout, self.function, worlds)
