"""Target of compilation: the vector lanes of this CPU, or a GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.codegen.layout import Layout
from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.runtime.cache import cached_kernel, cached_ptx
from heelstrike.runtime.cuda.driver import architecture, current_device
from heelstrike.runtime.cuda.kernel import CudaKernel
from heelstrike.runtime.kernel import Kernel

if TYPE_CHECKING:
    from heelstrike.ir.code import TracedProgram
    from heelstrike.ir.program import Program
    from heelstrike.runtime.cuda.dlpack import DeviceArray

DEVICES = ("cpu", "cuda")
TYPES = {"cpu": "float64", "cuda": "float32"}
"""Default type of the numbers by device."""
MATHS = ("exact", "fast")


class Advancing(Protocol):
    """Protocol of what advances worlds and records outputs."""

    worlds: int
    steps_made: int

    @property
    def layout(self) -> Layout: ...
    def output(self, name: str) -> np.ndarray: ...
    def run(self, steps: int = 1, every: int = 1, threads: int = 1) -> None: ...
    def peek(self) -> None: ...
    def sync(self) -> None: ...


class Worlds(Advancing, Protocol):
    """Protocol of the arrays of a number of worlds on their device: a Batch or a CudaBatch."""

    @property
    def stream_handle(self) -> int | None: ...
    def set(self, **values: ArrayLike) -> None: ...
    def get(self, name: str) -> np.ndarray: ...
    def reset(self, worlds: np.ndarray | None = None, **values: ArrayLike) -> None: ...
    def continue_from(self, other: Self) -> None: ...
    def state(self) -> dict[str, np.ndarray]: ...
    def snapshot(self, *names: str) -> Mapping[str, np.ndarray]: ...
    def view(self, name: str) -> np.ndarray | None: ...
    def device_array(self, name: str) -> np.ndarray | DeviceArray: ...


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
