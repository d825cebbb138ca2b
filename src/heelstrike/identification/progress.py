"""The progress bar of a search, with the best loss so far."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from heelstrike.identification.search import Report


@contextmanager
def search_bar(title: str, wanted: bool | None = None) -> Iterator[Report]:
    """Yield a function that shows how far a search is and its best loss, on standard error.

    Args:
        title: what is searched.
        wanted: whether a bar is shown; None shows one in a terminal.
    """
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield lambda done, best: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0)

        def show(done: float, best: float) -> None:
            bar.update(task, description=f"{title}: best loss {best:.4g}", completed=done)

        yield show
