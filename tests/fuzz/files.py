"""Damaged files of ours: refused, or read with every value that they had."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import heelstrike as hs
from heelstrike.codegen.layout import Layout
from heelstrike.errors import HeelstrikeError
from heelstrike.motion.motion import Motion
from heelstrike.npz import read_arrays, write_arrays
from heelstrike.record.recording import Recording
from heelstrike.runtime.container import unpack
from heelstrike.scene.files.motion_table import MotionTable
from heelstrike.sweeps.store import Store
from tests.fuzz.values import mutated_bytes
from tests.hopper import over_time

TABLE = "time, slide\n" + "".join(f"{k / 10}, {k % 3}\n" for k in range(20))


def _recording(path: Path) -> Any:
    run = Recording.load(path)
    return run.data.attrs, {str(n): x.values.tolist() for n, x in run.data.variables.items()}


def _motion(path: Path) -> Any:
    motion = Motion.load(path)
    return np.asarray(motion.q).tolist(), motion.robot, motion.name, motion.settings


def _arrays(path: Path) -> Any:
    return {name: array.tolist() for name, array in read_arrays(path).items()}


def _chunk(path: Path) -> Any:
    store = Store(path.parent, {"worlds": 4, "chunk": 4})
    (path.parent / "chunks").mkdir(exist_ok=True)
    (path.parent / "chunks" / "000000.npz").write_bytes(path.read_bytes())
    found = store.read(0)
    if found is None:
        raise HeelstrikeError("damaged")
    return {name: array.tolist() for name, array in found.items()}


def _kernel(path: Path) -> Any:
    packed = unpack(path.read_bytes())
    return packed.key, packed.target, packed.code


def _table(path: Path) -> Any:
    """A table of text has no checksum: only the kind of the error counts."""
    MotionTable(path).trajectory(hs.load("foot"), hs.load("foot").neutral)


READERS: dict[str, Callable[[Path], Any]] = {
    "recording.nc": _recording,
    "motion.nc": _motion,
    "state.npz": _arrays,
    "chunk.npz": _chunk,
    "kernel": _kernel,
    "table.csv": _table,
}


@cache
def whole(name: str) -> tuple[bytes, str]:
    """Return the bytes of a sound file, and what is read from it, as text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        if name == "recording.nc":
            over_time().save(path)
        elif name == "motion.nc":
            Motion(np.arange(4.0), np.ones((4, 3)), robot="r", settings={"a": 1}).save(path)
        elif name == "kernel":
            path.write_bytes(_packed())
        elif name == "table.csv":
            path.write_text(TABLE)
            return path.read_bytes(), ""
        else:
            write_arrays(path, {"q": np.arange(8.0).reshape(4, 2), "failed": -np.ones(4)})
        return path.read_bytes(), repr(READERS[name](path))


@cache
def _packed() -> bytes:
    from heelstrike.runtime.container import pack

    fields = json.loads(json.dumps(_layout().as_dict()))
    return pack(Layout.from_dict(fields), b"\x7fELF" * 100, key="k")


def _layout() -> Layout:
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane()))
    return sim.compiled.kernel().layout


def damaged_file(random: Random) -> str:
    """Read a damaged file."""
    name = random.choice(list(READERS))
    data, expected = whole(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(mutated_bytes(data, random))
        try:
            found = READERS[name](path)
        except HeelstrikeError:
            return "refused"
    assert name == "table.csv" or repr(found) == expected, f"{name} was read with other values"
    return "taken"
