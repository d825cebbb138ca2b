"""A report as Markdown, with its pictures where they are, named relative to the file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from heelstrike.files import whole_file
from heelstrike.view.report import Block, Page, Paragraph, Picture, Section, Table

SPECIAL = re.compile(r"([\\`*\[<|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
"""What Markdown would take for markup."""


def write_markdown(page: Page, path: str | os.PathLike[str]) -> None:
    """Writes the page, whole or not at all."""
    text = markdown(page, Path(path).parent)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def markdown(page: Page, folder: Path) -> str:
    """The page as text that is to stand in that folder."""
    parts = [f"# {plain(page.title)}"]
    parts += [_block(block, folder) for block in page.blocks]
    parts.append("\n".join(_contents(page.sections, 0)))
    for section in page.sections:
        parts += _section(section, 2, folder)
    return "\n\n".join(part for part in parts if part) + "\n"


def plain(text: str) -> str:
    """Text as one line in which nothing is markup."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _contents(sections: Iterable[Section], depth: int) -> list[str]:
    lines = []
    for section in sections:
        lines.append(f"{'  ' * depth}- [{plain(section.title)}](#{section.anchor})")
        lines += _contents(section.sections, depth + 1)
    return lines


def _section(section: Section, level: int, folder: Path) -> list[str]:
    parts = [f'{"#" * level} <a id="{section.anchor}"></a>{plain(section.title)}']
    parts += [_block(block, folder) for block in section.blocks]
    for part in section.sections:
        parts += _section(part, level + 1, folder)
    return parts


def _block(block: Block, folder: Path) -> str:
    if isinstance(block, Paragraph):
        if block.code:
            return "\n".join(f"    {line}" for line in block.text.splitlines())
        return plain(block.text)
    return _table(block) if isinstance(block, Table) else _picture(block, folder)


def _table(table: Table) -> str:
    rules = ["---:" if name in table.numbers else "---" for name in table.columns]
    lines = [[plain(name) for name in table.columns], rules]
    for row in table.rows:
        cells = [plain(cell) for cell in row.cells]
        if row.to:
            cells[0] = f"[{cells[0]}](#{row.to})"
        lines.append(cells)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _picture(picture: Picture, folder: Path) -> str:
    place = Path(os.path.relpath(picture.path, folder)).as_posix()
    return f"![{plain(picture.caption)}](<{place}>)"
