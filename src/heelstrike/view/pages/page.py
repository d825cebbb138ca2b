"""The content of a report: a page of sections, which hold paragraphs, tables and pictures.

html.py and markdown.py write a page. Text is plain: characters of markup are shown as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heelstrike.errors import HeelstrikeError


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of text; `code` sets it in a fixed-width font."""

    text: str
    code: bool = False


@dataclass(frozen=True)
class TableRow:
    """One row of a table."""

    cells: tuple[str, ...]
    kind: str = ""
    """Kind of the row, such as a status; it colours the cell that holds this word."""
    to: str = ""
    """Anchor of the section to which the first cell links."""


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
                    f"a row has {len(row.cells)} cells, but the table has {len(self.columns)} "
                    "columns; pass one cell per column"
                )


@dataclass(frozen=True)
class Picture:
    """A .png file with a caption."""

    path: Path
    caption: str


Block = Paragraph | Table | Picture


@dataclass(frozen=True)
class Section:
    """A heading with blocks and subsections."""

    title: str
    anchor: str
    """Letters, digits, - and _; unique in the page."""
    blocks: tuple[Block, ...] = ()
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True)
class Page:
    """A report: introductory blocks, a table of contents, and sections."""

    title: str
    blocks: tuple[Block, ...]
    sections: tuple[Section, ...]
    filters: tuple[str, ...] = ()
    """Kinds of rows that a reader can hide."""

    def __post_init__(self) -> None:
        anchors = [section.anchor for section in self.all_sections()]
        repeated = {anchor for anchor in anchors if anchors.count(anchor) > 1}
        if repeated:
            raise HeelstrikeError(
                f"sections of a page share an anchor: {', '.join(sorted(repeated))}",
                remedy="give each section its own anchor",
            )

    def all_sections(self) -> Iterator[Section]:
        """Yield every section in reading order."""
        waiting = list(self.sections)
        while waiting:
            section = waiting.pop(0)
            yield section
            waiting[:0] = section.sections
