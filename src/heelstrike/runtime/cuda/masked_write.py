"""Masked writes: a kernel that writes values into some of the worlds on a GPU, a thread a value.

    to[tile, k, lane] = from[tile, k, lane]  where  mask[tile, lane] is not 0

`from` may be one tile for all tiles. Worlds that the mask leaves out are neither read nor written,
so nothing is copied to the host. The kernel is the PTX below: it needs no compiler and runs on any
GPU since Volta.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.runtime.cuda.driver import cuda_core
from heelstrike.runtime.cuda.interfaces import Buffer

if TYPE_CHECKING:
    from heelstrike.runtime.cuda.batch import CudaBatch

NAME = "heelstrike_masked_write"
"""Name of the kernel in its PTX."""
THREADS = 256
"""Threads of a block."""
LANES = 32
"""Worlds in a tile: the threads of a warp."""
PTX = """\
.version 7.0
.target sm_70
.address_size 64
.visible .entry {name}(.param .u64 to, .param .u64 from, .param .u64 mask, .param .u64 size,
                       .param .u64 stride, .param .u64 count)
{{
  .reg .pred %p<3>;
  .reg .b16 %selected;
  .reg .b32 %block, %threads, %thread;
  .reg .b{bits} %value;
  .reg .b64 %i, %k, %n, %size, %tile, %lane, %row, %a, %b;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %i, %block, %threads;
  cvt.u64.u32 %k, %thread;
  add.u64 %i, %i, %k;
  ld.param.u64 %n, [count];
  setp.ge.u64 %p1, %i, %n;
  @%p1 bra DONE;
  and.b64 %lane, %i, 31;
  shr.u64 %row, %i, 5;
  ld.param.u64 %size, [size];
  div.u64 %tile, %row, %size;
  shl.b64 %a, %tile, 5;
  add.u64 %a, %a, %lane;
  ld.param.u64 %b, [mask];
  cvta.to.global.u64 %b, %b;
  add.u64 %b, %b, %a;
  ld.global.u8 %selected, [%b];
  setp.eq.u16 %p2, %selected, 0;
  @%p2 bra DONE;
  mul.lo.u64 %k, %tile, %size;
  sub.u64 %k, %row, %k;
  shl.b64 %k, %k, 5;
  add.u64 %k, %k, %lane;
  ld.param.u64 %a, [stride];
  mad.lo.u64 %k, %tile, %a, %k;
  ld.param.u64 %b, [from];
  cvta.to.global.u64 %b, %b;
  shl.b64 %k, %k, {shift};
  add.u64 %b, %b, %k;
  ld.global.b{bits} %value, [%b];
  ld.param.u64 %b, [to];
  cvta.to.global.u64 %b, %b;
  shl.b64 %k, %i, {shift};
  add.u64 %b, %b, %k;
  st.global.b{bits} [%b], %value;
DONE:
  ret;
}}
"""


def ptx(width: int) -> str:
    """Return the PTX of the kernel for values of 4 or 8 bytes."""
    return PTX.format(name=NAME, bits=8 * width, shift={4: 2, 8: 3}[width])


class MaskedWrite:
    """Writes into the worlds of a batch where a mask holds."""

    def __init__(self, batch: CudaBatch, mask: np.ndarray) -> None:
        """Copy a mask, (worlds,) booleans, to the GPU; its last entry fills up the last tile."""
        self._batch = batch
        lanes = np.minimum(np.arange(batch.host.tiles * LANES), batch.worlds - 1)
        self._mask = batch.copied(mask[lanes].astype(np.uint8))

    def write(self, to: Buffer, values: np.ndarray) -> None:
        """Write tiles of values, (tiles, size, 32), or one for all, (1, size, 32), to a buffer."""
        core, batch = cuda_core(), self._batch
        size, count = values.shape[1], batch.host.tiles * values[0].size
        if not count:
            return
        stride = 0 if len(values) == 1 else values[0].size
        source = batch.copied(values)
        config = core.LaunchConfig(grid=-(-count // THREADS), block=THREADS)
        batch.kernel.device.set_current()
        pointers = (int(x.handle) for x in (to, source, self._mask))
        numbers = (np.int64(x) for x in (*pointers, size, stride, count))
        core.launch(batch.stream, config, batch.kernel.masked_write, *numbers)
