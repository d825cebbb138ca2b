"""The errata: the page in docs/ is what the code writes, and what it refers to is there.

Oracle: the items of the papers, by name.
"""

import re
from pathlib import Path

import pytest

from heelstrike.papers import NAMES, paper
from heelstrike.papers.errata import errata_markdown

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"


def test_the_page_is_what_the_code_writes():
    """To mend it: python -m heelstrike.papers.errata docs/errata.md."""
    assert PAGE.read_text(encoding="utf-8") == errata_markdown()


@pytest.mark.parametrize("name", NAMES)
def test_items_that_errata_name_are_there(name):
    one = paper(name)
    named = 0
    for erratum in one.errata:
        assert all((erratum.where, erratum.printed, erratum.right, erratum.known))
        for words in re.findall(
            r"\bitems? ([a-z0-9-]+(?:, [a-z0-9-]+)*(?: and [a-z]+)?)", erratum.known
        ):
            for item in re.split(r", | and ", words):
                assert item in one.items, f"{erratum.where}: no item {item}"
                named += 1
    assert named > 0
