"""Target of compilation: the vector lanes of this CPU, or GPUs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError
from heelstrike.runtime.cache import cached_kernel, cached_ptx
from heelstrike.runtime.cuda.driver import architecture, current_device, device_count
from heelstrike.runtime.cuda.kernel import CudaKernel
from heelstrike.runtime.cuda.split_kernel import SplitKernel
from heelstrike.runtime.kernel import Kernel

if TYPE_CHECKING:
    from heelstrike.ir.code import TracedProgram
    from heelstrike.ir.program import Program

AnyKernel = Kernel | CudaKernel | SplitKernel
"""A program that is compiled for some device."""
DEVICES = ("cpu", "cuda")
NUMBERED = re.compile("cuda:([0-9]{1,4}(?:,[0-9]{1,4})*)")
"""GPUs by their numbers, such as "cuda:1" or "cuda:0,1"."""
TYPES = {"cpu": "float64", "cuda": "float32"}
"""Default type of the numbers by kind of device."""
MATHS = ("exact", "fast")
FEW = 64
"""Worlds for each multiprocessor of a GPU up to which they are few (benchmarks/gpu.md)."""


@dataclass(frozen=True)
class CompileTarget:
    """A device, its number type and its precision."""

    device: str
    dtype: str
    math: str

    @classmethod
    def of(cls, device: str, dtype: str | None, math: str) -> CompileTarget:
        """Return the target of these options; raise if one is unknown or a GPU is missing."""
        gpus = gpu_numbers(device)
        kind = "cuda" if gpus else "cpu"
        dtype = TYPES[kind] if dtype is None else dtype
        check_choice("dtype", dtype, tuple(TYPES.values()))
        check_choice("math", math, MATHS)
        if math == "fast" and (kind, dtype) != ("cuda", "float32"):
            raise HeelstrikeError(
                'math="fast" is available for float32 on a GPU only',
                path="math",
                value=math,
                remedy='pass device="cuda" and dtype="float32", or math="exact"',
            )
        if gpus:
            check_present(device, gpus)
        return cls(device, dtype, math)

    @property
    def gpus(self) -> tuple[int, ...]:
        """Number of the GPU of each part of the worlds; none on a CPU."""
        return gpu_numbers(self.device)

    @property
    def gpu_names(self) -> dict[str, str]:
        """Names of the GPUs by number."""
        return {str(number): str(current_device(number).name) for number in self.gpus}

    def few(self, worlds: int) -> bool:
        """Return whether every GPU gets at most FEW worlds for each of its multiprocessors."""
        gpus = Counter(self.gpus)
        counts = {n: current_device(n).properties.multiprocessor_count for n in gpus}
        part = -(-worlds // max(len(self.gpus), 1))
        return bool(gpus) and all(gpus[n] * part <= FEW * counts[n] for n in gpus)

    def kernel(
        self,
        key: object,
        build: Callable[[], Program | TracedProgram],
        outputs: Sequence[str],
        width: int | None,
        few: bool = False,
    ) -> AnyKernel:
        """Return a program compiled for `width` lanes on a CPU (None: its widest), or for GPUs.

        `few` is whether GPUs have few worlds.
        """
        if self.device == "cpu":
            return cached_kernel(key, build, outputs, width, self.dtype)
        archs = {number: architecture(current_device(number)) for number in self.gpus}
        made = {
            arch: cached_ptx(key, build, outputs, self.dtype, arch, self.math, few)
            for arch in sorted(set(archs.values()))
        }
        loaded = {number: CudaKernel(made[arch], number) for number, arch in archs.items()}
        own = [loaded[number] for number in self.gpus]
        return own[0] if len(own) == 1 else SplitKernel(own)


def gpu_numbers(device: str) -> tuple[int, ...]:
    """Return the numbers of the GPUs that a device names, () for the CPU; raise if it is none."""
    if isinstance(device, str) and device.startswith("cuda:"):
        found = NUMBERED.fullmatch(device)
        if found is None:
            allowed = 'numbers of GPUs after the colon, such as "cuda:1" or "cuda:0,1"'
            raise ParameterError("device", device, allowed)
        return tuple(map(int, found[1].split(",")))
    check_choice("device", device, DEVICES)
    return (0,) if device == "cuda" else ()


def check_present(device: str, gpus: Sequence[int]) -> None:
    """Raise if this machine does not have one of these GPUs, or cannot use it."""
    count = device_count()
    if max(gpus) >= count:
        allowed = f"numbers 0 to {count - 1} of this machine's GPUs"
        if count == 1:
            allowed = "number 0, this machine's only GPU"
        raise ParameterError("device", device, allowed)
    for number in gpus:
        current_device(number)


def check_choice(what: str, value: str, choices: Sequence[str], plural: str = "") -> None:
    """Raise UnknownNameError if an option has none of its values."""
    if not isinstance(value, str) or value not in choices:
        raise UnknownNameError(what, value, choices, plural=plural, path=what)
