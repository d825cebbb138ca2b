"""Pages of the papers: what they tell is what the run of the items wrote.

Oracle: docs/papers/NAME-rows.md, which tools/paper_pages.py writes and nobody edits; that the items
still give those rows is the nightly test of test_inventory.py.
"""

import re

import pytest

from heelstrike.papers import NAMES, paper
from heelstrike.papers.report import Status, meets
from tools.paper_pages import FILLED, NUMBER, PAGES, PICTURES, Told, fill, read

SKETCHES = {("sugihara2006", "floor"), ("tsujita2009", "models")}
"""Drawn by tools/paper_sketches.py; they hold no result."""


@pytest.fixture(scope="module")
def told():
    return {name: read(name) for name in NAMES}


@pytest.mark.parametrize("page", FILLED, ids=lambda page: page.stem)
def test_numbers_and_counts_are_those_of_the_rows(page, told):
    """To mend it: python tools/paper_pages.py --fill."""
    text = page.read_text(encoding="utf-8")
    assert fill(text, told, page.stem if page.stem in NAMES else NAMES[0]) == text


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_there_for_every_item(name, told):
    assert list(told[name]) == list(paper(name).items)
    statuses = {row.status for one in told[name].values() for row in one.rows}
    assert {Status.reproduced, Status.agrees, Status.differs} <= statuses


def test_pictures_are_those_that_the_command_draws():
    shown = {
        tuple(match)
        for page in PAGES.glob("*.md")
        for match in re.findall(r"\.\./images/(\w+?)_([\w-]+)\.png", page.read_text())
    }
    assert shown == PICTURES | SKETCHES


def test_a_number_follows_its_row():
    rows = (meets("depth [mm]", 1.23456, least=1),)
    pages = {NAMES[0]: {"fig1": Told("a figure", "It is deep.", rows)}}
    text = "sinks by 9<!-- fig1: depth [mm] --> mm"
    assert fill(text, pages, NAMES[0]) == "sinks by 1.23<!-- fig1: depth [mm] --> mm"
    assert NUMBER.search(text)["number"] == "9"
    with pytest.raises(SystemExit, match="has no row"):
        fill("2<!-- fig1: height -->", pages, NAMES[0])
    block = "<!-- generated: items marhefka1996 -->\nold\n<!-- end -->"
    assert "| fig1 | It is deep. | 0 | 0 | 1 | 0 | 0 |" in fill(block, pages, NAMES[0])
