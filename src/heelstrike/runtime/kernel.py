"""Object code, loaded: all that running a compiled program takes is llvmlite and numpy."""

from __future__ import annotations

import ctypes

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import ArrayLike

from heelstrike.codegen.host import host, target_machine
from heelstrike.codegen.layout import Layout
from heelstrike.errors import ProgramError
from heelstrike.runtime.batch import Batch
from heelstrike.runtime.checks import as_numbers

SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
"""Of NAME_packed; calls through it release the interpreter lock."""


class Kernel:
    """Compiled code, loaded."""

    def __init__(self, layout: Layout, code: bytes) -> None:
        self.layout = layout
        self.code = code
        host()
        # llvmlite's memory manager keeps code and constants together: the small code model's terms
        engine = llvm.create_mcjit_compiler(
            llvm.parse_assembly(""), target_machine(level=1), use_lmm=True
        )
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        self.function = SIGNATURE(engine.get_function_address(f"{layout.name}_packed"))
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
        results = {port.name: batch.output(port.name) for port in self.layout.outputs}
        return {name: value[0] for name, value in results.items()} if single else results

    def batch(self, worlds: int) -> Batch:
        """Arrays for a number of worlds, to be filled and run again and again."""
        return Batch(self.layout, self.function, worlds)
