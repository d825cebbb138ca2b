"""A GPU's kernel with a warp per limb, run by threads of the CPU: the same IR that becomes PTX.

Features of a GPU are replaced: a thread's number, barriers and votes are Python's, shared memory is
an array, and there is one address space. Each warp has two lanes, so a batch is two worlds. A
second slice of a block computes the same tile once more.
"""

from __future__ import annotations

import ctypes
import re
import threading

import llvmlite.binding as llvm
import numpy as np

from heelstrike.codegen.cuda.limb_kernel import emit_limb_kernel
from heelstrike.codegen.cuda.module import WARP
from heelstrike.codegen.cuda.planner import schedule
from heelstrike.codegen.cuda.registers import gpu_attributes
from heelstrike.codegen.layout import Layout
from heelstrike.codegen.real import REALS
from heelstrike.ir.program import Program
from heelstrike.runtime.batch import Batch
from heelstrike.runtime.compiler import compile_program

LANES = 2
"""Number of lanes of each warp."""


class ThreadBatch(Batch):
    """Two worlds that step as on a GPU that has few of them."""

    def __init__(
        self, program: Program, outputs: list[str], dtype: str = "float64", slices: int = 1
    ) -> None:
        traced, real = program.trace(outputs), REALS[dtype]
        self.plan = schedule(traced, real.bytes, few=True)
        assert self.plan is not None
        super().__init__(Layout.of(traced, WARP, real, 0), _never, LANES)
        text = emit_limb_kernel(traced, self.plan, real, False) + "\n" + gpu_attributes(False, None)
        warps = range(self.plan.warps * slices)
        self.threads = [WARP * warp + lane for warp in warps for lane in range(LANES)]
        self.block = WARP * self.plan.warps * slices
        self._here = threading.local()
        self._barrier = threading.Barrier(len(self.threads))
        self._warps = [threading.Barrier(LANES) for _ in warps]
        self._cast: dict[int, int] = {}
        self.votes: dict[tuple[int, int], int] = {}
        """Number of votes of each thread for and against a branch."""
        self._engine, self._kernel = self._compile(_for_cpu(text, self.plan.values * WARP * slices))

    def run(self, steps: int = 1, every: int = 1, threads: int = 1) -> None:
        phase = self.steps_made % every
        self.allocate_records(len(range(-phase % every, steps, every)))
        self.steps_made += steps
        workers = [
            threading.Thread(target=self._thread, args=(tid, steps, every, phase))
            for tid in self.threads
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def _thread(self, tid: int, steps: int, every: int, phase: int) -> None:
        self._here.tid = tid
        tables = (ctypes.addressof(x) for x in (self.pointers, self.strides, self.record_strides))
        self._kernel(*tables, self.tiles, steps, every, phase)

    def _vote(self, holds: int) -> int:
        self._cast[self._here.tid] = holds
        self._barrier.wait()
        found = int(any(self._cast.values()))
        self._barrier.wait()
        return found

    def _warp_vote(self, mask: int, holds: int) -> int:
        warp = self._here.tid // WARP
        lanes = range(WARP * warp, WARP * warp + LANES)
        self._cast[self._here.tid] = holds & 1
        self._warps[warp].wait()
        found = int(any(self._cast[tid] for tid in lanes))
        self.votes[self._here.tid, found] = self.votes.get((self._here.tid, found), 0) + 1
        self._warps[warp].wait()
        return found

    def _compile(self, text: str) -> tuple[llvm.ExecutionEngine, object]:
        self._calls = {
            "heelstrike_thread": ctypes.CFUNCTYPE(ctypes.c_int)(lambda: self._here.tid),
            "heelstrike_block": ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0),
            "heelstrike_size": ctypes.CFUNCTYPE(ctypes.c_int)(lambda: self.block),
            "heelstrike_barrier": ctypes.CFUNCTYPE(None)(lambda: self._barrier.wait() and None),
            "heelstrike_vote": ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(self._vote),
            "heelstrike_warp_vote": ctypes.CFUNCTYPE(ctypes.c_uint8, ctypes.c_int, ctypes.c_uint8)(
                self._warp_vote
            ),
        }
        for name, call in self._calls.items():
            llvm.add_symbol(name, ctypes.cast(call, ctypes.c_void_p).value)
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=1
        )
        module = llvm.parse_assembly(text)
        module.verify()
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 4)
        return engine, kind(engine.get_function_address(self.layout.name))


def _for_cpu(text: str, values: int) -> str:
    """Return the IR without the features of a GPU."""
    kind = re.search(r"@shared = .* \[0 x (\w+)\]", text)[1]
    for pattern, new in (
        (r"@shared = .*", f"@shared = internal global [{values} x {kind}] zeroinitializer"),
        (r" addrspace\(\d\)", ""),
        (r"addrspacecast ptr (%[\w.]+) to ptr", r"getelementptr i8, ptr \1, i64 0"),
        (r'call i32 asm "[^"]*", "[^"]*"\(i32 (%?[\w.]+)\)', r"add i32 \1, 0"),
        (r"llvm\.nvvm\.read\.ptx\.sreg\.tid\.x", "heelstrike_thread"),
        (r"llvm\.nvvm\.read\.ptx\.sreg\.ctaid\.x", "heelstrike_block"),
        (r"llvm\.nvvm\.read\.ptx\.sreg\.ntid\.x", "heelstrike_size"),
        (r"llvm\.nvvm\.vote\.any\.sync", "heelstrike_warp_vote"),
        (r"llvm\.nvvm\.barrier0\.or", "heelstrike_vote"),
        (r"llvm\.nvvm\.barrier0", "heelstrike_barrier"),
        (r"ptx_kernel ", ""),
        (r'"nvvm\.maxnreg"="\d+"', ""),
    ):
        text = re.sub(pattern, new, text)
    return text


def _never(*_: object) -> None:
    raise AssertionError("threads run this batch")


def same_bits(
    program: Program,
    outputs: list[str],
    steps: int,
    dtype: str = "float64",
    slices: int = 1,
    **values: object,
) -> tuple[ThreadBatch, Batch]:
    """Compare the threads' results with those of a CPU batch after steps from the same start."""
    ours = ThreadBatch(program, outputs, dtype, slices)
    peer = compile_program(program, outputs, dtype=dtype, level=1).batch(LANES)
    for batch in (ours, peer):
        batch.set(**values)
        batch.run(steps, 2)
    for name in (port.array for port in (*ours.layout.memory, *ours.layout.outputs)):
        np.testing.assert_array_equal(ours.get(name), peer.get(name), err_msg=name)
    return ours, peer
