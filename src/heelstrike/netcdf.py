"""NetCDF4 files of ours: written whole or not at all, read with a check of every byte.

HDF5 cannot close a file that it failed to write: the process ends in a segmentation fault. Here it
writes to a file object that keeps the first failure to itself and reports success, and the failure
is raised after HDF5 has closed the file.

A file has a marker, the attribute that says what it holds and in which version, and from version 2
on an attribute `sha256`: the digest of its variables, dimensions and attributes, whatever their
order in the file.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
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

CHECKSUM = "sha256"
"""Attribute of a file that holds the digest of its content."""
CHECKED_FROM = 2
"""First version of a kind of file that has a checksum."""
BLOCK = 2**22
"""Numbers of a variable that are read and hashed at a time."""


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
    """Write a dataset with its digest, whole or not at all."""
    with new_file(path) as file:
        dump(file, data.assign_attrs({CHECKSUM: digest(data)}))


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
        _check(path, kind, data)
        yield data


def read_dataset(path: PathLike, kind: FileKind, absent_remedy: str = "") -> xr.Dataset:
    """Return the dataset of a file in memory, without its checksum."""
    with opened(path, kind, absent_remedy, load=True) as data:
        data.attrs.pop(CHECKSUM, None)
        return data


def _open(path: PathLike, open_files: ExitStack) -> xr.Dataset:
    """Return a dataset that is read from a file as long as the files are open."""
    import h5netcdf
    import h5py
    import xarray as xr

    class Reader(h5netcdf.File):  # type: ignore[misc]
        _writable = False  # known even where __init__ fails, for its __del__

    file = open_files.enter_context(h5py.File(path, "r"))
    return xr.open_dataset(xr.backends.H5NetCDFStore(Reader(file, "r")))


def _check(path: PathLike, kind: FileKind, data: xr.Dataset) -> None:
    """Raise FileError if a file is of another kind, of a later version, or altered."""
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
    if version < CHECKED_FROM:
        return
    try:
        found = digest(data)
    except Exception as error:
        raise _damaged(path, kind) from error
    if found != data.attrs.get(CHECKSUM):
        raise FileError(
            f"'{path}' was altered or damaged: its content does not match its checksum",
            path=os.fspath(path),
            allowed=f"a file that {kind.writer} wrote",
        )


def _damaged(path: PathLike, kind: FileKind) -> FileError:
    return FileError(
        f"'{path}' is not a NetCDF4 file, or is damaged",
        path=os.fspath(path),
        allowed=f"a file that {kind.writer} wrote",
    )


# digests


class VariableDigest:
    """Digest of a variable whose values arrive in blocks of rows."""

    def __init__(
        self, name: object, dims: Sequence[Any], shape: Sequence[int], attrs: Mapping[Any, Any]
    ) -> None:
        self._head = [str(name), [*map(str, dims)], [int(n) for n in shape], _plain(attrs)]
        self._content, self._kind = sha256(), ""

    def add(self, block: np.ndarray) -> None:
        """Add the next rows."""
        if block.dtype.kind in "OSUT":
            self._kind = "text"
            self._content.update(json.dumps(block.tolist(), default=str).encode())
        else:
            self._kind = block.dtype.newbyteorder("<").str
            self._content.update(np.ascontiguousarray(block, dtype=self._kind).data)

    def line(self) -> str:
        """Return what counts of the variable as a line of text."""
        return json.dumps([*self._head, self._kind, self._content.hexdigest()])


def digest(data: xr.Dataset) -> str:
    """Return the digest of a dataset's content; large variables are read in blocks."""
    lines = []
    for name, variable in data.variables.items():
        own = VariableDigest(name, variable.dims, variable.shape, variable.attrs)
        for block in _blocks(variable):
            own.add(block)
        lines.append(own.line())
    return joined_digest(lines, data.attrs)


def joined_digest(lines: Iterable[str], attributes: Mapping[Any, Any]) -> str:
    """Return the digest of a file from the lines of its variables and its own attributes."""
    text = [*sorted(lines), json.dumps(_plain(attributes))]
    return sha256("\n".join(text).encode()).hexdigest()


def _blocks(variable: xr.Variable) -> Iterator[np.ndarray]:
    """Yield the values of a variable, some rows at a time."""
    if not variable.ndim:
        yield np.asarray(variable.values)
        return
    rows = max(1, BLOCK // max(1, int(np.prod(variable.shape[1:], dtype=float))))
    for first in range(0, max(1, len(variable)), rows):
        yield np.asarray(variable[first : first + rows].values)


def _plain(attributes: Mapping[Any, Any]) -> list[list[Any]]:
    """Return attributes in the order of their names, as JSON writes them."""
    kept = {str(k): np.asarray(v).tolist() for k, v in attributes.items() if k != CHECKSUM}
    return [[name, kept[name]] for name in sorted(kept)]
