"""Programs on a GPU: PTX loaded and launched by cuda-core, a thread a world.

Needs the extra heelstrike[cuda] and a GPU; `gpu/ptx.py` makes what it loads.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from heelstrike.compile import chosen
from heelstrike.compile.cuda_batch import CudaBatch
from heelstrike.compile.driver import allow_shared, cuda_core, current_device, free_memory
from heelstrike.compile.layout import Layout
from heelstrike.errors import ProgramError

WARP = 32
"""Worlds of a tile: the threads of a warp."""
MARK = "// heelstrike "


@dataclass(frozen=True)
class Ptx:
    """PTX of a program, and what a caller must know of it."""

    layout: Layout
    text: str
    threads: int
    """That work on a tile."""
    tiles: int
    """Of a block, where there are more than multiprocessors."""
    shared: int = 0
    """Bytes of shared memory for a tile."""

    def as_bytes(self) -> bytes:
        """PTX that carries its layout in a comment."""
        numbers = {"threads": self.threads, "tiles": self.tiles, "shared": self.shared}
        head = {"layout": self.layout.as_dict(), **numbers}
        return f"{MARK}{json.dumps(head)}\n{self.text}".encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Ptx:
        """Of what `as_bytes` made; an error says what is wrong with it."""
        head, _, text = content.decode().partition("\n")
        if not head.startswith(MARK):
            raise ProgramError("it is no PTX of Heelstrike: its first line has no layout")
        values = json.loads(head.removeprefix(MARK))
        layout = Layout.from_dict(values["layout"])
        return cls(layout, text, values["threads"], values["tiles"], values["shared"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a PTX file, whole or not at all."""
        from heelstrike.compile.container import write

        write(Path(path), self.as_bytes(), mode=0o644)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Ptx:
        """Reads a file that `save` wrote; needs neither CasADi, LLVM nor a GPU."""
        try:
            return cls.from_bytes(Path(path).read_bytes())
        except (OSError, UnicodeDecodeError, ProgramError) as error:
            raise ProgramError(f"{path} cannot be read: {error}") from error


class CudaKernel:
    """PTX loaded on the current GPU."""

    def __init__(self, ptx: Ptx) -> None:
        self.layout = ptx.layout
        self.ptx = ptx
        self.device = current_device()
        core = cuda_core()
        code = core.ObjectCode.from_ptx(ptx.text.encode())
        self.kernel = code.get_kernel(ptx.layout.name)
        if ptx.shared:
            allow_shared(self.kernel, ptx.shared * ptx.tiles, self.device)

    @property
    def registers(self) -> int:
        """Registers a thread."""
        return int(self.kernel.attributes.num_regs)

    @property
    def local_bytes(self) -> int:
        """Local memory a thread: frame and spills."""
        return int(self.kernel.attributes.local_size_bytes)

    @property
    def world_bytes(self) -> int:
        """Memory of the GPU that a world takes."""
        layout = self.layout
        ports = layout.inputs + layout.memory + layout.outputs
        return sum(port.size for port in ports) * layout.real.bytes

    @property
    def fitting(self) -> int:
        """Worlds that fit into what the GPU has left."""
        return free_memory() // self.world_bytes

    @cached_property
    def chosen(self) -> Any:
        """The kernel that writes where a mask holds."""
        text = chosen.ptx(self.layout.real.bytes)
        return cuda_core().ObjectCode.from_ptx(text.encode()).get_kernel(chosen.NAME)

    def batch(self, worlds: int) -> CudaBatch:
        return CudaBatch(self, worlds)
