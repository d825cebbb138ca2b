"""The folder of a sweep.

    sweep.json              what is swept: who resumes must mean the same
    chunks/000007.npz       worlds that are done, whole or not there
    sweep.lock              held while a process works here
    sweep.nc, sweep.png     the end; the chunks are gone

A file of NumPy's carries a checksum of each array: a damaged chunk is not taken for one.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.files import left_behind, whole_file

MANIFEST, CHUNKS, LOCK, RESULT, PICTURE = (
    "sweep.json",
    "chunks",
    "sweep.lock",
    "sweep.nc",
    "sweep.png",
)
FILES = (MANIFEST, RESULT, PICTURE)
FORMAT = "heelstrike_sweep"
VERSION = 1
FREE = ("chunk", "scene")
"""Of a manifest: what may differ between those who work on the same sweep; what matters of a scene
stands beside it.
"""
LONGEST, FEW = 60, 3
"""Letters of a value, and values, in a sentence."""


class Store:
    """A sweep's folder, and which worlds are in it."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self.folder = folder
        self.worlds = int(manifest["worlds"])
        self.chunk = int(manifest["chunk"])

    @property
    def chunks(self) -> int:
        return -(-self.worlds // self.chunk)

    @property
    def result(self) -> Path:
        return self.folder / RESULT

    @property
    def picture(self) -> Path:
        return self.folder / PICTURE

    def span(self, index: int) -> tuple[int, int]:
        """First world of a chunk, and the one after its last."""
        return index * self.chunk, min((index + 1) * self.chunk, self.worlds)

    def missing(self) -> list[int]:
        """Chunks that are not there, or not whole."""
        return [index for index in range(self.chunks) if self.read(index) is None]

    def check_room(self, size: int) -> None:
        """Refuses what the disk cannot hold [bytes]."""
        free = shutil.disk_usage(self.folder).free
        if size > free:
            raise HeelstrikeError(
                f"this sweep needs {size / 1e9:.3g} GB in '{self.folder}', chunks and all, and "
                f"{free / 1e9:.3g} GB are free; name a folder with more room, or sweep fewer worlds"
            )

    def write(self, index: int, arrays: Mapping[str, np.ndarray]) -> None:
        self._path(index).parent.mkdir(exist_ok=True)
        with whole_file(self._path(index)) as part, open(part, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    def read(self, index: int) -> dict[str, np.ndarray] | None:
        """The arrays of a chunk; None if there are none that may be used."""
        first, last = self.span(index)
        try:
            with np.load(self._path(index), allow_pickle=False) as file:
                found = dict(file)
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error):
            return None
        whole = found and all(len(array) == last - first for array in found.values())
        return found if whole else None

    def finish(self) -> None:
        """What was joined goes."""
        shutil.rmtree(self.folder / CHUNKS, ignore_errors=True)

    def _path(self, index: int) -> Path:
        return self.folder / CHUNKS / f"{index:06d}.npz"


def open_store(folder: Path, manifest: Mapping[str, Any], chunk: int | None, resume: bool) -> Store:
    """A new store or, with `resume`, one that goes on where there is one; refuses another sweep's.
    `chunk` is what the user said, None where a store that goes on may keep its own.
    """
    found = _read_manifest(folder)
    unfinished = [part for name in FILES for part in left_behind(folder / name)]
    if found is None:
        ours = {folder / LOCK, *unfinished}
        if others := [path.name for path in folder.iterdir() if path not in ours]:
            raise HeelstrikeError(
                f"'{folder}' holds other files ({', '.join(sorted(others)[:3])}); name a folder "
                "that is empty or not there"
            )
        _remove(unfinished)
        with whole_file(folder / MANIFEST) as part:
            part.write_text(json.dumps(manifest, indent=1) + "\n")
        return Store(folder, manifest)
    _check_same(folder, found, manifest)
    store = Store(folder, found)
    if not resume:
        state = "finished" if store.result.exists() else "begun and not finished"
        raise HeelstrikeError(
            f"'{folder}' holds this very sweep, {state}; --resume goes on with it, or name another "
            "folder"
        )
    if chunk is not None and chunk != store.chunk and not store.result.exists():
        raise HeelstrikeError(
            f"the sweep in '{folder}' was begun in chunks of {store.chunk} worlds; leave out "
            "--chunk to go on"
        )
    _remove(unfinished)
    return store


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Makes the folder and holds it: one process at a time. A lock goes with its process."""
    handle = _taken(folder)
    while handle is None:
        handle = _taken(folder)
    try:
        os.truncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        with suppress(OSError):
            (folder / LOCK).unlink()
        os.close(handle)


def _taken(folder: Path) -> int | None:
    """The lock's handle; None where its last holder removed the file meanwhile: no lock then."""
    path = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise HeelstrikeError(
            f"cannot write to the folder '{folder}': {error.strerror}; name another"
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
    except OSError as error:
        who = os.read(handle, 20).decode("ascii", "replace").strip()
        os.close(handle)
        raise HeelstrikeError(
            f"another process{f' ({who})' if who else ''} works on the sweep in '{folder}'; "
            "wait for it, or name another folder"
        ) from error
    os.close(handle)
    return None


def _remove(unfinished: list[Path]) -> None:
    for part in unfinished:
        part.unlink(missing_ok=True)


def _read_manifest(folder: Path) -> dict[str, Any] | None:
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text())
        if int(found[FORMAT]) <= VERSION and int(found["chunk"]) > 0 and int(found["worlds"]) > 0:
            return dict(found)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise HeelstrikeError(
        f"'{path}' is no manifest that this Heelstrike can read; name another folder"
    )


def _check_same(folder: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Says what differs."""
    there, here = _flat(found), _flat(json.loads(json.dumps(wanted)))
    differing = [name for name in {**here, **there} if there.get(name) != here.get(name)]
    if not differing:
        return
    said = []
    for name in differing[:FEW]:
        old, new = json.dumps(there.get(name)), json.dumps(here.get(name))
        plain = max(len(old), len(new)) <= LONGEST and name != "key"
        what = "robot, law, table or version of Heelstrike" if name == "key" else name
        said.append(f"{name} {old}, not {new}" if plain else f"another {what}")
    more = f"; and {len(differing) - FEW} more" if len(differing) > FEW else ""
    raise HeelstrikeError(
        f"'{folder}' holds another sweep: {'; '.join(said)}{more}; name another folder"
    )


def _flat(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same, parameters one by one."""
    kept = {name: value for name, value in manifest.items() if name not in FREE}
    parameters = kept.pop("parameters", {})
    return kept | parameters
