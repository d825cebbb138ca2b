"""The site: a strict build, in which every page is in the nav and every link leads somewhere.

mkdocs is the oracle. A browser that opens a page fetches nothing from elsewhere, draws its formulas
and searches it, from a folder, without a server.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("latex2mathml", reason="latex2mathml is not installed: heelstrike[docs]")

from tools.site import formula

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("material", reason="mkdocs-material is not installed: heelstrike[docs]")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_is_built(site):
    pages = {p.relative_to(ROOT / "docs").with_suffix("") for p in ROOT.glob("docs/**/*.md")}
    built = {p.relative_to(site).with_suffix("") for p in site.glob("**/*.html")}
    assert pages <= built


def test_pages_fetch_nothing_from_elsewhere(site):
    """Scripts, styles, fonts and pictures are all in the folder."""
    for page in site.glob("**/*.html"):
        tags = re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", page.read_text())
        fetched = [tag for tag in tags if re.search(r"""(?:src|href)=["']?(?:https?:)?//""", tag)]
        assert not fetched, f"{page.name}: {fetched}"


def test_formulas_are_formulas(site):
    """Every block of LaTeX is MathML in its page, and no page shows LaTeX."""
    for page in ROOT.glob("docs/**/*.md"):
        wanted = page.read_text().count("```math")
        built = (site / page.relative_to(ROOT / "docs")).with_suffix(".html").read_text()
        assert built.count('<div class="formula"><math') == wanted
        assert "\\begin{" not in built
    assert "<math" in (site / "laws" / "hunt-crossley.html").read_text()


def test_a_formula_that_is_not_converted_whole_is_an_error():
    assert "<mtable" in formula(r"\begin{align*} a &= b \\ c &= d \end{align*}")
    with pytest.raises(ValueError, match="not converted whole"):
        formula(r"\begin{nothing} a &= b \end{nothing}")


def test_search_works_from_a_folder(site, browser):
    """In a real browser, by file://; the page is one folder down, so that links are relative."""
    page = browser.new_page()
    page.goto((site / "laws" / "rigid.html").as_uri())
    page.click(".md-search__input")
    page.keyboard.type("Lambert restitution")
    found = page.locator(".md-search-result__item > a")
    found.first.wait_for(timeout=20_000)
    assert "/laws/hunt-crossley.html" in found.first.get_attribute("href")
    heights = page.evaluate("[...document.querySelectorAll('math')].map(x => x.clientHeight)")
    assert min(heights) > 15  # drawn, not hidden
    page.close()
