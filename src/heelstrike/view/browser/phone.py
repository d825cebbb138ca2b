"""Pages on phones: the panel, which covers the lower half of the window, opens folded.

viser has no option for this. So the panel holds an empty image which, once loaded, taps the panel's
header: once a page, and on narrow windows only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viser import GuiApi

EMPTY = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
"""A picture of one transparent pixel."""
SCRIPT = (
    "if (matchMedia('(max-width: 36em)').matches && !window.heelstrikeFolded) {"
    " const panel = [...document.querySelectorAll('div')].find("
    "x => x.style.position === 'fixed' && x.contains(this));"
    " const header = panel && [...panel.querySelectorAll('div')].find("
    "x => x.style.cursor === 'pointer' && !x.contains(this));"
    " if (header) { window.heelstrikeFolded = true; header.click(); } }"
)


def fold_on_phones(gui: GuiApi) -> None:
    """Have the panel fold itself in pages whose window is narrow."""
    gui.add_html(f'<img alt="" style="display: none" src="{EMPTY}" onload="{SCRIPT}">')
