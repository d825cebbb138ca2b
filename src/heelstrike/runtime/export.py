"""Export of a program as a .hs file, which `exported.load_exported` loads.

    export(program, "step.hs")

export_c.py exports a kernel for C, export_casadi.py a program for CasADi.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heelstrike.codegen.host import LEVEL
from heelstrike.errors import ProgramError
from heelstrike.files import whole_file
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program
from heelstrike.runtime.container import pack
from heelstrike.runtime.kernel import Kernel


def export(
    program: Program | Kernel,
    path: str | Path,
    outputs: Sequence[str] | None = None,
    width: int | None = None,
    dtype: str = "float64",
    level: int = LEVEL,
) -> Path:
    """Write a program's machine code for this kind of CPU to a .hs file, and return its path.

    The options are those of `compile_program`, and apply to a program; a kernel has them already.
    """
    path = Path(path)
    if path.suffix != ".hs":
        raise ProgramError(
            f"an exported program is a .hs file, not '{path.name}'",
            path=str(path),
            remedy="take export_c for C, or export_casadi for CasADi",
        )
    if isinstance(program, Program):
        program = compile_program(program, outputs, width, dtype, level)
    elif (outputs, width, dtype, level) != (None, None, "float64", LEVEL):
        raise ProgramError(
            "a compiled kernel has its outputs, width, dtype and level already",
            remedy="pass the program in place of the kernel",
        )
    with whole_file(path) as part:
        part.write_bytes(pack(program.layout, program.code))
    return path
