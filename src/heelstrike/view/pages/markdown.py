"""Writer of a page as Markdown; pictures are linked by paths relative to the file."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from heelstrike.files import whole_file
from heelstrike.view.pages.page import Block, Page, Paragraph, Picture, Section, Table

SPECIAL = re.compile(r"([\\`*\[<|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
"""Characters that Markdown would read as markup."""


def write_markdown(page: Page, path: str | os.PathLike[str]) -> None:
    """Write a page, completely or not at all."""
    text = markdown(page, Path(path).parent)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def markdown(page: Page, folder: Path) -> str:
    """Return a page as Markdown for a file in `folder`."""
    links = _links(page)
    parts = [f"# {plain(page.title)}"]
    parts += [_block(block, folder, links) for block in page.blocks]
    parts.append("\n".join(_contents(page.sections, 0, links)))
    for section in page.sections:
        parts += _section(section, 2, folder, links)
    return "\n\n".join(part for part in parts if part) + "\n"


def plain(text: str) -> str:
    """Return text as one line in which characters of markup are escaped."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _links(page: Page) -> dict[str, str]:
    """Return, by anchor, the link that Markdown renderers generate from a section's heading.

    It has lower-case letters, hyphens for spaces and no punctuation; repeated headings get -1, ...
    """
    used: Counter[str] = Counter([_slug(page.title)])
    links = {}
    for section in page.all_sections():
        slug = _slug(section.title)
        links[section.anchor] = f"#{slug}-{used[slug]}" if used[slug] else f"#{slug}"
        used[slug] += 1
    return links


def _slug(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _contents(sections: Iterable[Section], depth: int, links: dict[str, str]) -> list[str]:
    lines = []
    for section in sections:
        lines.append(f"{'  ' * depth}- [{plain(section.title)}]({links[section.anchor]})")
        lines += _contents(section.sections, depth + 1, links)
    return lines


def _section(section: Section, level: int, folder: Path, links: dict[str, str]) -> list[str]:
    parts = [f"{'#' * level} {plain(section.title)}"]
    parts += [_block(block, folder, links) for block in section.blocks]
    for part in section.sections:
        parts += _section(part, level + 1, folder, links)
    return parts


def _block(block: Block, folder: Path, links: dict[str, str]) -> str:
    if isinstance(block, Paragraph):
        if block.code:
            return "\n".join(f"    {line}" for line in block.text.splitlines())
        return plain(block.text)
    return _table(block, links) if isinstance(block, Table) else _picture(block, folder)


def _table(table: Table, links: dict[str, str]) -> str:
    rules = ["---:" if name in table.numbers else "---" for name in table.columns]
    lines = [[plain(name) for name in table.columns], rules]
    for row in table.rows:
        cells = [plain(cell) for cell in row.cells]
        if row.to:
            cells[0] = f"[{cells[0]}]({links[row.to]})"
        lines.append(cells)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _picture(picture: Picture, folder: Path) -> str:
    path = Path(os.path.relpath(picture.path, folder)).as_posix()
    return f"![{plain(picture.caption)}](<{path}>)"
