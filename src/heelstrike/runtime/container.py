"""File format of compiled programs, in the cache and exported: a line, a header, code.

    heelstrike-kernel 1 CHECKSUM HEADER_BYTES\\n
    {"key": ..., "target": ..., "layout": {...}}        JSON, in ASCII
    object code of the target, or PTX for a GPU

CHECKSUM is the sha256 of all that follows the first line, so that any altered byte is detected.
Nothing is pickled, and numbers survive JSON bit by bit.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256

import llvmlite.binding as llvm

from heelstrike.codegen.host import host
from heelstrike.codegen.layout import Layout
from heelstrike.errors import ProgramError

MAGIC = "heelstrike-kernel 1"
"""Format and version at the start of a file."""
MAX_LINE = 120
"""Largest length of the first line [bytes]."""


@dataclass(frozen=True)
class CodeTarget:
    """Machine that object code was made for."""

    triple: str
    """Architecture, vendor and operating system, as LLVM writes them."""
    cpu: str
    features: str
    """Features of the CPU, each with + or - in front, separated by commas."""

    @property
    def platform(self) -> str:
        """Architecture and operating system, which decide the form of object files."""
        parts = [*self.triple.split("-"), "", ""]
        return f"{parts[0]} {parts[2].rstrip('0123456789.')}".strip()

    @property
    def required(self) -> set[str]:
        """Features of the CPU that the code may use."""
        return {name[1:] for name in self.features.split(",") if name.startswith("+")}


def this_machine() -> CodeTarget:
    """Return the target of this machine."""
    return CodeTarget(llvm.get_default_triple(), *host())


def pack(layout: Layout, code: bytes, key: str = "", target: CodeTarget | None = None) -> bytes:
    """Return the content of a file with code for a target (default: this machine)."""
    made_for = asdict(this_machine() if target is None else target)
    text = json.dumps({"key": key, "target": made_for, "layout": layout.as_dict()}).encode("ascii")
    content = text + code
    return f"{MAGIC} {sha256(content).hexdigest()} {len(text)}\n".encode("ascii") + content


@dataclass(frozen=True)
class Packed:
    """Content of a file."""

    key: str
    target: CodeTarget
    layout: Layout
    code: bytes


def unpack(data: bytes) -> Packed:
    """Return the content of a file, or raise an error that says what is wrong with it."""
    line, _, content = data[:MAX_LINE].partition(b"\n")
    words = line.decode("ascii", "replace").split(" ")
    if " ".join(words[:-2]) != MAGIC:
        raise ProgramError("not a compiled program of this version of Heelstrike")
    content = data[len(line) + 1 :]
    if sha256(content).hexdigest() != words[-2]:
        raise ProgramError("truncated or altered: the checksum does not match the content")
    try:
        size = int(words[-1])
        header = json.loads(content[:size])
        target, layout = CodeTarget(**header["target"]), Layout.from_dict(header["layout"])
        return Packed(header["key"], target, layout, content[size:])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ProgramError(f"the header cannot be read: {error!r}") from error
