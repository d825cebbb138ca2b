"""Compiled steps as code of another CPU, behind the C interface: to emulate, count and time them.

llvmlite has the back ends; a C compiler for the target links, and a program such as qemu-user or
valgrind runs the result. The driver reads the arrays of a batch, calls the function that the header
declares, prints the CPU time of the call, and writes all arrays back.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np

from heelstrike.codegen.layout import Layout
from heelstrike.codegen.llvm import emit
from heelstrike.codegen.real import real_type
from heelstrike.ir.program import Program
from heelstrike.runtime.arrays import PortArrays
from heelstrike.runtime.batch import Batch
from heelstrike.runtime.export_c import header


@dataclass(frozen=True)
class Cpu:
    """A CPU that LLVM knows, and what links and runs its code here."""

    triple: str
    name: str
    bits: int
    """Bits of a vector register."""
    compiler: str
    runner: tuple[str, ...] = ()
    """Command that runs a program of this CPU; () for this machine itself."""
    features: str = ""

    def missing(self) -> str | None:
        """Return what is not installed here, as a reason to skip; None if all is."""
        for program in (self.compiler, *self.runner[:1]):
            if shutil.which(program) is None:
                return f"needs {program}"
        return None


ARM = Cpu(
    "aarch64-unknown-linux-gnu",
    "cortex-a76",
    128,
    "aarch64-linux-gnu-gcc",
    ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"),
    "+neon",
)
"""AArch64 with NEON, by the Debian packages gcc-aarch64-linux-gnu and qemu-user."""
AVX2 = Cpu("x86_64-unknown-linux-gnu", "haswell", 256, "cc")
AVX512 = Cpu("x86_64-unknown-linux-gnu", "skylake-avx512", 512, "cc", (), "-prefer-256-bit")


@dataclass(frozen=True)
class Compiled:
    """A program as code of a CPU."""

    cpu: Cpu
    layout: Layout
    code: bytes
    """Object code."""
    assembly: str


def cross_compiled(program: Program, cpu: Cpu, dtype: str = "float64") -> Compiled:
    """Return a program that records nothing as code of a CPU, with as many lanes as fit."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    real, traced = real_type(dtype), program.trace(())
    module = emit(traced, cpu.bits // real.bits, real)
    layout = Layout.of(traced, module.width, real, module.frame_size)
    made: list[bytes | str] = []
    for act in ("emit_object", "emit_assembly"):  # each changes the module
        machine = llvm.Target.from_triple(cpu.triple).create_target_machine(
            cpu=cpu.name, features=cpu.features, opt=1, reloc="pic", codemodel="small"
        )
        parsed = llvm.parse_assembly(module.text)
        parsed.triple, parsed.data_layout = cpu.triple, str(machine.target_data)
        parsed.verify()
        made.append(getattr(machine, act)(parsed))
    return Compiled(cpu, layout, made[0], made[1])


DRIVER = """\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "{name}.h"

static void *ports[{prefix}_PORTS];
static int64_t strides[{prefix}_PORTS], records[{prefix}_PORTS], sizes[{prefix}_PORTS], counts[5];

static void *space(size_t bytes) {{
    return aligned_alloc({prefix}_ALIGNMENT, (bytes / {prefix}_ALIGNMENT + 1) * {prefix}_ALIGNMENT);
}}

static void must(size_t done, size_t wanted) {{ if (done != wanted) exit(1); }}

int main(int argc, char **argv) {{
    FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
    must(fread(counts, 8, 5, in), 5);
    must(fread(strides, 8, {prefix}_PORTS, in), {prefix}_PORTS);
    must(fread(records, 8, {prefix}_PORTS, in), {prefix}_PORTS);
    must(fread(sizes, 8, {prefix}_PORTS, in), {prefix}_PORTS);
    for (int p = 0; p < {prefix}_PORTS; p++) {{
        ports[p] = space(sizes[p]);
        must(fread(ports[p], 1, sizes[p], in), sizes[p]);
    }}
    void *frame = space({prefix}_FRAME_BYTES);
    clock_t began = clock();
    {name}(ports, strides, records, frame, counts[0], counts[1], counts[2], counts[3], counts[4]);
    printf("%.9f\\n", (double)(clock() - began) / CLOCKS_PER_SEC);
    for (int p = 0; p < {prefix}_PORTS; p++) must(fwrite(ports[p], 1, sizes[p], out), sizes[p]);
    fclose(out);
    return 0;
}}
"""


class ForeignBatch(PortArrays):
    """A batch whose steps are made by a program of another CPU."""

    def __init__(self, made: Compiled, like: Batch, folder: Path) -> None:
        """Take the inputs and memory of a batch of any width, as they are now."""
        layout = made.layout
        super().__init__(layout, like.worlds)
        self.cpu = made.cpu
        values = (*layout.inputs, *layout.memory, *layout.tables)
        self.set(**{port.name: like.get(port.name) for port in values})
        self.folder = folder
        name = layout.name
        (folder / f"{name}.h").write_text(header(layout))
        (folder / f"{name}.o").write_bytes(made.code)
        text = DRIVER.format(name=name, prefix=name.upper())
        (folder / "driver.c").write_text(text)
        command = [made.cpu.compiler, "-O1", "-o", "driver", "driver.c", f"{name}.o", "-lm"]
        subprocess.run(command, cwd=folder, check=True)

    def run(self, steps: int, runner: Sequence[str] = ()) -> float:
        """Make steps; return the CPU time of the call [s].

        `runner` is a command that runs the program, such as valgrind, before the CPU's own.
        """
        counts = np.array([0, self.tiles, steps, steps, 0], np.int64)
        outputs = self.layout.outputs
        arrays = [self.arrays[p.array if p in outputs else p.name] for p in self.layout.ports]
        heads = [counts, np.array(self.strides[:]), np.array(self.record_strides[:])]
        heads.append(np.array([array.nbytes for array in arrays]))
        with (self.folder / "in").open("wb") as file:
            for array in (*heads, *arrays):
                file.write(np.ascontiguousarray(array).tobytes())
        command = [*runner, *self.cpu.runner, "./driver", "in", "out"]
        done = subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True)
        data = (self.folder / "out").read_bytes()
        for array in arrays:
            array[...] = np.frombuffer(data[: array.nbytes], array.dtype).reshape(array.shape)
            data = data[array.nbytes :]
        return float(done.stdout.split()[-1])
