"""NetCDF4 files of ours: written whole or not at all, read with a check of every byte.

HDF5 cannot close a file that it failed to write: the process ends in a segmentation fault. Here it
writes to a file object that keeps the first failure to itself and reports success, and the failure
is raised after HDF5 has closed the file.

HDF5 may also loop for ever in a file that was altered. Behind what HDF5 reads, a file therefore has
a line with the sha256 of all bytes before it, which is checked before HDF5 opens the file; other
programs ignore it. A marker, an attribute, says what a file holds and in which version; version 1
had no checksum.
"""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.errors import FileError
from heelstrike.files import PathLike, cannot_write, check_regular, whole_file

if TYPE_CHECKING:
    import h5netcdf
    import xarray as xr

TRAILER = re.compile(rb"\nheelstrike-sha256 ([0-9a-f]{64})\n")
"""Last line of a file."""
TRAILER_BYTES = 84
CHECKED_FROM = 2
"""First version of a kind of file that has a checksum."""
BLOCK = 2**22
"""Bytes that are hashed at a time."""


@dataclass(frozen=True)
class FileKind:
    """A kind of NetCDF file."""

    marker: str
    """Attribute that marks it; its value is the version of the format."""
    version: int
    """Latest version that can be read."""
    name: str
    """Name in sentences: "a Heelstrike recording"."""
    writer: str
    """What writes it: "Recording.save"."""
    foreign: str
    """What to do with a NetCDF file that is none."""


# writing


def write_dataset(path: PathLike, data: xr.Dataset) -> None:
    """Write a dataset, whole or not at all."""
    with new_file(path) as file:
        dump(file, data)


def dump(file: h5netcdf.File, data: xr.Dataset) -> None:
    """Write a dataset into an open file."""
    import xarray as xr

    try:
        data.dump_to_store(xr.backends.H5NetCDFStore(file))
    except (TypeError, ValueError) as error:
        raise FileError(f"the data cannot be written to a NetCDF file: {error}") from error


@contextmanager
def new_file(path: PathLike) -> Iterator[h5netcdf.File]:
    """Yield a NetCDF4 file to write to, which appears at `path` once the block succeeds."""
    import h5netcdf

    with whole_file(path) as part, open(part, "r+b", buffering=0) as raw:
        guarded = GuardedFile(raw)
        try:
            with h5netcdf.File(guarded, "w") as file:
                yield file
        except Exception:
            if guarded.failure is None:
                raise
        if isinstance(guarded.failure, OSError):
            raise cannot_write(path, guarded.failure) from guarded.failure
        if guarded.failure is not None:  # Ctrl-C
            raise guarded.failure
        size = raw.seek(0, os.SEEK_END)
        line = b"\nheelstrike-sha256 %s\n" % _digest(raw, size).encode()
        if raw.write(line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class GuardedFile(io.RawIOBase):
    """A file whose writes always seem to succeed; `failure` is the first that did not."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self.failure: BaseException | None = None

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = 0) -> int:
        return self._file.seek(place, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: Any) -> int:
        """Read; what was never written is zero."""
        view = memoryview(buffer).cast("B")
        count = self._file.readinto(view) or 0
        view[count:] = bytes(len(view) - count)
        return len(view)

    def write(self, data: Any) -> int:
        """Write all of the data, unless a write failed before."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while len(rest) and self.failure is None:
                rest = rest[self._file.write(rest) :]
        except BaseException as error:
            self.failure = error
        return size

    def truncate(self, size: int | None = None) -> int:
        """Set the size of the file, unless a write failed before."""
        try:
            if self.failure is None:
                return self._file.truncate(size)
        except BaseException as error:
            self.failure = error
        return size or 0


# reading


@contextmanager
def opened(
    path: PathLike, kind: FileKind, absent_remedy: str = "", load: bool = False
) -> Iterator[xr.Dataset]:
    """Yield the dataset of a file after its version and its digest were checked.

    Args:
        path: the file.
        kind: what it must hold.
        absent_remedy: what to do if there is no such file.
        load: whether to read it into memory; if not, values are read when they are needed.

    Raises:
        FileError: there is no such file, it is of another kind, of a later version, or damaged.
    """
    check_regular(path, f"name {kind.name.split(' ', 1)[1]} in it", absent_remedy)
    with ExitStack() as open_files:
        checked = _has_checksum(path)
        try:
            data = _open(path, open_files)
            if load:
                data.load()
        except PermissionError as error:
            raise FileError(
                f"cannot read '{path}': permission denied", path=os.fspath(path)
            ) from error
        except Exception as error:  # HDF5, h5netcdf and xarray each have their own
            raise _damaged(path, kind) from error
        _check(path, kind, data, checked)
        yield data


def read_dataset(path: PathLike, kind: FileKind, absent_remedy: str = "") -> xr.Dataset:
    """Return the dataset of a file in memory."""
    with opened(path, kind, absent_remedy, load=True) as data:
        return data


def _open(path: PathLike, open_files: ExitStack) -> xr.Dataset:
    """Return a dataset that is read from a file as long as the files are open."""
    import h5netcdf
    import h5py
    import xarray as xr

    class Reader(h5netcdf.File):  # type: ignore[misc]
        _writable = False  # known even where __init__ fails, for its __del__

    file = open_files.enter_context(h5py.File(path, "r"))
    return xr.open_dataset(xr.backends.H5NetCDFStore(Reader(file, "r", decode_vlen_strings=True)))


def _has_checksum(path: PathLike) -> bool:
    """Return whether a file has a checksum; raise FileError if it does not match."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END) - TRAILER_BYTES
        if size < 0:
            return False
        file.seek(size)
        found = TRAILER.fullmatch(file.read())
        if found is None:
            return False
        if _digest(file, size) != found[1].decode():
            raise _altered(path)
    return True


def _digest(file: Any, size: int) -> str:
    """Return the sha256 of the first bytes of an open file."""
    content, left = sha256(), size
    file.seek(0)
    while left > 0 and (block := file.read(min(BLOCK, left))):
        content.update(block)
        left -= len(block)
    file.seek(size)
    return content.hexdigest()


def _check(path: PathLike, kind: FileKind, data: xr.Dataset, checked: bool) -> None:
    """Raise FileError if a file is of another kind, of a later version, or lacks its checksum."""
    version = data.attrs.get(kind.marker)
    if version is None:
        raise FileError(
            f"'{path}' is a NetCDF file but not {kind.name}: it lacks the attribute "
            f"'{kind.marker}' that {kind.writer} writes",
            path=os.fspath(path),
            remedy=kind.foreign,
        )
    if not isinstance(version, int | np.integer) or version < 1:
        raise _damaged(path, kind)
    if version > kind.version:
        raise FileError(
            f"'{path}' has format {version}, but this version of Heelstrike reads formats up to "
            f"{kind.version}",
            path=os.fspath(path),
            remedy="install a newer version",
        )
    if version >= CHECKED_FROM and not checked:
        raise _altered(path)


def _altered(path: PathLike) -> FileError:
    return FileError(
        f"'{path}' was altered or damaged: its content does not match its checksum",
        path=os.fspath(path),
        remedy="if another program changed it on purpose, read it with xarray.open_dataset",
    )


def _damaged(path: PathLike, kind: FileKind) -> FileError:
    return FileError(
        f"'{path}' is not a NetCDF4 file, or is damaged",
        path=os.fspath(path),
        allowed=f"a file that {kind.writer} wrote",
    )
