"""Emission of a traced program as an LLVM module for W lanes.

The entry calls the functions of its items (calls.py) in order, tile by tile, round by round and
step by step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heelstrike.codegen.calls import CallEmitter, functions_of, grouped
from heelstrike.codegen.cuda.module import WARP
from heelstrike.codegen.cuda.registers import WORLD_REGISTERS, gpu_attributes
from heelstrike.codegen.cuda.world_kernel import WorldKernel
from heelstrike.codegen.entry import Entry
from heelstrike.codegen.frame import scratch_frame
from heelstrike.codegen.lanes import Lanes
from heelstrike.codegen.passes.guards import without_guards
from heelstrike.codegen.passes.joining import join_guards
from heelstrike.codegen.passes.packing import MAX_WIDTH, pack
from heelstrike.codegen.passes.sharing import share
from heelstrike.codegen.real import Real
from heelstrike.ir.code import Code, Guard, Item, Repeat, TracedProgram
from heelstrike.ir.collector import collector_paused

PASS_TILES = 2
"""Tiles that go through one function before the next one is fetched: a robot's code is larger than
the instruction cache. There are fewer if their frames would take more than MAX_PASS_BYTES, and one
where all the code fits into the cache: then the values of a tile stay in the data cache.
"""
MAX_PASS_BYTES = 2**20
"""Size of the frames of a pass, at most [bytes]."""
SMALL_CODE = 5000
"""Operations whose code fits into an instruction cache of 32 kB."""


@dataclass(frozen=True)
class Module:
    """LLVM IR of a program.

    Its entry

    void NAME(ptr ports, ptr strides, ptr records, ptr frames,
              i64 first, i64 last, i64 steps, i64 every, i64 phase)

    works through the tiles first..last-1, each for a number of steps. A tile is W worlds; element i
    of port p of a tile is a vector of W values at ports[p] + tile * strides[p] + record *
    records[p] + i * W * size of a value. A stride of 0 makes a port the same for all tiles; tables
    are plain arrays. Outputs are written in steps s with (phase + s) divisible by `every`, to
    records 0, 1, ... The frames are scratch memory of one thread, for the tiles of one pass.
    NAME_packed(ptr arguments) takes the same nine as an array, which is a faster call from Python.
    """

    text: str
    frame_size: int
    """Number of values (of W lanes) that the frames must hold."""
    width: int


@collector_paused()
def emit(
    program: TracedProgram,
    width: int,
    real: Real,
    gpu: bool = False,
    fast: bool = False,
    guards: bool = True,
) -> Module:
    """Return the LLVM IR of a program, for lanes of a CPU or for a GPU with a thread per world.

    On a GPU a tile is the 32 worlds of a warp. `fast` lets LLVM reorder and approximate: the bits
    then depend on the target. Without `guards` their bodies are always executed; the bits are the
    same.
    """
    items = [program.step, program.record, program.late]
    if not gpu:
        items = [tuple(item for item in part if not _is_unset(item)) for part in items]
    if not guards:
        items = [without_guards(part) for part in items]
    if width == 1 and not gpu:
        items = [pack(join_guards(part)) for part in items]
    items = share(items, {array.name for array in program.arrays}, WARP if gpu else width)
    commit = (program.commit,) if program.commit else ()
    phases = [grouped(part) for part in (*items[:2], (*commit, *items[2]))]
    frame = scratch_frame(
        [functions_of(entry) for phase in phases for entry in phase], program.arrays
    )
    emitter = CallEmitter(
        program.name,
        program.constants,
        frame,
        lambda: Lanes(width, real, None, WARP if gpu else 1, "fast " if fast else ""),
    )
    plans = [emitter.plan(phase) for phase in phases]
    ports = (*program.inputs, *program.tables, *program.memory, *program.outputs)
    names = [port.array for port in ports]
    recorded = {port.array for port in program.outputs}
    tiles = 1
    if gpu:
        tables = {port.array for port in program.tables}
        kernel = WorldKernel(program.name, names, recorded, tables, frame.size, real)
        entry = kernel.text(*plans)
    else:
        frame_bytes = frame.size * width * real.bytes
        small = sum(_size(part) for part in items) <= SMALL_CODE
        tiles = 1 if small else max(1, min(PASS_TILES, MAX_PASS_BYTES // max(frame_bytes, 1)))
        entry = Entry(program.name, names, recorded, frame_bytes, tiles).text(*plans)
    constants = [constant_text(name, table, real) for name, table in program.constants.items()]
    parts = [*constants, *emitter.tables, *sorted(emitter.intrinsics), *emitter.texts, entry]
    registers = WORLD_REGISTERS if real.bytes == 4 else None
    attributes = gpu_attributes(fast, registers) if gpu else _attributes(width, real)
    text = "\n".join([*parts, attributes])
    return Module(text, frame.size * tiles, width)


def _is_unset(item: Item) -> bool:
    """Return whether an item sets what is assigned again before a lane needs it."""
    return isinstance(item, Code) and item.tag.unset


def _size(items: Sequence[Item]) -> int:
    """Return the number of operations; the body of a loop counts once."""
    return sum(_size(x.body) if isinstance(x, Repeat | Guard) else x.size for x in items)


def constant_text(name: str, table: np.ndarray, real: Real) -> str:
    values = ", ".join(f"{real.name} {Lanes(1, real).const(x)}" for x in table.ravel())
    return f'@"{name}" = private unnamed_addr constant [{table.size} x {real.name}] [{values}]'


def _attributes(width: int, real: Real) -> str:
    bits = max(128, (MAX_WIDTH if width == 1 else width) * real.bits)
    widths = f'"prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}"'
    return f"attributes #0 = {{ noinline nounwind {widths} }}"
