"""Tables of benchmarks in pages are those of the results that are kept."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import falls, pushed_over, self_contact
from benchmarks.pages import placed
from heelstrike.view.pages.growth import CAPTION, growth_page
from heelstrike.view.pages.markdown import markdown
from heelstrike.view.pages.page import Picture
from tools import performance_page, speed_page

ROOT = Path(__file__).parents[2]
GROWTH = ROOT / "docs/images/growth.png"


def kept(name: str) -> dict:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def test_the_cost_of_contact_between_bodies():
    page = (ROOT / "docs" / "self-contact.md").read_text()
    made = {self_contact.MARK: self_contact.table(kept("self-contact")["rows"])}
    assert placed(page, made) == page


def test_falls_of_pushed_robots():
    for page, text in pushed_over.pages(kept("pushed-over")["models"]).items():
        assert page.read_text() == text


def test_falls_of_limp_models():
    page = (ROOT / "benchmarks" / "falls.md").read_text()
    rows = kept("falls")["models"]
    made = {falls.MARK: falls.table(rows), falls.COUNT: falls.summary(rows)}
    assert placed(page, made) == page


def test_growth():
    made = markdown(growth_page(kept("growth"), (Picture(GROWTH, CAPTION),)), ROOT / "docs")
    assert (ROOT / "docs" / "growth-figures.md").read_text() == made


def test_performance():
    """docs/performance.md is what tools/performance_page.py writes."""
    assert performance_page.PAGE.read_text() == performance_page.page()


def test_speed_beside_mujoco():
    for page, text in speed_page.pages().items():
        assert page.read_text() == text


def test_the_resource_that_is_used_most():
    """Of six instructions, two of arithmetic and two loads or stores in a cycle."""
    own = {"per_cycle": 3.0, "fused": 0.3, "arithmetic": 0.2, "move": 0.4}
    assert performance_page.bound(own) == "arithmetic, 75&nbsp;%"
    assert performance_page.bound(own | {"move": 0.6}) == "loads and stores, 90&nbsp;%"
