"""Output of the command line: results to standard output, all else to standard error."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heelstrike.errors import HeelstrikeError
from heelstrike.files import check_writable
from heelstrike.progress import hours

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PICTURES = (".png", ".pdf", ".svg", ".jpg")
"""Suffixes of picture files."""
PAGES = (".html",)
"""Suffixes of pages."""


def output() -> Console:
    """Return the console for results, standard output."""
    from rich.console import Console

    return Console(highlight=False)


def errors() -> Console:
    """Return the console for progress, warnings and errors, standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def say(sentence: str, style: str = "") -> None:
    """Print one sentence to standard error."""
    from rich.text import Text

    errors().print(Text(sentence, style=style), soft_wrap=True)


@contextmanager
def progress(total: int | None = None) -> Iterator[Callable[[str], None]]:
    """Yield a function that is called with the name of each part of the work, before it is done.

    A terminal shows the name, the parts done of `total`, the time spent and left, and the time
    that a part takes.
    """
    from rich import progress as bars

    console, done = errors(), -1
    if not console.is_terminal:
        yield lambda name: None
        return
    columns = [bars.SpinnerColumn(), bars.TextColumn("{task.description}")]
    if total is not None:
        columns += [bars.BarColumn(), bars.MofNCompleteColumn()]
    columns += [bars.TimeElapsedColumn()]
    if total is not None:
        columns += [bars.TextColumn("{task.fields[pace]}"), bars.TextColumn("{task.fields[left]}")]
    with bars.Progress(*columns, console=console, transient=True) as bar:
        task, began = bar.add_task("", total=total, pace="", left=""), time.perf_counter()

        def report(name: str) -> None:
            nonlocal done
            done += 1
            bar.update(task, description=name, completed=done)
            if done and total is not None:
                each = (time.perf_counter() - began) / done
                left = f"about {hours(each * max(total - done, 0))} left"
                bar.update(task, pace=f"{each:.3g} s each", left=left)

        yield report


def folder_of(path: Path, option: str = "--out") -> None:
    """Create the folder of a file that an option names."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HeelstrikeError(
            f"cannot create the folder {path.parent}: {error.strerror}",
            path=option,
            remedy=f"name another folder by {option}",
        ) from error


def will_write(path: Path, what: str, suffixes: Sequence[str], option: str) -> None:
    """Check the suffix of a file that an option names, and create its folder, before a run.

    Args:
        path: the file.
        what: what it will hold, such as "a picture".
        suffixes: the suffixes that are allowed.
        option: the option that names the file.
    """
    if path.suffix not in suffixes:
        raise HeelstrikeError(
            f"{option}: {what} cannot be written to '{path.name}'",
            path=option,
            value=str(path),
            allowed=f"names that end in {' or '.join(suffixes)}",
        )
    folder_of(path, option)
    check_writable(path)


def print_json(value: Any) -> None:
    """Print a value as JSON; NaN raises an error, since JSON has none."""
    print(json.dumps(value, indent=2, allow_nan=False))


def table(title: str, *columns: str, numbers: tuple[str, ...] = ()) -> Table:
    """Return an empty table; the columns named in `numbers` are aligned right."""
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
