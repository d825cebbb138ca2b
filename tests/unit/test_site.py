"""The site: a strict build, in which every page is in the nav and every link leads somewhere.

mkdocs is the oracle. A browser that opens a page fetches nothing from elsewhere.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
