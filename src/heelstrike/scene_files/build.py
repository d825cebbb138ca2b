"""Dataclasses from tables: a key is a field, a table in it is a dataclass again.

What a field takes is its type: a number, a text, a list, a law. Of several classes the key `type`
names one, by kebab case; a text alone, `law = "rigid"`, is the class with its defaults. TOML has no
null: "none" stands for None. So what has fields needs no code here to be read from a file.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, fields, is_dataclass
from inspect import isclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NoReturn, TypeVar, Union, get_args, get_origin

import numpy as np

from heelstrike.contact.catalog import kebab
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError
from heelstrike.scene_files.describe import hints
from heelstrike.scene_files.document import Document, Key
from heelstrike.scene_files.kinds import hint, kinds_of
from heelstrike.simulate.surface import Surface

T = TypeVar("T")

NONE = "none"
WORDS = {
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    str: "a text",
    Path: "a file",
    NoneType: '"none"',
}


class _Mismatch(Exception):
    """A value of another type."""


def build(cls: type[T], document: Document, key: Key, table: dict[str, Any]) -> T:
    """An object of a dataclass from its table."""
    known = {f.name: f for f in fields(cls) if f.init}  # type: ignore[arg-type]
    for word, raw in table.items():
        if (word not in known or isinstance(raw, dict)) and _of_law(cls, word):
            document.fail((*key, word), f"'{word}' is a part of the law: [{_name(key)}.law]")
        if word not in known:
            document.fail((*key, word), f"no key '{word}'; {hint(word, known, 'keys')}")
    types = hints(cls)  # type: ignore[arg-type]
    values = {
        name: _value(document, (*key, name), raw, types[name], _default_kind(known[name]))
        for name, raw in table.items()
    }
    for name, f in known.items():
        if name not in values and f.default is MISSING and f.default_factory is MISSING:
            document.fail(key, f"needs the key '{name}'; write {name} = ...")
    try:
        return cls(**values)
    except HeelstrikeError as error:
        blame(document, error, key)
    except (TypeError, ValueError, OverflowError) as error:
        document.fail(key, f"cannot be read: {error}")


def blame(document: Document, error: HeelstrikeError, *tables: Key) -> NoReturn:
    """Raises the error with the place of the key, or else the table, that it names among these."""
    for key in tables:
        places = [*document.lines, *document.given]
        words = [place[-1] for place in places if place[:-1] == key]
        said = [(m.start(), w) for w in words if (m := re.search(rf"\b{w}\b", str(error)))]
        if said:
            document.fail((*key, min(said)[1]), str(error))
    named = [key for key in tables if key and re.search(rf"\b{key[0]}\b", str(error))]
    document.fail((named or tables)[0], str(error))


def _value(document: Document, key: Key, raw: Any, wanted: Any, default: type | None) -> Any:
    """What a field takes, from what the file has."""
    choices = _choices(wanted)
    if raw == NONE and NoneType in choices:
        return None
    for choice in choices:
        item = _item(choice)
        if item is not None and _kinds(item):
            if isinstance(choice, type) or get_origin(choice) is Mapping:
                return _named(document, key, raw, item)
            rows = raw if isinstance(raw, list) else None
            if rows is None and isinstance(raw, dict):
                return (_value(document, key, raw, item, None),)
            if rows is not None and all(isinstance(row, dict) for row in rows):
                return tuple(
                    _value(document, (*key, i), row, item, None) for i, row in enumerate(rows)
                )
            document.fail(key, f"must be tables, [[{key[-1]}]], not {_shown(raw)}")
    kinds, laws = _kinds(wanted), _kinds(wanted, named=True)
    if kinds and isinstance(raw, dict):
        return _node(document, key, raw, kinds, laws, default)
    if laws and isinstance(raw, str):
        return _node(document, key, {"type": raw}, kinds, laws, default)
    for choice in choices:
        try:
            return _plain(raw, choice, document.folder)
        except _Mismatch:
            continue
    words = [WORDS[c] for c in choices if c in WORDS] + _lists(choices)
    if kinds:
        words.insert(0, f"a table, [{_name(key)}]")
    document.fail(key, f"must be {' or '.join(dict.fromkeys(words))}, not {_shown(raw)}")


def _of_law(cls: type, word: str) -> bool:
    """Whether a key of a surface is a part of laws, not of surfaces."""
    if not issubclass(cls, Surface) or word == "law":
        return False
    return any(word == f.name for law in kinds_of(SurfaceLaw).values() for f in fields(law))


def _name(key: Key) -> str:
    """Of a table, as its header has it."""
    return ".".join(word for word in key if isinstance(word, str))


def _node(
    document: Document,
    key: Key,
    table: dict[str, Any],
    kinds: Mapping[str, type],
    laws: Mapping[str, type],
    default: type | None,
) -> Any:
    """An object of the class that its table names."""
    table = dict(table)
    cls = default or next(iter(kinds.values()))
    if laws:
        name = table.pop("type", None)
        if name is None and default is None and len(laws) > 1:
            document.fail(key, f"needs a type; types: {', '.join(laws)}")
        if name is not None and name not in laws:
            at = (*key, "type") if (*key, "type") in document.lines else key
            document.fail(at, f"no type {_shown(name)} here; {hint(str(name), laws, 'types')}")
        cls = laws[name] if name is not None else cls
    return build(cls, document, key, table)


def _named(document: Document, key: Key, raw: Any, item: Any) -> dict[str, Any]:
    """Objects by name."""
    if not isinstance(raw, dict):
        document.fail(key, f"must be a table of names, not {_shown(raw)}")
    return {name: _value(document, (*key, name), inner, item, None) for name, inner in raw.items()}


def _choices(wanted: Any) -> tuple[Any, ...]:
    """The members of a union, files first, or the type alone."""
    found = get_args(wanted) if get_origin(wanted) in (Union, UnionType) else (wanted,)
    return tuple(sorted(found, key=lambda choice: not _is_path(choice)))


def _is_path(choice: Any) -> bool:
    kind = get_origin(choice) or choice
    return isclass(kind) and issubclass(kind, os.PathLike)


def _item(choice: Any) -> Any:
    """What a list or a table of a type holds; None for what is neither."""
    origin = get_origin(choice)
    if isclass(origin) and issubclass(origin, Mapping):
        return get_args(choice)[1]
    if isclass(origin) and issubclass(origin, Sequence):
        return get_args(choice)[0]
    return None


def _kinds(wanted: Any, named: bool = False) -> dict[str, type]:
    """Dataclasses that a type allows; `named`: only those that `type` tells apart."""
    found: dict[str, type] = {}
    for choice in _choices(wanted):
        if not isclass(choice) or choice is NoneType:
            continue
        several = kinds_of(choice)
        if not several and not named and is_dataclass(choice):
            several = {kebab(choice.__name__): choice}
        found |= several
    return found


def _default_kind(f: Field[Any]) -> type | None:
    if f.default_factory is not MISSING:
        made = type(f.default_factory())
        return made if is_dataclass(made) else None
    return type(f.default) if is_dataclass(f.default) else None


def _plain(raw: Any, choice: Any, folder: Path) -> Any:
    """A value that is no dataclass."""
    if choice in (bool, str):
        if type(raw) is choice:
            return raw
        raise _Mismatch
    if choice in (int, float):
        return _number(raw, choice)
    if _is_path(choice):
        if isinstance(raw, str):
            return (folder / Path(raw).expanduser()).resolve()
        raise _Mismatch
    origin, item = get_origin(choice), _item(choice)
    if isclass(origin) and issubclass(origin, Mapping):
        if isinstance(raw, dict):
            return {name: _plain(inner, item, folder) for name, inner in raw.items()}
        raise _Mismatch
    if item is not None:
        if isinstance(raw, list):
            return tuple(_any(raw, item, folder))
        if item is str and isinstance(raw, str):
            return raw
        raise _Mismatch
    if choice is np.ndarray and not isinstance(raw, list):
        raise _Mismatch
    if choice in (NoneType, complex, bytes) or _kinds(choice):
        raise _Mismatch
    return _frozen(raw)


def _any(raw: Sequence[Any], item: Any, folder: Path) -> list[Any]:
    """Entries of a list, each of any of the types that an entry may have."""
    made = []
    for entry in raw:
        for choice in _choices(item):
            try:
                made.append(_plain(entry, choice, folder))
                break
            except _Mismatch:
                continue
        else:
            raise _Mismatch
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
    raise _Mismatch


def _frozen(raw: Any) -> Any:
    return tuple(map(_frozen, raw)) if isinstance(raw, list) else raw


def _lists(choices: Sequence[Any]) -> list[str]:
    """How messages call lists and tables of plain values."""
    found = []
    for choice in choices:
        item = _item(choice)
        what = "texts" if item is str else "numbers" if item is float else "values"
        if isclass(get_origin(choice)) and issubclass(get_origin(choice), Mapping):
            found.append(f"a table of {what} by name")
        elif item is not None:
            found.append(f"a list of {what}")
    return found


def _shown(raw: Any) -> str:
    text = f"'{raw}'" if isinstance(raw, str) else str(raw)
    text = text.lower() if isinstance(raw, bool) else text
    return text if len(text) <= 40 else f"{text[:37]}..."
