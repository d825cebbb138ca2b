"""The page of real data: what it tells is what fits and protocols have kept.

Oracle: src/heelstrike/validation/fits and benchmarks/results, which tools write and nobody edits.
"""

from pathlib import Path

import pytest

from tools.real_data_page import NUMBER, SETTINGS, fill, number

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / "real-data.md", DOCS / "identify.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_numbers_are_those_that_are_kept(page):
    """To mend it: python tools/real_data.py --fill."""
    text = page.read_text(encoding="utf-8")
    assert fill(text) == text


def test_every_setting_is_named_on_the_page():
    named = {(m["name"], m["quantity"]) for m in NUMBER.finditer(PAGES[0].read_text("utf-8"))}
    for name, own in SETTINGS.items():
        for quantity in own:
            assert (name, quantity) in named
            assert float(number(name, quantity)) == pytest.approx(own[quantity], rel=1e-3)
