"""Files of NumPy, .npz and .npy: plain arrays with a checksum each, never pickled objects."""

from __future__ import annotations

from collections.abc import Mapping
from os import SEEK_END

import numpy as np

from heelstrike.errors import FileError
from heelstrike.files import PathLike, check_regular, whole_file

NUMBERS, TEXT = "fiub", "U"
"""NumPy's letters of the kinds of arrays that files of ours may hold."""
NAMES = "names of arrays"
"""Array that lists the others: damage of an archive's directory may hide one of them."""
END, COUNT, UNSTATED = b"PK\x05\x06", slice(10, 12), 0xFFFF
"""How the end of an archive begins, where it states its number of files, and what stands there if
that is stated elsewhere: the same damage may hide the list as well."""
LONGEST = 22 + 0xFFFF
"""Bytes of the end with the longest remark."""


def write_arrays(path: PathLike, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays by name to an .npz file, whole or not at all."""
    with whole_file(path) as part, open(part, "wb") as file:
        np.savez(file, **arrays, **{NAMES: np.array(sorted(arrays))})  # type: ignore[arg-type]


def read_arrays(path: PathLike, kinds: str = NUMBERS) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz file by name; a .npy file has one, named "".

    Raises:
        FileError: the file is absent or damaged (each array of an .npz file has a checksum), or
            holds an array of other kinds, such as text or objects.
    """
    check_regular(path)
    try:
        found = np.load(path, allow_pickle=False)
        if isinstance(found, np.ndarray):
            arrays, lost = {"": found}, False
        else:
            with found as file:
                arrays = {name: file[name] for name in file.files}
                lost = _stated(path) not in (len(file.zip.infolist()), UNSTATED)
    except Exception as error:  # zip, zlib and NumPy each have their own
        raise FileError(
            f"'{path}' is not a file of plain arrays, or is damaged",
            path=str(path),
            remedy="copy it again, or write it by numpy.savez without objects",
        ) from error
    listed = arrays.pop(NAMES, np.array(sorted(arrays)))
    if lost or np.asarray(listed).tolist() != sorted(arrays):
        raise FileError(f"'{path}' has lost arrays: it is damaged", path=str(path))
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
            kind = getattr(array, "dtype", "bytes")
            raise FileError(
                f"'{path}': array '{name:.60}' is of type {kind}, not of numbers", path=str(path)
            )
    return arrays


def _stated(path: PathLike) -> int:
    """Return the number of files that the end of an archive states."""
    with open(path, "rb") as file:
        size = file.seek(0, SEEK_END)
        file.seek(max(0, size - LONGEST))
        tail = file.read()
    return int.from_bytes(tail[tail.rindex(END) :][COUNT], "little")
