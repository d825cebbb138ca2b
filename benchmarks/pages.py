"""Tables of results in pages of the documentation, each after its mark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown, numbers to the right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def placed(page: str, made: Mapping[str, str]) -> str:
    """Return the page with each table after the line <!-- NAME -->."""
    for name, text in made.items():
        mark = re.escape(f"<!-- {name} -->")
        old = rf"({mark}\n)(?:\n(?:\|.*\n)+)?"
        page, count = re.subn(old, lambda m, t=text: f"{m[1]}\n{t}\n", page)
        if count != 1:
            raise SystemExit(f"the page needs one line <!-- {name} -->")
    return page
