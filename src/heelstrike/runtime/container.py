"""The file of a compiled program, in the cache and exported: a line, a header, code.

    heelstrike-kernel 1 CHECKSUM HEADER_BYTES\\n
    {"key": ..., "target": ..., "layout": {...}}        JSON, in ASCII
    object code of the target, or PTX for a GPU

CHECKSUM is the sha256 of all that follows the first line, so no altered byte goes unseen. Nothing
is pickled; JSON's numbers come back to the bit.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import llvmlite.binding as llvm

from heelstrike.codegen.host import host
from heelstrike.codegen.layout import Layout
from heelstrike.errors import ProgramError

MAGIC = "heelstrike-kernel 1"
LONGEST_LINE = 120
TEMPORARY = ".heelstrike-"
"""What the names of unfinished files begin with."""


@dataclass(frozen=True)
class Target:
    """What object code was made for."""

    triple: str
    """Architecture, vendor and system, as LLVM says them."""
    cpu: str
    features: str
    """+ and - before each, with commas between."""

    @property
    def platform(self) -> str:
        """Architecture and system: what decides over instructions and the form of object files."""
        parts = [*self.triple.split("-"), "", ""]
        return f"{parts[0]} {parts[2].rstrip('0123456789.')}".strip()

    @property
    def required(self) -> set[str]:
        """Features that the code may use."""
        return {name[1:] for name in self.features.split(",") if name.startswith("+")}


def here() -> Target:
    """This machine."""
    return Target(llvm.get_default_triple(), *host())


def pack(layout: Layout, code: bytes, key: str = "", target: Target | None = None) -> bytes:
    """The file of code for a target; None: for this machine."""
    made_for = asdict(here() if target is None else target)
    text = json.dumps({"key": key, "target": made_for, "layout": layout.as_dict()}).encode("ascii")
    content = text + code
    return f"{MAGIC} {sha256(content).hexdigest()} {len(text)}\n".encode("ascii") + content


@dataclass(frozen=True)
class Packed:
    """What a file holds."""

    key: str
    target: Target
    layout: Layout
    code: bytes


def unpack(data: bytes) -> Packed:
    """What a file holds; an error says what is wrong with it."""
    line, _, content = data[:LONGEST_LINE].partition(b"\n")
    words = line.decode("ascii", "replace").split(" ")
    if " ".join(words[:-2]) != MAGIC:
        raise ProgramError("it is no compiled program of Heelstrike, or of another version of it")
    content = data[len(line) + 1 :]
    if sha256(content).hexdigest() != words[-2]:
        raise ProgramError("it is cut short or altered: its checksum is not that of its content")
    try:
        size = int(words[-1])
        header = json.loads(content[:size])
        target, layout = Target(**header["target"]), Layout.from_dict(header["layout"])
        return Packed(header["key"], target, layout, content[size:])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ProgramError(f"its header has no meaning here: {error!r}") from error


def write(path: Path, data: bytes, mode: int) -> None:
    """A whole file or none: under a temporary name in the same folder, then renamed."""
    handle, name = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)  # readable by the owner only
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
