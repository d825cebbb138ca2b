"""Digests of nested plain data: equal data have equal digests, in every process."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from hashlib import sha256

import numpy as np

from heelstrike.errors import ProgramError


def digest(data: object) -> str:
    """Return the sha256 of numbers, strings, bytes, arrays, and tuples, lists and dicts of them.

    Types count (1, 1.0, True and "1" are four keys), and so do the signs of 0.0 and -0.0. A tuple
    equals a list, and the order of a dict does not count.
    """
    found = sha256()
    for piece in _pieces(data, "key"):
        found.update(piece)
    return found.hexdigest()


def _pieces(data: object, where: str) -> Iterator[bytes]:
    """Yield a tag, a length and the content of each part, so that different data differ."""
    if data is None:
        yield _framed(b"none", b"")
    elif isinstance(data, bool | np.bool_):
        yield _framed(b"bool", b"1" if data else b"0")
    elif isinstance(data, int | np.integer):
        yield _framed(b"int", str(int(data)).encode())
    elif isinstance(data, float):
        yield _framed(b"float", struct.pack("<d", data))
    elif isinstance(data, str):
        yield _framed(b"str", data.encode("utf-8", "surrogatepass"))
    elif isinstance(data, bytes):
        yield _framed(b"bytes", data)
    elif isinstance(data, tuple | list):
        yield _head(b"list", len(data))
        for i, item in enumerate(data):
            yield from _pieces(item, f"{where}[{i}]")
    elif isinstance(data, dict):
        yield _head(b"dict", len(data))
        for name, item in sorted(data.items(), key=lambda pair: digest(pair[0])):
            yield from _pieces(name, where)
            yield from _pieces(item, f"{where}[{name!r}]")
    elif type(data) is np.ndarray or isinstance(data, np.generic):
        array = np.asarray(data)
        if array.dtype.kind not in "biufcSU":
            raise _unknown(where, f"an array of {array.dtype}")
        shape = ",".join(map(str, array.shape))
        yield _framed(b"array", f"{array.dtype.str} {shape}".encode())
        yield _framed(b"values", array.tobytes())
    else:
        raise _unknown(where, f"a {type(data).__qualname__}")


def _head(kind: bytes, size: int) -> bytes:
    return kind + b" %d:" % size


def _framed(kind: bytes, content: bytes) -> bytes:
    return _head(kind, len(content)) + content


def _unknown(where: str, what: str) -> ProgramError:
    return ProgramError(
        f"{where} is {what}",
        path=where,
        allowed="numbers, strings, bytes, numpy arrays, and tuples, lists and dicts of them",
        remedy="put the data that matter into the key",
    )
