"""What a dataclass says of its fields: types, units and meanings.

Laws hold unit and meaning in their fields' metadata. Others have them in the text that stands
under a field, which Python does not keep: it is read from the source.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import pairwise
from typing import Any, get_type_hints

from heelstrike.parameters import MEANING, UNIT


@cache
def notes(cls: type) -> dict[str, str]:
    """A line on each field: what it is, with its unit."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if is_dataclass(base):
            found |= _texts(base)
    for f in fields(cls):  # type: ignore[arg-type]
        if meaning := f.metadata.get(MEANING, "").replace("None", "none"):
            unit = f.metadata.get(UNIT)
            found[f.name] = f"{meaning} [{unit}]" if unit not in (None, "", "1") else meaning
    return found


@cache
def hints(cls: type) -> dict[str, Any]:
    """The types of the fields; Any where a name cannot be looked up."""
    try:
        return get_type_hints(cls)
    except (NameError, TypeError):
        return {f.name: Any for f in fields(cls)}  # type: ignore[arg-type]


def what(cls: type) -> str:
    """The first sentence on a class, without its full stop."""
    said = " ".join((cls.__doc__ or "").split("\n\n")[0].split())
    return said.split(". ")[0].removesuffix(".")


def _texts(cls: Any) -> dict[str, str]:
    """The text under each field in the source of a class; nothing without a source."""
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
                ast.Expr(value=ast.Constant(value=str(said))),
            ):
                found[name] = " ".join(said.split()).removesuffix(".").replace("None", "none")
    return found
