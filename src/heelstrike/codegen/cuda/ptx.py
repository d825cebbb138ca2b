"""PTX of a program: the same LLVM IR through the NVPTX back end. Needs no GPU and no CUDA package.

Division and square root are correctly rounded (rounding.py), nothing is flushed to zero, and no
product is fused that the emitter did not fuse, so a world has the bits of the CPU's float32 or
float64.
`math="fast"` gives that up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import llvmlite.binding as llvm

from heelstrike.codegen.cuda.limb_kernel import emit_limb_kernel
from heelstrike.codegen.cuda.module import WARP, Ptx
from heelstrike.codegen.cuda.planner import HOPPER, MAX_SHARED, SHARED, schedule
from heelstrike.codegen.cuda.registers import (
    MAX_REGISTER_CELLS,
    WORLD_BLOCK,
    gpu_attributes,
    limb_registers,
    resident_slices,
    slices_in_step,
)
from heelstrike.codegen.cuda.rounding import without_branches
from heelstrike.codegen.deep_stack import deep_stack
from heelstrike.codegen.layout import Layout
from heelstrike.codegen.llvm import emit
from heelstrike.codegen.real import real_type
from heelstrike.errors import ProgramError
from heelstrike.ir.code import TracedProgram
from heelstrike.ir.program import Program


def make_ptx(
    program: Program | TracedProgram,
    outputs: Sequence[str] | None = None,
    dtype: str = "float32",
    arch: str = "sm_90",
    math: str = "exact",
    mapping: str = "auto",
    few: bool = False,
) -> Ptx:
    """Return the PTX of a program.

    Args:
        program: A program, or one that was traced elsewhere with its outputs.
        outputs: Names of the outputs, all if None.
        dtype: "float32" or "float64".
        arch: Architecture of the GPU, such as "sm_90".
        math: "exact" for the CPU's bits, "fast" for approximate division and fused sums.
        mapping: "world" for a thread per world, "part" for a warp per limb, "auto" for a warp per
            limb where the program has limbs.
        few: Whether the GPU has few worlds for each multiprocessor: then programs whose loops call
            functions, as those with contact between bodies, have a warp per limb, too.
    """
    real = real_type(dtype)
    _check_choice("math", math, ("exact", "fast"))
    _check_choice("mapping", mapping, ("auto", "world", "part"))
    number = re.fullmatch(r"sm_(\d+)[af]?", arch)
    if number is None:
        raise ProgramError(
            f"arch is '{arch}'",
            path="arch",
            value=arch,
            allowed="'sm_' and a number, such as 'sm_90'",
        )
    traced = program if isinstance(program, TracedProgram) else program.trace(outputs)
    fast = math == "fast"
    limit = MAX_SHARED if int(number[1]) >= HOPPER else SHARED
    plan = None
    if mapping != "world":
        plan = schedule(traced, real.bytes, limit, few or mapping == "part")
    if plan is None and mapping == "part":
        raise ProgramError(
            f"program '{program.name}' has no limbs, or needs too much shared memory",
            path="mapping",
            value=mapping,
            remedy="use mapping='world'",
        )
    if plan is None:
        text = emit(traced, 1, real, gpu=True, fast=fast).text
        threads, tiles, shared = WARP, WORLD_BLOCK // WARP, 0
    else:
        text = emit_limb_kernel(traced, plan, real, fast)
        shared = plan.values * WARP * real.bytes
        several = real.bytes == 4 and 2 * shared <= MAX_SHARED  # else one slice, with all registers
        in_memory = plan.most_cells > MAX_REGISTER_CELLS
        resident = resident_slices(plan.size, in_memory, shared) if several else 1
        registers = limb_registers(plan.warps, resident)
        text += "\n" + gpu_attributes(fast, registers)
        threads = WARP * plan.warps
        tiles = slices_in_step(plan.size, plan.loops, resident, shared) if several else 1
    machine = _target(arch)
    with deep_stack():
        parsed = llvm.parse_assembly(text)
        parsed.triple = "nvptx64-nvidia-cuda"
        parsed.data_layout = str(machine.target_data)
        parsed.verify()
        made = machine.emit_assembly(parsed)
    layout = Layout.of(traced, WARP, real, frame_size=0)
    return Ptx(layout, without_branches(made), threads, tiles, shared)


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ProgramError(f"{name} is '{value}'", path=name, value=value, allowed=listed)


@cache
def _target(arch: str) -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(cpu=arch, opt=3)
