"""Kernel of a program on a GPU with a thread per world; a tile is the 32 worlds of a warp.

The scratch frame is the thread's local memory. A thread that finishes a loop early waits for its
warp and keeps its values: its bits are those that it has alone.
"""

from __future__ import annotations

from heelstrike.codegen.cuda.module import WARP
from heelstrike.codegen.entry import Entry, Plan
from heelstrike.codegen.real import Real


class WorldKernel(Entry):
    """Emits the kernel:

    void NAME(ptr ports, ptr strides, ptr records, i64 tiles, i64 steps, i64 every, i64 phase)
    """

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
