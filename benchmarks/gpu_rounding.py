"""Reciprocals and square roots of float32 on a GPU, for all 2^32 numbers: how many bits differ.

    python -m benchmarks.gpu_rounding

The sequences of codegen/cuda/rounding.py beside the GPU's own correctly rounded instructions.
"""

from __future__ import annotations

import numpy as np

from heelstrike.codegen.cuda.rounding import RECIPROCAL, ROOT
from heelstrike.runtime.cuda.driver import copy_in, copy_out, cuda_core, current_device

THREADS = 256
PTX = """\
.version 7.0
.target sm_70
.address_size 64
.visible .entry differ(.param .u64 count)
{{
  .reg .pred %same, %nan;
  .reg .b32 %block, %thread, %x, %ours, %theirs;
  .reg .b64 %count;
  mov.u32 %block, %ctaid.x;
  mov.u32 %thread, %tid.x;
  mad.lo.u32 %x, %block, {threads}, %thread;
  {instruction} %theirs, %x;
  {sequence}
  setp.eq.b32 %same, %ours, %theirs;
  @%same bra DONE;
  setp.nan.f32 %nan, %theirs, %theirs;
  setp.nan.and.f32 %nan, %ours, %ours, %nan;
  @%nan bra DONE;
  ld.param.u64 %count, [count];
  cvta.to.global.u64 %count, %count;
  red.global.add.u32 [%count], 1;
DONE:
  ret;
}}
"""


def differing() -> dict[str, int]:
    """Return how many of all float32 have another reciprocal or square root, NaN apart."""
    device, core = current_device(), cuda_core()
    stream = device.create_stream()
    buffer = device.allocate(4, stream=stream)
    found = {}
    for instruction, sequence in (("rcp.rn.f32", RECIPROCAL), ("sqrt.rn.f32", ROOT)):
        body = sequence.format(to="%ours", a="%x")
        text = PTX.format(threads=THREADS, instruction=instruction, sequence=body)
        kernel = core.ObjectCode.from_ptx(text.encode()).get_kernel("differ")
        count = np.zeros(1, np.uint32)
        copy_in(buffer, count)
        config = core.LaunchConfig(grid=2**32 // THREADS, block=THREADS)
        core.launch(stream, config, kernel, int(buffer.handle))
        stream.sync()
        copy_out(count, buffer)
        found[instruction] = int(count[0])
    return found


if __name__ == "__main__":
    for name, count in differing().items():
        print(f"{name}: {count} of 2^32 differ")
