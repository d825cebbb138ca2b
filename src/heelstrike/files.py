"""Files: whole or not there when they are written, regular and present when they are read.

A file is written under a temporary name in its folder, synced to disk, then renamed. The writer
holds a lock on it meanwhile. A process that is killed leaves its part behind, without the lock; the
next one that writes into the folder removes it.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from heelstrike.errors import FileError

TOKEN_BYTES = 6
"""Number of random bytes in a temporary name."""
PART = ".heelstrike-"
"""Prefix of the names of unfinished files."""
PathLike = str | os.PathLike[str]
_own: set[Path] = set()
"""Unfinished files of this process."""


@contextmanager
def whole_file(path: PathLike, cached: bool = False) -> Iterator[Path]:
    """Yield a temporary path to write to, which is renamed to `path` when the block succeeds.

    An existing file at `path` stays until then. If the block fails, nothing is left behind; errors
    of the operating system are raised as FileErrors. A cached file can be made again and has a
    checksum: it is readable by its owner only, and not forced to the disk.
    """
    target = _checked_target(path)
    part, handle = None, -1
    try:
        remove_abandoned(target.parent)
        part, handle = _new_part(target, 0o600 if cached else 0o666)
        yield part
        if not cached:
            sync_to_disk(handle)
        os.replace(part, target)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        if part is not None:
            with suppress(OSError):  # renamed
                part.unlink()
            _own.discard(part)
        if handle >= 0:
            os.close(handle)


def cannot_write(path: PathLike, error: OSError) -> FileError:
    """Return the error of a file that the operating system refuses to write."""
    return FileError(
        f"cannot write '{path}': {error.strerror or error}",
        path=os.fspath(path),
        remedy="choose a writable folder with enough free space",
    )


def check_writable(path: PathLike) -> None:
    """Raise FileError if `whole_file` could not write a file: before a run, not after it."""
    with suppress(_Undone), whole_file(path):
        raise _Undone


class _Undone(Exception):
    """Ends a block of `whole_file` so that nothing is written."""


def check_regular(path: PathLike, folder_remedy: str = "", absent_remedy: str = "") -> None:
    """Raise FileError unless a regular file is there: no folder, no device such as /dev/zero."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:  # ValueError: a zero byte in a name
        absent = isinstance(error, FileNotFoundError | NotADirectoryError)
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(
            f"there is no file '{path}'" if absent else f"cannot read '{path!s:.200}': {reason}",
            path=os.fspath(path),
            remedy=absent_remedy if absent else None,
        ) from error
    if stat.S_ISDIR(mode):
        raise FileError(f"'{path}' is a folder", path=os.fspath(path), remedy=folder_remedy)
    if not stat.S_ISREG(mode):
        raise FileError(f"'{path}' is a device or a pipe, not a file", path=os.fspath(path))


def left_behind(folder: Path) -> list[Path]:
    """Return the unfinished files in a folder: of processes that write, or that were killed."""
    name = re.compile(rf"{re.escape(PART)}[0-9a-f]{{{2 * TOKEN_BYTES}}}(\..*)?")
    return [folder / other for other in os.listdir(folder) if name.fullmatch(other)]


def remove_own_parts() -> None:
    """Remove the unfinished files of this process, which is about to end."""
    for part in tuple(_own):
        with suppress(OSError):
            part.unlink()


def remove_abandoned(folder: Path) -> None:
    """Remove the unfinished files in a folder that no process holds."""
    for part in left_behind(folder):
        with suppress(OSError):
            handle = os.open(part, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()
            finally:
                os.close(handle)


def sync_to_disk(handle: int) -> None:
    """Force the content of a file to the disk."""
    os.fsync(handle)


def _checked_target(path: PathLike) -> Path:
    """Return the file that a path leads to; raise if it is a folder, or lies in none."""
    target = Path(os.path.realpath(path))  # a link stays a link
    if os.path.isdir(target):
        raise FileError(
            f"cannot write '{path}': it is a folder", path=str(path), remedy="name a file in it"
        )
    if not os.path.isdir(target.parent):
        raise FileError(
            f"cannot write '{path}': there is no folder '{Path(path).parent}'", path=str(path)
        )
    if os.path.exists(target) and not os.path.isfile(target):
        raise FileError(f"cannot write '{path}': it is a device or a pipe", path=str(path))
    if len(os.fsencode(target.name)) > os.pathconf(target.parent, "PC_NAME_MAX"):
        raise FileError(f"cannot write '{path!s:.200}': the name is too long", path=str(path))
    return target


def _new_part(target: Path, mode: int) -> tuple[Path, int]:
    """Return a new temporary file beside a target, and a handle that holds its lock."""
    while True:
        part = target.with_name(f"{PART}{secrets.token_hex(TOKEN_BYTES)}{target.suffix}")
        _own.add(part)
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with suppress(FileNotFoundError):  # another process removed it before it was locked
            if os.path.samestat(os.fstat(handle), os.stat(part)):
                return part, handle
        os.close(handle)
