"""Registers of a thread on a GPU, and the number of warps that a multiprocessor holds."""

from __future__ import annotations

from heelstrike.codegen.cuda.module import WARP

MAX_REGISTER_CELLS = 255
"""Cells of a warp group that LLVM may turn into registers: as many as a thread has. More would move
between registers and local memory at every branch; they stay in memory."""
WORLD_BLOCK = 64
"""Threads of a block with a thread per world: they share nothing, so any small number will do."""
WORLD_REGISTERS = 128
"""Registers of a thread per world in float32: 16 warps per multiprocessor (benchmarks/gpu.md)."""
MAX_SLICES = 4
"""Block slices of a multiprocessor, at most: each thread then has 128 registers."""
SMALL_STEP = 4000
"""Operations of a step that fit three times into a multiprocessor's instruction cache."""
LARGE_STEP = 9000
"""Operations of a step that hardly fit into a multiprocessor's instruction cache."""
ALL_SHARED, RESERVED = 228 * 1024, 1024
"""Shared memory of a multiprocessor [bytes], from Hopper on, and what each block takes of it."""


def resident_slices(size: int, in_memory: bool, shared: int) -> int:
    """Return how many block slices, each with 32 worlds, a multiprocessor should hold.

    With few operations it holds more of them, with many each gets more registers; unless values
    that branches change are too many for registers and are `in_memory`: then more slices hide what
    that takes. `shared` is the memory of each [bytes].
    """
    fit = min(ALL_SHARED // (shared + RESERVED), MAX_SLICES)
    return 3 if size < SMALL_STEP else max(2, fit if in_memory else 2)


def slices_in_step(size: int, loops: bool, resident: int, shared: int) -> int:
    """Return how many block slices a block keeps in step; `shared` is the memory of each [bytes].

    Where their rounds differ they drift apart, each reading instructions of its own. If those do
    not all fit into the cache, it is faster to let two wait for one another. Two blocks of one
    slice each may also take too much shared memory.
    """
    too_much = 2 * (shared + RESERVED) > ALL_SHARED
    return 2 if too_much or (loops and size > LARGE_STEP and resident == 2) else 1


def limb_registers(warps: int, slices: int) -> int:
    """Return the registers of a thread for which a multiprocessor holds the slices.

    A quarter of a multiprocessor has 16,384.
    """
    each = -(-warps * slices // 4)
    return min(255, 16384 // (WARP * each) // 8 * 8)


def gpu_attributes(fast: bool, registers: int | None) -> str:
    """Return the attributes of functions (#0) and of the kernel (#1), which limit registers."""
    loose = '"unsafe-fp-math"="true" "denormal-fp-math-f32"="preserve-sign,preserve-sign"'
    common = f"noinline nounwind {loose if fast else ''}"
    limit = f'"nvvm.maxnreg"="{registers}"' if registers else ""
    return f"attributes #0 = {{ {common} }}\nattributes #1 = {{ {common} {limit} }}"
