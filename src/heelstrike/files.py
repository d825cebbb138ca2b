"""Files that are whole or not there: written under a temporary name in the same folder, forced to
the disk, then renamed.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from heelstrike.errors import HeelstrikeError

TOKEN = 6
"""Random bytes of a temporary name."""


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yields a temporary name to write to; it takes `path`'s name when the block ends well.

    Whatever was at `path` stays until then. When the block fails nothing new is left behind, and
    what the system refuses is a HeelstrikeError.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if os.path.isdir(target):
        raise HeelstrikeError(f"cannot write '{path}': it is a folder; name a file in it")
    if not os.path.isdir(target.parent):
        raise HeelstrikeError(f"cannot write '{path}': there is no folder '{Path(path).parent}'")
    part = target.with_name(f".{target.stem}.{secrets.token_hex(TOKEN)}{target.suffix}")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield part
        _to_disk(part)
        os.replace(part, target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise HeelstrikeError(
            f"cannot write '{path}': {reason}; choose a folder that you may write to, with room"
        ) from error
    finally:
        with suppress(OSError):  # renamed, or never made
            part.unlink()


def left_behind(path: Path) -> list[Path]:
    """Temporary files of those who wrote `path` and were killed."""
    stem, suffix = re.escape(path.stem), re.escape(path.suffix)
    name = re.compile(rf"\.{stem}\.[0-9a-f]{{{2 * TOKEN}}}{suffix}")
    return [other for other in path.parent.iterdir() if name.fullmatch(other.name)]


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
