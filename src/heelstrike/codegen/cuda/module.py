"""PTX of a program with its layout and launch dimensions, as text and as a file."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from heelstrike.codegen.layout import Layout
from heelstrike.errors import ProgramError
from heelstrike.files import whole_file

WARP = 32
"""Number of worlds of a tile: the threads of a warp."""
MARK = "// heelstrike "


@dataclass(frozen=True)
class Ptx:
    """PTX of a program, its layout and its launch dimensions."""

    layout: Layout
    text: str
    threads: int
    """Number of threads that compute a tile."""
    tiles: int
    """Number of tiles of a block, where there are more tiles than multiprocessors."""
    shared: int = 0
    """Shared memory for a tile [bytes]."""

    def as_bytes(self) -> bytes:
        """Return PTX that carries its layout in a comment."""
        numbers = {"threads": self.threads, "tiles": self.tiles, "shared": self.shared}
        head = {"layout": self.layout.as_dict(), **numbers}
        return f"{MARK}{json.dumps(head)}\n{self.text}".encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Ptx:
        """Return the PTX that `as_bytes` wrote."""
        head, _, text = content.decode().partition("\n")
        if not head.startswith(MARK):
            raise ProgramError(
                "not a PTX file of Heelstrike: its first line has no layout",
                remedy="write it with Ptx.save",
            )
        values = json.loads(head.removeprefix(MARK))
        layout = Layout.from_dict(values["layout"])
        return cls(layout, text, values["threads"], values["tiles"], values["shared"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a PTX file, completely or not at all."""
        with whole_file(path) as part:
            part.write_bytes(self.as_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Ptx:
        """Read a file that `save` wrote; needs neither CasADi, LLVM nor a GPU."""
        try:
            return cls.from_bytes(Path(path).read_bytes())
        except (OSError, UnicodeDecodeError, ProgramError) as error:
            raise ProgramError(f"cannot read {path}: {error}", path=str(path)) from error
