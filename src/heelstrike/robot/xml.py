"""Reading untrusted XML.

A robot file needs no document type and no entities, so any is refused: this excludes entity bombs
and entities that read other files. Nesting is limited, and numbers must be finite.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np

from heelstrike.errors import LoadError
from heelstrike.robot.fidelity import Concern, Difference

MAX_DEPTH = 500
"""Largest depth of nested elements."""
NAMELESS = ("compiler", "option", "mujoco", "robot")
"""Elements that have no name, or whose name does not help to find them."""


@dataclass
class RobotFile:
    """A robot file that is being read: its path, and what is to be said about it."""

    path: Path
    differences: list[Difference] = field(default_factory=list)
    """What is simulated otherwise than the file says, and remarks."""
    inertia_faults: list[str] = field(default_factory=list)
    """Links whose inertia is impossible; part of the error if a whole body's is."""

    def fail(
        self,
        problem: str,
        *,
        value: object = None,
        allowed: str | None = None,
        remedy: str | None = None,
        line: int | None = None,
    ) -> NoReturn:
        """Raise a LoadError about this file."""
        raise LoadError(
            f"{self.path}: {problem}",
            path=str(self.path),
            value=value,
            allowed=allowed,
            remedy=remedy,
            line=line,
        ) from None

    def warn(
        self, what: str, element: str = "", concerns: Concern = "motion", why: str = ""
    ) -> None:
        """Keep a difference; `load` warns of all of them once the robot is complete."""
        self.differences.append(Difference(what, element, concerns, why))

    def parse(self, path: Path | None = None) -> Element:
        """Return the root element of this file, or of another one that it includes."""
        file = self if path is None else RobotFile(path)
        if os.path.exists(file.path) and not os.path.isfile(file.path):
            file.fail("is a folder, a device or a pipe, not a file", remedy="check the path")
        try:
            data = file.path.read_bytes()
        except OSError as error:
            file.fail(f"cannot be read ({error.strerror})", remedy="check the path")
        if not data.strip():
            file.fail("the file is empty", remedy="pass a URDF or an MJCF")
        return _parse(data, file)

    def numbers(
        self, element: Element, key: str, default: str | None, least: int, most: int | None = None
    ) -> np.ndarray:
        """Return the numbers of an attribute: `least` to `most` of them, or exactly `least`."""
        text = element.get(key, default)
        if text is None:
            self.fail(f"{label(element)} needs an attribute '{key}'")
        return self.parse_numbers(text, f"'{key}' of {label(element)}", least, most)

    def parse_numbers(
        self, text: str, what: str, least: int, most: int | None = None
    ) -> np.ndarray:
        """Return the numbers of a text; `what` names it in errors."""
        most = least if most is None else most
        try:
            if not text.isascii() or "_" in text:  # which Python's float takes, other readers not
                raise ValueError
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            self.fail(f"{what} is '{text:.80}', which are not numbers", value=text)
        if not least <= len(values) <= most:
            count = str(least) if least == most else f"{least} to {most}"
            self.fail(
                f"{what} has {len(values)} numbers where {count} are expected: '{text}'", value=text
            )
        if not np.isfinite(values).all():
            self.fail(f"{what} is not finite: '{text}'", value=text)
        return values


def label(element: Element) -> str:
    """Return the name of an element as errors and warnings write it."""
    name = element.get("name")
    if name or element.tag in NAMELESS:
        return f"<{element.tag}> '{name}'" if name else f"<{element.tag}>"
    return f"<{element.tag}> without a name"


def _parse(data: bytes, file: RobotFile) -> Element:
    """Return the root element, without document types, entities or excessive nesting."""
    builder = TreeBuilder()
    parser = expat.ParserCreate()
    depth = 0

    def refuse(*_: object) -> NoReturn:
        file.fail(
            "declares a document type or an entity, which is refused for safety",
            remedy="remove the <!DOCTYPE ...> part, robot files need none",
            line=parser.CurrentLineNumber,
        )

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            line = parser.CurrentLineNumber
            file.fail(f"elements are nested more than {MAX_DEPTH} deep", line=line)
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        where = f"line {error.lineno}, column {error.offset}"
        reason = expat.ErrorString(error.code)
        file.fail(f"not well-formed XML at {where} ({reason})", line=error.lineno)
    except (ValueError, LookupError) as error:
        file.fail(f"not readable as XML ({error})")
    return builder.close()
