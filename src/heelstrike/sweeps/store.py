"""The folder of a sweep.

    sweep.json              the manifest, which must be the same when the sweep is resumed
    chunks/000007.npz       worlds that are done, complete or absent
    sweep.lock              held while a process works in the folder
    sweep.nc, sweep.png     the result; the chunks are removed

Files of NumPy have a checksum of each array, so that a damaged chunk is recognized.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.errors import FileError, HeelstrikeError
from heelstrike.files import left_behind, remove_abandoned, whole_file
from heelstrike.npz import read_arrays, write_arrays

MANIFEST, CHUNKS, LOCK, RESULT, PICTURE = (
    "sweep.json",
    "chunks",
    "sweep.lock",
    "sweep.nc",
    "sweep.png",
)
FORMAT = "heelstrike_sweep"
VERSION = 1
FREE_KEYS = ("chunk", "scene")
"""Keys of a manifest that may differ when a sweep is resumed; other keys hold what matters of the
scene."""
MAX_LETTERS, MAX_DIFFERENCES = 60, 3
"""Longest value, and largest number of values, in an error message."""
Manifest = Mapping[str, Any]
"""The content of sweep.json."""


class Store:
    """The folder of a sweep, and the chunks in it."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.worlds = int(manifest["worlds"])
        self.chunk = int(manifest["chunk"])

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return -(-self.worlds // self.chunk)

    @property
    def result(self) -> Path:
        """Path of the joined file."""
        return self.folder / RESULT

    def span(self, index: int) -> tuple[int, int]:
        """Return the first world of a chunk, and the one after its last."""
        return index * self.chunk, min((index + 1) * self.chunk, self.worlds)

    def missing(self) -> list[int]:
        """Return the indices of chunks that are absent or damaged."""
        return [index for index in range(self.chunks) if self.read(index) is None]

    def write(self, index: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Write a chunk, completely or not at all."""
        self._path(index).parent.mkdir(exist_ok=True)
        write_arrays(self._path(index), arrays)

    def read(self, index: int) -> dict[str, np.ndarray] | None:
        """Return the arrays of a chunk; None if it is absent or damaged."""
        first, last = self.span(index)
        try:
            found = read_arrays(self._path(index))
        except FileError:
            return None
        whole = found and all(x.ndim and len(x) == last - first for x in found.values())
        return found if whole else None

    def finish(self) -> None:
        """Remove the chunks after they were joined."""
        shutil.rmtree(self.folder / CHUNKS, ignore_errors=True)

    def _path(self, index: int) -> Path:
        return self.folder / CHUNKS / f"{index:06d}.npz"


def check_disk_space(folder: Path, size: int) -> None:
    """Raise if the disk of a folder, which need not exist yet, has less free space [bytes]."""
    place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(place).free
    if size > free:
        raise HeelstrikeError(
            f"this sweep needs {size / 1e9:.3g} GB in '{folder}', chunks included, but "
            f"{free / 1e9:.3g} GB are free; choose a folder on another disk, or sweep fewer "
            "worlds"
        )


def open_store(folder: Path, manifest: Manifest, chunk: int | None, resume: bool) -> Store:
    """Return a new store or, with `resume`, the one in the folder; raise if it is another sweep's.

    `chunk` is the number of worlds per chunk; None if a resumed sweep may keep its own.
    """
    found = _read_manifest(folder)
    if found is None:
        ours = {folder / LOCK, *left_behind(folder)}
        if others := [path.name for path in folder.iterdir() if path not in ours]:
            raise HeelstrikeError(
                f"'{folder}' holds other files ({', '.join(sorted(others)[:3])}); choose an empty "
                "or a new folder"
            )
        with whole_file(folder / MANIFEST) as part:
            part.write_text(json.dumps(manifest, indent=1) + "\n")
        return Store(folder, manifest)
    _check_same(folder, found, manifest)
    store = Store(folder, found)
    if not resume:
        state = "finished" if store.result.exists() else "unfinished"
        raise HeelstrikeError(
            f"'{folder}' already holds this sweep, {state}; use --resume to continue it, or choose "
            "another folder"
        )
    if chunk is not None and chunk != store.chunk and not store.result.exists():
        raise HeelstrikeError(
            f"the sweep in '{folder}' was started with chunks of {store.chunk} worlds; omit "
            "--chunk to continue it"
        )
    remove_abandoned(folder)
    return store


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Create the folder and lock it for one process; the lock ends with the process."""
    handle = _try_lock(folder)
    while handle is None:
        handle = _try_lock(folder)
    try:
        with suppress(OSError):  # a full disk: the number is for the message of another process
            os.truncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        with suppress(OSError):
            (folder / LOCK).unlink()
        os.close(handle)


def _try_lock(folder: Path) -> int | None:
    """Return the handle of the lock; None if its last holder removed the file meanwhile."""
    path = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise HeelstrikeError(
            f"cannot write to the folder '{folder}': {error.strerror}; choose another"
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
    except OSError as error:
        holder = os.read(handle, 20).decode("ascii", "replace").strip()
        os.close(handle)
        raise HeelstrikeError(
            f"another process{f' ({holder})' if holder else ''} works on the sweep in '{folder}'; "
            "wait for it, or choose another folder"
        ) from error
    os.close(handle)
    return None


def _read_manifest(folder: Path) -> dict[str, Any] | None:
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text())
        if int(found[FORMAT]) <= VERSION and int(found["chunk"]) > 0 and int(found["worlds"]) > 0:
            return dict(found)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        pass
    raise HeelstrikeError(
        f"'{path}' is not a manifest that this version can read; choose another folder"
    )


def _check_same(folder: Path, found: Manifest, current: Manifest) -> None:
    """Raise if two manifests differ, with the first differences."""
    there, here = _flat(found), _flat(json.loads(json.dumps(current)))
    differing = [name for name in {**here, **there} if there.get(name) != here.get(name)]
    if not differing:
        return
    differences = []
    for name in differing[:MAX_DIFFERENCES]:
        old, new = json.dumps(there.get(name)), json.dumps(here.get(name))
        short = max(len(old), len(new)) <= MAX_LETTERS and name != "key"
        what = "robot, law, table or version of Heelstrike" if name == "key" else name
        differences.append(f"{name} {old}, not {new}" if short else f"another {what}")
    rest = len(differing) - MAX_DIFFERENCES
    more = f"; and {rest} more" if rest > 0 else ""
    raise HeelstrikeError(
        f"'{folder}' holds another sweep: {'; '.join(differences)}{more}; choose another folder"
    )


def _flat(manifest: Manifest) -> dict[str, Any]:
    """Return the entries that must be the same, with parameters one by one."""
    kept = {name: value for name, value in manifest.items() if name not in FREE_KEYS}
    parameters = kept.pop("parameters", {})
    return kept | parameters
