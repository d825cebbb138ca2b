"""Compilation of a program into a loaded kernel."""

from __future__ import annotations

from collections.abc import Sequence

from heelstrike.codegen.cpu import compile_object
from heelstrike.codegen.host import LEVEL
from heelstrike.ir.code import TracedProgram
from heelstrike.ir.program import Program
from heelstrike.runtime.kernel import Kernel


def compile_program(
    program: Program | TracedProgram,
    outputs: Sequence[str] | None = None,
    width: int | None = None,
    dtype: str = "float64",
    level: int = LEVEL,
) -> Kernel:
    """Compile a program for this CPU and return the loaded kernel.

    Args:
        program: the program; a traced one has its outputs already.
        outputs: names of the outputs to compute; None computes all. What no output and no memory
            needs is not compiled.
        width: number of lanes, a power of two; None takes the CPU's widest vectors. Results do not
            depend on it.
        dtype: "float64" or "float32".
        level: LLVM's optimisation level, 0 to 3. Results do not depend on it.

    Returns:
        A kernel: `kernel(**inputs)` runs a program without memory once, and `kernel.batch(worlds)`
        returns a batch of worlds to set, step and read.

    Raises:
        ProgramError: an output is unknown, or an option is out of range.
        TraceError: an expression has an operation that cannot be compiled.

    Examples:
        ```python
        p = hs.Program("square")
        x = p.input("x", 1)
        with p.block("square"):
            p.output("y", x * x)
        hs.compile_program(p)(x=[3.0])["y"]  # array([9.])
        ```
    """
    return Kernel(*compile_object(program, outputs, width, dtype, level))
