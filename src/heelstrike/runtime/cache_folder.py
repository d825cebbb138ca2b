"""The folder of the cache: where it is, its files, and its size.

A file that is truncated, altered, of another key or for another target is ignored and rewritten.
Without a usable folder there is no cache, and no error.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from heelstrike.codegen.layout import Layout
from heelstrike.errors import FileError, ProgramError
from heelstrike.files import left_behind, whole_file
from heelstrike.runtime.container import CodeTarget, Packed, pack, unpack

MAX_BYTES = 256 * 2**20
"""Largest size of the whole cache [bytes]; the least recently used files are removed first."""
SUFFIX = ".kernel"


def cache_folder() -> Path | None:
    """Return $HEELSTRIKE_CACHE, else $XDG_CACHE_HOME/heelstrike, else ~/.cache/heelstrike.

    The result is None where HEELSTRIKE_CACHE is "off".
    """
    own = os.environ.get("HEELSTRIKE_CACHE")
    if own:
        return None if own == "off" else Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(shared) if shared else Path.home() / ".cache") / "heelstrike"
    except RuntimeError:  # a process without a home folder
        return None


def usable_folder(folder: str | Path | None = None) -> Path | None:
    """Return the cache's folder, made for the owner only if need be; None without a cache."""
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


def read(folder: Path, name: str, target: CodeTarget) -> Packed | None:
    """Return the content of a file of the cache, or None if there is none that may be used."""
    path = folder / (name + SUFFIX)
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


def store(folder: Path, name: str, target: CodeTarget, layout: Layout, code: bytes) -> None:
    """Write a file of the cache, and remove old files if there are too many bytes."""
    with contextlib.suppress(OSError, FileError):  # a full or read-only disk: no cache
        with whole_file(folder / (name + SUFFIX), cached=True) as part:
            part.write_bytes(pack(layout, code, name, target))
        trim(folder, MAX_BYTES)


def clear_cache(folder: str | Path | None = None) -> int:
    """Remove every compiled program from the cache, and return how many there were."""
    place = Path(folder) if folder is not None else cache_folder()
    if place is None:
        return 0
    kernels = _kernels(place)
    for path in (*kernels, *(left_behind(place) if place.is_dir() else ())):
        with contextlib.suppress(OSError):
            path.unlink()
    return len(kernels)


def trim(folder: Path, max_bytes: int) -> None:
    """Remove the least recently used files until the folder holds no more than `max_bytes`."""
    files = []
    for path in _kernels(folder):
        with contextlib.suppress(OSError):  # another process trims as well
            status = path.stat()
            files.append((status.st_mtime_ns, status.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= max_bytes:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size


def _is_ours(status: os.stat_result) -> bool:
    """Return whether nobody else could have written a file, whose code will be run."""
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _kernels(folder: Path) -> list[Path]:
    form = re.compile("[0-9a-f]{64}" + re.escape(SUFFIX))
    return [path for path in folder.glob("*" + SUFFIX) if form.fullmatch(path.name)]
