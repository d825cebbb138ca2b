"""Compiled programs on disk, found by what they were made from.

The key lies upstream of tracing: a hit neither traces nor compiles, nor imports CasADi. It also
holds all that decides the code: the source of the packages that trace and emit it, the versions of
CasADi and LLVM, the CPU or GPU and the options. Files that are cut short, altered, of another key
or for another target are ignored and rewritten; a folder that cannot be used means no cache, and no
error.

kernel = cached_kernel(("fall", options), lambda: fall(options))
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import llvmlite
import llvmlite.binding as llvm

import heelstrike
from heelstrike.codegen.cuda.module import Ptx
from heelstrike.codegen.layout import Layout
from heelstrike.errors import ProgramError
from heelstrike.runtime.container import TEMPORARY, Packed, Target, here, pack, unpack, write
from heelstrike.runtime.kernel import Kernel
from heelstrike.runtime.key import digest

if TYPE_CHECKING:
    from heelstrike.ir.code import Traced
    from heelstrike.ir.program import Program

LARGEST = 256 * 2**20
"""Bytes of the whole cache; above, what was not used for longest goes."""
ABANDONED = 3600.0
"""Age of a temporary file whose writer is surely gone [s]."""
SUFFIX = ".kernel"
DECIDING = (
    "parameters.py",
    *(
        f"{package}/**/*.py"
        for package in (
            "spatial",
            "robot",
            "dynamics",
            "contact",
            "scene",
            "step",
            "ir",
            "codegen",
        )
    ),
)
"""Source files that decide the code of programs, as patterns below the package's folder."""


def cached_kernel(
    key: object,
    build: Callable[[], Program | Traced],
    outputs: Sequence[str] | None = None,
    width: int | None = None,
    dtype: str = "float64",
    level: int = 2,
    folder: str | Path | None = None,
) -> Kernel:
    """`compile_program(build(), outputs, width, dtype, level)`, or the same from the cache.

    `key` tells one program from another: it must hold everything that `build` reads, as numbers,
    strings, bytes, numpy arrays, and tuples, lists and dicts of them.
    """
    outputs = [outputs] if isinstance(outputs, str) else outputs
    options = (None if outputs is None else list(outputs), width, dtype, level)

    def make() -> tuple[Layout, bytes]:
        from heelstrike.runtime.compiler import compile_program

        kernel = compile_program(build(), outputs, width, dtype, level)
        made.append(kernel)
        return kernel.layout, kernel.code

    made: list[Kernel] = []
    layout, code = _cached((digest(key), options), here(), make, folder)
    return made[0] if made else Kernel(layout, code)


def cached_ptx(
    key: object,
    build: Callable[[], Program | Traced],
    outputs: Sequence[str],
    dtype: str,
    arch: str,
    math: str,
    folder: str | Path | None = None,
) -> Ptx:
    """`make_ptx(build(), outputs, dtype, arch, math)`, or the same from the cache."""

    def make() -> tuple[Layout, bytes]:
        from heelstrike.codegen.cuda import ptx

        made = ptx.make_ptx(build(), outputs, dtype, arch, math)
        return made.layout, made.as_bytes()

    target = Target("nvptx64-nvidia-cuda", arch, "")
    options = (list(outputs), dtype, arch, math)
    return Ptx.from_bytes(_cached((digest(key), options), target, make, folder)[1])


def _cached(
    key: object,
    target: Target,
    make: Callable[[], tuple[Layout, bytes]],
    folder: str | Path | None,
) -> tuple[Layout, bytes]:
    """Layout and code for a target, from the cache or made and put there."""
    name = digest((key, environment()))
    place = usable_folder(folder)
    if place is not None and (packed := _found(place / (name + SUFFIX), name, target)) is not None:
        return packed.layout, packed.code
    layout, code = make()
    # source that changed since this process read it must not be taken for what made this code
    if place is not None and source_digest() == _SOURCE:
        with contextlib.suppress(OSError):  # a full or read-only disk: no cache
            write(place / (name + SUFFIX), pack(layout, code, name, target), mode=0o600)
            trim(place, LARGEST)
    return layout, code


def cache_folder() -> Path | None:
    """$HEELSTRIKE_CACHE, else $XDG_CACHE_HOME/heelstrike, else ~/.cache/heelstrike; None where
    HEELSTRIKE_CACHE is "off".
    """
    own = os.environ.get("HEELSTRIKE_CACHE")
    if own:
        return None if own == "off" else Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(shared) if shared else Path.home() / ".cache") / "heelstrike"
    except RuntimeError:  # nobody's process: no home
        return None


def clear_cache(folder: str | Path | None = None) -> int:
    """Removes every compiled program from the cache; returns how many there were."""
    place = Path(folder) if folder is not None else cache_folder()
    if place is None:
        return 0
    kernels = _kernels(place)
    for path in (*kernels, *place.glob(TEMPORARY + "*")):
        with contextlib.suppress(OSError):
            path.unlink()
    return len(kernels)


def trim(folder: Path, largest: int) -> None:
    """Removes what was not used for longest until the folder holds no more than `largest` bytes."""
    files = []
    for path in _kernels(folder):
        with contextlib.suppress(OSError):  # another process trims as well
            status = path.stat()
            files.append((status.st_mtime_ns, status.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= largest:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
    for path in folder.glob(TEMPORARY + "*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > ABANDONED:
                path.unlink()


@cache
def environment() -> tuple[object, ...]:
    """What decides over the code of a program, besides the program and its options."""
    versions = (heelstrike.__version__, llvmlite.__version__, llvm.llvm_version_info, _casadi())
    return (*versions, _SOURCE, astuple(here()))


def source_digest() -> str:
    """Return the digest of the source files that decide the code of programs.

    A development checkout never runs code of its past, and a change elsewhere, such as in the
    viewer, keeps every kernel.
    """
    root = Path(heelstrike.__file__).parent
    found = sha256()
    for path in sorted(file for part in DECIDING for file in root.glob(part)):
        found.update(f"{path.relative_to(root)}\n".encode())
        with contextlib.suppress(OSError):  # removed meanwhile
            found.update(sha256(path.read_bytes()).digest())
    return found.hexdigest()


_SOURCE = source_digest()  # as this process imported it


def usable_folder(folder: str | Path | None = None) -> Path | None:
    """The cache's folder, made if need be, for the owner only; None where there is no cache."""
    if os.environ.get("HEELSTRIKE_CACHE") == "off":
        return None
    place = cache_folder() if folder is None else Path(folder)
    if place is None:
        return None
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return place


def _found(path: Path, name: str, target: Target) -> Packed | None:
    """What a file of the cache holds, or None if there is none that may be used."""
    try:
        with path.open("rb") as file:
            if not _is_ours(os.fstat(file.fileno())):
                return None
            packed = unpack(file.read())
        if packed.key != name or packed.target != target:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # used now
        return packed
    except (OSError, ProgramError):
        return None


def _is_ours(status: os.stat_result) -> bool:
    """Whether nobody else could have written a file: it will be run."""
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _kernels(folder: Path) -> list[Path]:
    form = re.compile("[0-9a-f]{64}" + re.escape(SUFFIX))
    return [path for path in folder.glob("*" + SUFFIX) if form.fullmatch(path.name)]


def _casadi() -> str:
    """CasADi's version: it rewrites expressions while they are traced."""
    try:
        return version("casadi")
    except PackageNotFoundError:
        return ""
