"""Plain values: numbers, texts, files, lists and tables of them, each by the type of its field."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from inspect import isclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from heelstrike.scene.files.kinds import kinds_of

WORDS = {
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    str: "a text",
    Path: "a file",
    NoneType: '"none"',
}


class Mismatch(Exception):
    """A value of another type."""


def choices(wanted: Any) -> tuple[Any, ...]:
    """The members of a union, files first, or the type alone."""
    found = get_args(wanted) if get_origin(wanted) in (Union, UnionType) else (wanted,)
    return tuple(sorted(found, key=lambda choice: not _is_path(choice)))


def item_of(choice: Any) -> Any:
    """What a list or a table of a type holds; None for what is neither."""
    origin = get_origin(choice)
    if isclass(origin) and issubclass(origin, Mapping):
        return get_args(choice)[1]
    if isclass(origin) and issubclass(origin, Sequence):
        return get_args(choice)[0]
    return None


def plain(raw: Any, choice: Any, folder: Path) -> Any:
    """A value that is no dataclass."""
    if choice in (bool, str):
        if type(raw) is choice:
            return raw
        raise Mismatch
    if choice in (int, float):
        return _number(raw, choice)
    if _is_path(choice):
        if isinstance(raw, str):
            return (folder / Path(raw).expanduser()).resolve()
        raise Mismatch
    origin, item = get_origin(choice), item_of(choice)
    if isclass(origin) and issubclass(origin, Mapping):
        if isinstance(raw, dict):
            return {name: plain(inner, item, folder) for name, inner in raw.items()}
        raise Mismatch
    if item is not None:
        if isinstance(raw, list):
            return tuple(_any(raw, item, folder))
        if item is str and isinstance(raw, str):
            return raw
        raise Mismatch
    if choice is np.ndarray and not isinstance(raw, list):
        raise Mismatch
    if choice in (NoneType, complex, bytes) or _is_table(choice):
        raise Mismatch
    return _frozen(raw)


def _any(raw: Sequence[Any], item: Any, folder: Path) -> list[Any]:
    """Entries of a list, each of any of the types that an entry may have."""
    made = []
    for entry in raw:
        for choice in choices(item):
            try:
                made.append(plain(entry, choice, folder))
                break
            except Mismatch:
                continue
        else:
            raise Mismatch
    return made


def _number(raw: Any, kind: type) -> int | float:
    whole = isinstance(raw, int) and not isinstance(raw, bool)
    if whole and kind is int:
        return int(raw)
    if kind is float and (whole or isinstance(raw, float)):
        with suppress(OverflowError):
            number = float(raw)
            if not math.isnan(number):
                return number
    raise Mismatch


def _frozen(raw: Any) -> Any:
    return tuple(map(_frozen, raw)) if isinstance(raw, list) else raw


def _is_table(choice: Any) -> bool:
    """Whether a type is written as a table."""
    return isclass(choice) and (is_dataclass(choice) or bool(kinds_of(choice)))


def _is_path(choice: Any) -> bool:
    kind = get_origin(choice) or choice
    return isclass(kind) and issubclass(kind, os.PathLike)


def list_words(options: Sequence[Any]) -> list[str]:
    """How messages call lists and tables of plain values."""
    found = []
    for choice in options:
        item = item_of(choice)
        what = "texts" if item is str else "numbers" if item is float else "values"
        if isclass(get_origin(choice)) and issubclass(get_origin(choice), Mapping):
            found.append(f"a table of {what} by name")
        elif item is not None:
            found.append(f"a list of {what}")
    return found


def shown(raw: Any) -> str:
    text = f"'{raw}'" if isinstance(raw, str) else str(raw)
    text = text.lower() if isinstance(raw, bool) else text
    return text if len(text) <= 40 else f"{text[:37]}..."
