"""Names, types, units and meanings of what a scene file may hold.

Surfaces and laws are named by the kebab case of their classes. Laws keep the unit and the meaning
of a field in its metadata; other classes have them in the docstring below a field, which Python
discards and which is therefore read from the source.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import pairwise
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
            found |= _docstrings(base)
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


def _docstrings(cls: Any) -> dict[str, str]:
    """Return the docstring below each field of a class; empty if there is no source."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return {}
    found: dict[str, str] = {}
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    for field, text in pairwise(body):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(docstring))),
            ):
                found[name] = " ".join(docstring.split()).removesuffix(".").replace("None", "none")
    return found
