"""Fields of laws, surfaces and servos in the API reference: default, meaning and unit.

A field that is declared as `k: float = parameter(2e4, "N/m", "stiffness")` says all of this in its
declaration. This extension of griffe, which reads the source for mkdocstrings, shows the default in
the signature, and meaning and unit as the field's docstring.
"""

from __future__ import annotations

import ast
from typing import Any

from griffe import Attribute, Docstring, Extension

DECLARATIONS = {
    "parameter": ("default", "unit", "meaning"),
    "static": ("default", "unit", "meaning"),
}
"""Functions of heelstrike.parameters that declare a field, with their arguments in order."""


class ApiFields(Extension):
    """Turn declarations of parameters into defaults and docstrings."""

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """Read the declaration of one field."""
        if attr.value is None:
            return
        call = ast.parse(str(attr.value), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return
        if call.func.id not in DECLARATIONS:
            return
        given = dict(zip(DECLARATIONS[call.func.id], call.args, strict=False))
        given |= {word.arg: word.value for word in call.keywords if word.arg}
        attr.value = ast.unparse(given["default"]) if "default" in given else None
        texts = {
            name: ast.literal_eval(given[name]) for name in ("unit", "meaning") if name in given
        }
        unit, meaning = texts.get("unit", ""), texts.get("meaning", "")
        if meaning and attr.docstring is None:
            text = meaning[0].upper() + meaning[1:]
            shown = "" if unit in ("", "1") else f" [{unit}]"
            attr.docstring = Docstring(f"{text}{shown}.", parent=attr)
