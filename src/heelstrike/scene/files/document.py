"""A TOML file as data, and the line at which each key stands.

tomllib keeps no positions. But a statement of TOML ends where its lines, taken alone, can first be
read; so the text falls into statements by tomllib's own judgement, and each says its own keys.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from heelstrike.errors import HeelstrikeError, SceneError

Key: TypeAlias = tuple[str | int, ...]
"""Of a value: names of tables and keys, and positions in arrays."""

LARGEST = 1_000_000
"""Of a scene file [bytes]."""


@dataclass(frozen=True)
class Document:
    """What a file says, and where."""

    name: str
    """As messages call it."""
    data: dict[str, Any]
    lines: Mapping[Key, int] = field(default_factory=dict)
    folder: Path = Path()
    """What its paths are relative to."""
    given: Mapping[Key, str] = field(default_factory=dict)
    """Keys that were set from outside, and how."""

    def fail(self, key: Key, cause: str | HeelstrikeError) -> NoReturn:
        """Raise a SceneError with file, line and key for a problem in words, or for an error."""
        error = HeelstrikeError(cause) if isinstance(cause, str) else cause
        where, line = self._place(key)
        raise SceneError(
            f"{where}: {error.problem}",
            path=dotted(key),
            value=error.value,
            allowed=error.allowed,
            remedy=error.remedy,
            line=line,
        ) from (None if isinstance(cause, str) else cause)

    def _place(self, key: Key) -> tuple[str, int | None]:
        """Return where a key, or else its nearest table, stands: in words, and the line."""
        named = dotted(key)
        key = self._spelled(key)
        for end in range(len(key), 0, -1):
            if key[:end] in self.given:
                return f"{self.given[key[:end]]}, {named}", None
            if key[:end] in self.lines:
                line = self.lines[key[:end]]
                return f"{self.name}, line {line}, {named}", line
        return f"{self.name}, {named}" if named else self.name, None

    def written(self, table: Key) -> list[str]:
        """The keys that stand in a table."""
        table = self._spelled(table)
        places = [*self.lines, *self.given]
        return [str(place[-1]) for place in places if place[:-1] == table]

    def _spelled(self, key: Key) -> Key:
        """A table that may come several times may be written once: [robot] for [[robot]]."""
        once = key[:1] + key[2:]
        return once if key[1:2] == (0,) and key[:2] not in self.lines else key


def dotted(key: Key) -> str:
    """Return a key as a table's header has it, without positions in arrays."""
    return ".".join(word for word in key if isinstance(word, str))


def read_document(path: Path) -> Document:
    """Of a file that may hold anything."""
    name = str(path)
    if path.is_dir():
        raise SceneError(f"{name} is a folder; name the .toml file inside it")
    try:
        if path.stat().st_size > LARGEST:
            raise SceneError(f"{name} is larger than {LARGEST // 1000} kB: no scene file")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SceneError(f"{name}: cannot be read ({error.strerror}); check the path") from None
    except UnicodeDecodeError as error:
        raise SceneError(
            f"{name}: byte {error.start} is no UTF-8 text; save the scene as UTF-8"
        ) from None
    if not text.strip():
        raise SceneError(f"{name}: the file is empty; `heelstrike run stand --print` shows a scene")
    return parse_document(text, name, path.parent)


def parse_document(text: str, name: str, folder: Path) -> Document:
    """Of a text."""
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise SceneError(f"{name}: brackets are nested too deep") from None
    except ValueError as error:
        raise SceneError(f"{name}: this is no TOML: {error}") from None
    return Document(name, data, key_lines(text), folder)


def key_lines(text: str) -> dict[Key, int]:
    """The line of every table and key of a text that is TOML, counted from 1."""
    rows = text.replace("\r\n", "\n").split("\n")
    found: dict[Key, int] = {}
    tables: dict[Key, int] = {}  # how often [[table]] has occurred
    inside: Key = ()
    start = 0
    while start < len(rows):
        statement, end = _statement(rows, start)
        head = rows[start].strip()
        if head.startswith("["):
            inside = _table(statement, head.startswith("[["), tables)
            found.setdefault(inside, start + 1)
        else:
            for key in _keys(statement):
                found.setdefault(inside + key, start + 1)
        start = end
    return found


def _statement(rows: list[str], start: int) -> tuple[dict[str, Any], int]:
    """What the statement that begins at a row says, and the row after it."""
    for end in range(start + 1, len(rows) + 1):
        try:
            return tomllib.loads("\n".join(rows[start:end])), end
        except tomllib.TOMLDecodeError:
            continue
    return {}, len(rows)


def _table(statement: dict[str, Any], repeats: bool, tables: dict[Key, int]) -> Key:
    """The table that a header opens; of [[tables]] the last one is meant."""
    words: list[str] = []
    rest: Any = statement
    while isinstance(rest, dict) and rest:
        ((word, rest),) = rest.items()
        words.append(word)
    key: Key = ()
    for i, word in enumerate(words):
        key = (*key, word)
        if repeats and i == len(words) - 1:
            tables[key] = tables.get(key, 0) + 1
        if key in tables:
            key = (*key, tables[key] - 1)
    return key


def _keys(value: Any) -> Iterator[Key]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for word, inner in items:
        yield (word,)
        if isinstance(inner, dict | list):
            yield from ((word, *key) for key in _keys(inner))
