"""Writer of a page as one self-contained HTML file.

Style and pictures are inside the file, and its policy forbids the browser to load anything else.
Colours follow the system's light or dark mode; on a narrow screen table rows become cards.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable
from html import escape
from importlib.resources import files

from heelstrike.errors import HeelstrikeError
from heelstrike.files import whole_file
from heelstrike.view.pages.page import Block, Page, Paragraph, Picture, Section, Table, TableRow

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def write_html(page: Page, path: str | os.PathLike[str]) -> None:
    """Write a page, completely or not at all."""
    text = html(page)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def html(page: Page) -> str:
    """Return a page as HTML."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="color-scheme" content="light dark">',
            '<link rel="icon" href="data:,">',
            f"<title>{escape(page.title)}</title>",
            f"<style>\n{style}{_hiding(page.filters)}</style>",
            "</head>",
            "<body>",
            f"<header><h1>{escape(page.title)}</h1></header>",
            "<main>",
            *map(_block, page.blocks),
            f"<nav><h2>Contents</h2>{_contents(page.sections)}</nav>",
            *_switches(page.filters),
            *(_section(section, 2) for section in page.sections),
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _section(section: Section, level: int) -> str:
    tag = f"h{min(level, 6)}"
    inside = [_block(block) for block in section.blocks]
    inside += [_section(part, level + 1) for part in section.sections]
    heading = f"<{tag}>{escape(section.title)}</{tag}>"
    return (
        f'<section id="{escape(section.anchor)}">\n{heading}\n' + "\n".join(inside) + "\n</section>"
    )


def _contents(sections: Iterable[Section]) -> str:
    entries = [
        f'<li><a href="#{escape(section.anchor)}">{escape(section.title)}</a>'
        f"{_contents(section.sections)}</li>"
        for section in sections
    ]
    return f"<ul>{''.join(entries)}</ul>" if entries else ""


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        tag = "pre" if block.code else "p"
        return f"<{tag}>{escape(block.text)}</{tag}>"
    return _table(block) if isinstance(block, Table) else _picture(block)


def _table(table: Table) -> str:
    heads = [
        f"<th{_aligned(table, name)} scope='col'>{escape(name)}</th>" for name in table.columns
    ]
    rows = [_row(table, row) for row in table.rows]
    return (
        f"<table><thead><tr>{''.join(heads)}</tr></thead>\n<tbody>\n"
        + "\n".join(rows)
        + "\n</tbody></table>"
    )


def _row(table: Table, row: TableRow) -> str:
    cells = []
    for k, (name, cell) in enumerate(zip(table.columns, row.cells, strict=True)):
        text = escape(cell)
        if k == 0 and row.to:
            text = f'<a href="#{escape(row.to)}">{text}</a>'
        if row.kind and cell == row.kind:
            text = f'<span class="kind">{text}</span>'
        cells.append(f'<td{_aligned(table, name)} data-name="{escape(name)}">{text}</td>')
    kind = f' class="{_word(row.kind)}"' if row.kind else ""
    return f"<tr{kind}>{''.join(cells)}</tr>"


def _aligned(table: Table, name: str) -> str:
    return ' class="number"' if name in table.numbers else ""


def _picture(picture: Picture) -> str:
    try:
        data = base64.b64encode(picture.path.read_bytes()).decode("ascii")
    except OSError as error:
        raise HeelstrikeError(
            f"cannot read the picture '{picture.path}': {error.strerror}"
        ) from error
    caption = escape(picture.caption)
    return (
        f'<figure><img src="data:image/png;base64,{data}" alt="{caption}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _switches(kinds: tuple[str, ...]) -> list[str]:
    """Return a checkbox for every kind of rows that can be hidden; it needs no script."""
    boxes = [
        f'<label><input type="checkbox" id="hide-{_word(kind)}"> {escape(kind)}</label>'
        for kind in kinds
    ]
    return [f'<p class="switches">Hide rows that are: {" ".join(boxes)}</p>'] if boxes else []


def _hiding(kinds: tuple[str, ...]) -> str:
    return "".join(
        f"body:has(#hide-{_word(kind)}:checked) section tr.{_word(kind)} {{ display: none; }}\n"
        for kind in kinds
    )


def _word(kind: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in kind.lower())
