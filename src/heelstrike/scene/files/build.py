"""Dataclasses from tables of a scene file, by their fields.

A key is a field, and a table is a dataclass. The type of a field decides what it accepts: a number,
a text, a list, a law. Where several classes are possible, the key `type` names one in kebab case; a
text alone, `law = "rigid"`, is that class with its defaults. TOML has no null: "none" stands for
None. A new dataclass therefore needs no code here to be read from a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from inspect import isclass
from types import NoneType
from typing import Any, NoReturn, TypeVar, get_origin

from heelstrike.contact.catalog import kebab
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.scene.files.document import Document, Key, dotted
from heelstrike.scene.files.schema import field_types, kinds_of
from heelstrike.scene.files.values import (
    WORDS,
    WrongTypeError,
    choices,
    item_of,
    list_words,
    plain,
    show_value,
)
from heelstrike.scene.surfaces import Surface

T = TypeVar("T")

NONE = "none"


def build(cls: type[T], document: Document, key: Key, table: dict[str, Any]) -> T:
    """Return an object of a dataclass from its table.

    Args:
        cls: the dataclass.
        document: the scene file.
        key: key of the table in the file.
        table: the data of the table.
    """
    known = {f.name: f for f in fields(cls) if f.init}  # type: ignore[arg-type]
    for word, raw in table.items():
        if (word not in known or isinstance(raw, dict)) and _is_law_key(cls, word):
            document.fail((*key, word), f"'{word}' is part of the law: [{dotted(key)}.law]")
        if word not in known:
            document.fail((*key, word), UnknownNameError("key", word, known))
    types = field_types(cls)  # type: ignore[arg-type]
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
        fail_at_path(document, error, key)
    except (TypeError, ValueError, OverflowError) as error:
        document.fail(key, f"cannot be read: {error}")


def fail_at_path(document: Document, error: HeelstrikeError, *tables: Key) -> NoReturn:
    """Raise a SceneError at the key of `error.path` in the first of the tables that has it.

    Where no table has that key, the table of that name is at fault, or else the first one.
    """
    first, _, rest = (error.path or "").partition(".")
    inner = (rest,) if rest else ()
    for table in tables:
        if first in document.keys_in(table):
            document.fail((*table, first, *inner), error)
    named = [table for table in tables if table and table[0] == first]
    document.fail((*named[0], *inner) if named else tables[0], error)


def _value(document: Document, key: Key, raw: Any, wanted: Any, default: type | None) -> Any:
    """Convert the value of a key to the type of its field."""
    options = choices(wanted)
    if raw == NONE and NoneType in options:
        return None
    for choice in options:
        item = item_of(choice)
        if item is not None and _kinds(item):
            if get_origin(choice) is Mapping:
                return _by_name(document, key, raw, item)
            return _listed(document, key, raw, item)
    kinds, laws = _kinds(wanted), _kinds(wanted, named=True)
    if kinds and isinstance(raw, dict):
        return _node(document, key, raw, kinds, laws, default)
    if laws and isinstance(raw, str):
        return _node(document, key, {"type": raw}, kinds, laws, default)
    for choice in options:
        try:
            return plain(raw, choice, document.folder)
        except WrongTypeError:
            continue
    words = [WORDS[c] for c in options if c in WORDS] + list_words(options)
    if kinds:
        words.insert(0, f"a table, [{dotted(key)}]")
    document.fail(key, f"must be {' or '.join(dict.fromkeys(words))}, not {show_value(raw)}")


def _is_law_key(cls: type, word: str) -> bool:
    """Return whether an unknown key of a surface is one of a law."""
    if not issubclass(cls, Surface) or word == "law":
        return False
    return any(word == f.name for law in kinds_of(SurfaceLaw).values() for f in fields(law))


def _node(
    document: Document,
    key: Key,
    table: dict[str, Any],
    kinds: Mapping[str, type],
    laws: Mapping[str, type],
    default: type | None,
) -> Any:
    """Return an object of the class that its table names.

    `kinds` are the classes that are allowed, `laws` those of them that `type` selects.
    """
    table = dict(table)
    cls = default or next(iter(kinds.values()))
    if laws:
        name = table.pop("type", None)
        if name is None and default is None and len(laws) > 1:
            document.fail(key, f"needs a type; types: {', '.join(laws)}")
        at = (*key, "type") if "type" in document.keys_in(key) else key
        if name is not None and not isinstance(name, str):
            document.fail(at, f"must be a text, not {show_value(name)}; types: {', '.join(laws)}")
        if name is not None and name not in laws:
            document.fail(at, UnknownNameError("type", name, laws))
        cls = laws[name] if name is not None else cls
    return build(cls, document, key, table)


def _listed(document: Document, key: Key, raw: Any, item: Any) -> tuple[Any, ...]:
    """Return the objects of [[key]]; a single one may be written [key]."""
    rows = [raw] if isinstance(raw, dict) else raw
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        document.fail(key, f"must be tables, [[{key[-1]}]], not {show_value(raw)}")
    return tuple(_value(document, (*key, i), row, item, None) for i, row in enumerate(rows))


def _by_name(document: Document, key: Key, raw: Any, item: Any) -> dict[str, Any]:
    """Return the objects of a table of tables, by name."""
    if not isinstance(raw, dict):
        document.fail(key, f"must be a table of names, not {show_value(raw)}")
    return {name: _value(document, (*key, name), inner, item, None) for name, inner in raw.items()}


def _kinds(wanted: Any, named: bool = False) -> dict[str, type]:
    """Return the dataclasses that a type allows; `named`: only those that `type` selects."""
    found: dict[str, type] = {}
    for choice in choices(wanted):
        if not isclass(choice) or choice is NoneType:
            continue
        several = kinds_of(choice)
        if not several and not named and is_dataclass(choice):
            several = {kebab(choice.__name__): choice}
        found |= several
    return found


def _default_kind(f: Field[Any]) -> type | None:
    """Return the dataclass of a field's default."""
    if f.default_factory is not MISSING:
        made = type(f.default_factory())
        return made if is_dataclass(made) else None
    return type(f.default) if is_dataclass(f.default) else None
