"""Errata of the papers: where, what is printed, what is right or was chosen, and how we know.

Each paper's package has its own in `errata`. The texts at hand are copies by character recognition:
what may not be in the printed paper says so. `python -m heelstrike.papers.errata FILE` writes the
page docs/errata.md.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heelstrike.view.pages.markdown import markdown, write_markdown
from heelstrike.view.pages.page import Page, Paragraph, Section, Table, TableRow

COLUMNS = ("where", "printed", "right, or chosen", "how we know")
LEAD = (
    "This page lists what the papers print and what is meant, and what they leave open and "
    "what we chose. (13) is an equation, IV-B a section; S, K, H are sets of points as in "
    "the paper; x' is a rate. Our copies of the papers were made by character recognition, "
    "so that a misprinted letter may not be in the paper itself. Items are those of "
    "heelstrike paper NAME."
)


@dataclass(frozen=True)
class Erratum:
    """One place of a paper."""

    where: str
    printed: str
    right: str
    """What is meant, or, where the paper leaves it open, what we chose."""
    known: str
    """How we know: an argument, a number, an item."""


def errata_table(errata: Sequence[Erratum]) -> Table:
    """One line for each."""
    return Table(COLUMNS, tuple(TableRow((e.where, e.printed, e.right, e.known)) for e in errata))


def errata_page() -> Page:
    """Those of all papers."""
    from heelstrike.papers import papers

    sections = [
        Section(f"{one.authors}: {one.title}", one.name, (errata_table(one.errata),))
        for one in papers()
    ]
    return Page("Errata of the papers", (Paragraph(LEAD),), tuple(sections))


def errata_markdown() -> str:
    """Return the page as text."""
    return markdown(errata_page(), Path())


if __name__ == "__main__":
    write_markdown(errata_page(), sys.argv[1])
