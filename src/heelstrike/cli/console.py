"""How the command line speaks: results to standard output, all else to standard error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heelstrike.errors import HeelstrikeError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PICTURES = (".png", ".pdf", ".svg", ".jpg")
"""Endings of a picture's name."""
PAGES = (".html",)
"""Of a page's."""


def output() -> Console:
    """Where results go."""
    from rich.console import Console

    return Console(highlight=False)


def errors() -> Console:
    """Where progress, warnings and errors go."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def say(sentence: str, style: str = "") -> None:
    """One sentence to standard error."""
    from rich.text import Text

    errors().print(Text(sentence, style=style), soft_wrap=True)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Says on a terminal what is being done."""
    console = errors()
    if not console.is_terminal:
        yield lambda name: None
        return
    with console.status("") as status:
        yield lambda name: status.update(name)


def folder_of(path: Path, option: str = "--out") -> None:
    """Makes the folder of a file that will be written, as that option says."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HeelstrikeError(
            f"cannot make the folder {path.parent}: {error.strerror}; name another with {option}"
        ) from error


def will_write(path: Path, what: str, endings: Sequence[str], option: str) -> None:
    """Refuses a file whose name ends otherwise, and makes its folder: before anything runs."""
    if path.suffix not in endings:
        raise HeelstrikeError(
            f"{what} ends in {', '.join(endings)}, not '{path.name}'; see {option}"
        )
    folder_of(path, option)


def print_json(value: Any) -> None:
    """A value to standard output, for programs; NaN is refused, JSON has none."""
    print(json.dumps(value, indent=2, allow_nan=False))


def table(title: str, *columns: str, numbers: tuple[str, ...] = ()) -> Table:
    """An empty table in the house's look; the columns named in `numbers` are aligned right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for name in columns:
        made.add_column(Text(name), justify="right" if name in numbers else "left")
    return made
