"""The API reference: every public name has an entry made from its docstring, and an example.

Blocks of Python on the pages are run by test_readme.py.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import heelstrike as hs

PAGES = sorted((Path(__file__).parents[2] / "docs" / "api").glob("*.md"))
ENTRIES = {
    name: page
    for page in PAGES
    for name in re.findall(r"^::: heelstrike\.([\w.]+)$", page.read_text(), re.MULTILINE)
}


def test_every_public_name_has_an_entry():
    wanted = {name for name in hs.__all__ if name not in hs.PACKAGES}
    assert wanted <= set(ENTRIES)


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_an_entry_has_a_docstring_that_is_a_sentence(name):
    found = hs
    for part in name.split("."):
        found = getattr(found, part)
    first = (inspect.getdoc(found) or "").split("\n\n")[0]
    assert first.endswith((".", ":"))
    assert not re.match(r"(Of|What|Where|That|Whose|Who)\b", first)


@pytest.mark.parametrize(
    "name", sorted(name for name in hs.HOMES if not name.endswith(("Error", "Warning")))
)
def test_a_public_name_is_used_in_the_example_of_its_page(name):
    blocks = re.findall(r"^```python\n(.*?)^```", ENTRIES[name].read_text(), re.DOTALL | re.M)
    assert any(f"hs.{name}" in block for block in blocks)
