"""Machine code for this CPU: from a program to LLVM IR, and to object code."""

from __future__ import annotations

from collections.abc import Sequence

import llvmlite.binding as llvm

from heelstrike.codegen.deep_stack import deep_stack
from heelstrike.codegen.host import LEVEL, host, target_machine
from heelstrike.codegen.layout import Layout
from heelstrike.codegen.llvm import Module, emit
from heelstrike.codegen.real import Real, real_type
from heelstrike.errors import ProgramError
from heelstrike.ir.code import TracedProgram
from heelstrike.ir.program import Program


def compile_object(
    program: Program | TracedProgram,
    outputs: Sequence[str] | None = None,
    width: int | None = None,
    dtype: str = "float64",
    level: int = LEVEL,
) -> tuple[Layout, bytes]:
    """Return the layout and the object code of a program for this CPU; see `compile_program`."""
    real = real_type(dtype)
    if level not in (0, 1, 2, 3):
        raise ProgramError(
            f"LLVM's optimisation level is {level}", path="level", value=level, allowed="0, 1, 2, 3"
        )
    if width is not None and width not in (1, 2, 4, 8, 16, 32):
        raise ProgramError(
            f"width is {width}", path="width", value=width, allowed="a power of two from 1 to 32"
        )
    traced = program if isinstance(program, TracedProgram) else program.trace(outputs)
    module = emit(traced, widest(real) if width is None else width, real)
    layout = Layout.of(traced, module.width, real, module.frame_size)
    return layout, object_code(module, level)


def widest(real: Real) -> int:
    """Return the number of lanes in this CPU's widest vector register."""
    features = host()[1].split(",")
    bits = 512 if "+avx512f" in features else 256 if "+avx2" in features else 128
    return bits // real.bits


def object_code(module: Module, level: int) -> bytes:
    """Return the object code of a module for this CPU."""
    machine = target_machine(level)
    with deep_stack():
        parsed = llvm.parse_assembly(module.text)
        parsed.triple = machine.triple
        parsed.data_layout = str(machine.target_data)
        parsed.verify()
        return machine.emit_object(parsed)
