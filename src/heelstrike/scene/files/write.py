"""A complete scene as TOML: every key with its value, default, unit and meaning.

The text loads to the same scene.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.contact.catalog import kebab
from heelstrike.errors import HeelstrikeError
from heelstrike.scene.files.build import NONE
from heelstrike.scene.files.content import SceneContent
from heelstrike.scene.files.schema import field_notes, kinds_of, summary

WIDTH = 80


def scene_text(content: SceneContent) -> str:
    """Return the scene as TOML."""
    return "\n".join(_table(content, "")).strip() + "\n"


def as_table(node: Any) -> dict[str, Any]:
    """Return a law as the table of a scene file: its type and all its keys."""
    made: dict[str, Any] = {"type": kebab(type(node).__name__)}
    if made["type"] not in kinds_of(type(node)):
        made = {}
    for f in fields(node):
        value = getattr(node, f.name)
        made[f.name] = as_table(value) if _is_node(value) else NONE if value is None else value
    return made


def _table(node: Any, name: str) -> list[str]:
    """Return the lines of a dataclass: plain values first, then its tables."""
    plain, tables = [], []
    for f in fields(node):
        value = getattr(node, f.name)
        inner = f"{name}.{f.name}" if name else f.name
        if _is_node(value):
            tables += ["", f"[{inner}]", *_type(value), *_table(value, inner)]
        elif _is_nodes(value):
            for one in value:
                tables += ["", f"[[{inner}]]", *_type(one), *_table(one, inner)]
        elif isinstance(value, Mapping) and any(map(_is_node, value.values())):
            for key, one in value.items():
                at = f"{inner}.{_key(key)}"
                tables += ["", f"[{at}]", *_type(one), *_table(one, at)]
        elif not (isinstance(value, tuple) and not value and _holds_nodes(node, f)):
            kind: Any = type(node)
            plain += _line(f, value, field_notes(kind).get(f.name, ""))
    return plain + tables


def _line(f: Field[Any], value: Any, note: str) -> list[str]:
    """Return the line of a key with a comment behind it, or above it if that is too long."""
    line = f"{f.name} = {_value(value)}"
    default = _default(f)
    if default is not MISSING and _value(default) != _value(value):
        note = f"{note}; default {_value(default)}".removeprefix("; ")
    if not note:
        return [line]
    whole = f"{line}  # {note}"
    if len(whole) <= WIDTH:
        return [whole]
    above = textwrap.wrap(note, WIDTH - 2, break_long_words=False, break_on_hyphens=False)
    return [*(f"# {part}" for part in above), line]


def _type(node: Any) -> list[str]:
    """Return the line of `type` for a surface or a law; other classes need none."""
    kind = kebab(type(node).__name__)
    if kind not in kinds_of(type(node)):
        return []
    line = f'type = "{kind}"  # {summary(type(node))}'
    return [line if len(line) <= WIDTH else f'type = "{kind}"']


def _default(f: Field[Any]) -> Any:
    if f.default_factory is not MISSING:
        made = f.default_factory()
        return MISSING if is_dataclass(made) else made
    return f.default


def _value(value: Any) -> str:
    """Return a value in TOML."""
    if value is None:
        return f'"{NONE}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, np.generic | np.ndarray):
        return _value(value.tolist())
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str | Path):
        return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_value, value))}]"
    raise HeelstrikeError(f"cannot write {value!r:.60} as TOML")


def _key(word: str) -> str:
    bare = word and all(c.isascii() and (c.isalnum() or c in "_-") for c in word)
    return word if bare else json.dumps(word, ensure_ascii=False)


def _is_node(value: object) -> bool:
    return is_dataclass(value) and not isinstance(value, type)


def _is_nodes(value: object) -> bool:
    return isinstance(value, tuple) and bool(value) and all(map(_is_node, value))


def _holds_nodes(node: object, f: Field[Any]) -> bool:
    """Return whether an empty field is one that holds tables."""
    return isinstance(node, SceneContent) and f.default == () and f.name != "points"
