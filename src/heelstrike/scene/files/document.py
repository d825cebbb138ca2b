"""A TOML file as data, and the line of each of its keys.

tomllib keeps no positions. But a statement of TOML ends where its lines, taken alone, can first be
parsed; so tomllib itself splits the text into statements, and each statement yields its keys.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from heelstrike.errors import HeelstrikeError, SceneError, UnknownNameError
from heelstrike.robot import bundled

Key: TypeAlias = tuple[str | int, ...]
"""Names of tables and keys, and positions in arrays, that lead to a value."""

SUFFIX = ".toml"
MAX_SIZE = 1_000_000
"""Largest size of a scene file [bytes]."""
MAX_DEPTH = 20
"""Largest depth of tables and lists."""
MAX_PARSED = 10_000_000
"""Letters that are parsed to find the lines of keys, of which long statements need many."""


@dataclass(frozen=True)
class Document:
    """The data of a scene file, and where each key comes from."""

    name: str
    """Name of the file in messages."""
    data: dict[str, Any]
    lines: Mapping[Key, int] = field(default_factory=dict)
    """Line of each key, counted from 1."""
    folder: Path = Path()
    """Folder that paths in the file are relative to."""
    overrides: Mapping[Key, str] = field(default_factory=dict)
    """Keys that the command line sets, and the option that does."""

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

    def keys_in(self, table: Key) -> list[str]:
        """Return the keys that a table has in the file or by an option."""
        table = self._as_written(table)
        places = [*self.lines, *self.overrides]
        return [str(place[-1]) for place in places if place[:-1] == table]

    def _place(self, key: Key) -> tuple[str, int | None]:
        """Return where a key, or else its nearest table, is: in words, and the line."""
        name = dotted(key)
        key = self._as_written(key)
        for end in range(len(key), 0, -1):
            if key[:end] in self.overrides:
                return f"{self.overrides[key[:end]]}, {name}", None
            if key[:end] in self.lines:
                line = self.lines[key[:end]]
                return f"{self.name}, line {line}, {name}", line
        return f"{self.name}, {name}" if name else self.name, None

    def _as_written(self, key: Key) -> Key:
        """Return the key as the file has it: a single [[robot]] may be written [robot]."""
        single = key[:1] + key[2:]
        return single if key[1:2] == (0,) and key[:2] not in self.lines else key


def dotted(key: Key) -> str:
    """Return a key as a table's header has it, without positions in arrays."""
    return ".".join(word for word in key if isinstance(word, str))


def scenes() -> list[str]:
    """Return the names of the bundled scenes."""
    folder = resources.files("heelstrike") / "scenes"
    if not folder.is_dir():
        return []
    names = [file.name for file in folder.iterdir()]
    return sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))


def read_scene(source: str | os.PathLike[str]) -> Document:
    """Return the document of a bundled scene's name, or of a path."""
    text = str(source)
    if text in scenes():
        place = resources.files("heelstrike") / "scenes" / f"{text}{SUFFIX}"
        return replace(read_document(Path(str(place))), name=f"{text}{SUFFIX}")
    path = Path(text).expanduser()
    if os.path.exists(path):
        return read_document(path)
    if path.suffix == SUFFIX or os.sep in text:
        raise SceneError(
            f"{text}: no such file", remedy=f"check the path (relative to {Path.cwd()})"
        )
    if text in bundled():
        raise SceneError(
            f"'{text}' is a robot, not a scene",
            remedy=f"put it on a plane: heelstrike run --robot {text}, or in Python "
            f"hs.robot_scene('{text}')",
        )
    unknown = UnknownNameError("scene", text, scenes())
    raise SceneError(unknown.problem, value=text, remedy=unknown.remedy)


def read_document(path: Path) -> Document:
    """Return the document of a file; anything but a scene in TOML raises SceneError."""
    name = str(path)
    if path.is_dir():
        raise SceneError(f"{name} is a folder", remedy=f"name the {SUFFIX} file inside it")
    try:
        if path.stat().st_size > MAX_SIZE:
            raise SceneError(f"{name} is larger than a scene file may be, {MAX_SIZE // 1000} kB")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SceneError(f"{name}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise SceneError(
            f"{name}: byte {error.start} is not UTF-8 text", remedy="save the scene as UTF-8"
        ) from None
    if not text.strip():
        raise SceneError(
            f"{name}: the file is empty", remedy="`heelstrike run stand --print` shows an example"
        )
    return parse_document(text, name, path.parent)


def parse_document(text: str, name: str, folder: Path) -> Document:
    """Return the document of a text in TOML.

    Args:
        text: the content of a scene file.
        name: what messages call it.
        folder: what its paths are relative to.
    """
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise SceneError(f"{name}: brackets are nested too deeply") from None
    except ValueError as error:
        raise SceneError(f"{name}: not valid TOML: {error!s:.300}") from None
    if _depth(data) > MAX_DEPTH:
        raise SceneError(f"{name}: tables are nested more than {MAX_DEPTH} deep")
    return Document(name, data, key_lines(text), folder)


def key_lines(text: str) -> dict[Key, int]:
    """Return the line of every table and key of a valid TOML text, counted from 1."""
    rows = text.replace("\r\n", "\n").split("\n")
    found: dict[Key, int] = {}
    counts: dict[Key, int] = {}  # how often each [[table]] has occurred
    inside: Key = ()
    start = parsed = 0
    while start < len(rows) and parsed < MAX_PARSED:
        statement, end, letters = _statement(rows, start, MAX_PARSED - parsed)
        parsed += letters
        head = rows[start].strip()
        if head.startswith("["):
            inside = _table(statement, head.startswith("[["), counts)
            found.setdefault(inside, start + 1)
        else:
            for key in _keys(statement):
                found.setdefault(inside + key, start + 1)
        start = end
    return found


def _statement(rows: list[str], start: int, most: int) -> tuple[dict[str, Any], int, int]:
    """Return the data of the statement that begins at a row, the row after it, and the letters
    that were parsed: no more than `most`, then no statement is found.
    """
    parsed = 0
    for end in range(start + 1, len(rows) + 1):
        text = "\n".join(rows[start:end])
        parsed += len(text) + 1
        if parsed > most:
            break
        try:
            return tomllib.loads(text), end, parsed
        except tomllib.TOMLDecodeError:
            continue
    return {}, len(rows), parsed


def _depth(data: object) -> int:
    """Return how deep tables and lists are nested, at most MAX_DEPTH + 1."""
    depth, level = 0, [data]
    while level and depth <= MAX_DEPTH:
        inner = [x for x in level if isinstance(x, dict | list)]
        level = [y for x in inner for y in (x.values() if isinstance(x, dict) else x)]
        depth += bool(inner)
    return depth


def _table(statement: dict[str, Any], repeats: bool, counts: dict[Key, int]) -> Key:
    """Return the key of the table that a header opens: the last one, of several [[tables]]."""
    words: list[str] = []
    rest: Any = statement
    while isinstance(rest, dict) and rest:
        ((word, rest),) = rest.items()
        words.append(word)
    key: Key = ()
    for i, word in enumerate(words):
        key = (*key, word)
        if repeats and i == len(words) - 1:
            counts[key] = counts.get(key, 0) + 1
        if key in counts:
            key = (*key, counts[key] - 1)
    return key


def _keys(value: Any) -> Iterator[Key]:
    """Yield every key inside a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for word, inner in items:
        yield (word,)
        if isinstance(inner, dict | list):
            yield from ((word, *key) for key in _keys(inner))
