"""What the site changes in pages: links to files of the repository that are no pages become names.

On a code host such links lead somewhere; the built site holds docs/ alone. A link to a file that is
not there is left as it is, and the strict build complains.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)([^)#\s]+)(#[^)]*)?\)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    docs = Path(config.docs_dir)
    folder = (docs / page.file.src_uri).parent

    def named(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if target.is_relative_to(docs.resolve()) or not target.exists():
            return link[0]
        return link[1] if "`" in link[1] else f"`{link[1]}`"

    return LINK.sub(named, markdown)
