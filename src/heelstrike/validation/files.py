"""Data files: where they are found, and checks that name file, row and remedy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from heelstrike.checks import path as checked_path
from heelstrike.errors import FileError, HeelstrikeError
from heelstrike.npz import NUMBERS, TEXT, read_arrays

VARIABLE = "HEELSTRIKE_DATA"
"""Variable of the environment that names the folder of third-party data."""
LISTED = 12
"""Largest number of arrays that an error lists."""
TRAINING = "_train.npz"
"""End of the names of files that laws are fitted on."""


def data_file(name: str) -> Path | None:
    """Return the path of a data file; None if HEELSTRIKE_DATA is not set or lacks it."""
    folder = os.environ.get(VARIABLE)
    path = Path(folder) / name if folder else None
    return path if path is not None and path.is_file() else None


def training_file(stem: str) -> Path:
    """Return the file that laws are fitted on; raise if there is none."""
    path = data_file(stem + TRAINING) or data_file(f"{stem}.npz")
    if path is None:
        raise HeelstrikeError(
            f"no file {stem}{TRAINING} to fit laws on",
            path=VARIABLE,
            remedy=f"set {VARIABLE} to the folder that holds it (docs/real-data.md says where the "
            "data come from), or judge another file with the kept parameters: --data FOLDER",
        )
    return path


def robot_file(name: str) -> Path:
    """Return the file of a robot of the data, in their folder `robots`; raise if there is none."""
    path = data_file(f"robots/{name}")
    if path is None:
        raise HeelstrikeError(
            f"no file robots/{name}",
            path=VARIABLE,
            remedy=f"set {VARIABLE} to the folder of the data (docs/real-data.md)",
        )
    return path


def find(stem: str, data: str | os.PathLike[str]) -> Path:
    """Return the file of a set in a folder, or the file itself.

    A name begins with the set's stem: cube_toss_test.npz, cube_toss.npz. Where a folder has
    several, those that end as training files do are passed over.
    """
    place = checked_path("data", data)
    if os.path.isfile(place):
        return place
    if not os.path.isdir(place):
        raise FileError(f"'{place}' is neither a folder nor a file", path=str(place))
    names = sorted(path for path in place.glob(f"{stem}*.npz") if path.is_file())
    chosen = [path for path in names if not path.name.endswith(TRAINING)] or names
    if not chosen:
        raise FileError(
            f"'{place}' holds no file {stem}*.npz",
            path=str(place),
            remedy="name the folder of the data, or the file itself",
        )
    if len(chosen) > 1:
        raise FileError(
            f"'{place}' holds several files: {', '.join(path.name for path in chosen)}",
            path=str(place),
            remedy="name one of them instead of the folder",
        )
    return chosen[0]


def columns(path: Path, names: Sequence[str], text: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Return the arrays of a file; raise if one of `names` is missing, or is text not in `text`."""
    arrays = read_arrays(path, NUMBERS + TEXT if text else NUMBERS)
    remedy = f"write the arrays {', '.join(names)} (docs/real-data.md lists their columns)"
    missing = [name for name in names if name not in arrays]
    if missing:
        own = sorted(arrays)
        more = f" and {len(own) - LISTED} more" if len(own) > LISTED else ""
        raise FileError(
            f"'{path}' lacks the array{'s' * (len(missing) > 1)} {', '.join(missing)}; it has "
            f"{', '.join(own[:LISTED]) or 'none'}{more}",
            path=str(path),
            remedy=remedy,
        )
    for name in names:
        if name not in text and arrays[name].dtype.kind in TEXT:
            raise FileError(f"'{path}': {name} is text, not numbers", path=str(path), remedy=remedy)
    return {
        name: array.astype(float) if array.dtype.kind == "f" else array
        for name, array in arrays.items()
    }


def check_shape(path: Path, name: str, array: np.ndarray, shape: Sequence[int | None]) -> None:
    """Raise unless an array has this shape; None stands for any length but 0."""
    fits = array.ndim == len(shape) and all(
        n > 0 if want is None else n == want for n, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if want is None else str(want) for want in shape)
        raise FileError(
            f"'{path}': {name} has the shape {array.shape}, not ({wanted})",
            path=str(path),
            remedy="docs/real-data.md lists the columns of each set",
        )


def check_finite(path: Path, case: object, rows: np.ndarray, names: Sequence[str]) -> None:
    """Raise for the first value of a case (frame, column) that is not a number.

    Args:
        path: the file.
        case: how the case is called, such as "toss 17".
        rows: its rows.
        names: names of the columns.
    """
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        row, column = (int(i) for i in bad[0])
        raise FileError(
            f"'{path}': {case}, row {row}: {names[column]} is {rows[row, column]}",
            path=str(path),
            remedy=f"leave this case out of the file, or cut it before row {row}",
        )


def check_rate(path: Path, rate: float, expected: float) -> None:
    """Raise unless frames follow one another at the rate of the set [Hz]."""
    if not abs(rate / expected - 1) < 1e-3:
        raise FileError(
            f"'{path}' has {rate:g} frames a second, not {expected:g}",
            path=str(path),
            remedy=f"resample the data to {expected:g} Hz",
        )


def check_quaternions(path: Path, case: object, rows: np.ndarray) -> None:
    """Raise for the first quaternion (frame, 4) whose length is not 1."""
    length = np.linalg.norm(rows, axis=1)
    bad = np.flatnonzero(np.abs(length - 1) > 0.05)
    if len(bad):
        row = int(bad[0])
        raise FileError(
            f"'{path}': {case}, row {row}: its quaternion has the length {length[row]:.3g}, not 1",
            path=str(path),
            remedy="quaternions are of length 1, in the order w, x, y, z",
        )


def check_velocity(
    path: Path,
    case: object,
    position: np.ndarray,
    velocity: np.ndarray,
    rate: float,
    unit: str = "m",
) -> None:
    """Raise if positions do not move as the velocities say at this rate [Hz].

    Velocities are differences of positions, so that the way of a whole case tells a wrong rate or
    unit. A tenth is allowed for: rates of some sets are filtered.

    Args:
        path: the file.
        case: how the case is called.
        position: positions, (frame, axis), in the unit.
        velocity: their rates, in the unit each second.
        rate: frames a second.
        unit: m or rad.
    """
    moved = np.abs(np.diff(position, axis=0)).sum()
    said = np.abs(0.5 * (velocity[1:] + velocity[:-1])).sum() / rate
    if moved > 0.05 and not 0.8 < said / moved < 1.25:
        raise FileError(
            f"'{path}': {case} moves {moved:.3g} {unit}, but its velocities say {said:.3g} {unit} "
            f"at {rate:g} frames a second",
            path=str(path),
            remedy=f"resample the data to {rate:g} Hz, in units of {unit} and {unit}/s",
        )
