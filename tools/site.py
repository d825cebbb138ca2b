"""What the site changes in pages.

Links to files of the repository that are no pages become names: on a code host such links lead
somewhere; the built site holds docs/ alone. A link to a file that is not there is left as it is,
and the strict build complains.

In a search the tables of all rows of papers come after other pages.

Formulas, blocks marked `math` in LaTeX, become MathML, which browsers draw without a script.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)([^)#\s]+)(#[^)]*)?\)")
FORMULA = re.compile(r"^```math\n(.*?)\n```$", re.DOTALL | re.MULTILINE)


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    if page.file.src_uri.endswith("-rows.md"):
        page.meta["search"] = {"boost": 0.2}  # long tables of papers come last in a search
    docs = Path(config.docs_dir)
    folder = (docs / page.file.src_uri).parent

    def named(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if target.is_relative_to(docs.resolve()) or not target.exists():
            return link[0]
        return link[1] if "`" in link[1] else f"`{link[1]}`"

    return FORMULA.sub(lambda found: formula(found[1]), LINK.sub(named, markdown))


def formula(latex: str) -> str:
    """Return a formula as one line of HTML, which Markdown leaves as it is."""
    made = convert(" ".join(latex.split()), display="block")
    if re.search(r"&amp;|&#x00026;|>&<|\\", made):
        raise ValueError(f"a formula is not converted whole: {latex}")
    return f'<div class="formula">{made}</div>'
