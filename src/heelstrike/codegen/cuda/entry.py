"""The entry of a program on a GPU: a thread a world, a tile the worlds of a warp.

The frame is the thread's local memory. A thread that finishes a loop early waits for its warp, and
keeps its values: its bits are those it has alone.
"""

from __future__ import annotations

from heelstrike.codegen.cuda.module import WARP
from heelstrike.codegen.entry import Entry, Plan
from heelstrike.codegen.real import Real

WORLD_BLOCK = 64
"""Threads of a block with a thread a world: they share nothing, any small number does."""
WORLD_REGISTERS = 128
"""Of a thread in float32: 16 warps a multiprocessor. Measured: benchmarks/gpu.md."""
SMALL, LARGE = 4000, 9000
"""Operations of a step: what a multiprocessor's cache for instructions holds thrice, and hardly."""


def residents(size: int) -> int:
    """Teams of warps, each with 32 worlds, that a multiprocessor should hold: with few operations
    more of them, with many more registers for each.
    """
    return 3 if size < SMALL else 2


def in_step(size: int, loops: bool) -> int:
    """Teams that a block keeps in step. Where their rounds differ they drift apart, each reading
    instructions of its own; if all of those do not fit, they had better wait for one another.
    """
    return 2 if loops and size > LARGE else 1


def part_registers(warps: int, teams: int) -> int:
    """Of a thread, so that a multiprocessor holds the teams, at least those of a block. A quarter
    of it has 16,384.
    """
    each = -(-warps * teams // 4)
    return min(255, 16384 // (WARP * each) // 8 * 8)


def gpu_attributes(fast: bool, registers: int | None) -> str:
    """Of functions; of the kernel also how many registers a thread may have."""
    loose = '"unsafe-fp-math"="true" "denormal-fp-math-f32"="preserve-sign,preserve-sign"'
    common = f"noinline nounwind {loose if fast else ''}"
    limit = f'"nvvm.maxnreg"="{registers}"' if registers else ""
    return f"attributes #0 = {{ {common} }}\nattributes #1 = {{ {common} {limit} }}"


class GpuEntry(Entry):
    """void NAME(ptr ports, ptr strides, ptr records, i64 tiles, i64 steps, i64 every, i64 phase)"""

    def __init__(
        self,
        name: str,
        ports: list[str],
        recorded: set[str],
        tables: set[str],
        frame_size: int,
        real: Real,
    ) -> None:
        super().__init__(name, ports, recorded, frame_size * real.bytes, 1)
        self.tables = tables
        self.frame_size = frame_size
        self.real = real

    def _begin(self) -> None:
        registers = ("tid", "ctaid", "ntid")
        self.lines = [f"declare i32 @llvm.nvvm.read.ptx.sreg.{r}.x()" for r in registers]
        self.lines += [
            f'define ptx_kernel void @"{self.name}"(ptr %ports, ptr %strides, ptr %records,',
            "  i64 %tiles, i64 %steps, i64 %every, i64 %phase) #1 {",
            f"  %frame0 = alloca [{max(self.frame_size, 1)} x {self.real.name}], align 16",
            *(f"  %{r} = call i32 @llvm.nvvm.read.ptx.sreg.{r}.x()" for r in registers),
            "  %block.start = mul i32 %ctaid, %ntid",
            "  %thread = add i32 %block.start, %tid",
            "  %world = zext i32 %thread to i64",
            f"  %tile0 = udiv i64 %world, {WARP}",
            f"  %lane = urem i64 %world, {WARP}",
            f"  %lane.bytes = mul i64 %lane, {self.real.bytes}",
            "  %works = icmp slt i64 %tile0, %tiles",
            "  br i1 %works, label %pass, label %stepped",
            "pass:",
            "  br label %stepping",
        ]

    def _end(self) -> None:
        self.lines += ["stepped:", "  ret void", "}"]

    def _calls(self, plan: Plan) -> None:
        for entry in plan:
            self._work(entry, "%tile0", "%frame0", "0")

    def _own(self, port: str, offset: str) -> str:
        if port in self.tables:
            return offset
        own = f"{offset}.own"
        self.lines.append(f"  {own} = add i64 {offset}, %lane.bytes")
        return own
