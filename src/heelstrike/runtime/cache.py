"""Cache of compiled programs on disk, looked up by what they are made from.

The key is taken before tracing, so a hit neither traces nor compiles, nor imports CasADi. Beside
the caller's key it holds all that decides the code: the source of the packages that trace and emit
programs, the versions of CasADi and LLVM, the CPU or GPU, and the options.

    kernel = cached_kernel(("fall", options), lambda: fall(options))
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import llvmlite
import llvmlite.binding as llvm

import heelstrike
from heelstrike.codegen.cuda.module import Ptx
from heelstrike.codegen.host import LEVEL
from heelstrike.codegen.layout import Layout
from heelstrike.runtime.cache_folder import read, store, usable_folder
from heelstrike.runtime.container import CodeTarget, this_machine
from heelstrike.runtime.kernel import Kernel
from heelstrike.runtime.key import digest

if TYPE_CHECKING:
    from heelstrike.ir.code import TracedProgram
    from heelstrike.ir.program import Program

CODE_PACKAGES = ("spatial", "robot", "dynamics", "contact", "scene", "step", "ir", "codegen")
"""Packages that decide the code of a step."""
PROGRAM_PACKAGES = ("impact", "sweeps")
"""Packages that trace further programs of their own."""


def cached_kernel(
    key: object,
    build: Callable[[], Program | TracedProgram],
    outputs: Sequence[str] | None = None,
    width: int | None = None,
    dtype: str = "float64",
    level: int = LEVEL,
    folder: str | Path | None = None,
) -> Kernel:
    """Return `compile_program(build(), outputs, width, dtype, level)`, from the cache if there.

    `key` identifies the program: it must hold everything that `build` reads, as numbers, strings,
    bytes, numpy arrays, and tuples, lists and dicts of them.
    """
    outputs = [outputs] if isinstance(outputs, str) else outputs
    options = (None if outputs is None else list(outputs), width, dtype, level)

    def make() -> tuple[Layout, bytes]:
        from heelstrike.runtime.compiler import compile_program

        kernel = compile_program(build(), outputs, width, dtype, level)
        made.append(kernel)
        return kernel.layout, kernel.code

    made: list[Kernel] = []
    layout, code = _cached((digest(key), options), this_machine(), make, folder)
    return made[0] if made else Kernel(layout, code)


def cached_ptx(
    key: object,
    build: Callable[[], Program | TracedProgram],
    outputs: Sequence[str],
    dtype: str,
    arch: str,
    math: str,
    few: bool = False,
    folder: str | Path | None = None,
) -> Ptx:
    """Return `make_ptx(build(), outputs, dtype, arch, math, few=few)`, from the cache if there."""

    def make() -> tuple[Layout, bytes]:
        from heelstrike.codegen.cuda import ptx

        made = ptx.make_ptx(build(), outputs, dtype, arch, math, few=few)
        return made.layout, made.as_bytes()

    target = CodeTarget("nvptx64-nvidia-cuda", arch, "")
    options = (list(outputs), dtype, arch, math, few)
    return Ptx.from_bytes(_cached((digest(key), options), target, make, folder)[1])


def _cached(
    key: object,
    target: CodeTarget,
    make: Callable[[], tuple[Layout, bytes]],
    folder: str | Path | None,
) -> tuple[Layout, bytes]:
    """Return layout and code for a target, from the cache, or made and stored there."""
    name = digest((key, astuple(environment())))
    place = usable_folder(folder)
    if place is not None and (packed := read(place, name, target)) is not None:
        return packed.layout, packed.code
    layout, code = make()
    # files edited since this process imported them are not what made this code
    if place is not None and source_digest() == SOURCE_AT_IMPORT:
        store(place, name, target, layout, code)
    return layout, code


@dataclass(frozen=True)
class Environment:
    """All that decides the code of a program besides the program and its options."""

    heelstrike: str
    llvmlite: str
    llvm: tuple[int, ...]
    casadi: str
    """Versions."""
    source: str
    """Digest of the source files."""
    machine: CodeTarget


@cache
def environment() -> Environment:
    """Return the environment of this process."""
    try:
        casadi = version("casadi")  # it rewrites expressions while they are traced
    except PackageNotFoundError:
        casadi = ""
    return Environment(
        heelstrike.__version__,
        llvmlite.__version__,
        llvm.llvm_version_info,
        casadi,
        SOURCE_AT_IMPORT,
        this_machine(),
    )


def source_digest() -> str:
    """Return the digest of the source files that decide the code of programs.

    A development checkout therefore never runs code of its past, and a change elsewhere, such as in
    the viewer, keeps every kernel.
    """
    root = Path(heelstrike.__file__).parent
    files = [root / "parameters.py"]
    for package in (*CODE_PACKAGES, *PROGRAM_PACKAGES):
        files += (root / package).rglob("*.py")
    found = sha256()
    for path in sorted(files):
        found.update(f"{path.relative_to(root)}\n".encode())
        with contextlib.suppress(OSError):  # removed meanwhile
            found.update(sha256(path.read_bytes()).digest())
    return found.hexdigest()


SOURCE_AT_IMPORT = source_digest()
"""Digest of the source as this process imported it."""
