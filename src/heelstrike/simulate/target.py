"""Target of compilation: the vector lanes of this CPU, or a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.runtime.cache import cached_kernel, cached_ptx
from heelstrike.runtime.cuda.driver import architecture, current_device
from heelstrike.runtime.cuda.kernel import CudaKernel
from heelstrike.runtime.kernel import Kernel

if TYPE_CHECKING:
    from heelstrike.ir.code import TracedProgram
    from heelstrike.ir.program import Program

DEVICES = ("cpu", "cuda")
TYPES = {"cpu": "float64", "cuda": "float32"}
"""Default type of the numbers by device."""
MATHS = ("exact", "fast")


@dataclass(frozen=True)
class CompileTarget:
    """A device, its number type and its precision."""

    device: str
    dtype: str
    math: str

    @classmethod
    def of(cls, device: str, dtype: str | None, math: str) -> CompileTarget:
        """Return the target of these options; raise if one is unknown or the GPU is missing."""
        check_choice("device", device, DEVICES)
        dtype = TYPES[device] if dtype is None else dtype
        check_choice("dtype", dtype, tuple(TYPES.values()))
        check_choice("math", math, MATHS)
        if math == "fast" and (device, dtype) != ("cuda", "float32"):
            raise HeelstrikeError(
                'math="fast" is available for float32 on a GPU only',
                path="math",
                value=math,
                remedy='pass device="cuda" and dtype="float32", or math="exact"',
            )
        if device == "cuda":
            current_device()
        return cls(device, dtype, math)

    def kernel(
        self,
        key: object,
        build: Callable[[], Program | TracedProgram],
        outputs: Sequence[str],
        width: int | None,
    ) -> Kernel | CudaKernel:
        """Return a program compiled for `width` lanes on a CPU (None: its widest), or for a GPU."""
        if self.device == "cpu":
            return cached_kernel(key, build, outputs, width, self.dtype)
        arch = architecture(current_device())
        return CudaKernel(cached_ptx(key, build, outputs, self.dtype, arch, self.math))


def check_choice(what: str, value: str, choices: Sequence[str], plural: str = "") -> None:
    """Raise UnknownNameError if an option has none of its values."""
    if not isinstance(value, str) or value not in choices:
        raise UnknownNameError(what, value, choices, plural=plural, path=what)
