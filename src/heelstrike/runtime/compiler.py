"""Compilation of a program into a loaded kernel."""

from __future__ import annotations

from collections.abc import Sequence

from heelstrike.codegen.cpu import compile_object
from heelstrike.ir.code import TracedProgram
from heelstrike.ir.program import Program
from heelstrike.runtime.kernel import Kernel


def compile_program(
    program: Program | TracedProgram,
    outputs: Sequence[str] | None = None,
    width: int | None = None,
    dtype: str = "float64",
    level: int = 2,
) -> Kernel:
    """Compile a program for this CPU and return the loaded kernel.

    The kernel computes the named outputs (default: all) with `width` lanes (default: the CPU's
    widest) at LLVM's optimisation `level`, 1 to 3. A traced program has its outputs already.
    """
    return Kernel(*compile_object(program, outputs, width, dtype, level))
