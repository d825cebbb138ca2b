"""Values of a scene file that are no dataclasses, by the type of their field.

These are numbers, texts, paths, and lists and tables of them.
"""

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

from heelstrike.scene.files.schema import kinds_of

WORDS = {
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    str: "a text",
    Path: "a file",
    NoneType: '"none"',
}


class WrongTypeError(Exception):
    """A value that is not of the type of its field."""


def choices(wanted: Any) -> tuple[Any, ...]:
    """Return the members of a union, paths first, or the type alone."""
    found = get_args(wanted) if get_origin(wanted) in (Union, UnionType) else (wanted,)
    return tuple(sorted(found, key=lambda choice: not _is_path(choice)))


def item_of(choice: Any) -> Any:
    """Return the type of the items of a list or a table; None for other types."""
    origin = get_origin(choice)
    if isclass(origin) and issubclass(origin, Mapping):
        return get_args(choice)[1]
    if isclass(origin) and issubclass(origin, Sequence):
        return get_args(choice)[0]
    return None


def plain(raw: Any, choice: Any, folder: Path) -> Any:
    """Convert a value of the file to a type that is no dataclass, or raise WrongTypeError.

    Args:
        raw: the value as tomllib has it.
        choice: the type.
        folder: what paths are relative to.
    """
    if choice in (bool, str):
        if type(raw) is choice:
            return raw
        raise WrongTypeError
    if choice in (int, float):
        return _number(raw, choice)
    if _is_path(choice):
        if isinstance(raw, str):
            return (folder / Path(raw).expanduser()).resolve()
        raise WrongTypeError
    origin, item = get_origin(choice), item_of(choice)
    if isclass(origin) and issubclass(origin, Mapping):
        if isinstance(raw, dict):
            return {name: plain(inner, item, folder) for name, inner in raw.items()}
        raise WrongTypeError
    if item is not None:
        if isinstance(raw, list):
            return tuple(_items(raw, item, folder))
        if item is str and isinstance(raw, str):
            return raw
        raise WrongTypeError
    if choice is np.ndarray and not isinstance(raw, list):
        raise WrongTypeError
    if choice in (NoneType, complex, bytes) or _is_table(choice):
        raise WrongTypeError
    return _frozen(raw)


def _items(raw: Sequence[Any], item: Any, folder: Path) -> list[Any]:
    """Convert the entries of a list, each to the first of the allowed types that fits."""
    made = []
    for entry in raw:
        for choice in choices(item):
            try:
                made.append(plain(entry, choice, folder))
                break
            except WrongTypeError:
                continue
        else:
            raise WrongTypeError
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
    raise WrongTypeError


def _frozen(raw: Any) -> Any:
    return tuple(map(_frozen, raw)) if isinstance(raw, list) else raw


def _is_table(choice: Any) -> bool:
    """Return whether values of a type are written as tables."""
    return isclass(choice) and (is_dataclass(choice) or bool(kinds_of(choice)))


def _is_path(choice: Any) -> bool:
    kind = get_origin(choice) or choice
    return isclass(kind) and issubclass(kind, os.PathLike)


def list_words(options: Sequence[Any]) -> list[str]:
    """Return the words for types that are lists and tables of plain values."""
    found = []
    for choice in options:
        item = item_of(choice)
        items = "texts" if item is str else "numbers" if item is float else "values"
        if isclass(get_origin(choice)) and issubclass(get_origin(choice), Mapping):
            found.append(f"a table of {items} by name")
        elif item is not None:
            found.append(f"a list of {items}")
    return found


def show_value(raw: Any) -> str:
    """Return a value as TOML writes it, shortened to 40 characters."""
    text = f"'{raw}'" if isinstance(raw, str) else str(raw)
    text = text.lower() if isinstance(raw, bool) else text
    return text if len(text) <= 40 else f"{text[:37]}..."
