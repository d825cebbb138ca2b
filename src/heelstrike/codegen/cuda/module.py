"""PTX of a program with what a caller must know of it, as text and as a file."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from heelstrike.codegen.layout import Layout
from heelstrike.errors import ProgramError
from heelstrike.files import whole_file

WARP = 32
"""Worlds of a tile: the threads of a warp."""
MARK = "// heelstrike "


@dataclass(frozen=True)
class Ptx:
    """PTX of a program, and what a caller must know of it."""

    layout: Layout
    text: str
    threads: int
    """That work on a tile."""
    tiles: int
    """Of a block, where there are more than multiprocessors."""
    shared: int = 0
    """Bytes of shared memory for a tile."""

    def as_bytes(self) -> bytes:
        """PTX that carries its layout in a comment."""
        numbers = {"threads": self.threads, "tiles": self.tiles, "shared": self.shared}
        head = {"layout": self.layout.as_dict(), **numbers}
        return f"{MARK}{json.dumps(head)}\n{self.text}".encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Ptx:
        """Of what `as_bytes` made; an error says what is wrong with it."""
        head, _, text = content.decode().partition("\n")
        if not head.startswith(MARK):
            raise ProgramError("it is no PTX of Heelstrike: its first line has no layout")
        values = json.loads(head.removeprefix(MARK))
        layout = Layout.from_dict(values["layout"])
        return cls(layout, text, values["threads"], values["tiles"], values["shared"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a PTX file, whole or not at all."""
        with whole_file(path) as part:
            part.write_bytes(self.as_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Ptx:
        """Reads a file that `save` wrote; needs neither CasADi, LLVM nor a GPU."""
        try:
            return cls.from_bytes(Path(path).read_bytes())
        except (OSError, UnicodeDecodeError, ProgramError) as error:
            raise ProgramError(f"{path} cannot be read: {error}") from error
