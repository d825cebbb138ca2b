"""Names, types, units and meanings of what a scene file may hold.

Surfaces and laws are named by the kebab case of their classes. Laws keep the unit and the meaning
of a field in its metadata; other classes have them under "Args:" of their docstring.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_type_hints

from heelstrike.contact.catalog import LAWS, kebab
from heelstrike.parameters import MEANING, UNIT
from heelstrike.scene.surfaces import SURFACES, Surface


@cache
def surface_kinds() -> dict[str, type[Surface]]:
    """Return every kind of surface by its name in scene files."""
    return {kebab(surface.__name__): surface for surface in SURFACES}


def kinds_of(base: type) -> dict[str, type]:
    """Return the laws and surfaces that are subclasses of a class, by name."""
    if base is object:
        return {}
    every = {kebab(law.__name__): law for law in LAWS} | surface_kinds()
    return {name: kind for name, kind in every.items() if issubclass(kind, base)}


@cache
def field_notes(cls: type) -> dict[str, str]:
    """Return one line about each field of a dataclass: its meaning and its unit."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if is_dataclass(base):
            found |= _arguments(base)
    for f in fields(cls):  # type: ignore[arg-type]
        if meaning := f.metadata.get(MEANING, "").replace("None", "none"):
            unit = f.metadata.get(UNIT)
            found[f.name] = f"{meaning} [{unit}]" if unit not in (None, "", "1") else meaning
    return found


@cache
def field_types(cls: type) -> dict[str, Any]:
    """Return the types of a dataclass's fields; Any where a name cannot be resolved."""
    try:
        return get_type_hints(cls)
    except (NameError, TypeError):
        return {f.name: Any for f in fields(cls)}  # type: ignore[arg-type]


def summary(cls: type) -> str:
    """Return the first sentence of a class's docstring, without its full stop."""
    paragraph = " ".join((cls.__doc__ or "").split("\n\n")[0].split())
    return paragraph.split(". ")[0].removesuffix(".")


def _arguments(cls: type) -> dict[str, str]:
    """Return the entries under "Args:" of a class's docstring, each on one line."""
    _, _, section = inspect.cleandoc(cls.__doc__ or "").partition("\nArgs:\n")
    section = re.split(r"\n(?=\S)", section)[0]  # up to the next heading
    entries = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", section, re.MULTILINE)
    lines = {name: " ".join(text.split()).removesuffix(".") for name, text in entries}
    return {name: line.replace("None", "none") for name, line in lines.items()}
