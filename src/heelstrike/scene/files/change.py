"""What a command line changes in a scene before it is read: `ground.normal.k=2e4`.

A path begins with the name of a surface, whose law's keys stand beside its own, as in
`sim.parameters`; or with the name of a part; or with a table of the file: `simulation.dt`.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from heelstrike.contact.catalog import law_by_name
from heelstrike.errors import SceneError, UnknownNameError
from heelstrike.scene.files.content import Content
from heelstrike.scene.files.document import Document, Key
from heelstrike.scene.surfaces import Surface


def changed(document: Document, settings: Sequence[str]) -> Document:
    """A copy with other values: "path=value" each."""
    data, given = copy.deepcopy(document.data), dict(document.given)
    for setting in settings:
        path, equals, text = setting.partition("=")
        words = [word.strip() for word in path.split(".")]
        if not equals or not all(words):
            raise SceneError(f"--set {setting}: write it as ground.normal.k=2e4")
        given[_assign(data, words, _parsed(text.strip()), setting)] = f"--set {setting}"
    return replace(document, data=data, given=given)


def with_law(document: Document, name: str) -> Document:
    """A copy in which every surface has this law: a normal one keeps an elastic law's friction."""
    info = law_by_name(name)
    if info.kind == "friction":
        raise SceneError(
            f"--law {name}: this is friction alone; --set ground.friction={info.name} changes it"
        )
    data, given = copy.deepcopy(document.data), dict(document.given)
    for i, surface in enumerate(_tables(data, "surface")):
        if info.kind == "normal":
            old = surface.get("law", {})
            kept = old if isinstance(old, dict) and old.get("type", "elastic") == "elastic" else {}
            surface["law"] = {**kept, "type": "elastic", "normal": info.name}
        else:
            surface["law"] = info.name
        given[("surface", i, "law")] = f"--law {name}"
    return replace(document, data=data, given=given)


def with_drop(document: Document, height: float) -> Document:
    """A copy whose robots, or objects where there is none, start at this height [m]."""
    data, given = copy.deepcopy(document.data), dict(document.given)
    kind = "robot" if "robot" in data else "object"
    for i, part in enumerate(_tables(data, kind)):
        part["drop"] = height
        given[(kind, i, "drop")] = f"--drop {height:g}"
    return replace(document, data=data, given=given)


def with_values(document: Document, flags: Mapping[str, float]) -> Document:
    """A copy with other values of [simulation], by the names of their flags."""
    data, given = copy.deepcopy(document.data), dict(document.given)
    table = data.setdefault("simulation", {})
    for flag, value in flags.items():
        word = flag.removeprefix("--")
        if isinstance(table, dict):
            table[word] = value
            given[("simulation", word)] = f"{flag} {value:g}"
    return replace(document, data=data, given=given)


def _parsed(text: str) -> Any:
    """A value of TOML, or the text itself."""
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text


def _assign(data: dict[str, Any], words: list[str], value: Any, setting: str) -> Key:
    """Sets one value; returns where it stands in the file."""
    table, key, words = _start(data, words, setting)
    for word in words[:-1]:
        inner = table.setdefault(word, {})
        if isinstance(inner, str):  # law = "rigid"
            inner = table[word] = {"type": inner}
        if not isinstance(inner, dict):
            raise SceneError(f"--set {setting}: '{word}' is no table")
        table, key = inner, (*key, word)
    table[words[-1]] = value
    return (*key, words[-1])


def _start(
    data: dict[str, Any], words: list[str], setting: str
) -> tuple[dict[str, Any], Key, list[str]]:
    """The table in which a path begins, its place, and what is left of the path."""
    first, *rest = words
    own = {f.name for f in fields(Surface)}
    surfaces = _tables(data, "surface")
    for i, surface in enumerate(surfaces):
        if surface.get("name", "ground") == first and rest:
            known = own | _own_keys(surface)
            plain = rest[0] == "law" or (rest[0] in known and len(rest) == 1)
            rest = rest if plain else ["law", *rest]
            return surface, ("surface", i), rest
    for kind in ("robot", "object"):
        for i, part in enumerate(_tables(data, kind)):
            if part.get("name") == first and rest:
                return part, (kind, i), rest
    tables = [f.name for f in fields(Content)]
    names = [str(surface.get("name", "ground")) for surface in surfaces]
    if first not in tables:
        unknown = UnknownNameError("surface, part or table", first, [*names, *tables], "names")
        raise SceneError(
            f"--set {setting}: {unknown.problem}", path=".".join(words), remedy=unknown.remedy
        )
    listed = data.get(first)
    if isinstance(listed, list) and rest:
        if len(listed) != 1:
            raise SceneError(f"--set {setting}: there are {len(listed)} of '{first}'; name one")
        return listed[0], (first, 0), rest
    return data, (), words


def _own_keys(surface: dict[str, Any]) -> set[str]:
    from heelstrike.scene.files.kinds import surface_kinds

    kind = surface_kinds().get(str(surface.get("type")))
    return {f.name for f in fields(kind)} if kind else {"type"}


def _tables(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The tables of a name, whether one or several are written."""
    found = data.get(name, [])
    return [found] if isinstance(found, dict) else [t for t in found if isinstance(t, dict)]
