"""Values of a scene that the command line sets before the scene is built: `ground.normal.k=2e4`.

A path begins with the name of a surface, followed by a key of the surface or of its law, as in
`sim.parameters`; or with the name of a part; or with a table of the file: `simulation.dt`.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from heelstrike.contact.catalog import law_by_name, laws
from heelstrike.errors import SceneError, UnknownNameError
from heelstrike.scene.files.content import SceneContent
from heelstrike.scene.files.document import Document, Key
from heelstrike.scene.files.schema import surface_kinds
from heelstrike.scene.surfaces import Surface


def with_settings(document: Document, settings: Sequence[str]) -> Document:
    """Return a copy with other values, each given as "path=value"."""
    data, overrides = copy.deepcopy(document.data), dict(document.overrides)
    for setting in settings:
        path, equals, text = setting.partition("=")
        words = [word.strip() for word in path.split(".")]
        if not equals or not all(words):
            raise SceneError(
                f"--set {setting}: not a path and a value", remedy="write ground.normal.k=2e4"
            )
        overrides[_assign(data, words, _parsed(text.strip()), setting)] = f"--set {setting}"
    return replace(document, data=data, overrides=overrides)


def law_names() -> list[str]:
    """Return the names of laws that `with_law` takes."""
    return [info.name for info in laws() if info.kind != "friction"]


def with_law(document: Document, name: str) -> Document:
    """Return a copy in which every surface has this law; a normal law keeps the friction law."""
    info = law_by_name(name)
    if info.kind == "friction":
        raise SceneError(
            f"--law {name}: this is a friction law only",
            remedy=f"use --set ground.friction={info.name}",
        )
    data, overrides = copy.deepcopy(document.data), dict(document.overrides)
    for i, surface in enumerate(_tables(data, "surface")):
        if info.kind == "normal":
            old = surface.get("law", {})
            kept = old if isinstance(old, dict) and old.get("type", "elastic") == "elastic" else {}
            surface["law"] = {**kept, "type": "elastic", "normal": info.name}
        else:
            surface["law"] = info.name
        overrides[("surface", i, "law")] = f"--law {name}"
    return replace(document, data=data, overrides=overrides)


def with_drop(document: Document, height: float) -> Document:
    """Return a copy whose robots, or else objects, start at this height [m]."""
    data, overrides = copy.deepcopy(document.data), dict(document.overrides)
    kind = "robot" if "robot" in data else "object"
    for i, part in enumerate(_tables(data, kind)):
        part["drop"] = height
        overrides[(kind, i, "drop")] = f"--drop {height:g}"
    return replace(document, data=data, overrides=overrides)


def with_collide(document: Document, collide: str | Sequence[str]) -> Document:
    """Return a copy whose robots, or else objects, collide by these shapes, as in `load`."""
    data, overrides = copy.deepcopy(document.data), dict(document.overrides)
    kind = "robot" if "robot" in data else "object"
    chosen = collide if isinstance(collide, str) else list(collide)
    for i, part in enumerate(_tables(data, kind)):
        part.pop("points", None)
        part["collide"] = chosen
        shown = chosen if isinstance(chosen, str) else ",".join(chosen)
        overrides[(kind, i, "collide")] = f"--collide {shown}"
    return replace(document, data=data, overrides=overrides)


def with_values(document: Document, options: Mapping[str, float]) -> Document:
    """Return a copy with other values of [simulation], by the names of their options."""
    data, overrides = copy.deepcopy(document.data), dict(document.overrides)
    table = data.setdefault("simulation", {})
    for option, value in options.items():
        word = option.removeprefix("--")
        if isinstance(table, dict):
            table[word] = value
            overrides[("simulation", word)] = f"{option} {value:g}"
    return replace(document, data=data, overrides=overrides)


def _parsed(text: str) -> Any:
    """Return the value of a TOML text, or else the text itself."""
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text


def _assign(data: dict[str, Any], words: list[str], value: Any, setting: str) -> Key:
    """Set one value and return its key."""
    table, key, words = _start(data, words, setting)
    for word in words[:-1]:
        inner = table.setdefault(word, {})
        if isinstance(inner, str):  # law = "rigid"
            inner = table[word] = {"type": inner}
        if not isinstance(inner, dict):
            raise SceneError(f"--set {setting}: '{word}' is not a table")
        table, key = inner, (*key, word)
    table[words[-1]] = value
    return (*key, words[-1])


def _start(
    data: dict[str, Any], words: list[str], setting: str
) -> tuple[dict[str, Any], Key, list[str]]:
    """Return the table in which a path begins, the key of that table, and the rest of the path."""
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
    tables = [f.name for f in fields(SceneContent)]
    names = [str(surface.get("name", "ground")) for surface in surfaces]
    if first not in tables:
        unknown = UnknownNameError("surface, part or table", first, [*names, *tables], "names")
        raise SceneError(
            f"--set {setting}: {unknown.problem}", path=".".join(words), remedy=unknown.remedy
        )
    listed = data.get(first)
    if isinstance(listed, list) and rest:
        if len(listed) != 1:
            raise SceneError(
                f"--set {setting}: the scene has {len(listed)} tables [[{first}]]",
                remedy="begin the path with the name of one",
            )
        return listed[0], (first, 0), rest
    return data, (), words


def _own_keys(surface: dict[str, Any]) -> set[str]:
    """Return the keys of a surface's table that are not its law's."""
    kind = surface_kinds().get(str(surface.get("type")))
    return {f.name for f in fields(kind)} if kind else {"type"}


def _tables(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the tables of a name, written as [name] or as [[name]]."""
    found = data.get(name, [])
    return [found] if isinstance(found, dict) else [t for t in found if isinstance(t, dict)]
