"""The file of a compiled program, in the cache and exported: a line, a header, object code.

    heelstrike-kernel 1 CHECKSUM HEADER_BYTES\\n
    {"key": ..., "target": ..., "layout": {...}}        JSON, in ASCII
    object code of the target

CHECKSUM is the sha256 of all that follows the first line, so no altered byte goes unseen. Nothing
is pickled. Numbers of the layout (initial values) are hexadecimal: they come back to the bit.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from heelstrike.compile.batch import Layout
from heelstrike.compile.code import Port
from heelstrike.compile.kernel import Kernel, host
from heelstrike.compile.lanes import REALS
from heelstrike.errors import ProgramError

MAGIC = "heelstrike-kernel 1"
LONGEST_LINE = 120


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


def pack(kernel: Kernel, key: str = "") -> bytes:
    """The file of a kernel that was made on this machine."""
    header = {"key": key, "target": asdict(here()), "layout": _layout_to_json(kernel.layout)}
    text = json.dumps(header).encode("ascii")
    content = text + kernel.code
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
        target, layout = Target(**header["target"]), _layout_from_json(header["layout"])
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


TEMPORARY = ".heelstrike-"
"""What the names of unfinished files begin with."""


def _layout_to_json(layout: Layout) -> dict[str, Any]:
    def ports(of: tuple[Port, ...]) -> list[list[Any]]:
        return [[port.name, list(port.shape)] for port in of]

    return {
        "name": layout.name,
        "inputs": ports(layout.inputs),
        "tables": ports(layout.tables),
        "memory": ports(layout.memory),
        "outputs": ports(layout.outputs),
        "initial": {
            name: [float(x).hex() for x in values] for name, values in layout.initial.items()
        },
        "width": layout.width,
        "dtype": np.dtype(layout.real.dtype).name,
        "frame_size": layout.frame_size,
    }


def _layout_from_json(layout: dict[str, Any]) -> Layout:
    def ports(of: str) -> tuple[Port, ...]:
        return tuple(Port(name, tuple(shape)) for name, shape in layout[of])

    return Layout(
        name=layout["name"],
        inputs=ports("inputs"),
        tables=ports("tables"),
        memory=ports("memory"),
        outputs=ports("outputs"),
        initial={
            name: np.array([float.fromhex(x) for x in values])
            for name, values in layout["initial"].items()
        },
        width=layout["width"],
        real=REALS[layout["dtype"]],
        frame_size=layout["frame_size"],
    )
