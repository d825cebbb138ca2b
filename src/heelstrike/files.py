"""Atomic writing of files: to a temporary name in the same folder, synced to disk, then renamed."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from heelstrike.errors import HeelstrikeError

TOKEN_BYTES = 6
"""Number of random bytes in a temporary name."""


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to, which is renamed to `path` when the block succeeds.

    An existing file at `path` stays until then. If the block fails, nothing is left behind; errors
    of the operating system are raised as HeelstrikeErrors.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if os.path.isdir(target):
        raise HeelstrikeError(
            f"cannot write '{path}': it is a folder", path=str(path), remedy="name a file in it"
        )
    if not os.path.isdir(target.parent):
        raise HeelstrikeError(
            f"cannot write '{path}': there is no folder '{Path(path).parent}'", path=str(path)
        )
    part = target.with_name(f".{target.stem}.{secrets.token_hex(TOKEN_BYTES)}{target.suffix}")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield part
        sync_to_disk(part)
        os.replace(part, target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise HeelstrikeError(
            f"cannot write '{path}': {reason}",
            path=str(path),
            remedy="choose a writable folder with enough free space",
        ) from error
    finally:
        with suppress(OSError):  # renamed, or never created
            part.unlink()


def left_behind(path: Path) -> list[Path]:
    """Return the temporary files of processes that were killed while writing `path`."""
    stem, suffix = re.escape(path.stem), re.escape(path.suffix)
    name = re.compile(rf"\.{stem}\.[0-9a-f]{{{2 * TOKEN_BYTES}}}{suffix}")
    return [other for other in path.parent.iterdir() if name.fullmatch(other.name)]


def sync_to_disk(path: Path) -> None:
    """Force the content of a file to the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
