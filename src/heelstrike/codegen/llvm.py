"""Emission of a traced program as an LLVM module for W lanes.

Items are grouped into LLVM functions of a size that compiles fast. The entry calls them in order,
tile by tile, round by round and step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from heelstrike.codegen.cuda.module import WARP
from heelstrike.codegen.cuda.registers import WORLD_REGISTERS, gpu_attributes
from heelstrike.codegen.cuda.world_kernel import WorldKernel
from heelstrike.codegen.entry import Branch, Call, Cycle, Entry, Plan
from heelstrike.codegen.frame import Group, GuardTest, ScratchFrame, scratch_frame
from heelstrike.codegen.function import FunctionEmitter
from heelstrike.codegen.lanes import Lanes
from heelstrike.codegen.passes.guards import without_guards
from heelstrike.codegen.passes.joining import join_guards
from heelstrike.codegen.passes.packing import MAX_WIDTH, pack
from heelstrike.codegen.passes.sharing import share
from heelstrike.codegen.real import Real
from heelstrike.codegen.shared_function import SharedFunction
from heelstrike.ir.code import Guard, Item, Repeat, SharedCode, Template, TracedProgram
from heelstrike.ir.collector import collector_paused

FUNCTION_SIZE = 1500
"""Operations after which a new LLVM function begins: LLVM's time grows faster than the function."""

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
    if not guards:
        items = [without_guards(part) for part in items]
    if width == 1 and not gpu:
        items = [pack(join_guards(part)) for part in items]
    if not gpu:
        items = share(items, {array.name for array in program.arrays}, width)
    commit = (program.commit,) if program.commit else ()
    phases = [_grouped(part) for part in (*items[:2], (*commit, *items[2]))]
    frame = scratch_frame(
        [_functions(entry) for phase in phases for entry in phase], program.arrays
    )
    emitter = _ModuleEmitter(
        program,
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
    constants = [_constant(name, table, real) for name, table in program.constants.items()]
    parts = [*constants, *emitter.tables, *sorted(emitter.intrinsics), *emitter.texts, entry]
    registers = WORLD_REGISTERS if real.bytes == 4 else None
    attributes = gpu_attributes(fast, registers) if gpu else _attributes(width, real)
    text = "\n".join([*parts, attributes])
    return Module(text, frame.size * tiles, width)


def _size(items: Sequence[Item]) -> int:
    """Return the number of operations; the body of a loop counts once."""
    return sum(_size(x.body) if isinstance(x, Repeat | Guard) else x.size for x in items)


Grouped = list["Group | tuple[Repeat, Grouped] | tuple[Guard, Group, Grouped]"]


def _grouped(items: Sequence[Item]) -> Grouped:
    """Group consecutive items that share an LLVM function; loops have groups of their own.

    A guard has groups of its own too. The group before it ends with its test.
    """
    entries: Grouped = []
    size = FUNCTION_SIZE + 1
    for item in items:
        if isinstance(item, Repeat):
            entries.append((item, _grouped(item.body)))
            size = FUNCTION_SIZE + 1
        elif isinstance(item, Guard):
            before = entries.pop() if size <= FUNCTION_SIZE else ()
            entries.append((item, (*before, GuardTest(item.need)), _grouped(item.body)))
            size = FUNCTION_SIZE + 1
        elif isinstance(item, SharedCode):
            if entries and _continues(entries[-1], item):
                entries[-1] = (*entries[-1], item)
            else:
                entries.append((item,))
            size = FUNCTION_SIZE + 1
        elif size + item.size > FUNCTION_SIZE:
            entries.append((item,))
            size = item.size
        else:
            entries[-1] = (*entries[-1], item)  # type: ignore[arg-type]
            size += item.size
    return entries


def _continues(entry: object, item: SharedCode) -> bool:
    """Return whether a shared block may be called in one loop with those before it."""
    last = entry[-1] if isinstance(entry, tuple) else None
    if not isinstance(last, SharedCode):
        return False
    next_row = last.template is item.template and last.row + 1 == item.row
    return next_row and last.ports == item.ports


def _functions(entry: object) -> list[Group]:
    """Return the groups of an entry: one, all of a loop or guard, or one for each shared block."""
    assert isinstance(entry, tuple)
    if isinstance(entry[0], Repeat):
        return [group for inner in entry[1] for group in _functions(inner)]
    if isinstance(entry[0], Guard):
        return [entry[1], *(group for inner in entry[2] for group in _functions(inner))]
    if isinstance(entry[0], SharedCode):
        return [(item,) for item in entry]
    return [entry]


class _ModuleEmitter:
    """Emits the functions, and returns in which order they are called."""

    def __init__(
        self, program: TracedProgram, frame: ScratchFrame, lanes: Callable[[], Lanes]
    ) -> None:
        self.program = program
        self.frame = frame
        self.lanes = lanes
        self.constants = {name: f'@"{name}"' for name in program.constants}
        self.texts: list[str] = []
        self.tables: list[str] = []
        """Tables of shared functions."""
        self.shared: dict[Template, int] = {}
        """Functions of templates."""
        self.intrinsics: set[str] = set()

    def plan(self, entries: Grouped) -> Plan:
        return tuple(self._entry(entry) for entry in entries)

    def _entry(self, entry: object) -> Call | Cycle | Branch:
        assert isinstance(entry, tuple)
        if isinstance(entry[0], Repeat):
            return Cycle(entry[0].limit, entry[0].until, self.plan(entry[1]))
        if isinstance(entry[0], Guard):
            return Branch(self._call(entry[1]), self.plan(entry[2]))
        if isinstance(entry[0], SharedCode):
            first, last = entry[0], entry[-1]
            call = Call(self._shared(first), first.ports)
            return Cycle(last.row + 1, False, (call,), first.row)
        return self._call(entry)

    def _call(self, group: Group) -> Call:
        lanes = self.lanes()
        emitter = FunctionEmitter(lanes, self.frame, self.constants)
        emitter.emit(group)
        number = self._function(lanes, emitter.ports.values(), emitter.answer)
        return Call(number, tuple(emitter.ports))

    def _shared(self, code: SharedCode) -> int:
        """Return the function of a shared block's template, which is emitted if it was not yet."""
        if code.template not in self.shared:
            lanes = self.lanes()
            function = SharedFunction(code.template, self.frame)
            name = f"{self.program.name}.{len(self.texts)}"
            self.tables.append(function.emit(name, lanes))
            ports = [f"%port{k}" for k in range(len(code.ports))]
            self.shared[code.template] = self._function(lanes, ports, "false")
        return self.shared[code.template]

    def _function(self, lanes: Lanes, ports: Iterable[str], result: str) -> int:
        """Add a function to the module, and return its number."""
        self.intrinsics |= lanes.intrinsics
        number = len(self.texts)
        pointers = ", ".join(f"ptr noalias {name}" for name in ("%frame", *ports))
        body = "\n".join(lanes.lines)
        self.texts.append(
            f'define internal i1 @"{self.program.name}.{number}"(i64 %counter, {pointers}) #0 {{\n'
            f"{body}\n  ret i1 {result}\n}}"
        )
        return number


def _constant(name: str, table: np.ndarray, real: Real) -> str:
    values = ", ".join(f"{real.name} {Lanes(1, real).const(x)}" for x in table.ravel())
    return f'@"{name}" = private unnamed_addr constant [{table.size} x {real.name}] [{values}]'


def _attributes(width: int, real: Real) -> str:
    bits = max(128, (MAX_WIDTH if width == 1 else width) * real.bits)
    widths = f'"prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}"'
    return f"attributes #0 = {{ noinline nounwind {widths} }}"
