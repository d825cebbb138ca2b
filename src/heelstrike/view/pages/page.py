"""A report as a tree: a page of sections, which hold paragraphs, tables and pictures.

What a report says is put together elsewhere; `html` and `markdown` write it. Text is plain: what
looks like markup in it is shown as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heelstrike.errors import HeelstrikeError


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of text; `code` for what is typed."""

    text: str
    code: bool = False


@dataclass(frozen=True)
class TableRow:
    """One row of a table."""

    cells: tuple[str, ...]
    kind: str = ""
    """A word by which rows are told apart, such as a status: it colours the cell that holds it."""
    to: str = ""
    """Anchor of the section that the first cell leads to."""


@dataclass(frozen=True)
class Table:
    """Rows under named columns."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    numbers: tuple[str, ...] = ()
    """Columns that are aligned right."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise HeelstrikeError(
                    f"a table of {len(self.columns)} columns has a row of {len(row.cells)} cells"
                )


@dataclass(frozen=True)
class Picture:
    """A .png file, and what it shows in words."""

    path: Path
    caption: str


Block = Paragraph | Table | Picture


@dataclass(frozen=True)
class Section:
    """A heading, what stands under it, and sections within."""

    title: str
    anchor: str
    """Letters, digits, - and _; one of its own in the page."""
    blocks: tuple[Block, ...] = ()
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True)
class Page:
    """The whole report: what comes first, then a table of contents, then the sections."""

    title: str
    blocks: tuple[Block, ...]
    sections: tuple[Section, ...]
    filters: tuple[str, ...] = ()
    """Kinds of rows that a reader may hide."""

    def __post_init__(self) -> None:
        anchors = [section.anchor for section in self.all_sections()]
        twice = {anchor for anchor in anchors if anchors.count(anchor) > 1}
        if twice:
            raise HeelstrikeError(f"sections of a page share an anchor: {', '.join(sorted(twice))}")

    def all_sections(self) -> Iterator[Section]:
        """Every section, in reading order."""
        waiting = list(self.sections)
        while waiting:
            section = waiting.pop(0)
            yield section
            waiting[:0] = section.sections
