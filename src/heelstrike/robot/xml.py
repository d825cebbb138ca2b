"""Reading XML that nobody vouches for.

A robot file needs no document type and no entities, so any is refused: that closes the door on
entity bombs and on files that pull in other files. Numbers must be finite.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np

from heelstrike.errors import LoadError

DEEPEST = 250
"""Nesting beyond which a file is refused."""
NAMELESS = ("compiler", "option", "mujoco", "robot")
"""Elements that have no name, or whose name says nothing."""


@dataclass
class Reading:
    """A file being read: where it is, and what its user should be told."""

    path: Path
    notes: list[str] = field(default_factory=list)

    def fail(self, message: str) -> NoReturn:
        raise LoadError(f"{self.path}: {message}")

    def note(self, message: str) -> None:
        self.notes.append(message)

    def parse(self, path: Path | None = None) -> Element:
        """The root element of this file, or of another that it includes."""
        path = path or self.path
        try:
            data = path.read_bytes()
        except OSError as error:
            raise LoadError(f"{path}: cannot be read ({error.strerror}); check the path") from None
        if not data.strip():
            raise LoadError(f"{path}: the file is empty; give a URDF or an MJCF")
        return _parse(data, path)

    def numbers(
        self, element: Element, key: str, default: str | None, least: int, most: int | None = None
    ) -> np.ndarray:
        """The numbers of an attribute; `least` to `most` of them (exactly `least` if not given)."""
        text = element.get(key, default)
        if text is None:
            self.fail(f"{label(element)} needs an attribute '{key}'")
        return self.parse_numbers(text, f"'{key}' of {label(element)}", least, most)

    def parse_numbers(
        self, text: str, what: str, least: int, most: int | None = None
    ) -> np.ndarray:
        most = least if most is None else most
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            self.fail(f"{what} is '{text}', which are not numbers")
        if not least <= len(values) <= most:
            count = str(least) if least == most else f"{least} to {most}"
            self.fail(f"{what} has {len(values)} numbers where {count} are expected: '{text}'")
        if not np.isfinite(values).all():
            self.fail(f"{what} is not finite: '{text}'")
        return values


def label(element: Element) -> str:
    """How a message names an element."""
    name = element.get("name")
    if name or element.tag in NAMELESS:
        return f"<{element.tag}> '{name}'" if name else f"<{element.tag}>"
    return f"<{element.tag}> without a name"


def _parse(data: bytes, path: Path) -> Element:
    builder = TreeBuilder()
    depth = 0

    def refuse(*_: object) -> NoReturn:
        raise LoadError(
            f"{path}: declares a document type or an entity, which is refused for safety; "
            "remove the <!DOCTYPE ...> part, robot files need none"
        )

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise LoadError(f"{path}: elements are nested more than {DEEPEST} deep")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise LoadError(
            f"{path}: not well-formed XML at line {error.lineno}, column {error.offset} "
            f"({expat.ErrorString(error.code)})"
        ) from None
    except (ValueError, LookupError) as error:
        raise LoadError(f"{path}: not readable as XML ({error})") from None
    return builder.close()
